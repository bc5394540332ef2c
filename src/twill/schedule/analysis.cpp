#include "twill/schedule/analysis.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "twill/problem/problem.h"
#include "twill/support/whole_division.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Problem;

/// Copies alive at `cycle` of the steady state of an endless loop.
Cycles copies_at(const Life& life, Cycles cycle, Cycles interval) {
  return floor_divide(cycle - life.begin, interval) - floor_divide(cycle - life.end, interval);
}

/// Finds the highest sum in the steady state. Sums rise only where a value begins, so only these
/// cycles are tried.
Amount peak_of(const std::vector<Life>& lives, const std::vector<Amount>& amounts,
               Cycles interval) {
  std::vector<std::size_t> occupying;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (amounts[i] > 0 && lives[i].copies > 0) occupying.push_back(i);
  }
  Amount peak = 0;
  for (const std::size_t at : occupying) {
    Amount sum = 0;
    for (const std::size_t i : occupying) {
      sum += amounts[i] * copies_at(lives[i], lives[at].begin, interval);
    }
    peak = std::max(peak, sum);
  }
  return peak;
}

Amount amount_in(const problem::Op& op, MemoryId memory) {
  for (const problem::Footprint& footprint : op.footprint) {
    if (footprint.memory == memory) return footprint.amount;
  }
  return 0;
}

/// Free space by MemoryId, beside rings and beside the values outside of rings.
std::vector<Amount> room_beside(const Problem& problem, const Schedule& schedule,
                                const std::vector<Life>& lives, const std::vector<Ring>& rings) {
  std::vector<bool> in_ring(lives.size(), false);
  for (const Ring& ring : rings) in_ring[ring.op.index()] = true;
  std::vector<Amount> room;
  for (std::size_t m = 0; m < problem.memories().size(); ++m) {
    std::vector<Amount> amounts;
    for (std::size_t i = 0; i < lives.size(); ++i) {
      amounts.push_back(in_ring[i] ? 0 : amount_in(problem.ops()[i], MemoryId(m)));
    }
    Amount left =
        problem.memories()[m].capacity - peak_of(lives, amounts, schedule.initiation_interval);
    for (const Ring& ring : rings) left -= ring.depth * amount_in(problem[ring.op], MemoryId(m));
    room.push_back(left);
  }
  return room;
}

bool has_room(const problem::Op& op, const std::vector<Amount>& room) {
  return std::all_of(op.footprint.begin(), op.footprint.end(),
                     [&](const problem::Footprint& footprint) {
                       return footprint.amount <= room[footprint.memory.index()];
                     });
}

/// Chooses the ring that hides the smallest share of its latency. Candidates have room, and fall
/// short of their latency or of the depth.
Ring* neediest(const Problem& problem, std::vector<Ring>& rings, const std::vector<Amount>& room,
               std::optional<Cycles> depth) {
  Ring* chosen = nullptr;
  for (Ring& ring : rings) {
    if (ring.depth >= depth.value_or(kDeepestRing)) continue;
    if (!depth && ring.hides >= ring.wants) continue;
    if (!has_room(problem[ring.op], room)) continue;
    if (chosen == nullptr || ring.hides * chosen->wants < chosen->hides * ring.wants) {
      chosen = &ring;
    }
  }
  return chosen;
}

/// First issue of a reader of each value, by OpId; empty without a reader.
std::vector<std::optional<Cycles>> first_reads(const Problem& problem, const Schedule& schedule) {
  std::vector<std::optional<Cycles>> first(schedule.ops.size());
  for (const problem::Dependence& edge : problem.dependences()) {
    if (!edge.carries_value) continue;
    const Cycles read =
        schedule.ops[edge.to.index()].issue + edge.distance * schedule.initiation_interval;
    std::optional<Cycles>& known = first[edge.from.index()];
    known = known ? std::min(*known, read) : read;
  }
  return first;
}

}  // namespace

std::vector<Life> lives_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Life> lives;
  for (const Placement& at : schedule.ops) lives.push_back({at.issue, at.issue, 0});
  const Cycles interval = schedule.initiation_interval;
  for (const problem::Dependence& edge : problem.dependences()) {
    if (!edge.carries_value) continue;
    const Cycles hold =
        problem::read_hold_of(edge, problem[edge.to], alternative_of(problem, schedule, edge.to));
    const Cycles read = schedule.ops[edge.to.index()].issue + edge.distance * interval + hold;
    Life& life = lives[edge.from.index()];
    life.end = std::max(life.end, read);
  }
  for (Life& life : lives) life.copies = (life.end - life.begin + interval - 1) / interval;
  return lives;
}

std::vector<Buffer> buffers_of(const Problem& problem, const Schedule& schedule) {
  const std::vector<Life> lives = lives_of(problem, schedule);
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].copies == 0) continue;
    for (const problem::Footprint& footprint : problem.ops()[i].footprint) {
      if (footprint.amount == 0) continue;
      buffers.push_back({OpId(i), footprint.memory, footprint.amount, lives[i].copies});
    }
  }
  return buffers;
}

std::vector<Amount> peak_registers(const Problem& problem, const Schedule& schedule) {
  const std::vector<Life> lives = lives_of(problem, schedule);
  std::vector<Amount> peaks;
  for (std::size_t g = 0; g < problem.groups().size(); ++g) {
    std::vector<Amount> amounts;
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const bool here = schedule.ops[i].group == GroupId(g);
      amounts.push_back(here ? problem.ops()[i].registers : 0);
    }
    peaks.push_back(peak_of(lives, amounts, schedule.initiation_interval));
  }
  return peaks;
}

