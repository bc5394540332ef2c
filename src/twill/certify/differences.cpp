#include "twill/certify/differences.h"

#include <algorithm>
#include <limits>

namespace twill::certify {
namespace {

constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::min();

/// Limit on lengths: no path without a positive circuit is that long, with 2^20 nodes and 2^40 per
/// step. One more step does not leave 64 bits either.
constexpr std::int64_t kTooLong = std::int64_t{1} << 61U;

}  // namespace

Differences::Differences(std::size_t nodes) : nodes_(nodes), longest_(nodes * nodes, kUnreached) {
  for (std::size_t node = 0; node < nodes; ++node) longest(node, node) = 0;
}

void Differences::require(const Difference& it) {
  std::int64_t& known = longest(it.earlier, it.later);
  known = std::max(known, it.by);
}

/// Finds the longest paths of all pairs (Floyd and Warshall, 1962). A positive circuit shows at one
/// of its nodes before any sum can overflow: the loop ends there.
void Differences::close() {
  for (std::size_t node = 0; node < nodes_; ++node) contradict_ |= longest(node, node) > 0;
  for (std::size_t via = 0; via < nodes_ && !contradict_; ++via) {
    for (std::size_t from = 0; from < nodes_; ++from) {
      const std::int64_t first = longest(from, via);
      if (first == kUnreached) continue;
      for (std::size_t to = 0; to < nodes_; ++to) {
        const std::int64_t second = longest(via, to);
        if (second != kUnreached) longest(from, to) = std::max(longest(from, to), first + second);
      }
      contradict_ |= longest(from, from) > 0;
    }
  }
}

/// Runs Bellman-Ford on the given differences alone, with longest paths between their ends.
bool Differences::contradict(std::span<const Difference> differences) const {
  if (contradict_) return true;
  // Heights: by how much the later end of a difference is known to be above some start, at most.
  std::vector<std::int64_t> heights;
  for (const Difference& it : differences) heights.push_back(it.by);
  for (std::size_t round = 0; round <= differences.size(); ++round) {
    bool moved = false;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      for (std::size_t j = 0; j < differences.size(); ++j) {
        const std::int64_t between = longest(differences[i].later, differences[j].earlier);
        if (between == kUnreached) continue;
        const std::int64_t height = heights[i] + between + differences[j].by;
        if (height > kTooLong) return true;
        if (height <= heights[j]) continue;
        heights[j] = height;
        moved = true;
      }
    }
    if (!moved) return false;
  }
  return true;
}

}  // namespace twill::certify
