#include "twill/plan/draft_space.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "twill/plan/buffers.h"

namespace twill::plan {
namespace {

/// Whether two buffers are in use at the same time in the steady state. A buffer with several
/// copies, or in use during the whole interval, meets all others.
bool meet(const Draft& draft, BufferId a, BufferId b) {
  const auto [a_begin, a_end] = draft.alive[a.index()];
  const auto [b_begin, b_end] = draft.alive[b.index()];
  if (draft.plan[a].depth > 1 || draft.plan[b].depth > 1) return true;
  const Cycles a_length = a_end - a_begin;
  const Cycles b_length = b_end - b_begin;
  if (a_length >= draft.interval || b_length >= draft.interval) return true;
  const Cycles lead =
      b_begin - a_begin - floor_divide(b_begin - a_begin, draft.interval) * draft.interval;
  return lead < a_length || lead + b_length > draft.interval;
}

/// Number of orders that are tried for a layout in which buffers share addresses.
constexpr int kMostOrders = 100;

/// Lays out the buffers in their order, each at the lowest place that is free of buffers in use at
/// the same time. Returns the end of the last buffer, and the first buffer that ends beyond the
/// capacity.
std::pair<Amount, std::optional<std::size_t>> lay_out_in_order(BufferSpace& space) {
  Amount end = 0;
  std::optional<std::size_t> beyond;
  std::vector<BufferId> placed;
  for (const BufferId id : space.buffers) {
    std::set<Amount> candidates = {0};
    for (const BufferId other : placed) {
      candidates.insert(space.round_up(space.at(other).offset + total(space.at(other)), id));
    }
    for (const Amount offset : candidates) {
      space.at(id).offset = offset;
      const bool free = std::none_of(placed.begin(), placed.end(), [&](BufferId other) {
        return share_addresses(space.at(id), space.at(other)) && meet(space.draft, id, other);
      });
      if (free) break;
    }
    end = std::max(end, space.at(id).offset + total(space.at(id)));
    if (end > space.capacity && !beyond) beyond = placed.size();
    placed.push_back(id);
  }
  return {end, beyond};
}

}  // namespace

Amount lay_out(BufferSpace& space) {
  std::stable_sort(space.buffers.begin(), space.buffers.end(), [&](BufferId a, BufferId b) {
    return space.alignment[a.index()] > space.alignment[b.index()];
  });
  Amount next = 0;
  for (const BufferId id : space.buffers) {
    space.at(id).offset = space.round_up(next, id);
    next = space.at(id).offset + total(space.at(id));
  }
  return next;
}

Amount lay_out_sharing(BufferSpace& space) {
  std::vector<BufferId>& order = space.buffers;
  std::stable_sort(order.begin(), order.end(),
                   [&](BufferId a, BufferId b) { return total(space.at(a)) > total(space.at(b)); });
  auto [least, beyond] = lay_out_in_order(space);
  for (int tries = 1; beyond && tries < kMostOrders; ++tries) {
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(*beyond);
    std::rotate(order.begin(), at, at + 1);
    Amount end = 0;
    std::tie(end, beyond) = lay_out_in_order(space);
    least = std::min(least, end);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (share_addresses(space.at(order[i]), space.at(order[j]))) {
        space.draft.aliases.push_back(std::minmax(order[i], order[j]));
      }
    }
  }
  return least;
}

}  // namespace twill::plan