std::vector<Amount> registers_taken(const Problem& problem, const Schedule& schedule,
                                    const problem::RegisterBudget& budget) {
  const std::vector<Amount> peaks = peak_registers(problem, schedule);
  std::vector<Amount> taken;
  for (const GroupId group : budget.groups) {
    taken.push_back(budget.steps_for(peaks[group.index()]) * budget.step);
  }
  return taken;
}

std::vector<Amount> peak_memory(const Problem& problem, const Schedule& schedule) {
  const std::vector<Life> lives = lives_of(problem, schedule);
  std::vector<Amount> peaks;
  for (std::size_t m = 0; m < problem.memories().size(); ++m) {
    std::vector<Amount> amounts;
    for (const problem::Op& op : problem.ops()) amounts.push_back(amount_in(op, MemoryId(m)));
    peaks.push_back(peak_of(lives, amounts, schedule.initiation_interval));
  }
  return peaks;
}

std::vector<std::vector<OpId>> tied_values(const Problem& problem, MemoryId memory) {
  std::vector<std::size_t> tied(problem.ops().size());  // first op of the op's buffer
  for (std::size_t op = 0; op < tied.size(); ++op) tied[op] = op;
  std::vector<bool> is_read(tied.size(), false);
  for (const problem::Dependence& it : problem.dependences()) {
    if (it.carries_value) is_read[it.from.index()] = true;
    if (!it.in_place || amount_in(problem[it.from], memory) == 0) continue;
    if (amount_in(problem[it.to], memory) == 0) continue;
    const std::size_t a = tied[it.from.index()];
    const std::size_t b = tied[it.to.index()];
    std::replace(tied.begin(), tied.end(), std::max(a, b), std::min(a, b));
  }
  std::map<std::size_t, std::size_t> numbers;  // index of a buffer by its first op
  std::vector<std::vector<OpId>> buffers;
  for (std::size_t op = 0; op < tied.size(); ++op) {
    if (!is_read[op] || amount_in(problem.ops()[op], memory) == 0) continue;
    const auto [number, fresh] = numbers.try_emplace(tied[op], buffers.size());
    if (fresh) buffers.emplace_back();
    buffers[number->second].emplace_back(op);
  }
  return buffers;
}

std::vector<Amount> memory_reach(const Problem& problem, const Schedule& schedule) {
  const std::vector<Life> lives = lives_of(problem, schedule);
  std::vector<Amount> reach = peak_memory(problem, schedule);
  for (std::size_t m = 0; m < reach.size(); ++m) {
    Amount highest = 0;
    for (const std::vector<OpId>& values : tied_values(problem, MemoryId(m))) {
      Amount size = 0;
      std::vector<Amount> ones(lives.size(), 0);
      std::optional<Amount> offset;
      for (const OpId op : values) {
        size = std::max(size, amount_in(problem[op], MemoryId(m)));
        ones[op.index()] = 1;
        if (!offset) offset = offset_of(schedule, op, MemoryId(m));
      }
      if (!offset) continue;
      highest =
          std::max(highest, *offset + size * peak_of(lives, ones, schedule.initiation_interval));
    }
    if (highest > 0) reach[m] = highest;
  }
  return reach;
}

std::vector<Cycles> unit_loads(const Problem& problem, const Schedule& schedule) {
  std::vector<Cycles> loads(problem.units().size(), 0);
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Alternative& alternative = alternative_of(problem, schedule, OpId(i));
    if (alternative.unit) loads[alternative.unit->index()] += alternative.occupancy;
  }
  return loads;
}

std::vector<Cycles> pipe_loads(const Problem& problem, const Schedule& schedule) {
  std::vector<Cycles> loads(problem.pipes().size(), 0);
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    for (const problem::PipeUse& use : alternative_of(problem, schedule, OpId(i)).pipes) {
      loads[use.pipe.index()] += use.demand;
    }
  }
  return loads;
}

std::vector<GroupId> used_groups(const Problem& problem, const Schedule& schedule) {
  std::vector<bool> used(problem.groups().size(), false);
  for (const Placement& at : schedule.ops) used[at.group.index()] = true;
  std::vector<GroupId> groups;
  for (std::size_t g = 0; g < used.size(); ++g) {
    if (used[g]) groups.emplace_back(g);
  }
  return groups;
}

std::vector<Ring> rings_of(const Problem& problem, const Schedule& schedule,
                           std::optional<Cycles> depth) {
  const std::vector<Life> lives = lives_of(problem, schedule);
  const std::vector<std::optional<Cycles>> reads = first_reads(problem, schedule);
  const Cycles interval = schedule.initiation_interval;
  // Latency that a ring hides: a copy is free at the earliest `interval * depth` cycles after its
  // load was issued. So a load may lead its first read by that time less the time of reading.
  const auto hidden = [&](const Ring& ring) {
    const Cycles reading = lives[ring.op.index()].end - *reads[ring.op.index()];
    return ring.depth * interval - reading;
  };
  std::vector<Ring> rings;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    if (!problem.ops()[i].streaming || !reads[i]) continue;
    Ring ring{OpId(i), std::max<Cycles>(1, lives[i].copies), 0,
              alternative_of(problem, schedule, OpId(i)).latency};
    ring.hides = hidden(ring);
    rings.push_back(ring);
  }
  std::vector<Amount> room = room_beside(problem, schedule, lives, rings);
  while (Ring* ring = neediest(problem, rings, room, depth)) {
    ++ring->depth;
    ring->hides = hidden(*ring);
    for (const problem::Footprint& footprint : problem[ring->op].footprint) {
      room[footprint.memory.index()] -= footprint.amount;
    }
  }
  return rings;
}

}  // namespace twill::schedule
