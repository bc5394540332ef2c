#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace twill::certify {

/// Difference constraint: node(later) - node(earlier) >= by.
struct Difference {
  std::size_t later = 0;
  std::size_t earlier = 0;
  std::int64_t by = 0;
};

/// Differences that always hold between nodes, and the test whether others are consistent with
/// them.
class Differences {
 public:
  explicit Differences(std::size_t nodes);

  /// Adds a difference that always holds. Preconditions: not closed yet; |by| stays below 2^40.
  void require(const Difference& difference);
  /// Finds all longest paths. Call it once, after the last require(). Cost: nodes cubed at worst.
  void close();

  /// Whether the differences that always hold contradict each other.
  bool contradict() const { return contradict_; }
  /// Whether these differences contradict those that always hold. Cost: the cube of their number at
  /// worst.
  bool contradict(std::span<const Difference> differences) const;

 private:
  std::int64_t& longest(std::size_t from, std::size_t to) { return longest_[from * nodes_ + to]; }
  std::int64_t longest(std::size_t from, std::size_t to) const {
    return longest_[from * nodes_ + to];
  }

  std::size_t nodes_;
  std::vector<std::int64_t> longest_;  ///< most that `to` is known to be above `from`
  bool contradict_ = false;
};

}  // namespace twill::certify
