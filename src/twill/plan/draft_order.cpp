#include <algorithm>
#include <tuple>

#include "twill/plan/draft.h"

namespace twill::plan {
namespace {

Cycles slot_of(const Draft& draft, Cycles time) {
  return time - floor_divide(time, draft.interval) * draft.interval;
}

/// Whether `first` must come before `second` where both have the same slot. Then `first` computes a
/// value that `second` uses in the same window, or reads a value that `second` overwrites.
bool comes_before(const Draft& draft, OpId first, OpId second) {
  for (const Read& read : draft.reads) {
    const Cycles used = draft.issue(read.reader) + read.distance * draft.interval;
    const bool makes = read.value == first && read.reader == second;
    if (makes && used == draft.issue(first)) return true;
    const auto home = draft.home(read.value);
    if (read.reader != first || !home || draft.home(second) != home) continue;
    const int depth = copies_in_turn(draft.plan[*home]);
    const Cycles lead = used - draft.issue(second);
    const Cycles behind = read.distance - lead / draft.interval;
    // `first` takes over the buffer of the last value.
    if (read.in_place && updates(draft, first, second, behind)) continue;
    if (second == read.value ? lead == depth * draft.interval
                             : lead == 0 || lead == depth * draft.interval) {
      return true;
    }
  }
  return false;
}

/// Sorts clusters of equal slot so that every op follows its dependences. Otherwise, ends of
/// asynchronous work come first, then starts of asynchronous work, then the order of the ops.
void sort_ties(const Draft& draft, std::span<Cluster> ties) {
  for (std::size_t at = 0; at + 1 < ties.size(); ++at) {
    std::size_t pick = at;
    for (std::size_t i = at; i < ties.size(); ++i) {
      const bool free = std::none_of(
          ties.begin() + static_cast<std::ptrdiff_t>(at), ties.end(), [&](const Cluster& other) {
            return other.op != ties[i].op && !other.retire && !ties[i].retire &&
                   comes_before(draft, other.op, ties[i].op);
          });
      if (free) {
        pick = i;
        break;
      }
    }
    std::rotate(ties.begin() + static_cast<std::ptrdiff_t>(at),
                ties.begin() + static_cast<std::ptrdiff_t>(pick),
                ties.begin() + static_cast<std::ptrdiff_t>(pick) + 1);
  }
}

/// Whether the warp that starts an op must meet the other warps. They prepared its operands, or
/// read a value that it overwrites.
bool must_meet(const Draft& draft, OpId op) {
  if (!starts_alone(draft, op) || draft.role_at(op).warps == 1) return false;
  const auto home = draft.home(op);
  const bool aliased =
      home && std::any_of(draft.aliases.begin(), draft.aliases.end(), [&](const auto& pair) {
        return pair.first == *home || pair.second == *home;
      });
  return aliased || std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& read) {
           const bool before = read.reader == op;
           const bool after =
               home && draft.home(read.value) == home && draft.same_role(op, read.reader);
           return before || after;
         });
}

Cluster cluster_of(const Draft& draft, OpId op) {
  Cluster cluster{op, false, draft.issue(op), must_meet(draft, op), {}, {}, {}};
  DraftStep step;
  step.step.kind = is_asynchronous(draft.mechanism(op)) ? StepKind::issue : StepKind::compute;
  step.step.op = op;
  step.time = cluster.time;
  step.step.by = starts_alone(draft, op) ? By::one_warp : By::every_warp;
  cluster.main = std::move(step);
  return cluster;
}

/// Sets the copies of a register value: as many as are written before its last reader has its turn.
void widen_registers(Draft& draft) {
  std::vector<std::size_t> position(draft.role.size());
  for (const auto& clusters : draft.order) {
    for (std::size_t k = 0; k < clusters.size(); ++k) {
      if (!clusters[k].retire) position[clusters[k].op.index()] = k;
    }
  }
  for (const Read& read : draft.reads) {
    const auto home = draft.home(read.value);
    if (!read.carries_value || !home || !draft.same_role(read.value, read.reader)) continue;
    Buffer& buffer = draft.plan.buffers[home->index()];
    if (buffer.residence != Residence::registers) continue;
    const auto window = [&](OpId op) { return floor_divide(draft.issue(op), draft.interval); };
    const Cycles windows = window(read.reader) + read.distance - window(read.value);
    const bool after = position[read.reader.index()] > position[read.value.index()];
    if (read.in_place) continue;
    buffer.depth = std::max(buffer.depth, static_cast<int>(windows) + (after ? 1 : 0));
  }
}

