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

/// Accesses of CTAs that are run one after the other: the elements that they read and write. Finds
/// out whether the result would be the same in another order.
class Accesses {
 public:
  /// Range [begin, end) of the indices of one array that were read or written; empty without an
  /// access.
  struct Extent {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  /// Extents of the coordinates of an array behind a descriptor, by dimension.
  using Reach = std::vector<std::int64_t>;

  /// Attributes the accesses that follow to CTA number `program`.
  void begin_program(std::int64_t program) { program_ = program; }
  /// Begins an op, whose writes have no order among each other.
  void begin_op() { ++op_; }

  void read(Pointer at);
  void write(Pointer at, double value);
  /// Adds to the element, takes the minimum or maximum, or changes bits: the order matters for
  /// rounding only.
  void combine(Pointer at);
  /// A block of `shape` at `coordinates` is read or written by descriptor of a tensor of the sizes
  /// `tensor`; empty: it is without end.
  void reach(std::int64_t array, std::span<const std::int64_t> coordinates,
             std::span<const std::int64_t> shape, std::span<const std::int64_t> tensor);

  Extent extent(std::int64_t array) const;
  /// Empty: no descriptor of it was used.
  Reach reach(std::int64_t array) const;
  /// Whether a CTA reads, or combines with, the initial value of the element.
  bool needs_initial(Pointer at) const;
  /// Elements read and written, counted each time.
  std::int64_t count() const { return count_; }
  /// Whether a descriptor of a tensor without elements was used.
  bool uses_empty() const { return uses_empty_; }
  /// The first element that two CTAs write, or that otherwise depends on their order, or on the
  /// order in which one op writes.
  std::optional<Pointer> conflict() const { return conflict_; }

 private:
  static constexpr std::int64_t kNobody = -1;
  static constexpr std::int64_t kSeveral = -2;
  /// CTAs that touched an element.
  struct Marks {
    std::int64_t writer = kNobody;    ///< the last CTA that wrote it
    std::int64_t op = 0;              ///< that wrote it
    std::int64_t reader = kNobody;    ///< the CTA that read it, or kSeveral
    std::int64_t combiner = kNobody;  ///< the CTA that combined with it, or kSeveral
    double value = 0;                 ///< written
    bool initial = false;             ///< the initial value was needed
  };
  static constexpr std::int64_t kPage = 256;
  using Page = std::vector<Marks>;
  struct Array {
    std::map<std::int64_t, Page> pages;
    std::int64_t last_number = 0;
    Page* last = nullptr;  ///< of `pages`
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
