#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/plan/draft.h"
#include "twill/plan/draft_ring_depths.h"
#include "twill/plan/draft_space.h"
#include "twill/problem/problem.h"

namespace twill::plan {
namespace {

constexpr Amount kLargestAlignment = 1024;  // alignment of a tile with 128-byte swizzle
constexpr Amount kColumnAlignment = 32;
constexpr Amount kBulkAlignment = 128;  // alignment of buffers that TMA copies to or from

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

tl::unexpected<Diagnostic> too_much(BufferSpace& space, Amount needs) {
  Amount staged = 0;
  for (const BufferId id : space.buffers) {
    if (space.at(id).staging) staged += total(space.at(id));
  }
  return fail({},
              fmt::format("the buffers need {} of {} in {}, {} of it to transfer values from group "
                          "to group",
                          needs, space.capacity, space.memory, staged),
              "a schedule with fewer crossing values, or smaller tiles");
}

/// Lays out the buffers of the loop, and gives the remaining memory to its rings.
Result<void> fill(BufferSpace& space, const Setting& setting) {
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

/// Whether a buffer is the staging of a store after the loop.
bool stages_a_store(const Buffer& buffer) { return buffer.invariant_buffer && buffer.staging; }

/// Puts buffers of the tile at the upper end of a memory, after those of the loop. Returns the
/// space left for the loop. `overlaid`: staging lies in buffers of the loop.
Amount place_invariant_buffers(BufferSpace& space, Amount reserved, bool overlaid) {
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
std::vector<BufferId> staging_in(const BufferSpace& space) {
  std::vector<BufferId> found;
  for (std::size_t b = 0; b < space.draft.plan.buffers.size(); ++b) {
    const Buffer& buffer = space.draft.plan.buffers[b];
    if (buffer.memory == space.memory && stages_a_store(buffer)) found.emplace_back(b);
  }
  return found;
}

/// Puts the staging of all roles into rings: each into the largest ring with enough room left.
/// Returns false if no ring has room.
bool lay_staging_in_rings(BufferSpace& space) {
  // By ring whose waits show that all data has arrived: offset from which memory is free.
  std::map<BufferId, Amount> free;
  for (const std::vector<OpId>& ring : space.draft.rings) {
    for (const OpId op : ring) {
      const BufferId id = *space.draft.home(op);
      if (space.at(id).memory == space.memory && is_read(space.draft, op))
        free[id] = space.at(id).offset;
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

/// Lays out a memory. If the loop lacks memory, or rings lack copies that hide latency, the staging
/// of a CTA's only tile lies in a ring. The ring is empty by then.
Result<void> fill_beside_staging(BufferSpace& space, Amount reserved, const Setting& setting) {
  Draft& draft = space.draft;
  const Amount all = space.capacity;
  const Draft before = draft;
  space.capacity = place_invariant_buffers(space, reserved, false);
  auto apart = fill(space, setting);
  const bool may_overlay = draft.plan.kernel && draft.plan.kernel->tiles == Tiles::one_per_cta &&
                           !staging_in(space).empty();
  if (!may_overlay || (apart && !lacks_copies(space, setting))) return apart;
  Draft overlaid = before;
  BufferSpace other{overlaid, space.memory, all, space.buffers, space.alignment};
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
    BufferSpace space{draft, memory.name, memory.capacity, {}, alignment};
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
