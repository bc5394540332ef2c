#include "twill/explain/what_ifs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "twill/explain/what_if_parts.h"
#include "twill/explain/words.h"
#include "twill/problem/objection.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/pool_class.h"
#include "twill/solve/symmetry.h"

namespace twill::explain {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Group;
using problem::Op;
using problem::Parts;
using problem::Problem;
using problem::Rule;
using schedule::PoolClass;
using schedule::Schedule;

/// Steps of rates and times. Rates go up by 5 % to four times, then to no time at all; times go
/// down by 5 % to nothing.
constexpr std::int64_t kPercent = 5;
constexpr std::int64_t kRateSteps = 300 / kPercent;
constexpr std::int64_t kTimeSteps = 100 / kPercent;

constexpr const char* kLatencies = "latency of every op beyond what it holds";

constexpr Cycles divided(Cycles a, Cycles b) { return (a + b - 1) / b; }
/// Name of a rate's step: "1.25 times as fast".
std::string rate_text(std::int64_t step) {
  if (step > kRateSteps) return "no matter how fast";
  return fmt::format("{:.2f} times as fast", 1 + 0.01 * static_cast<double>(step * kPercent));
}

Cycles at_rate(Cycles cycles, std::int64_t step) {
  if (step > kRateSteps) return 0;
  return divided(cycles * 100, 100 + step * kPercent);
}

/// Speeds up a unit: an op holds it for less time, and its result is there as much earlier.
void speed_up_unit(Alternative& alternative, problem::UnitId unit, std::int64_t step) {
  if (alternative.unit != unit) return;
  const Cycles now = at_rate(alternative.occupancy, step);
  alternative.latency = std::max<Cycles>(alternative.latency - (alternative.occupancy - now), 0);
  alternative.occupancy = now;
  if (now == 0) alternative.unit.reset();
}

Cycles longest_demand(const Alternative& alternative) {
  Cycles most = 0;
  for (const problem::PipeUse& use : alternative.pipes) most = std::max(most, use.demand);
  return most;
}

/// Speeds up a pipe: the demand shrinks. The op gets shorter by as much as this pipe was its limit.
void speed_up_pipe(Alternative& alternative, problem::PipeId pipe, std::int64_t step) {
  const Cycles before = longest_demand(alternative);
  for (problem::PipeUse& use : alternative.pipes) {
    if (use.pipe == pipe) use.demand = at_rate(use.demand, step);
  }
  const Cycles gain = before - longest_demand(alternative);
  alternative.latency = std::max<Cycles>(alternative.latency - gain, 0);
  alternative.issue = std::max<Cycles>(alternative.issue - gain, 0);
}

template <class Uses>
std::vector<bool> ops_that(const Problem& problem, Uses uses) {
  std::vector<bool> out;
  for (const Op& op : problem.ops()) {
    out.push_back(std::any_of(op.alternatives.begin(), op.alternatives.end(), uses));
  }
  return out;
}

/// Requirements that a change of the times of these ops may weaken.
std::function<bool(const Requirement&)> touches_times(const Problem& problem,
                                                      std::vector<bool> ops) {
  return [&problem, ops = std::move(ops)](const Requirement& m) {
    if (m.kind == Kind::hold || m.kind == Kind::demand || m.kind == Kind::issue) {
      return static_cast<bool>(ops[m.index]);
    }
    if (m.kind == Kind::transfer_costs) {
      return any_transfer_op(problem, m, [&](problem::OpId op) { return ops[op.index()]; });
    }
    if (m.kind != Kind::dependence) return false;
    const Dependence& it = problem.dependences()[m.index];
    return ops[it.from.index()] || ops[it.to.index()];
  };
}

template <class SpeedUp, class Uses>
void add_rate_what_if(const Problem& problem, std::string what, SpeedUp speed_up, Uses uses,
                      std::vector<WhatIf>& out) {
  WhatIf it = what_if(problem, std::move(what), "", kRateSteps + 1,
                      [speed_up](Parts& parts, std::int64_t step) {
                        for (Op& op : parts.ops) {
                          for (Alternative& alternative : op.alternatives)
                            speed_up(alternative, step);
                        }
                      });
  it.value = rate_text;
  it.typical = 100 / kPercent;
  it.touches = touches_times(problem, ops_that(problem, uses));
  out.push_back(std::move(it));
}

void add_rate_what_ifs(const Problem& problem, std::vector<WhatIf>& out) {
  for (std::size_t i = 0; i < problem.units().size(); ++i) {
    const problem::UnitId unit(i);
    add_rate_what_if(
        problem, "unit " + problem.units()[i].name,
        [unit](Alternative& alternative, std::int64_t step) {
          speed_up_unit(alternative, unit, step);
        },
        [unit](const Alternative& alternative) { return alternative.unit == unit; }, out);
  }
  for (std::size_t i = 0; i < problem.pipes().size(); ++i) {
    const problem::PipeId pipe(i);
    const auto uses = [pipe](const Alternative& alternative) {
      return std::any_of(alternative.pipes.begin(), alternative.pipes.end(),
                         [&](const problem::PipeUse& use) { return use.pipe == pipe; });
    };
    add_rate_what_if(
        problem, "pipe " + problem.pipes()[i].name,
        [pipe](Alternative& alternative, std::int64_t step) {
          speed_up_pipe(alternative, pipe, step);
        },
        uses, out);
  }
}

/// Corresponding ops of interchangeable sub-tiles.
using Orbit = std::vector<std::size_t>;

std::vector<Orbit> orbits_of(const Problem& problem) {
  const std::size_t op_count = problem.ops().size();
  std::vector<std::size_t> lowest(op_count);
  std::iota(lowest.begin(), lowest.end(), 0);
  const solve::SubTiles sub_tiles = solve::find_sub_tiles(problem);
  for (const solve::Exchange& exchange : sub_tiles.exchanges) {
    for (std::size_t op = 0; op < op_count; ++op) {
      const std::size_t least = std::min(lowest[op], lowest[exchange[op]]);
      lowest[op] = lowest[exchange[op]] = least;
    }
  }
  std::vector<Orbit> orbits(op_count);
  for (std::size_t op = 0; op < op_count; ++op) orbits[lowest[lowest[op]]].push_back(op);
  std::erase_if(orbits, [](const Orbit& orbit) { return orbit.empty(); });
  return orbits;
}

std::string names_in(const Problem& problem, const Orbit& orbit) {
  std::vector<std::string> names;
  for (const std::size_t op : orbit) names.push_back(problem.ops()[op].name);
  return listed(names);
}

std::vector<bool> marked(const Problem& problem, const Orbit& orbit) {
  std::vector<bool> ops(problem.ops().size(), false);
  for (const std::size_t op : orbit) ops[op] = true;
  return ops;
}

/// Time after `step` of `steps` on its way to nothing.
Cycles shortened(Cycles cycles, std::int64_t step, std::int64_t steps) {
  return divided(cycles * (steps - step), steps);
}

Cycles held(const Alternative& alternative) {
  return std::max({alternative.occupancy, alternative.issue, longest_demand(alternative)});
}

/// Shortens all times of an op in proportion.
void shorten(Alternative& alternative, std::int64_t step, std::int64_t steps) {
  alternative.occupancy = shortened(alternative.occupancy, step, steps);
  if (alternative.occupancy == 0) alternative.unit.reset();
  alternative.latency = shortened(alternative.latency, step, steps);
  alternative.issue = shortened(alternative.issue, step, steps);
  for (problem::PipeUse& use : alternative.pipes) use.demand = shortened(use.demand, step, steps);
}

/// Shortens, in proportion, the latency after the op has given up its unit and its issue.
void hurry(Alternative& alternative, std::int64_t step, std::int64_t steps) {
  const Cycles busy = std::max(alternative.occupancy, alternative.issue);
  if (alternative.latency > busy)
    alternative.latency = busy + shortened(alternative.latency - busy, step, steps);
}

void add_time_what_if(const Problem& problem, const Orbit& orbit, std::vector<WhatIf>& out) {
  const Alternative& alternative = problem.ops()[orbit.front()].alternatives.front();
  const Cycles now = held(alternative) > 0 ? held(alternative) : alternative.latency;
  if (now == 0) return;
  const std::int64_t steps = std::min(kTimeSteps, now);
  WhatIf it = what_if(
      problem, "time that " + names_in(problem, orbit) + (orbit.size() == 1 ? " takes" : " take"),
      cycles(now), steps, [orbit, steps](Parts& parts, std::int64_t step) {
        for (const std::size_t op : orbit) {
          for (Alternative& each : parts.ops[op].alternatives) shorten(each, step, steps);
        }
      });
  it.value = [now, steps](std::int64_t step) {
    return std::to_string(shortened(now, step, steps));
  };
  it.of_op = true;
  it.touches = touches_times(problem, marked(problem, orbit));
  out.push_back(std::move(it));
}

void add_latency_what_if(const Problem& problem, const Orbit& orbit, std::vector<WhatIf>& out) {
  const Alternative& alternative = problem.ops()[orbit.front()].alternatives.front();
  const Cycles tail = alternative.latency - std::max(alternative.occupancy, alternative.issue);
  if (tail <= 0) return;
  const std::int64_t steps = std::min(kTimeSteps, tail);
  WhatIf it =
      what_if(problem, "latency of " + names_in(problem, orbit), cycles(alternative.latency), steps,
              [orbit, steps](Parts& parts, std::int64_t step) {
                for (const std::size_t op : orbit) {
                  for (Alternative& each : parts.ops[op].alternatives) hurry(each, step, steps);
                }
              });
  it.value = [alternative, steps](std::int64_t step) {
    Alternative changed = alternative;
    hurry(changed, step, steps);
    return std::to_string(changed.latency);
  };
  it.of_op = true;
  it.only_if = kLatencies;
  it.touches = touches_times(problem, marked(problem, orbit));
  out.push_back(std::move(it));
}

/// Adds a copy of each alternative of the ops, on this unit.
void offer_unit(Parts& parts, const Orbit& orbit, problem::UnitId unit) {
  for (const std::size_t op : orbit) {
    std::vector<Alternative>& alternatives = parts.ops[op].alternatives;
    if (alternatives.front().name.empty()) alternatives.front().name = "own";
    Alternative other = alternatives.front();
    other.name = "other_unit";
    other.unit = unit;
    alternatives.push_back(std::move(other));
  }
}

bool is_synchronous(const Op& op) { return !op.asynchronous && !op.variable_latency; }

/// Lists other units on which an op that keeps its own group busy could run: units of similar ops.
std::vector<problem::UnitId> other_units(const Problem& problem, const Op& op) {
  std::vector<bool> used(problem.units().size(), false);
  for (const Op& it : problem.ops()) {
    if (!is_synchronous(it) || it.warps != op.warps) continue;
    for (const Alternative& alternative : it.alternatives) {
      if (alternative.unit) used[alternative.unit->index()] = true;
    }
  }
  used[op.alternatives.front().unit->index()] = false;
  std::vector<problem::UnitId> units;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) units.emplace_back(i);
  }
  return units;
}

