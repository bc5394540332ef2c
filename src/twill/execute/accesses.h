#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/execute/pointer.h"

namespace twill::execute {

/// Records the elements that CTAs read and write when run one after the other. Finds out whether
/// another order would give the same result.
class Accesses {
 public:
  /// Range [begin, end) of the indices of one array that were read or written; empty without an
  /// access.
  struct Extent {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  /// Extents of the coordinates used through descriptors of one array, by dimension.
  using Reach = std::vector<std::int64_t>;

  /// Assigns all further accesses to CTA number `program`.
  void begin_program(std::int64_t program) { program_ = program; }
  /// Begins an op; the writes of one op have no order.
  void begin_op() { ++op_; }

  void read(Pointer at);
  void write(Pointer at, double value);
  /// Adds to the element, takes the minimum or maximum, or changes bits. The order of such accesses
  /// matters for rounding only.
  void combine(Pointer at);
  /// Notes a block of `shape` at `coordinates`, accessed by a descriptor of a tensor of extents
  /// `tensor` (empty: without end).
  void reach(std::int64_t array, std::span<const std::int64_t> coordinates,
             std::span<const std::int64_t> shape, std::span<const std::int64_t> tensor);

  Extent extent(std::int64_t array) const;
  /// Extents of the array's descriptors; empty if no descriptor was used.
  Reach reach(std::int64_t array) const;
  /// Whether a CTA reads the initial value of the element, or combines with that value.
  bool needs_initial(Pointer at) const;
  /// Count of elements read and written, repetitions included.
  std::int64_t count() const { return count_; }
  /// Whether a descriptor of a tensor without elements was used.
  bool uses_empty() const { return uses_empty_; }
  /// The first element that two CTAs write, or whose value depends on the order of CTAs, or of the
  /// writes of one op.
  std::optional<Pointer> conflict() const { return conflict_; }

 private:
  static constexpr std::int64_t kNobody = -1;
  static constexpr std::int64_t kSeveral = -2;
  /// CTAs that touched an element.
  struct Marks {
    std::int64_t writer = kNobody;    ///< the last CTA that wrote the element
    std::int64_t op = 0;              ///< the op of that write
    std::int64_t reader = kNobody;    ///< the CTA that read the element, or kSeveral
    std::int64_t combiner = kNobody;  ///< the CTA that combined with the element, or kSeveral
    double value = 0;                 ///< last written value
    bool initial = false;             ///< the initial value was needed
  };
  static constexpr std::int64_t kPage = 256;
  using Page = std::vector<Marks>;
  struct Array {
    std::map<std::int64_t, Page> pages;
    std::int64_t last_number = 0;
    Page* last = nullptr;  ///< page number `last_number`
    Reach reach;
  };
  Marks& marks(Pointer at);
  static const Marks* find(const std::map<std::int64_t, Array>& arrays, Pointer at);
  void disagree(Pointer at) {
    if (!conflict_) conflict_ = at;
  }

  std::map<std::int64_t, Array> arrays_;
  std::int64_t program_ = 0;
  std::int64_t op_ = 0;
  std::int64_t count_ = 0;
  bool uses_empty_ = false;
  std::optional<Pointer> conflict_;
};

}  // namespace twill::execute
