// Rules `memory` (paper: section 4.2, Figure 5) and `registers` (section 4.3, Figure 6, Register
// Limit): resources that values occupy while they live.

#include "twill/verify/rules/live.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "twill/problem/problem.h"

namespace twill::verify {
namespace {

/// Value that occupies `amount` of the resource from `life.begin` to `life.end` in iteration 0.
struct Value {
  Span life;
  Amount amount = 0;
};

/// Iterations from iteration 0 to the last read of each value, at most, by OpId.
std::vector<Cycles> reach_of_values(const Subject& subject) {
  std::vector<Cycles> reach(subject.op_count(), 0);
  for (const problem::Dependence& edge : subject.problem.dependences()) {
    if (!edge.carries_value) continue;
    const Cycles hold =
        problem::read_hold_of(edge, subject.problem[edge.to], subject.alternative(edge.to));
    const Cycles read = (subject.at(edge.to).issue + hold) / subject.interval();
    Cycles& most = reach[edge.from.index()];
    most = std::max(most, edge.distance + read + 1);
  }
  return reach;
}

/// Lives of the values that occupy the resource. Empty, with a "size" violation, if too many values
/// live at a time to lay them out.
std::optional<std::vector<Value>> lives(const Subject& subject, const Resource& resource,
                                        const std::vector<Amount>& amounts, Findings& findings) {
  const std::vector<Cycles> reach = reach_of_values(subject);
  std::vector<Value> values(subject.op_count());
  Cycles longest = 0;
  Cycles count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Cycles begin = subject.at(OpId(i)).issue;
    values[i] = {{OpId(i), begin, begin}, amounts[i]};
    if (amounts[i] == 0) continue;
    longest = std::max(longest, reach[i]);
    ++count;
  }
  if (count > 0 && longest + 2 > kMostInstances / count) {
    findings.add({"size",
                  {},
                  0,
                  longest,
                  kMostInstances / count,
                  fmt::format("size: the values in {} live over up to {} iterations, too many to "
                              "be simulated (at most {} instances)",
                              resource.what, longest, kMostInstances)});
    return std::nullopt;
  }
  for (const problem::Dependence& edge : subject.problem.dependences()) {
    Value& value = values[edge.from.index()];
    if (!edge.carries_value || value.amount == 0) continue;
    const Cycles hold =
        problem::read_hold_of(edge, subject.problem[edge.to], subject.alternative(edge.to));
    const Cycles read = subject.at(edge.to).issue + edge.distance * subject.interval() + hold;
    value.life.end = std::max(value.life.end, read);
  }
  std::erase_if(values, [](const Value& value) {
    return value.amount == 0 || value.life.end == value.life.begin;
  });
  return values;
}

struct Peak {
  Amount amount = 0;
  Cycles cycle = 0;
};

/// Finds the highest sum over all iterations, from the first on: while the pipeline fills, less is
/// live.
Peak peak_of(const std::vector<Span>& instances, const std::map<OpId, Amount>& amounts) {
  struct Event {
    Cycles cycle;
    Amount change;
  };
  std::vector<Event> events;
  events.reserve(instances.size() * 2);
  for (const Span& life : instances) {
    events.push_back({life.begin, amounts.at(life.op)});
    events.push_back({life.end, -amounts.at(life.op)});
  }
  // Order of events: a life that ends at a cycle makes room before another begins there.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.cycle, a.change) < std::tie(b.cycle, b.change);
  });
  Peak peak;
  Amount now = 0;
  for (const Event& event : events) {
    now += event.change;
    if (now > peak.amount) peak = {now, event.cycle};
  }
  return peak;
}

/// Values alive at the fullest cycle of the run, in copies by op.
struct Fullest {
  Peak peak;
  std::map<OpId, int> copies;
};

/// Finds the fullest cycle; empty if the resource is empty all the time, or cannot be laid out.
std::optional<Fullest> fullest_cycle(const Subject& subject, const Resource& resource,
                                     const std::vector<Amount>& amounts_by_op, Findings& findings) {
  const std::optional<LivesRun> run = run_lives(subject, resource, amounts_by_op, findings);
  if (!run) return std::nullopt;
  Fullest out{peak_of(run->instances, run->amounts), {}};
  for (const Span& life : run->instances) {
    if (life.begin <= out.peak.cycle && out.peak.cycle < life.end) ++out.copies[life.op];
  }
  return out;
}