void add_unit_what_ifs(const Problem& problem, const Orbit& orbit, std::vector<WhatIf>& out) {
  const Op& op = problem.ops()[orbit.front()];
  constexpr std::size_t kLargestOrbit = 4;  // every choice of alternatives is searched
  if (op.alternatives.size() != 1 || !op.alternatives.front().unit || orbit.size() > kLargestOrbit)
    return;
  if (!is_synchronous(op)) return;
  for (const problem::UnitId unit : other_units(problem, op)) {
    Parts trial = problem.parts();
    offer_unit(trial, orbit, unit);
    if (problem::objection_to(trial)) continue;  // beyond the limit on a loop's durations
    const std::string what =
        fmt::format("{} also on {}, for as long as on {}", names_in(problem, orbit),
                    problem[unit].name, problem[*op.alternatives.front().unit].name);
    WhatIf it = what_if(problem, what, "", 1, [orbit, unit](Parts& parts, std::int64_t) {
      offer_unit(parts, orbit, unit);
    });
    it.value = [](std::int64_t) { return std::string(); };
    const std::vector<bool> ops = marked(problem, orbit);
    it.of_op = true;
    it.only_if = "unit " + problem[*op.alternatives.front().unit].name;
    it.touches = [ops](const Requirement& m) { return m.kind == Kind::hold && ops[m.index]; };
    out.push_back(std::move(it));
  }
}

