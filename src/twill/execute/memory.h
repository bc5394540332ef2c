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
  /// Until an element is written, the array's values determine it. Evenly spread values depend only
  /// on the numbers of array and element, and on the seed. All values are rounded to the type.
  explicit Memory(std::uint64_t seed) : seed_(seed) {}

  /// Adds an array and returns its number. nullopt for elements of an unknown type. Precondition:
  /// the values are of that type (`of_type`).
  std::optional<std::int64_t> add_array(std::string name, ir::Type element, Values values = {});
  std::size_t array_count() const { return arrays_.size(); }
  const std::string& name(std::size_t array) const { return arrays_[array].name; }
  /// Element type of the array; null if there is no such array.
  ir::Type element(std::int64_t array) const;

  /// Reads an element. Precondition: the array exists.
  double read(Pointer at) const;
  void write(Pointer at, double value);
  /// Number at a place, before the first write to that place.
  double initial(Pointer at) const;

  /// Fails if an element was read that is missing in the file with the array's values.
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
    std::optional<Format> format;  ///< format of floating-point elements
    Values values;
    std::map<std::int64_t, Page> pages;
    double rounded(double value) const;
  };

  std::uint64_t seed_;
  std::vector<Array> arrays_;
  Accesses* accesses_ = nullptr;
  mutable std::optional<Pointer> beyond_;  ///< a read element that no file has
};

/// A tensor in global memory that is addressed by coordinates, as TMA descriptors describe it.
struct Descriptor {
  Pointer base;
  Shape shape;               ///< empty: without end
  Shape strides;             ///< in elements
  bool nan_outside = false;  ///< floating-point elements outside read as NaN
};

/// The tile of an operand.
using Lookup = std::function<Result<TilePtr>(ir::ValueId)>;

/// Looks up an integer operand; a pointer is packed.
using IntegerOf = std::function<Result<std::int64_t>(ir::ValueId)>;

/// Makes the descriptor of a make_descriptor. Fails, with the op's line, if its base points to no
/// array.
Result<Descriptor> made_descriptor(const ir::Program& program, ir::OpId op, const Memory& memory,
                                   const IntegerOf& integer);

/// Reads the tile of a load, block load or copy. Outside a descriptor's tensor, elements are zero
/// or NaN. Elements with a false mask are the op's fill or zero. For a copy by threads they are
/// zero, whatever the fill, as in Triton's code. `descriptor`: the op's, if present. Fails, with
/// the op's line, for a pointer to no array, or an op that reads no tile.
Result<Tile> read_global(const ir::Program& program, ir::OpId op, const Memory& memory,
                         const Descriptor* descriptor, const Lookup& lookup);

/// Writes `source` by a store, an update or a block store. Skips places outside the tensor and
/// elements with a false mask. Returns the old values for an atomic. `part`: the part of the op's
/// tile that `source` is, for which `lookup` gives pointers and masks; empty: the whole tile.
Result<Tile> write_global(const ir::Program& program, ir::OpId op, Memory& memory,
                          const Descriptor* descriptor, const Tile& source, const Lookup& lookup,
                          const Box& part = {});

}  // namespace twill::execute
