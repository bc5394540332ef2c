#include "twill/extract/readers_first.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "twill/problem/problem.h"

namespace twill::extract {
namespace {

using problem::Dependence;
using problem::Op;
using problem::OpId;
using problem::Parts;

/// Whether the pool has a single group for ops of that width.
bool has_one_group(const Parts& parts, const Op& op) {
  return std::count_if(parts.groups.begin(), parts.groups.end(), [&](const problem::Group& group) {
           return group.warps == op.warps && group.loads == op.variable_latency;
         }) == 1;
}

constexpr int kNever = std::numeric_limits<int>::max() / 2;

/// For each op, the least number of iterations by which it must follow `first`.
std::vector<int> distances_from(const Parts& parts, OpId first) {
  std::vector<int> least(parts.ops.size(), kNever);
  least[first.index()] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Dependence& it : parts.dependences) {
      const int by_alternative = least[it.from.index()] + it.distance;
      if (by_alternative >= least[it.to.index()]) continue;
      least[it.to.index()] = by_alternative;
      changed = true;
    }
  }
  return least;
}

}  // namespace

void put_readers_first(Parts& parts) {
  std::vector<Dependence> orders;
  for (const Dependence& update : parts.dependences) {
    const Op &value = parts.ops[update.from.index()], &writer = parts.ops[update.to.index()];
    if (!update.in_place || value.registers == 0 || !has_one_group(parts, writer)) continue;
    const std::vector<int> follows = distances_from(parts, update.to);
    for (const Dependence& read : parts.dependences) {
      const Op& reader = parts.ops[read.to.index()];
      const int distance = update.distance - read.distance;
      const bool other = read.from == update.from && read.to != update.to && read.carries_value &&
                         !read.in_place && reader.warps == writer.warps &&
                         reader.variable_latency == writer.variable_latency;
      if (!other || distance < 0 || follows[read.to.index()] + distance <= 0) continue;
      Dependence order;
      order.from = read.to;
      order.to = update.to;
      order.distance = distance;
      order.carries_value = false;
      order.delay = problem::read_hold_of(read, reader, reader.alternatives.front());
      orders.push_back(order);
    }
  }
  parts.dependences.insert(parts.dependences.end(), orders.begin(), orders.end());
}

}  // namespace twill::extract
