#include "twill/certify/facts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "twill/problem/transfer.h"

namespace twill::certify {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Group;
using problem::Op;
using problem::Problem;
using problem::Rule;

constexpr Cycles kNotReached = std::numeric_limits<Cycles>::min();

OpFacts facts_of_op(const Problem& problem, const Op& op) {
  const Alternative& alternative = op.alternatives.front();
  OpFacts out;
  if (alternative.unit && alternative.occupancy > 0 && problem.in_force(Rule::unit))
    out.unit = alternative.unit->index();
  out.occupancy = alternative.occupancy;
  out.issue = alternative.issue;
  out.span = problem::span_of(alternative);
  out.registers = op.registers;
  for (std::size_t group = 0; group < problem.groups().size(); ++group) {
    if (may_run(problem, op, problem.groups()[group])) out.groups.push_back(group);
  }
  return out;
}

void add_transfers(const Problem& problem, Facts& out) {
  for (const problem::Transfer& it : problem.transfers()) {
    out.ops[it.store.index()].home = it.value.index();
    for (const problem::Transfer::Load& load : it.loads) {
      const std::pair move(it.value.index(), load.reader.index());
      out.ops[it.store.index()].moves.push_back(move);
      out.ops[load.op.index()].moves = {move};
      out.ops[load.op.index()].home = load.reader.index();
    }
  }
}

bool is_transferable(const Problem& problem, const Dependence& dependence) {
  for (const problem::Transfer& it : problem.transfers()) {
    if (it.value != dependence.from) continue;
    for (const problem::Transfer::Load& load : it.loads) {
      if (load.reader == dependence.to) return true;
    }
  }
  return false;
}

/// Longest paths from `start` to each op, over edges of ops that always exist.
std::vector<Cycles> farthest_from(const Facts& facts, std::size_t start, Cycles interval) {
  std::vector<Cycles> after(facts.ops.size(), kNotReached);
  after[start] = 0;
  bool moved = true;
  for (std::size_t round = 0; moved && round < after.size(); ++round) {
    moved = false;
    for (const Edge& edge : facts.edges) {
      if (!facts.ops[edge.from].always() || !facts.ops[edge.to].always()) continue;
      if (after[edge.from] == kNotReached) continue;
      const Cycles at = after[edge.from] + edge.delay - edge.distance * interval;
      if (at <= after[edge.to]) continue;
      after[edge.to] = at;
      moved = true;
    }
  }
  return after;
}

/// Fewest cycles from the issue to the end of a reading, among readings by transfer ops or all
/// readings. 0 if the dependences give no bound.
Cycles first_end(const Facts& facts, std::size_t value, bool all) {
  Cycles first = std::numeric_limits<Cycles>::max();
  for (const Reading& it : facts.readings[value]) {
    if (all || !facts.ops[it.reader].always()) first = std::min(first, it.abroad.value_or(0));
  }
  return first;
}

std::int64_t amount_in(const Op& op, problem::MemoryId memory) {
  std::int64_t amount = 0;
  for (const problem::Footprint& it : op.footprint) amount += it.memory == memory ? it.amount : 0;
  return amount;
}

std::vector<BufferFacts> buffers_in(const Problem& problem, problem::MemoryId memory,
                                    const Facts& facts) {
  std::vector<BufferFacts> out;
  if (!problem.in_force(Rule::placement)) return out;
  std::vector<std::size_t> set(problem.ops().size());  // by op, an op tied to it
  std::iota(set.begin(), set.end(), std::size_t{0});
  const auto root = [&](std::size_t op) {
    while (set[op] != op) op = set[op];
    return op;
  };
  for (const Dependence& it : problem.dependences()) {
    const bool both =
        amount_in(problem[it.from], memory) > 0 && amount_in(problem[it.to], memory) > 0;
    if (it.in_place && both) set[root(it.from.index())] = root(it.to.index());
  }
  std::map<std::size_t, std::size_t> known;
  for (std::size_t op = 0; op < set.size(); ++op) {
    const std::int64_t amount = amount_in(problem.ops()[op], memory);
    if (amount == 0 || facts.readings[op].empty()) continue;
    const auto [found, fresh] = known.try_emplace(root(op), out.size());
    if (fresh) out.emplace_back();
    out[found->second].ops.push_back(op);
    out[found->second].size = std::max(out[found->second].size, amount);
  }
  return out;
}

/// Largest demand on one pipe: with `least`, of ops that always exist; else of all ops, since
/// transfer ops may exist.
Cycles pipe_load(const Problem& problem, const Facts& facts, bool least) {
  Cycles load = 0;
  if (!problem.in_force(Rule::pipe)) return load;
  std::vector<Cycles> pipes(problem.pipes().size(), 0);
  for (std::size_t op = 0; op < facts.ops.size(); ++op) {
    if (least && !facts.ops[op].always()) continue;
    for (const problem::PipeUse& use : problem.ops()[op].alternatives.front().pipes) {
      load = std::max(load, pipes[use.pipe.index()] += use.demand);
    }
  }
  return load;
}

}  // namespace

bool may_run(const Problem& problem, const Op& op, const Group& group) {
  if (problem.in_force(Rule::width) && op.warps != group.warps) return false;
  return !problem.in_force(Rule::load_group) || op.variable_latency == group.loads;
}

const BufferFacts* Facts::buffer_of(std::size_t op, std::size_t memory) const {
  for (const BufferFacts& it : buffers[memory]) {
    if (std::binary_search(it.ops.begin(), it.ops.end(), op)) return &it;
  }
  return nullptr;
}