/// Shortens all transfers between groups, delays as well as stores and loads.
void cheapen(Parts& parts, std::int64_t step) {
  for (Dependence& each : parts.dependences) {
    each.transfer = shortened(each.transfer, step, kTimeSteps);
  }
  for (const problem::Transfer& it : parts.transfers) {
    shorten(parts.ops[it.store.index()].alternatives.front(), step, kTimeSteps);
    for (const auto& load : it.loads) {
      shorten(parts.ops[load.op.index()].alternatives.front(), step, kTimeSteps);
    }
  }
}

void add_transfer_what_if(const Problem& problem, std::vector<WhatIf>& out) {
  const auto costs = [](const Dependence& it) { return it.transfer > 0; };
  const auto all = problem.dependences();
  if (std::none_of(all.begin(), all.end(), costs) && problem.transfers().empty()) return;
  WhatIf it = what_if(problem, "cost of transfers between groups", "100 %", kTimeSteps, cheapen);
  it.value = [](std::int64_t step) { return fmt::format("{} %", 100 - step * kPercent); };
  it.touches = [](const Requirement& m) {
    return m.kind == Kind::transfer || m.kind == Kind::transfer_costs;
  };
  out.push_back(std::move(it));
}

void add_latencies_what_if(const Problem& problem, std::vector<WhatIf>& out) {
  WhatIf it =
      what_if(problem, kLatencies, "100 %", kTimeSteps, [](Parts& parts, std::int64_t step) {
        for (Op& op : parts.ops) {
          for (Alternative& alternative : op.alternatives) hurry(alternative, step, kTimeSteps);
        }
      });
  it.value = [](std::int64_t step) { return fmt::format("{} %", 100 - step * kPercent); };
  it.touches = [](const Requirement& m) {
    return m.kind == Kind::dependence || m.kind == Kind::transfer_costs;
  };
  out.push_back(std::move(it));
}

