#include <algorithm>
#include <set>

#include "twill/certify/constraints.h"
#include "twill/problem/problem.h"
#include "twill/problem/staging.h"

/// Constraints: sums over the literals that are true now.
namespace twill::certify {
namespace {

using Kind = Predicate::Kind;
using problem::Rule;

/// Limit on products of registers and II; larger ones are skipped, so that no sum leaves 64 bits.
constexpr std::int64_t kLargestProduct = std::int64_t{1} << 50;

/// Computes a * b, or a number above `cap`. All arguments are at least 0.
std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t cap) {
  if (a == 0 || b == 0) return 0;
  return b > cap / a ? cap + 1 : a * b;
}

}  // namespace

bool Constraints::overflows(const Predicate& sum, std::vector<Literal>& causes) const {
  causes.clear();
  switch (sum.kind) {
    case Kind::pipe:
      return problem_.in_force(Rule::pipe) && pipe_overflows(sum.first, causes);
    case Kind::memory:
      return problem_.in_force(Rule::memory) && memory_overflows(sum.first, sum.second, causes);
    case Kind::depth:
      return depth_overflows(sum.first, sum.second, causes);
    case Kind::registers:
      return problem_.in_force(Rule::registers) && registers_overflow(sum.first, causes);
    case Kind::issue:
      return problem_.in_force(Rule::one_stream) && issue_overflows(sum.first, causes);
    case Kind::register_time:
      return problem_.in_force(Rule::registers) && register_time_overflows(sum.first, causes);
    case Kind::compute_groups:
      return too_few_groups(causes);
    case Kind::budget:
      return budget_overflows(sum.first, causes);
    case Kind::groups:
    case Kind::crossings:
      return limit_overflows(sum, causes);
    default:
      return false;
  }
}

/// Whether the variable exists and is true now; then it becomes a cause.
bool Constraints::is_true(const Predicate& variable, std::vector<Literal>& causes) const {
  const std::optional<Literal> literal = known(variable);
  if (!literal || !clauses_.is_true(*literal)) return false;
  causes.push_back(*literal);
  return true;
}

/// Copies of a value that are certainly alive at an event; with `by_group`, if both ops are in one
/// group.
std::int64_t Constraints::copies_of(std::size_t value, std::size_t event, bool by_group,
                                    std::vector<Literal>& causes) const {
  const auto most_in = [&](const auto& table) {
    std::pair<std::int64_t, Literal> most(0, kTrue);
    const auto found = table.find({value, event});
    if (found == table.end()) return most;
    for (const auto& [copies, literal] : found->second) {
      if (copies > most.first && clauses_.is_true(literal)) most = {copies, literal};
    }
    return most;
  };
  const auto held = by_group ? most_in(held_) : std::pair<std::int64_t, Literal>(0, kTrue);
  auto alive = most_in(alive_);
  const std::int64_t always = facts_.ops[value].always() ? lives_[value] / ii_ : 0;
  if (always >= alive.first) alive = {always, kTrue};
  if (alive.first > held.first && (!by_group || is_true({Kind::same, value, event, 0}, causes))) {
    causes.push_back(alive.second);
    return alive.first;
  }
  causes.push_back(held.second);
  return held.first;
}

bool Constraints::pipe_overflows(std::size_t pipe, std::vector<Literal>& causes) const {
  Cycles sum = 0;
  for (std::size_t op = 0; op < n_; ++op) {
    for (const problem::PipeUse& use : problem_.ops()[op].alternatives.front().pipes) {
      if (use.pipe.index() != pipe || use.demand == 0) continue;
      if (is_true({Kind::exists, op, 0, 0}, causes)) sum += use.demand;
    }
  }
  return sum > ii_;
}

bool Constraints::memory_overflows(std::size_t memory, std::size_t event,
                                   std::vector<Literal>& causes) const {
  const std::int64_t capacity = problem_.memories()[memory].capacity;
  const bool stages =
      subject_.with_room && problem::staging_memory(problem_) == problem::MemoryId(memory);
  std::int64_t sum = stages ? handed_over(capacity, causes) : 0;
  for (std::size_t value = 0; value < n_ && sum <= capacity; ++value) {
    for (const problem::Footprint& it : problem_.ops()[value].footprint) {
      if (it.memory.index() != memory || it.amount == 0) continue;
      sum += product(it.amount, copies_of(value, event, false, causes), capacity);
    }
  }
  return sum > capacity;
}

