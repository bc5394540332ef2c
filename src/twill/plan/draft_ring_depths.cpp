#include "twill/plan/draft_ring_depths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace twill::plan {
namespace {

constexpr int kDeepestRing = 256;
constexpr int kSpareDepth = 8;  ///< depth up to which rings take unused memory

using Readers = std::vector<std::pair<OpId, int>>;

Readers readers_of(const Draft& draft, OpId value) {
  Readers readers;
  for (const Read& read : draft.reads) {
    if (read.value == value && read.carries_value) readers.emplace_back(read.reader, read.distance);
  }
  std::sort(readers.begin(), readers.end());
  return readers;
}

bool is_ring(const Draft& draft, OpId op) {
  return draft.op(op).streaming && is_copy(draft.mechanism(op)) && draft.home(op);
}

/// Share of its latency that a load hides at the ring's depth, in thousandths.
Cycles hidden(const Draft& draft, OpId op, Cycles depth) {
  Cycles first = draft.alive[draft.home(op)->index()].second;
  for (const Read& read : draft.reads) {
    if (read.value != op || !read.carries_value) continue;
    first = std::min(first, draft.issue(read.reader) + read.distance * draft.interval);
  }
  const Cycles span = draft.alive[draft.home(op)->index()].second - first;
  const Cycles wants = std::max<Cycles>(1, draft.alternative(op).latency);
  return (depth * draft.interval - span) * 1000 / wants;
}

/// Gives a ring another copy of each of its loads, if they fit.
bool deepen(BufferSpace& space, const std::vector<OpId>& ring, Amount& left) {
  Amount more = 0;
  for (const OpId op : ring) {
    const Buffer& buffer = space.at(*space.draft.home(op));
    if (buffer.memory != space.memory) return false;
    more += buffer.size;
  }
  if (more > left) return false;
  for (const OpId op : ring) ++space.at(*space.draft.home(op)).depth;
  left -= more;
  return true;
}

/// Buffers whose copies change together: all buffers of a ring, or a single buffer.
std::vector<BufferId> together_with(const Draft& draft, BufferId id) {
  for (const std::vector<OpId>& ring : draft.rings) {
    std::vector<BufferId> buffers;
    for (const OpId op : ring) buffers.push_back(*draft.home(op));
    if (std::find(buffers.begin(), buffers.end(), id) != buffers.end()) return buffers;
  }
  return {id};
}

/// Least copies for the order of the readers: a role that uses the next copy before it releases the
/// current copy would wait for itself.
int least_depth(const Draft& draft, BufferId id) {
  int least = 1;
  for (std::size_t v = 0; v < draft.role.size(); ++v) {
    if (draft.home(OpId(v)) != id && draft.plan.values[v].staged != id) continue;
    std::map<RoleId, std::pair<Cycles, Cycles>> span;  // first and last use of copy 0
    for (const Read& read : draft.reads) {
      if (read.value != OpId(v) || !read.carries_value) continue;
      const Cycles used = draft.issue(read.reader) + read.distance * draft.interval;
      const auto [at, fresh] = span.emplace(draft.role[read.reader.index()], std::pair{used, used});
      at->second = {std::min(at->second.first, used), std::max(at->second.second, used)};
    }
    for (const auto& [role, use] : span) {
      least = std::max(least, static_cast<int>((use.second - use.first) / draft.interval) + 1);
    }
  }
  return least;
}

}  // namespace

void group_rings(Draft& draft) {
  std::map<std::tuple<RoleId, bool, Readers>, std::size_t> known;
  for (std::size_t v = 0; v < draft.plan.problem.ops().size(); ++v) {
    if (!is_ring(draft, OpId(v))) continue;
    const auto key = std::make_tuple(draft.role[v], is_bulk_load(draft.mechanism(OpId(v))),
                                     readers_of(draft, OpId(v)));
    auto [at, fresh] = known.emplace(key, draft.rings.size());
    if (std::get<Readers>(key).empty()) {  // only the buffer's own next copy waits for it
      at->second = draft.rings.size();
      fresh = true;
    }
    if (fresh) draft.rings.emplace_back();
    draft.rings[at->second].push_back(OpId(v));
  }
  for (const std::vector<OpId>& ring : draft.rings) {
    int depth = 1;
    for (const OpId op : ring) depth = std::max(depth, draft.plan[*draft.home(op)].depth);
    for (const OpId op : ring) draft.plan.buffers[draft.home(op)->index()].depth = depth;
  }
}