void report_overflow(const Subject& subject, const Resource& resource,
                     const std::vector<Amount>& amounts, Findings& findings) {
  const std::optional<Fullest> fullest = fullest_cycle(subject, resource, amounts, findings);
  if (!fullest || fullest->peak.amount <= resource.capacity) return;
  const Peak& peak = fullest->peak;
  std::string who;
  std::vector<OpId> ops;
  for (const auto& [op, count] : fullest->copies) {
    ops.push_back(op);
    if (ops.size() <= 12) {
      who += fmt::format("{}{} {} x {}", who.empty() ? "" : ", ", subject.name(op), count,
                         amounts[op.index()]);
    }
  }
  if (ops.size() > 12) who += fmt::format(", and {} more values", ops.size() - 12);
  findings.add({resource.rule, std::move(ops), peak.cycle, peak.amount, resource.capacity,
                fmt::format("{}: {} live in {} at cycle {}, but it has {}: {}", resource.rule,
                            peak.amount, resource.what, peak.cycle, resource.capacity, who)});
}

/// Registers of the results that the group produces, by op.
std::vector<Amount> registers_in(const Subject& subject, problem::GroupId group) {
  std::vector<Amount> amounts(subject.op_count(), 0);
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (subject.at(OpId(i)).group == group) amounts[i] = subject.problem.ops()[i].registers;
  }
  return amounts;
}

/// Checks `register-budget`: each group takes the registers of its fullest cycle.
void check_budget(const Subject& subject, const problem::RegisterBudget& budget,
                  Findings& findings) {
  Amount taken = 0;
  std::string who;
  std::vector<OpId> ops;
  for (const problem::GroupId group : budget.groups) {
    Findings laid_out;  // values too many to simulate are reported for each group
    const std::optional<Fullest> fullest =
        fullest_cycle(subject, {}, registers_in(subject, group), laid_out);
    if (!std::move(laid_out).take().empty()) return;
    Amount needed = budget.reserve;
    if (fullest) needed += fullest->peak.amount;
    Amount steps = needed / budget.step;
    if (steps * budget.step < needed) ++steps;
    taken += steps;
    who += fmt::format("{}{} {} for {} alive", who.empty() ? "" : ", ", subject.problem[group].name,
                       steps, needed - budget.reserve);
    if (!fullest) continue;
    for (const auto& [op, count] : fullest->copies) ops.push_back(op);
  }
  const Amount there = budget.total / budget.step;
  if (taken <= there) return;
  findings.add(
      {"register-budget", std::move(ops), 0, taken, there,
       fmt::format("register-budget: {} steps of {} registers are taken, but there are {}: "
                   "{}",
                   taken, budget.step, there, who)});
}

}  // namespace

std::optional<LivesRun> run_lives(const Subject& subject, const Resource& resource,
                                  const std::vector<Amount>& amounts, Findings& findings) {
  const std::optional<std::vector<Value>> values = lives(subject, resource, amounts, findings);
  if (!values || values->empty()) return std::nullopt;
  std::vector<Span> first;
  LivesRun out;
  Cycles last_end = 0;
  for (const Value& value : *values) {
    first.push_back(value.life);
    out.amounts[value.life.op] = value.amount;
    last_end = std::max(last_end, value.life.end);
  }
  // Warm-up: iteration -1, which is not laid out, would have ended by then.
  const Cycles warm_up = last_end / subject.interval();
  out.steady = warm_up * subject.interval();
  out.instances = unrolled(first, subject.interval(), warm_up + 1);
  return out;
}

std::vector<Amount> amounts_in(const Problem& problem, problem::MemoryId memory) {
  std::vector<Amount> amounts(problem.ops().size(), 0);
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    for (const problem::Footprint& footprint : problem.ops()[i].footprint) {
      if (footprint.memory == memory) amounts[i] += footprint.amount;
    }
  }
  return amounts;
}

void check_memories(const Subject& subject, Findings& findings) {
  for (std::size_t m = 0; m < subject.problem.memories().size(); ++m) {
    const problem::MemoryId memory(m);
    const problem::Memory& of = subject.problem[memory];
    report_overflow(subject, {"memory", "memory " + of.name, of.capacity},
                    amounts_in(subject.problem, memory), findings);
  }
}

void check_registers(const Subject& subject, Findings& findings) {
  for (std::size_t g = 0; g < subject.problem.groups().size(); ++g) {
    const problem::GroupId group(g);
    const problem::Group& of = subject.problem[group];
    report_overflow(subject, {"registers", "the registers of group " + of.name, of.registers},
                    registers_in(subject, group), findings);
  }
  for (const problem::RegisterBudget& budget : subject.problem.register_budgets()) {
    check_budget(subject, budget, findings);
  }
}

}  // namespace twill::verify