/// Bytes of the values that certainly change groups, one copy of each. Counting stops once the sum
/// exceeds `most`.
std::int64_t Constraints::handed_over(std::int64_t most, std::vector<Literal>& causes) const {
  std::int64_t sum = 0;
  for (std::size_t value = 0; value < n_ && sum <= most; ++value) {
    const problem::Op& op = problem_.ops()[value];
    if (!is_value(value) || !op.footprint.empty()) continue;
    std::set<int> widths;
    for (const std::size_t group : facts_.ops[value].groups) {
      widths.insert(problem_.groups()[group].warps);
    }
    for (auto warps = widths.rbegin(); warps != widths.rend(); ++warps) {
      if (!is_true({Kind::handed, value, 0, *warps}, causes)) continue;
      sum += std::min(problem::staged_bytes(op, *warps), most + 1);
      break;
    }
  }
  return sum;
}

/// Most registers of a group: its own limit, and the steps of its budget that may be needed.
std::int64_t Constraints::registers_of(std::size_t group, std::vector<Literal>& causes) const {
  const std::int64_t limit = problem_.groups()[group].registers;
  const StepRange range = steps_of(group);
  if (range.budget == nullptr) return limit;
  std::int64_t steps = range.least;
  for (; steps < range.most; ++steps) {
    const std::optional<Literal> more = known({Kind::steps, group, 0, steps + 1});
    if (!more || !clauses_.is_false(*more)) continue;
    causes.push_back(negation(*more));
    break;
  }
  return std::min(limit, steps * range.budget->step - range.budget->reserve);
}

/// Whether the groups of a budget certainly need more steps than it has.
bool Constraints::budget_overflows(std::size_t group, std::vector<Literal>& causes) const {
  const problem::RegisterBudget* budget = steps_of(group).budget;
  if (budget == nullptr) return false;
  std::int64_t sum = 0;
  for (const problem::GroupId id : budget->groups) {
    const StepRange range = steps_of(id.index());
    std::int64_t steps = range.most;
    while (steps > range.least && !is_true({Kind::steps, id.index(), 0, steps}, causes)) --steps;
    sum += steps;
  }
  return sum > budget->total / budget->step;
}

bool Constraints::registers_overflow(std::size_t event, std::vector<Literal>& causes) const {
  std::int64_t capacity = 0;
  for (const std::size_t group : facts_.ops[event].groups) {
    if (is_true({Kind::in, event, group, 0}, causes)) {
      capacity = registers_of(group, causes);
      break;
    }
    capacity = std::max<std::int64_t>(capacity, problem_.groups()[group].registers);
  }
  std::int64_t sum = 0;
  for (std::size_t value = 0; value < n_ && sum <= capacity; ++value) {
    if (!is_value(value) || gathered_[value] != 0) continue;
    sum += product(facts_.ops[value].registers, copies_of(value, event, true, causes), capacity);
  }
  for (std::size_t i = 0; i < rounds_.size() && sum <= capacity; ++i) {
    const std::int64_t amount = facts_.ops[subject_.accumulators[i].front()].registers;
    sum += product(amount, accumulated_copies(i, event, causes), capacity);
  }
  return sum > capacity;
}

/// Copies of an accumulator's values that are certainly held at an event. The first copies count
/// one by one, if true. With all ops together, one more than `counts`.
std::int64_t Constraints::accumulated_copies(std::size_t accumulator, std::size_t event,
                                             std::vector<Literal>& causes) const {
  const std::vector<std::size_t>& ops = subject_.accumulators[accumulator];
  std::vector<Literal> by_counts;
  std::int64_t counted = is_true({Kind::together, accumulator, event, 0}, by_counts) ? 1 : 0;
  std::int64_t firsts = 0;
  std::int64_t further = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    if (is_true({Kind::counts, accumulator, event, position}, by_counts)) ++counted;
    const std::int64_t copies = copies_of(ops[i], event, true, causes);
    firsts += copies > 0 ? 1 : 0;
    further += std::max<std::int64_t>(0, copies - 1);
  }
  if (counted > firsts) causes.insert(causes.end(), by_counts.begin(), by_counts.end());
  return std::max(counted, firsts) + further;
}