void deepen_in_turn(BufferSpace& space, int until, Amount& left) {
  for (int depth = 1; depth < until; ++depth) {
    for (const std::vector<OpId>& ring : space.draft.rings) {
      if (space.at(*space.draft.home(ring[0])).depth == depth) deepen(space, ring, left);
    }
  }
}

void deepen_rings(BufferSpace& space, Amount left) {
  Draft& draft = space.draft;
  std::vector<bool> full(draft.rings.size(), false);
  for (;;) {
    std::optional<std::size_t> least;
    Cycles least_hidden = 1000;
    for (std::size_t r = 0; r < draft.rings.size(); ++r) {
      if (full[r]) continue;
      for (const OpId op : draft.rings[r]) {
        const Cycles share = hidden(draft, op, draft.plan[*draft.home(op)].depth);
        if (share < least_hidden) {
          least_hidden = share;
          least = r;
        }
      }
    }
    if (!least) break;
    const int depth = space.at(*draft.home(draft.rings[*least][0])).depth;
    full[*least] = depth >= kDeepestRing || !deepen(space, draft.rings[*least], left);
  }
  deepen_in_turn(space, kSpareDepth, left);
}

bool shrink(BufferSpace& space) {
  Draft& draft = space.draft;
  std::optional<BufferId> least;
  Cycles least_use = 0;
  for (const BufferId id : space.buffers) {
    if (space.at(id).depth - space.at(id).initial <= least_depth(draft, id)) continue;
    const auto [begin, end] = draft.alive[id.index()];
    const Cycles use = end - begin - (space.at(id).depth - 1) * draft.interval;
    if (least && use >= least_use) continue;
    least = id;
    least_use = use;
  }
  if (!least) return false;
  for (const BufferId id : together_with(draft, *least)) --space.at(id).depth;
  draft.plan.notes.push_back(fmt::format(
      "{} has {} of the copies that the schedule keeps alive, for lack of {}: an iteration "
      "takes longer than the II",
      space.at(*least).name, space.at(*least).depth, space.at(*least).memory));
  return true;
}

void note_short_rings(BufferSpace& space, int wanted) {
  for (const std::vector<OpId>& ring : space.draft.rings) {
    const Buffer& first = space.at(*space.draft.home(ring[0]));
    if (first.memory != space.memory || first.depth >= wanted) continue;
    std::vector<std::string> names;
    for (const OpId op : ring) names.push_back(space.draft.op(op).name);
    space.draft.plan.notes.push_back(fmt::format("{} of {} copies of {} fit in {}", first.depth,
                                                 wanted, fmt::join(names, " and "), space.memory));
  }
}

bool lacks_copies(BufferSpace& space, const Setting& setting) {
  const Draft& draft = space.draft;
  return std::any_of(draft.rings.begin(), draft.rings.end(), [&](const auto& ring) {
    return std::any_of(ring.begin(), ring.end(), [&](OpId op) {
      const Buffer& buffer = draft.plan[*draft.home(op)];
      if (buffer.memory != space.memory) return false;
      if (setting.ring_depth) return buffer.depth < *setting.ring_depth;
      return hidden(draft, op, buffer.depth) < 1000;
    });
  });
}

int copies_of_rings(const Draft& draft) {
  int copies = 0;
  for (const std::vector<OpId>& ring : draft.rings)
    copies += draft.plan[*draft.home(ring[0])].depth;
  return copies;
}

bool is_read(const Draft& draft, OpId value) { return !readers_of(draft, value).empty(); }

}  // namespace twill::plan
