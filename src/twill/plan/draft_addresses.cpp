#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/plan/buffers.h"
#include "twill/plan/draft.h"
#include "twill/problem/problem.h"

namespace twill::plan {
namespace {

constexpr Amount kLargestAlignment = 1024;  // of a 128-byte swizzled tile
constexpr Amount kColumnAlignment = 32;
constexpr Amount kBulkAlignment = 128;  // of buffers that TMA copies to or from
constexpr int kDeepestRing = 256;
constexpr int kSpareDepth = 8;  // up to which rings take unused memory

Amount alignment_of(const Buffer& buffer, bool operand) {
  const Amount most = buffer.residence == Residence::tensor ? kColumnAlignment : kLargestAlignment;
  if (operand) return most;
  Amount alignment = 1;
  while (alignment < most && buffer.size % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

/// Buffers that TMA writes or reads, by BufferId.
std::vector<bool> copied_by_tma(const Draft& draft) {
  std::vector<bool> copied(draft.plan.buffers.size(), false);
  for (std::size_t v = 0; v < draft.plan.values.size(); ++v) {
    const auto home = draft.home(OpId(v));
    if (home && is_bulk_load(draft.mechanism(OpId(v)))) copied[home->index()] = true;
  }
  for (const Read& read : draft.reads) {
    if (draft.mechanism(read.reader) != Mechanism::bulk_store) continue;
    const Value& value = draft.plan.values[read.value.index()];
    const auto from = value.staged ? value.staged : value.home;
    if (from) copied[from->index()] = true;
  }
  return copied;
}

/// Rounds sizes up so that each copy of a buffer that TMA copies begins at TMA's alignment. Sizes
/// in `.loop` texts need not be bytes, and stay as they are.
void round_up_for_tma(Draft& draft) {
  if (!draft.plan.kernel || draft.plan.limits.machine.empty()) return;
  const std::vector<bool> copied = copied_by_tma(draft);
  for (std::size_t b = 0; b < copied.size(); ++b) {
    Buffer& buffer = draft.plan.buffers[b];
    if (!copied[b] || buffer.residence != Residence::shared) continue;
    buffer.size = ceil_divide(buffer.size, kBulkAlignment) * kBulkAlignment;
  }
}

/// A buffer that is filled or stored once per tile has one copy, so only its beginning is aligned.
void align_for_tma(const Draft& draft, std::vector<Amount>& alignment) {
  if (!draft.plan.kernel || draft.plan.limits.machine.empty()) return;
  for (const PerTileOp& per_tile_op : draft.plan.kernel->per_tile_ops) {
    if (!is_bulk_load(per_tile_op.mechanism) && per_tile_op.mechanism != Mechanism::bulk_store)
      continue;
    for (const BufferId buffer : per_tile_op.buffers) {
      alignment[buffer.index()] = std::max(alignment[buffer.index()], kBulkAlignment);
    }
  }
}

Amount total(const Buffer& buffer) { return buffer.size * buffer.depth; }

/// The buffers of one memory and what is known about them.
struct Space {
  Draft& draft;
  std::string memory;
  Amount capacity = 0;
  std::vector<BufferId> buffers;
  std::vector<Amount> alignment;  // by BufferId

  Buffer& at(BufferId id) { return draft.plan.buffers[id.index()]; }

  Amount round_up(Amount offset, BufferId id) {
    const Amount to = alignment[id.index()];
    return (offset + to - 1) / to * to;
  }
};

/// Lays out buffers one after the other; returns the end of the last.
Amount lay_out(Space& space) {
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

/// Whether two buffers are in use at the same time in the steady state. A buffer that is in use
/// during the whole interval, or in several copies, meets all others.
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

/// Orders that are tried for a layout in which buffers share addresses.
constexpr int kMostOrders = 100;

/// Lays out the buffers in their order, each at the lowest place free of buffers in use at the same
/// time. Returns the end of the last, and the first that ends beyond the capacity.
std::pair<Amount, std::optional<std::size_t>> lay_out_in_order(Space& space) {
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

/// Lays out buffers that may share addresses, the largest first. Where one ends beyond the
/// capacity, it goes first in the next try. Returns the least end found; the layout is that of the
/// last try.
Amount lay_out_sharing(Space& space) {
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

/// Loads of one role that the same ops read share a channel: they arrive and leave together. Copies
/// by threads and by TMA have channels apart, since they are counted differently.
void group_rings(Draft& draft) {
  std::map<std::tuple<RoleId, bool, Readers>, std::size_t> known;
  for (std::size_t v = 0; v < draft.plan.problem.ops().size(); ++v) {
    if (!is_ring(draft, OpId(v))) continue;
    const auto key = std::make_tuple(draft.role[v], is_bulk_load(draft.mechanism(OpId(v))),
                                     readers_of(draft, OpId(v)));
    auto [at, fresh] = known.emplace(key, draft.rings.size());
    if (std::get<Readers>(key).empty()) {  // only its own next copy waits for it
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
bool deepen(Space& space, const std::vector<OpId>& ring, Amount& left) {
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

/// Gives copies to all rings in turn until they have that depth, as far as memory goes.
void deepen_in_turn(Space& space, int until, Amount& left) {
  for (int depth = 1; depth < until; ++depth) {
    for (const std::vector<OpId>& ring : space.draft.rings) {
      if (space.at(*space.draft.home(ring[0])).depth == depth) deepen(space, ring, left);
    }
  }
}

/// Gives the rest of memory to the rings, a copy at a time, to the ring that hides least of its
/// latency. Once all is hidden, to all in turn: deeper rings absorb delays that the model does not
/// have.
void deepen_rings(Space& space, Amount left) {
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

tl::unexpected<Diagnostic> too_much(Space& space, Amount needs) {
  Amount staged = 0;
  for (const BufferId id : space.buffers) {
    if (space.at(id).staging) staged += total(space.at(id));
  }
  return fail({},
              fmt::format("the buffers need {} of {} in {}, {} of it to hand values from group "
                          "to group",
                          needs, space.capacity, space.memory, staged),
              "a schedule with fewer crossing values, or smaller tiles");
}

/// Buffers whose copies go together: those of a ring, or one.
std::vector<BufferId> together_with(const Draft& draft, BufferId id) {
  for (const std::vector<OpId>& ring : draft.rings) {
    std::vector<BufferId> buffers;
    for (const OpId op : ring) buffers.push_back(*draft.home(op));
    if (std::find(buffers.begin(), buffers.end(), id) != buffers.end()) return buffers;
  }
  return {id};
}

/// Least copies for the order of the readers: a role that uses the next copy before it releases one
/// would wait for itself.
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

/// Takes a copy from the buffer that needs its last one for the shortest time. The schedule counts
/// on that copy, so the plan becomes slower than the schedule. False if all have one copy.
bool shrink(Space& space) {
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

/// Notes the rings that have fewer copies than wanted.
void note_short_rings(Space& space, int wanted) {
  for (const std::vector<OpId>& ring : space.draft.rings) {
    const Buffer& first = space.at(*space.draft.home(ring[0]));
    if (first.memory != space.memory || first.depth >= wanted) continue;
    std::vector<std::string> names;
    for (const OpId op : ring) names.push_back(space.draft.op(op).name);
    space.draft.plan.notes.push_back(fmt::format("{} of {} copies of {} fit in {}", first.depth,
                                                 wanted, fmt::join(names, " and "), space.memory));
  }
}

/// Lays out the buffers of the loop, and gives what is left to its rings.
Result<void> fill(Space& space, const Setting& setting) {
  if (space.buffers.empty()) return {};
  for (;;) {
    const Amount needs = lay_out(space);
    if (needs <= space.capacity) {
      Amount left = space.capacity - needs;
      if (setting.ring_depth) {
        deepen_in_turn(space, *setting.ring_depth, left);
        note_short_rings(space, *setting.ring_depth);
      } else {
        deepen_rings(space, left);
      }
      lay_out(space);
      return {};
    }
    const std::size_t before = space.draft.aliases.size();
    const Amount shared = lay_out_sharing(space);
    if (shared <= space.capacity) {
      if (setting.ring_depth) note_short_rings(space, *setting.ring_depth);
      return {};
    }
    space.draft.aliases.resize(before);
    if (!setting.shrink || !shrink(space)) return too_much(space, shared);
  }
}

/// Whether a buffer is the staging of a store behind the loop.
bool stages_a_store(const Buffer& buffer) { return buffer.invariant_buffer && buffer.staging; }

/// Puts buffers of the tile at the upper end of a memory, behind those of the loop. Returns the
/// space left for the loop. `overlaid`: staging lies in buffers of the loop.
Amount place_invariant_buffers(Space& space, Amount reserved, bool overlaid) {
  Amount end = space.capacity + reserved;
  for (std::size_t b = 0; b < space.draft.plan.buffers.size(); ++b) {
    Buffer& buffer = space.draft.plan.buffers[b];
    if (!buffer.invariant_buffer || buffer.memory != space.memory) continue;
    if (overlaid && stages_a_store(buffer)) continue;
    const Amount to = space.alignment[b];
    buffer.offset = floor_divide(end - buffer.size, to) * to;
    end = buffer.offset;
  }
  return overlaid ? end : std::min(end, space.capacity);
}

/// The staging buffers in a memory.
std::vector<BufferId> staging_in(const Space& space) {
  std::vector<BufferId> found;
  for (std::size_t b = 0; b < space.draft.plan.buffers.size(); ++b) {
    const Buffer& buffer = space.draft.plan.buffers[b];
    if (buffer.memory == space.memory && stages_a_store(buffer)) found.emplace_back(b);
  }
  return found;
}

/// Puts the staging of all roles into rings, each into the largest that has room behind what is
/// there already. False if there is none.
bool lay_staging_in_rings(Space& space) {
  std::map<BufferId, Amount> free;  // of rings whose waits tell that all is there, from where on
  for (const std::vector<OpId>& ring : space.draft.rings) {
    for (const OpId op : ring) {
      const BufferId id = *space.draft.home(op);
      const bool read = !readers_of(space.draft, op).empty();
      if (space.at(id).memory == space.memory && read) free[id] = space.at(id).offset;
    }
  }
  for (const BufferId id : staging_in(space)) {
    std::optional<BufferId> into;
    for (const auto& [ring, from] : free) {
      const Buffer& it = space.at(ring);
      const bool fits = space.round_up(from, id) + space.at(id).size <= it.offset + total(it);
      if (fits && (!into || total(it) > total(space.at(*into)))) into = ring;
    }
    if (!into) return false;
    space.at(id).offset = space.round_up(free.at(*into), id);
    free.at(*into) = space.at(id).offset + space.at(id).size;
    space.draft.overlays.emplace_back(id, *into);
  }
  return true;
}

/// Whether a ring in the memory has too few copies to hide the latency of its loads.
bool lacks_copies(Space& space, const Setting& setting) {
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

/// Copies of all rings.
int copies_of_rings(const Draft& draft) {
  int copies = 0;
  for (const std::vector<OpId>& ring : draft.rings)
    copies += draft.plan[*draft.home(ring[0])].depth;
  return copies;
}

/// Lays out a memory. Where loops lack memory, or rings copies that hide latency, the staging of a
/// CTA's only tile lies in a ring. The ring is empty by then.
Result<void> fill_beside_staging(Space& space, Amount reserved, const Setting& setting) {
  Draft& draft = space.draft;
  const Amount all = space.capacity;
  const Draft before = draft;
  space.capacity = place_invariant_buffers(space, reserved, false);
  auto apart = fill(space, setting);
  const bool may_overlay = draft.plan.kernel && draft.plan.kernel->tiles == Tiles::one_per_cta &&
                           !staging_in(space).empty();
  if (!may_overlay || (apart && !lacks_copies(space, setting))) return apart;
  Draft overlaid = before;
  Space other{overlaid, space.memory, all, space.buffers, space.alignment};
  other.capacity = place_invariant_buffers(other, reserved, true);
  if (!fill(other, setting) || !lay_staging_in_rings(other)) return apart;
  if (apart && copies_of_rings(overlaid) <= copies_of_rings(draft)) return apart;
  draft = std::move(overlaid);
  return {};
}

}  // namespace

Result<void> make_addresses(Draft& draft, const Setting& setting) {
  group_rings(draft);
  round_up_for_tma(draft);
  std::vector<Amount> alignment;
  for (const Buffer& buffer : draft.plan.buffers) alignment.push_back(alignment_of(buffer, false));
  for (const Value& value : draft.plan.values) {
    if (value.staged && value.format == StagingFormat::operand) {
      alignment[value.staged->index()] = alignment_of(draft.plan[*value.staged], true);
    }
  }
  align_for_tma(draft, alignment);
  const std::vector<problem::Memory> memories(draft.plan.problem.memories().begin(),
                                              draft.plan.problem.memories().end());
  for (const problem::Memory& memory : memories) {
    Space space{draft, memory.name, memory.capacity, {}, alignment};
    Amount reserved = 0;
    for (const auto& [name, amount] : setting.reserved)
      reserved += name == memory.name ? amount : 0;
    draft.plan.limits.reserved.push_back(reserved);
    for (std::size_t b = 0; b < draft.plan.buffers.size(); ++b) {
      const Buffer& buffer = draft.plan.buffers[b];
      if (buffer.memory == memory.name && !buffer.invariant_buffer) space.buffers.emplace_back(b);
    }
    TWILL_TRY_VOID(fill_beside_staging(space, reserved, setting));
  }
  return {};
}

}  // namespace twill::plan