bool ends_in_role(Mechanism mechanism) {
  return mechanism == Mechanism::wgmma || mechanism == Mechanism::bulk_store ||
         mechanism == Mechanism::scoreboard;
}

/// Whether an op may end late. Then it is the only product of its role, and no other op waits for
/// it. The product adds to its own last result, which has no other reader in the loop, and its
/// operands' buffers have a spare copy. The role then starts the next product before it waits for
/// this one and releases the operands: the tensor core never idles in between. On an H200 that
/// gains up to a third of a GEMM with tiles of 128x128. With two products in a role, the gain is
/// zero, or half a percent is lost (docs/hardware-log.md).
bool may_end_late(const Draft& draft, OpId op) {
  const RoleId role = draft.role[op.index()];
  if (draft.mechanism(op) != Mechanism::wgmma || draft.eager[role.index()]) return false;
  for (std::size_t v = 0; v < draft.role.size(); ++v) {
    const bool other = OpId(v) != op && draft.role[v] == role;
    if (other && draft.mechanism(OpId(v)) == Mechanism::wgmma) return false;
  }
  bool accumulates = false;
  for (const Read& read : draft.reads) {
    if (read.value == op) {
      if (read.reader != op || !read.in_place || read.distance != 1) return false;
      accumulates = true;
      continue;
    }
    if (read.reader != op || !read.carries_value) continue;
    const auto home = draft.home(read.value);
    if (!home) return false;
    const Buffer& buffer = draft.plan[*home];
    if (buffer.residence != Residence::shared) return false;
    if (buffer.invariant_buffer) continue;
    const Cycles released = draft.issue(op) + (read.distance + 1) * draft.interval + 1;
    const Cycles kept = released - draft.issue(read.value) + draft.interval;
    if (kept > copies_in_turn(buffer) * draft.interval) return false;
  }
  return accumulates;
}

}  // namespace

void make_order(Draft& draft) {
  for (std::size_t v = 0; v < draft.plan.problem.ops().size(); ++v) {
    draft.late.push_back(may_end_late(draft, OpId(v)));
  }
  draft.order.resize(draft.plan.roles.size());
  for (std::size_t v = 0; v < draft.plan.problem.ops().size(); ++v) {
    auto& clusters = draft.order[draft.role[v].index()];
    clusters.push_back(cluster_of(draft, OpId(v)));
    if (!ends_in_role(draft.mechanism(OpId(v)))) continue;
    clusters.push_back({OpId(v), true, retired(draft, OpId(v)), false, {}, {}, {}});
    if (!draft.eager[draft.role[v].index()] && !ends_with_window(draft, OpId(v))) continue;
    DraftStep drain;  // a need without a step
    drain.step.kind = StepKind::drain_groups;
    drain.time = clusters.back().time;
    drain.needs.push_back({OpId(v), 0});
    clusters.back().after.push_back(std::move(drain));
  }
  for (auto& clusters : draft.order) {
    const auto before = [&](const Cluster& a, const Cluster& b) {
      const auto key = [&](const Cluster& c) {
        return std::tuple(slot_of(draft, c.time), !c.retire,
                          !is_asynchronous(draft.mechanism(c.op)), c.op);
      };
      return key(a) < key(b);
    };
    std::sort(clusters.begin(), clusters.end(), before);
    for (std::size_t begin = 0; begin < clusters.size();) {
      std::size_t end = begin;
      while (end < clusters.size() &&
             slot_of(draft, clusters[end].time) == slot_of(draft, clusters[begin].time)) {
        ++end;
      }
      sort_ties(draft, std::span(clusters).subspan(begin, end - begin));
      begin = end;
    }
  }
  widen_registers(draft);
}

}  // namespace twill::plan