bool Facts::may_share(std::size_t a, std::size_t b) const {
  return std::any_of(ops[a].groups.begin(), ops[a].groups.end(), [&](std::size_t group) {
    return std::binary_search(ops[b].groups.begin(), ops[b].groups.end(), group);
  });
}

int compute_width(const problem::Problem& problem) {
  int most = 0;
  for (const problem::Group& it : problem.groups()) most = std::max(most, it.loads ? 0 : it.warps);
  return most;
}

bool computes(const problem::Problem& problem, std::size_t group) {
  const problem::Group& it = problem.groups()[group];
  return !it.loads && it.warps == compute_width(problem);
}

Facts facts_of(const Problem& problem) {
  Facts out;
  for (const Op& op : problem.ops()) {
    out.ops.push_back(facts_of_op(problem, op));
    out.ops.back().home = out.ops.size() - 1;
  }
  add_transfers(problem, out);
  out.readings.resize(problem.ops().size());
  const bool kept = problem.in_force(Rule::dependence);
  for (const Dependence& it : problem.dependences()) {
    const Op& from = problem[it.from];
    const Op& to = problem[it.to];
    const Cycles delay = problem::delay_of(it, from, from.alternatives.front());
    if (kept) {
      out.edges.push_back({it.from.index(), it.to.index(), delay, it.distance, it.transfer});
    }
    if (it.blocking) out.ops[it.to.index()].always_waits = true;
    if (!it.carries_value) continue;
    Reading reading;
    reading.reader = it.to.index();
    reading.distance = it.distance;
    reading.hold = problem::read_hold_of(it, to, to.alternatives.front());
    if (kept) reading.abroad = delay + it.transfer + reading.hold;
    reading.transferable = is_transferable(problem, it);
    out.readings[it.from.index()].push_back(reading);
  }
  for (std::size_t memory = 0; memory < problem.memories().size(); ++memory) {
    out.buffers.push_back(buffers_in(problem, problem::MemoryId(memory), out));
  }
  return out;
}

std::vector<std::vector<Cycles>> longest_paths(const Facts& facts) {
  constexpr Cycles kLongest = Cycles{1} << 39;  // longer paths count as equal
  const std::size_t n = facts.ops.size();
  std::vector<std::vector<Cycles>> paths(n, std::vector<Cycles>(n, kNoPath));
  for (const Edge& edge : facts.edges) {
    if (edge.distance > 0 || edge.from == edge.to) continue;
    if (!facts.ops[edge.from].always() || !facts.ops[edge.to].always()) continue;
    Cycles& path = paths[edge.from][edge.to];
    path = std::max(path, std::min(edge.delay, kLongest));
  }
  for (std::size_t via = 0; via < n; ++via) {
    for (std::size_t from = 0; from < n; ++from) {
      if (paths[from][via] == kNoPath) continue;
      for (std::size_t to = 0; to < n; ++to) {
        if (paths[via][to] == kNoPath) continue;
        const Cycles path = std::min(paths[from][via] + paths[via][to], kLongest);
        paths[from][to] = std::max(paths[from][to], path);
      }
    }
  }
  return paths;
}

std::vector<Cycles> least_lives(const Facts& facts, Cycles interval) {
  std::vector<Cycles> lives(facts.ops.size(), 0);
  for (std::size_t value = 0; value < lives.size(); ++value) {
    if (facts.readings[value].empty()) continue;
    if (!facts.ops[value].always()) {
      lives[value] = first_end(facts, value, true);
      continue;
    }
    const std::vector<Cycles> after = farthest_from(facts, value, interval);
    const Cycles stored = first_end(facts, value, false);
    for (const Reading& it : facts.readings[value]) {
      if (!facts.ops[it.reader].always() || after[it.reader] == kNotReached) continue;
      const Cycles end = after[it.reader] + it.distance * interval + it.hold;
      lives[value] = std::max(lives[value], it.transferable ? std::min(end, stored) : end);
    }
  }
  return lives;
}

Cycles least_load(const Problem& problem, const Facts& facts) {
  Cycles least = std::max<Cycles>(1, pipe_load(problem, facts, true));
  std::vector<Cycles> units(problem.units().size(), 0);
  for (const OpFacts& op : facts.ops) {
    if (!op.always()) continue;
    if (op.unit) least = std::max(least, units[*op.unit] += op.occupancy);
    if (problem.in_force(Rule::one_stream)) least = std::max(least, op.issue);
  }
  return least;
}

Cycles decisive_interval(const Problem& problem, const Facts& facts) {
  std::vector<Cycles> most(facts.ops.size(), 1);  // by op: the largest alpha that starts there
  const auto raise = [&](std::size_t op, Cycles by) { most[op] = std::max(most[op], by); };
  for (const Edge& edge : facts.edges) raise(edge.from, edge.delay + edge.transfer);
  for (std::size_t op = 0; op < facts.ops.size(); ++op) {
    raise(op, std::max(facts.ops[op].occupancy, facts.ops[op].issue));
    for (const Reading& it : facts.readings[op]) raise(it.reader, it.hold);
  }
  Cycles sum = 0;
  for (const Cycles cycles : most) sum += cycles;
  return std::max({sum, least_load(problem, facts), pipe_load(problem, facts, false)});
}

bool survives_stretching(Rule rule) {
  switch (rule) {  // a new rule counts only once its case is proven
    case Rule::dependence:
    case Rule::unit:
    case Rule::pipe:
    case Rule::memory:
    case Rule::placement:
    case Rule::registers:
    case Rule::width:
    case Rule::load_group:
    case Rule::blocking:
    case Rule::one_stream:
      return true;
  }
  return false;
}

}  // namespace twill::certify