bool Constraints::issue_overflows(std::size_t group, std::vector<Literal>& causes) const {
  Cycles sum = 0;
  for (std::size_t op = 0; op < n_; ++op) {
    const Cycles issue = facts_.ops[op].issue;
    const Kind kind = facts_.ops[op].always() ? Kind::in : Kind::runs;
    if (issue > 0 && is_true({kind, op, group, 0}, causes)) sum += issue;
  }
  return sum > ii_;
}

/// Whether a reading by another group keeps the value alive for longer than its least life. A
/// transferred value has a load in that group, and lives as long as its store reads it.
bool Constraints::longer_abroad(std::size_t value, const Reading& reading) const {
  return !reading.transferable && reading.abroad && *reading.abroad > lives_[value];
}

/// Cycles beyond its least life that a value lives if a late reader is in another group.
Cycles Constraints::longer_abroad(std::size_t value) const {
  Cycles least = 0;
  for (const Reading& it : facts_.readings[value]) {
    if (!longer_abroad(value, it)) continue;
    const Cycles extra = *it.abroad - lives_[value];
    least = least == 0 ? extra : std::min(least, extra);
  }
  return least;
}

/// Whether registers times cycles exceed the group's. The values of an accumulator in one group
/// take turns or overlap. One of them lives in every cycle of the iterations of its round.
bool Constraints::register_time_overflows(std::size_t group, std::vector<Literal>& causes) const {
  const std::int64_t registers = problem_.groups()[group].registers;
  if (registers > kLargestProduct / ii_) return false;
  const std::int64_t capacity = registers_of(group, causes) * ii_;
  std::int64_t sum = 0;
  const auto time_of = [&](std::size_t value) {
    const bool leaves = is_true({Kind::leaves, value, group, 0}, causes);
    const Kind kind = facts_.ops[value].always() ? Kind::in : Kind::runs;
    if (!leaves && !is_true({kind, value, group, 0}, causes)) return Cycles{0};
    return std::max<Cycles>(0, lives_[value]) + (leaves ? longer_abroad(value) : 0);
  };
  for (std::size_t value = 0; value < n_ && sum <= capacity; ++value) {
    if (!is_value(value) || gathered_[value] != 0) continue;
    sum += product(facts_.ops[value].registers, time_of(value), capacity);
  }
  for (std::size_t i = 0; i < rounds_.size() && sum <= capacity; ++i) {
    Cycles time = 0;
    for (const std::size_t op : subject_.accumulators[i]) time += time_of(op);
    if (is_true({Kind::gathered, i, group, 0}, causes)) time = std::max(time, rounds_[i] * ii_);
    const std::int64_t amount = facts_.ops[subject_.accumulators[i].front()].registers;
    sum += product(amount, time, capacity);
  }
  return sum > capacity;
}

bool Constraints::too_few_groups(std::vector<Literal>& causes) const {
  const int width = compute_width(problem_);
  std::int64_t pool = 0;
  std::int64_t empty = 0;
  for (std::size_t group = 0; group < problem_.groups().size(); ++group) {
    if (!computes(problem_, group)) continue;
    ++pool;
    const std::optional<Literal> used = known({Kind::used, group, 0, 0});
    if (!used || !clauses_.is_false(*used)) continue;
    causes.push_back(negation(*used));
    ++empty;
  }
  std::int64_t ops = 0;
  for (std::size_t op = 0; op < n_; ++op) {
    const problem::Op& it = problem_.ops()[op];
    if (facts_.ops[op].always() && !it.variable_latency && it.warps == width) ++ops;
  }
  return pool - empty < std::min({std::int64_t{problem_.minimum_compute_groups()}, pool, ops});
}

bool Constraints::limit_overflows(const Predicate& limit, std::vector<Literal>& causes) const {
  if (!is_true(limit, causes)) return false;
  std::int64_t sum = 0;
  if (limit.kind == Kind::groups) {
    for (std::size_t group = 0; group < problem_.groups().size(); ++group) {
      if (is_true({Kind::used, group, 0, 0}, causes)) ++sum;
    }
    return sum > limit.number;
  }
  for (const Predicate& it : crosses_) {
    if (is_true(it, causes)) ++sum;
  }
  return sum > limit.number;
}

}  // namespace twill::certify
