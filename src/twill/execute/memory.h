#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/execute/accesses.h"
#include "twill/execute/pointer.h"
#include "twill/execute/tile.h"
#include "twill/execute/values.h"
#include "twill/ir/program.h"

/// Global memory as a kernel sees it: for each argument that is a pointer or a descriptor an array
/// of its own, without end in both directions.
namespace twill::execute {

class Memory {
 public:
  /// Until it is written, element `index` of array `array` is what the array's values say; where
  /// they are evenly spread, only these two and the seed decide. All are rounded to the type.
  explicit Memory(std::uint64_t seed) : seed_(seed) {}

  /// Returns its number. Null if the elements are of no known type. Precondition: the values are of
  /// that type (`of_type`).
  std::optional<std::int64_t> add_array(std::string name, ir::Type element, Values values = {});
  std::size_t array_count() const { return arrays_.size(); }
  const std::string& name(std::size_t array) const { return arrays_[array].name; }
  /// The type of its elements; null if there is no such array.
  ir::Type element(std::int64_t array) const;

  /// Precondition: the array exists.
  double read(Pointer at) const;
  void write(Pointer at, double value);
  /// Number at a place until something is written there.
  double initial(Pointer at) const;

  /// Fails if something was read that a file with the array's values does not have.
  Result<void> check_files() const;

  /// Tells `accesses` of what ops read and write from now on. It must outlive this, or be taken
  /// back (null).
  void report_to(Accesses* accesses) { accesses_ = accesses; }
  Accesses* accesses() const { return accesses_; }

  /// Written elements: by index.
  using Written = std::map<std::int64_t, double>;
  Written written(std::size_t array) const;

 private:
  static constexpr std::int64_t kPage = 256;
  struct Page {
    double values[kPage];
    bool set[kPage];
  };
  struct Array {
    std::string name;
    ir::Type element = nullptr;
    Values values;
    std::map<std::int64_t, Page> pages;
  };

  std::uint64_t seed_;
  std::vector<Array> arrays_;
  Accesses* accesses_ = nullptr;
  mutable std::optional<Pointer> beyond_;  ///< read, and not in a file
};

/// A tensor in global memory that is addressed by coordinates: what TMA descriptors describe.
struct Descriptor {
  Pointer base;
  Shape shape;               ///< empty: without end
  Shape strides;             ///< in elements
  bool nan_outside = false;  ///< what is outside reads as NaN, if it is of floating-point numbers
};

/// The tile of an operand.
using Lookup = std::function<Result<TilePtr>(ir::ValueId)>;

/// An integer operand; of a pointer, it packed.
using IntegerOf = std::function<Result<std::int64_t>(ir::ValueId)>;

/// Descriptor that a make_descriptor makes. Fails, with the op's line, if its base points to no
/// array.
Result<Descriptor> made_descriptor(const ir::Program& program, ir::OpId op, const Memory& memory,
                                   const IntegerOf& integer);

/// Tile that a load, block load or copy brings: zero, or NaN, outside a descriptor's tensor, and
/// zero where a mask is false unless the op says what is there. `descriptor`: the op's, if it has
/// one. Fails, with the op's line, where a pointer points to no array or the op is no such op.
Result<Tile> read_global(const ir::Program& program, ir::OpId op, const Memory& memory,
                         const Descriptor* descriptor, const Lookup& lookup);

/// Stores `source` as a store, an update or a block store does, not outside the
/// tensor and not where a mask is false. Returns what an atomic found.
/// `part`: which part of what the op stores `source` is, and `lookup` gives that of pointers and
/// masks; empty: all of it.
Result<Tile> write_global(const ir::Program& program, ir::OpId op, Memory& memory,
                          const Descriptor* descriptor, const Tile& source, const Lookup& lookup,
                          const Box& part = {});

}  // namespace twill::execute
