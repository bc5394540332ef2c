#include <algorithm>

#include "twill/certify/constraints.h"
#include "twill/problem/problem.h"

/// Constraints: the meaning of variables.
namespace twill::certify {
namespace {

using Kind = Predicate::Kind;

Cycles ceil_divide(Cycles a, Cycles b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace

bool Constraints::must_share(std::size_t a, std::size_t b) const {
  a = facts_.ops[a].home;
  b = facts_.ops[b].home;
  const auto& of_a = facts_.ops[a].groups;
  return a == b || (of_a.size() == 1 && of_a == facts_.ops[b].groups);
}

/// Decides a predicate from the pool alone; otherwise normalises it to its canonical equivalent.
std::optional<bool> Constraints::decide(Predicate& it) const {
  const auto runs_in = [&](std::size_t op, std::size_t group) {
    const auto& groups = facts_.ops[op].groups;
    return std::binary_search(groups.begin(), groups.end(), group);
  };
  const auto opens = [&](std::size_t op, std::size_t group) {
    return facts_.ops[op].always() && runs_in(op, group);
  };
  switch (it.kind) {
    case Kind::in:
      it.first = facts_.ops[it.first].home;
      if (!runs_in(it.first, it.second)) return false;
      if (facts_.ops[it.first].groups.size() == 1) return true;
      return std::nullopt;
    case Kind::opened:
      while (it.second > 0 && !opens(it.second, it.first)) --it.second;
      if (!opens(it.second, it.first)) return false;
      return std::nullopt;
    case Kind::exists:
      if (facts_.ops[it.first].always()) return true;
      if (!ever_exists(it.first)) return false;
      return std::nullopt;
    case Kind::runs:
      if (!runs_in(it.first, it.second) || !ever_exists(it.first)) return false;
      return std::nullopt;
    case Kind::same:
      it.first = facts_.ops[it.first].home;
      it.second = facts_.ops[it.second].home;
      if (it.first > it.second) std::swap(it.first, it.second);
      if (must_share(it.first, it.second)) return true;
      if (!facts_.may_share(it.first, it.second)) return false;
      return std::nullopt;
    case Kind::waits:
      return decide_waits(it.first);
    case Kind::held:
      if (!facts_.may_share(it.first, it.second)) return false;
      if (must_share(it.first, it.second)) it.kind = Kind::alive;
      return std::nullopt;
    case Kind::together:
      return decide_together(it);
    case Kind::counts: {
      const std::size_t value =
          subject_.accumulators[it.first][static_cast<std::size_t>(it.number)];
      if (!facts_.may_share(value, it.second)) return false;
      return std::nullopt;
    }
    case Kind::gathered:
      return decide_gathered(it);
    case Kind::steps:
      return decide_steps(it.first, it.number);
    case Kind::deep:
    case Kind::shorter:
    case Kind::above:
      return decide_address(it);
    default:
      return std::nullopt;
  }
}

std::optional<bool> Constraints::decide_waits(std::size_t op) const {
  if (facts_.ops[op].always_waits) return true;
  bool may_wait = false;
  for (std::size_t value = 0; value < n_; ++value) {
    if (facts_.ops[value].registers == 0 || must_share(value, op)) continue;
    const auto& readings = facts_.readings[value];
    const bool reads = std::any_of(readings.begin(), readings.end(), [op](const Reading& it) {
      return it.reader == op && !it.transferable;
    });
    if (reads && !facts_.may_share(value, op)) return true;
    may_wait = may_wait || reads;
  }
  if (!may_wait) return false;
  return std::nullopt;
}

/// Range of steps of a group. At least: its reserve alone. At most: the total less the others'
/// reserves, or the steps for its own limit.
Constraints::StepRange Constraints::steps_of(std::size_t group) const {
  const auto index = problem_.budget_of(problem::GroupId(group));
  if (!index || !problem_.in_force(problem::Rule::registers)) return {};
  const problem::RegisterBudget& it = problem_.register_budgets()[*index];
  const auto up = [&](std::int64_t registers) { return ceil_divide(registers, it.step); };
  const std::int64_t least = up(it.reserve);
  const auto others = static_cast<std::int64_t>(it.groups.size()) - 1;
  const std::int64_t limit = up(std::int64_t{problem_.groups()[group].registers} + it.reserve);
  return {&it, least, std::min(limit, it.total / it.step - others * least)};
}

std::optional<bool> Constraints::decide_steps(std::size_t group, std::int64_t steps) const {
  const StepRange range = steps_of(group);
  if (steps <= range.least) return true;
  if (steps > range.most) return false;
  return std::nullopt;
}

std::optional<bool> Constraints::decide_together(const Predicate& it) const {
  bool all_must = true;
  for (const std::size_t op : subject_.accumulators[it.first]) {
    if (!facts_.may_share(op, it.second)) return false;
    all_must = all_must && must_share(op, it.second);
  }
  if (all_must) return true;
  return std::nullopt;
}

std::optional<bool> Constraints::decide_gathered(const Predicate& it) const {
  bool all_must = true;
  for (const std::size_t op : subject_.accumulators[it.first]) {
    const auto& groups = facts_.ops[op].groups;
    if (!std::binary_search(groups.begin(), groups.end(), it.second)) return false;
    all_must = all_must && groups.size() == 1;
  }
  if (all_must) return true;
  return std::nullopt;
}

/// Whether a transfer op may exist: the ops of some pair may be in two groups.
bool Constraints::ever_exists(std::size_t op) const {
  const auto& moves = facts_.ops[op].moves;
  return std::any_of(moves.begin(), moves.end(),
                     [&](const auto& it) { return !must_share(it.first, it.second); });
}

/// Pair that alone decides whether a transfer op exists, if there is such a pair.
std::optional<std::pair<std::size_t, std::size_t>> Constraints::only_move(std::size_t op) const {
  std::optional<std::pair<std::size_t, std::size_t>> only;
  for (const auto& it : facts_.ops[op].moves) {
    if (must_share(it.first, it.second)) continue;
    if (only) return std::nullopt;
    only = it;
  }
  return only;
}

std::optional<Literal> Constraints::known(Predicate variable) const {
  if (variable.kind == Kind::exists) {
    if (const auto move = only_move(variable.first)) {
      const auto same = known({Kind::same, move->first, move->second, 0});
      return same ? std::optional(negation(*same)) : std::nullopt;
    }
  }
  if (const auto decided = decide(variable)) return *decided ? kTrue : kFalse;
  const auto found = literals_.find(variable);
  if (found == literals_.end()) return std::nullopt;
  return found->second;
}

void Constraints::define(const Predicate& it, Literal is) {
  switch (it.kind) {
    case Kind::opened:
      clause({}, {negation(is), literal({Kind::in, it.second, it.first, 0}),
                  it.second == 0 ? kFalse : literal({Kind::opened, it.first, it.second - 1, 0})});
      return;
    case Kind::same:
      return define_same(it, is);
    case Kind::waits:
      return define_waits(it.first, is);
    case Kind::alive:
    case Kind::held:
      return define_alive(it, is);
    case Kind::together:
      return define_together(it, is);
    case Kind::before:
      return define_before(it, is);
    case Kind::counts:
      return define_counts(it, is);
    case Kind::gathered:
      return define_gathered(it, is);
    case Kind::leaves:
      return define_leaves(it, is);
    case Kind::crosses:
      return define_crosses(it, is);
    case Kind::handed:
      return define_handed(it, is);
    case Kind::exists:
      return define_exists(it.first, is);
    case Kind::deep:
      return define_deep(it, is);
    case Kind::steps:
      return clause({}, {negation(is), literal({Kind::steps, it.first, 0, it.number - 1})});
    case Kind::runs:
      return define_all({literal({Kind::in, it.first, it.second, 0}), exists(it.first)}, is);
    case Kind::length:
      return define_length(it.number, is);
    default:
      return;  // defined by clauses that exist anyway, or by sums
  }
}

void Constraints::define_same(const Predicate& it, Literal is) {
  for (std::size_t group = 0; group < problem_.groups().size(); ++group) {
    const Literal a = literal({Kind::in, it.first, group, 0});
    const Literal b = literal({Kind::in, it.second, group, 0});
    clause({}, {negation(is), negation(a), b});
    clause({}, {negation(is), a, negation(b)});
    clause({}, {is, negation(a), negation(b)});
  }
}

void Constraints::define_waits(std::size_t op, Literal is) {
  for (std::size_t value = 0; value < n_; ++value) {
    if (facts_.ops[value].registers == 0) continue;
    const auto& readings = facts_.readings[value];
    const bool reads = std::any_of(readings.begin(), readings.end(), [op](const Reading& it) {
      return it.reader == op && !it.transferable;
    });
    if (reads) clause({}, {is, literal({Kind::same, value, op, 0})});
  }
}

void Constraints::define_all(const std::vector<Literal>& literals, Literal is) {
  Guards missing = {is};
  for (const Literal literal : literals) {
    clause({}, {negation(is), literal});
    missing.push_back(negation(literal));
  }
  clause(missing, {});
}

void Constraints::define_together(const Predicate& it, Literal is) {
  std::vector<Literal> all;
  for (const std::size_t op : subject_.accumulators[it.first]) {
    all.push_back(literal({Kind::same, op, it.second, 0}));
  }
  define_all(all, is);
}

void Constraints::define_gathered(const Predicate& it, Literal is) {
  std::vector<Literal> all;
  for (const std::size_t op : subject_.accumulators[it.first]) {
    all.push_back(literal({Kind::in, op, it.second, 0}));
  }
  define_all(all, is);
}

void Constraints::define_before(const Predicate& it, Literal is) {
  const std::size_t value = subject_.accumulators[it.first][static_cast<std::size_t>(it.number)];
  clause({}, {negation(literal({Kind::held, value, it.second, 1})), is});
  if (it.number == 0) return;
  clause({}, {negation(literal({Kind::before, it.first, it.second, it.number - 1})), is});
}

void Constraints::define_counts(const Predicate& it, Literal is) {
  const std::size_t value = subject_.accumulators[it.first][static_cast<std::size_t>(it.number)];
  const Literal held = literal({Kind::held, value, it.second, 1});
  clause({}, {negation(held), literal({Kind::together, it.first, it.second, 0}), is});
  if (it.number == 0) return;
  const Literal before = literal({Kind::before, it.first, it.second, it.number - 1});
  clause({}, {negation(held), negation(before), is});
}

void Constraints::define_leaves(const Predicate& it, Literal is) {
  const Literal here = literal({Kind::in, it.first, it.second, 0});
  for (const Reading& reading : facts_.readings[it.first]) {
    if (!longer_abroad(it.first, reading)) continue;
    clause({}, {negation(here), literal({Kind::same, it.first, reading.reader, 0}), is});
  }
}

void Constraints::define_crosses(const Predicate& it, Literal is) {
  crosses_.push_back(it);
  if (facts_.ops[it.first].registers == 0) return;
  const Literal here = literal({Kind::in, it.first, it.second, 0});
  for (const Reading& reading : facts_.readings[it.first]) {
    if (facts_.ops[reading.reader].home == facts_.ops[it.first].home) continue;
    const Literal there = literal({Kind::in, reading.reader, it.second, 0});
    clause({}, {here, negation(there), is});
  }
}

void Constraints::define_handed(const Predicate& it, Literal is) {
  const std::vector<std::size_t>& groups = facts_.ops[it.first].groups;
  const auto fits = [&](std::size_t g) { return problem_.groups()[g].warps >= it.number; };
  const bool all = std::all_of(groups.begin(), groups.end(), fits);
  for (const Reading& reading : facts_.readings[it.first]) {
    const Literal same = literal({Kind::same, it.first, reading.reader, 0});
    if (all) clause({}, {is, same});
    for (const std::size_t group : groups) {
      const Literal here = literal({Kind::in, it.first, group, 0});
      if (!all && fits(group)) clause({}, {is, negation(here), same});
    }
  }
}

void Constraints::define_exists(std::size_t op, Literal is) {
  Guards moved = {negation(is)};
  for (const auto& [value, reader] : facts_.ops[op].moves) {
    const Literal same = literal({Kind::same, value, reader, 0});
    clause({}, {same, is});
    moved.push_back(negation(same));
  }
  clause(moved, {});
}

/// Demands that no op ends more than `limit` after another one begins. Ops that certainly are not
/// the first, or not the last to end, are left out.
void Constraints::define_length(Cycles limit, Literal is) {
  std::vector<std::uint8_t> first(n_, 1);
  std::vector<std::uint8_t> last(n_, 1);
  for (const Edge& it : facts_.edges) {
    if (it.distance > 0) continue;
    if (facts_.ops[it.from].always()) first[it.to] = 0;
    if (!facts_.ops[it.to].always()) continue;
    if (it.delay + facts_.ops[it.to].span >= facts_.ops[it.from].span) last[it.from] = 0;
  }
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j) {
      if (first[i] == 0 || last[j] == 0) continue;
      after(i, j, facts_.ops[j].span - limit, missing({i, j}, {negation(is)}));
    }
  }
}

void Constraints::define_alive(const Predicate& it, Literal is) {
  const std::pair key(it.first, it.second);
  Guards guards = {is};
  if (it.kind == Kind::held) {
    held_[key].emplace_back(it.number, is);
    guards.push_back(negation(literal({Kind::same, it.first, it.second, 0})));
  } else {
    alive_[key].emplace_back(it.number, is);
  }
  for (const Reading& reading : facts_.readings[it.first]) {
    Guards excused = missing({it.first, reading.reader, it.second}, guards);
    if (reading.transferable) {
      excused.push_back(negation(literal({Kind::same, it.first, reading.reader, 0})));
    }
    alive_by(reading, it, excused);
  }
}

/// Defines life by one reading. Copy i of the value lives in [M(value) + i * II, M(reader) + (i +
/// D) * II + hold), because of a reading at distance D (paper: section 4.2, Figure 5). With M =
/// stage * II + slot, the number of live copies at M(event) is
///
///     stage(reader) - stage(value) + D + c - b
///     c = ceil((slot(reader) + hold - slot(event)) / II),  b = 1 if slot(value) > slot(event), or
///     0
///
/// and c >= p exactly if slot(reader) - slot(event) >= (p - 1) * II - hold + 1.
void Constraints::alive_by(const Reading& reading, const Predicate& it, const Guards& guards) {
  const std::size_t value = it.first;
  const std::size_t event = it.second;
  const Literal started = slot(event, value, 0);
  const Cycles most = ceil_divide(reading.hold + ii_ - 1, ii_);
  const Cycles least = ceil_divide(reading.hold - ii_ + 1, ii_);
  for (Cycles p = most; p >= least; --p) {
    const Literal reached = slot(reading.reader, event, (p - 1) * ii_ - reading.hold + 1);
    if (reached == kFalse) continue;
    const Cycles stages = it.number - reading.distance - p;
    clause(guards,
           {negation(reached), negation(started), negation(stage(reading.reader, value, stages))});
    clause(guards, {negation(reached), negation(stage(reading.reader, value, stages + 1))});
    if (reached == kTrue) return;
  }
}

}  // namespace twill::certify