void add_rule_what_ifs(const Problem& problem, std::vector<WhatIf>& out) {
  for (const Rule rule : {Rule::width, Rule::load_group, Rule::blocking, Rule::one_stream}) {
    if (!problem.in_force(rule)) continue;
    WhatIf it = what_if(problem, fmt::format("rule {}", problem::name_of(rule)), "", 1,
                        [rule](Parts& parts, std::int64_t) { relax(parts, rule); });
    it.value = [](std::int64_t) { return std::string("relaxed"); };
    out.push_back(std::move(it));
  }
  if (problem.in_force(Rule::placement) && !problem.memories().empty()) {
    WhatIf it = what_if(problem, "rule placement", "", 1,
                        [](Parts& parts, std::int64_t) { relax(parts, Rule::placement); });
    it.value = [](std::int64_t) { return std::string("relaxed"); };
    it.touches = [](const Requirement& m) {
      return m.kind == Kind::footprint || m.kind == Kind::transfer_costs;
    };
    out.push_back(std::move(it));
  }
  if (problem.same_group().empty()) return;
  WhatIf it = what_if(problem, "rule same-group", "", 1,
                      [](Parts& parts, std::int64_t) { parts.same_group.clear(); });
  it.value = [](std::int64_t) { return std::string("relaxed"); };
  it.touches = [](const Requirement& m) { return m.kind == Kind::same_group; };
  out.push_back(std::move(it));
}

}  // namespace

WhatIf what_if(const Problem& problem, std::string what, std::string from, std::int64_t last,
               Change change) {
  WhatIf it;
  it.what = std::move(what);
  it.from = std::move(from);
  it.last = last;
  it.at = [&problem, change = std::move(change)](std::int64_t step) {
    Parts parts = problem.parts();
    parts.objectives.clear();
    change(parts, step);
    return posed(std::move(parts));
  };
  it.value = [](std::int64_t step) { return std::to_string(step); };
  it.touches = [](const Requirement&) { return true; };
  return it;
}

std::vector<WhatIf> what_ifs_of(const Problem& problem) {
  std::vector<WhatIf> what_ifs;
  add_capacity_what_ifs(problem, what_ifs);
  add_rate_what_ifs(problem, what_ifs);
  add_transfer_what_if(problem, what_ifs);
  add_latencies_what_if(problem, what_ifs);
  add_rule_what_ifs(problem, what_ifs);
  for (const Orbit& orbit : orbits_of(problem)) {
    add_time_what_if(problem, orbit, what_ifs);
    add_latency_what_if(problem, orbit, what_ifs);
    add_unit_what_ifs(problem, orbit, what_ifs);
  }
  return what_ifs;
}

}  // namespace twill::explain
