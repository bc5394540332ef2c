#include "twill/certify/constraints.h"

#include <algorithm>
#include <tuple>

#include "twill/certify/symmetry.h"
#include "twill/problem/problem.h"

namespace twill::certify {
namespace {

using problem::Rule;

Cycles floor_divide(Cycles a, Cycles b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

std::size_t Constraints::Hash::operator()(const Predicate& it) const noexcept {
  std::uint64_t hash = static_cast<std::uint64_t>(it.kind);
  for (const std::uint64_t part :
       {std::uint64_t{it.first}, std::uint64_t{it.second}, static_cast<std::uint64_t>(it.number)}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

Constraints::Constraints(const problem::Problem& problem, const Subject& subject,
                         UnitPropagation& clauses)
    : problem_(problem),
      subject_(subject),
      clauses_(clauses),
      facts_(facts_of(problem)),
      objection_(objection_to(problem, facts_, subject)),
      ii_(subject.interval),
      n_(problem.ops().size()),
      slots_(objection_.empty() ? n_ : 0),
      stages_(objection_.empty() ? n_ : 0),
      gathered_(n_, 0) {
  if (!objection_.empty()) return;
  nothing_fits_ = ii_ < least_load(problem, facts_);
  if (nothing_fits_) return;
  for (const std::vector<std::size_t>& ops : subject.accumulators) {
    rounds_.push_back(rounds_of(facts_, ops));
    for (const std::size_t op : ops) gathered_[op] = 1;
  }
  add_slots();
  add_groups();
  add_units();
  add_edges();
  add_blocking();
  add_one_stream();
  forbid_too_long();
  slots_.close();
  stages_.close();
  if (!nothing_fits()) lives_ = least_lives(facts_, ii_);
}

Literal Constraints::literal(const Predicate& given) {
  Predicate variable = given;
  if (variable.kind == Predicate::Kind::slot) {
    return slot(variable.first, variable.second, variable.number);
  }
  if (variable.kind == Predicate::Kind::stage) {
    return stage(variable.first, variable.second, variable.number);
  }
  if (variable.kind == Predicate::Kind::exists) {
    if (const auto move = only_move(variable.first)) {
      return negation(literal({Predicate::Kind::same, move->first, move->second, 0}));
    }
  }
  if (const auto decided = decide(variable)) return *decided ? kTrue : kFalse;
  if (variable.kind == Predicate::Kind::shorter || variable.kind == Predicate::Kind::above) {
    return address(variable);
  }
  const auto [found, fresh] = literals_.try_emplace(variable, kTrue);
  if (!fresh) return found->second;
  const Literal is = found->second = add_variable(variable);
  define(variable, is);
  return is;
}

Literal Constraints::add_variable(const Predicate& variable) {
  predicates_.push_back(variable);
  return clauses_.add_variable();
}

/// Literal of slot(later) - slot(earlier) >= by; slots are in [0, II).
Literal Constraints::slot(std::size_t later, std::size_t earlier, Cycles by) {
  if (by <= 1 - ii_) return kTrue;
  if (by >= ii_) return kFalse;
  return atom(true, later, earlier, by);
}

Literal Constraints::stage(std::size_t later, std::size_t earlier, Cycles by) {
  return atom(false, later, earlier, by);
}

Literal Constraints::atom(bool is_slot, std::size_t later, std::size_t earlier, Cycles by) {
  if (later == earlier) return by <= 0 ? kTrue : kFalse;
  if (later > earlier) return negation(atom(is_slot, earlier, later, 1 - by));
  const auto kind = is_slot ? Predicate::Kind::slot : Predicate::Kind::stage;
  return declare({kind, later, earlier, by}, is_slot ? slots_ : stages_, {later, earlier, by});
}

Literal Constraints::declare(const Predicate& variable, const Differences& among,
                             const Difference& says) {
  const auto [found, fresh] = literals_.try_emplace(variable, kTrue);
  if (!fresh) return found->second;
  const Literal is = found->second = add_variable(variable);
  atoms_.resize(clauses_.variable_count());
  atoms_.back() = Atom{&among, says};
  return is;
}

bool Constraints::close_circuit(std::span<const Literal> literals) const {
  std::map<const Differences*, std::vector<Difference>> together;
  for (const Literal literal : literals) {
    if (literal == kTrue) continue;
    const std::size_t variable = literal / 2;
    if (variable >= atoms_.size() || !atoms_[variable]) return false;
    Difference it = atoms_[variable]->difference;
    if (literal % 2 != 0) it = {it.earlier, it.later, 1 - it.by};
    together[atoms_[variable]->among].push_back(it);
  }
  return std::any_of(together.begin(), together.end(),
                     [](const auto& it) { return it.first->contradict(it.second); });
}

void Constraints::clause(const Guards& guards, std::initializer_list<Literal> literals) {
  std::vector<Literal> all(guards);
  all.insert(all.end(), literals.begin(), literals.end());
  if (std::find(all.begin(), all.end(), kTrue) != all.end()) return;
  std::erase(all, kFalse);
  clauses_.add(all);
}

/// Demands M(later) - M(earlier) >= by, with M = stage * II + slot (paper: section 4.1, Figure 4,
/// Dependence).
void Constraints::after(std::size_t later, std::size_t earlier, Cycles by, const Guards& guards) {
  const Cycles whole = floor_divide(by, ii_);
  const Cycles rest = by - whole * ii_;
  if (guards.empty() && later != earlier) {
    stages_.require({later, earlier, whole});
  } else {
    clause(guards, {stage(later, earlier, whole)});
  }
  clause(guards, {slot(later, earlier, rest), stage(later, earlier, whole + 1)});
  clause(guards, {slot(later, earlier, rest - ii_), stage(later, earlier, whole + 2)});
}

/// Demands that [M(a), M(a) + hold_a) and [M(b), M(b) + hold_b) are disjoint modulo II. Paper:
/// section 4.1, Figure 4, Capacity. Holds: 1 to II.
///
///     0   slot(a)                slot(b)            II
///     |---[=== hold_a ===)-------[= hold_b =)-------|   one ends before the other begins,
///                                                       around the end of the interval, too
void Constraints::apart(std::size_t a, Cycles hold_a, std::size_t b, Cycles hold_b,
                        const Guards& guards) {
  clause(guards, {slot(b, a, hold_a), slot(a, b, hold_b)});
  if (guards.empty()) {
    slots_.require({b, a, hold_a - ii_});
    slots_.require({a, b, hold_b - ii_});
    return;
  }
  clause(guards, {slot(b, a, hold_a - ii_)});
  clause(guards, {slot(a, b, hold_b - ii_)});
}

void Constraints::add_slots() {
  const std::size_t anchor = subject_.anchor;
  for (std::size_t op = 0; op < n_; ++op) {
    slots_.require({op, anchor, 0});
    slots_.require({anchor, op, op == anchor ? 0 : 1 - ii_});
  }
  const std::vector<std::size_t>& tiles = subject_.tiles;
  if (tiles.size() == 2) slots_.require({tiles[0], tiles[1], -(ii_ / 2)});
  for (std::size_t i = 2; i < tiles.size(); ++i) slots_.require({tiles[i], tiles[i - 1], 0});
}

void Constraints::add_edges() {
  for (const Edge& it : facts_.edges) {
    const Cycles by = it.delay - it.distance * ii_;
    after(it.to, it.from, by, missing({it.from, it.to}));
    if (it.transfer == 0) continue;
    const Literal same = literal({Predicate::Kind::same, it.from, it.to, 0});
    after(it.to, it.from, by + it.transfer, missing({it.from, it.to}, {same}));
  }
  const std::vector<std::vector<Cycles>> paths = longest_paths(facts_);
  for (std::size_t from = 0; from < n_; ++from) {
    for (std::size_t to = 0; to < n_; ++to) {
      if (from != to && paths[from][to] != kNoPath) after(to, from, paths[from][to], {});
    }
  }
}

void Constraints::add_units() {
  for (std::size_t a = 0; a < n_; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!facts_.ops[a].unit || facts_.ops[a].unit != facts_.ops[b].unit) continue;
      apart(a, facts_.ops[a].occupancy, b, facts_.ops[b].occupancy, missing({a, b}));
    }
  }
}

void Constraints::add_groups() {
  const std::size_t groups = problem_.groups().size();
  const auto in = [&](std::size_t op, std::size_t group) {
    return literal({Predicate::Kind::in, op, group, 0});
  };
  for (std::size_t op = 0; op < n_; ++op) {
    if (!facts_.ops[op].always()) continue;
    Guards somewhere;
    for (const std::size_t group : facts_.ops[op].groups) {
      for (const Literal other : somewhere) clause({}, {negation(other), negation(in(op, group))});
      somewhere.push_back(in(op, group));
    }
    clause(somewhere, {});
  }
  for (std::size_t group = 0; group < groups; ++group) {
    const Literal used = literal({Predicate::Kind::used, group, 0, 0});
    Guards members = {negation(used)};
    for (std::size_t op = 0; op < n_; ++op) {
      if (!facts_.ops[op].always()) continue;
      clause({}, {negation(in(op, group)), used});
      members.push_back(in(op, group));
    }
    clause(members, {});
  }
  share_groups();
  order_equal_groups();
}

void Constraints::share_groups() {
  for (const std::vector<problem::OpId>& ops : problem_.same_group()) {
    for (std::size_t i = 1; i < ops.size(); ++i) {
      for (std::size_t group = 0; group < problem_.groups().size(); ++group) {
        const Literal here = literal({Predicate::Kind::in, ops[i - 1].index(), group, 0});
        const Literal next = literal({Predicate::Kind::in, ops[i].index(), group, 0});
        clause({}, {negation(here), next});
        clause({}, {here, negation(next)});
      }
    }
  }
}

/// Orders groups that differ in their names only: a later group has an op only if the group before
/// it has an earlier op.
void Constraints::order_equal_groups() {
  const auto groups = problem_.groups();
  for (std::size_t later = 0; later < groups.size(); ++later) {
    const auto alike = [&](std::size_t other) {
      const problem::Group& it = groups[other];
      return it.warps == groups[later].warps && it.registers == groups[later].registers &&
             it.loads == groups[later].loads &&
             problem_.budget_of(problem::GroupId(other)) ==
                 problem_.budget_of(problem::GroupId(later));
    };
    std::size_t before = later;
    while (before > 0 && !alike(before - 1)) --before;
    if (before == 0) continue;
    --before;
    for (std::size_t op = 0; op < n_; ++op) {
      if (!facts_.ops[op].always()) continue;
      const Literal here = literal({Predicate::Kind::in, op, later, 0});
      const Literal opened =
          op == 0 ? kFalse : literal({Predicate::Kind::opened, before, op - 1, 0});
      clause({}, {negation(here), opened});
    }
  }
}

/// Keeps the issue of a waiting op out of the issue cycles of other ops of its group (paper:
/// section 4.3, Figure 6, Concurrency).
void Constraints::add_blocking() {
  if (!problem_.in_force(Rule::blocking)) return;
  for (std::size_t op = 0; op < n_; ++op) {
    const Literal waits = literal({Predicate::Kind::waits, op, 0, 0});
    if (waits == kFalse) continue;
    for (std::size_t other = 0; other < n_; ++other) {
      const Cycles issue = facts_.ops[other].issue;
      if (other == op || issue == 0 || !facts_.may_share(op, other)) continue;
      const Literal same = literal({Predicate::Kind::same, op, other, 0});
      const Guards guards = missing({op, other}, {negation(same), negation(waits)});
      if (issue >= ii_) {
        clause(guards, {});
        continue;
      }
      clause(guards, {slot(other, op, 1), slot(op, other, issue)});
      clause(guards, {slot(op, other, issue - ii_)});
    }
  }
}

void Constraints::add_one_stream() {
  if (!problem_.in_force(Rule::one_stream)) return;
  for (std::size_t a = 0; a < n_; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const Cycles issue_a = facts_.ops[a].issue;
      const Cycles issue_b = facts_.ops[b].issue;
      if (issue_a == 0 || issue_b == 0 || !facts_.may_share(a, b)) continue;
      const Literal same = literal({Predicate::Kind::same, a, b, 0});
      apart(a, issue_a, b, issue_b,
            missing({a, b}, same == kTrue ? Guards{} : Guards{negation(same)}));
    }
  }
}

/// Forbids transfer ops that hold a unit or group too long; other ops are known to fit.
void Constraints::forbid_too_long() {
  for (std::size_t op = 0; op < n_; ++op) {
    const OpFacts& it = facts_.ops[op];
    if (it.always()) continue;
    const bool holds = it.unit && it.occupancy > ii_;
    const bool issues = problem_.in_force(Rule::one_stream) && it.issue > ii_;
    if (holds || issues) clause({}, {negation(exists(op))});
  }
}

Literal Constraints::exists(std::size_t op) { return literal({Predicate::Kind::exists, op, 0, 0}); }

/// Adds to the guards a literal for each of these ops that may be missing: without the op, the
/// clause is excused.
Constraints::Guards Constraints::missing(std::initializer_list<std::size_t> ops, Guards guards) {
  for (const std::size_t op : ops) {
    if (!facts_.ops[op].always()) guards.push_back(negation(exists(op)));
  }
  return guards;
}

}  // namespace twill::certify
