#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "twill/execute/accesses.h"
#include "twill/execute/pointer.h"
#include "twill/execute/rounding.h"
#include "twill/execute/tile.h"
#include "twill/execute/values.h"
#include "twill/ir/program.h"

/// Global memory of a kernel: an array, endless in both directions, for each argument that is a
/// pointer or a descriptor.
namespace twill::execute {

class Memory {
 public:
  /// Until it is written, element `index` of array `array` is given by the array's values. Evenly
  /// spread values depend on these two numbers and the seed only. All are rounded to the type.
  explicit Memory(std::uint64_t seed) : seed_(seed) {}

  /// Returns its number. Null if the elements are of no known type. Precondition: the values are of
  /// that type (`of_type`).
  std::optional<std::int64_t> add_array(std::string name, ir::Type element, Values values = {});
  std::size_t array_count() const { return arrays_.size(); }
  const std::string& name(std::size_t array) const { return arrays_[array].name; }
  /// Element type of the array; null if there is no such array.
  ir::Type element(std::int64_t array) const;

  /// Precondition: the array exists.
  double read(Pointer at) const;
  void write(Pointer at, double value);
  /// Number at a place before the first write to it.
  double initial(Pointer at) const;

  /// Fails if an element was read that the file with the array's values does not have.
  Result<void> check_files() const;

  /// Reports all later reads and writes to `accesses`, which must outlive the memory. Null ends the
  /// reports.
  void report_to(Accesses* accesses) { accesses_ = accesses; }
  Accesses* accesses() const { return accesses_; }

  /// Written elements: index and value, in order of the indices.
  using Written = std::vector<std::pair<std::int64_t, double>>;
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
    std::optional<Format> format;  ///< of numbers
    Values values;
    std::map<std::int64_t, Page> pages;
    double rounded(double value) const;
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
  bool nan_outside = false;  ///< floating-point elements outside read as NaN
};

/// The tile of an operand.
using Lookup = std::function<Result<TilePtr>(ir::ValueId)>;

/// An integer operand; a pointer is packed.
using IntegerOf = std::function<Result<std::int64_t>(ir::ValueId)>;

/// Descriptor that a make_descriptor makes. Fails, with the op's line, if its base points to no
/// array.
Result<Descriptor> made_descriptor(const ir::Program& program, ir::OpId op, const Memory& memory,
                                   const IntegerOf& integer);

/// Tile that a load, block load or copy reads. Outside a descriptor's tensor it is zero or NaN;
/// where a mask is false, it is the op's fill or zero. A copy by threads has zero there, whatever
/// its fill: so Triton compiles it. `descriptor`: the op's, if it has one.
/// Fails, with the op's line, where a pointer points to no array or the op reads no tile.
Result<Tile> read_global(const ir::Program& program, ir::OpId op, const Memory& memory,
                         const Descriptor* descriptor, const Lookup& lookup);

/// Stores `source` by a store, an update or a block store; skips places outside the tensor and
/// where a mask is false. Returns the old values for an atomic. `part`: the part of the op's tile
/// that `source` is, for which `lookup` gives pointers and masks; empty: all of it.
Result<Tile> write_global(const ir::Program& program, ir::OpId op, Memory& memory,
                          const Descriptor* descriptor, const Tile& source, const Lookup& lookup,
                          const Box& part = {});

}  // namespace twill::execute
