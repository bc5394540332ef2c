#include <algorithm>
#include <set>

#include "twill/problem/problem.h"
#include "twill/solve/encode.h"
#include "twill/support/whole_division.h"

/// Encoding: numbers of live copies.
namespace twill::solve {

/// Number of copies to count for a value, if `fitting` copies fit: one more than fit. Fewer for a
/// small value, whose copies would cost more than they constrain.
std::int64_t Encoding::countable_copies(std::int64_t fitting) const {
  if (fitting < most_copies_) return fitting + 1;
  return std::max<std::int64_t>(1, most_copies_ / 4);
}

/// Adds to `terms` the amount of each copy of the value that is alive when `event` is issued (and
/// `shared` is true). A value that lives for k * II has k copies alive in any cycle.
void Encoding::count_copies(const Occupant& value, std::size_t event, std::int64_t capacity,
                            Literal shared, std::vector<Term>& terms) {
  const std::int64_t countable = countable_copies(capacity / value.amount);
  const bool exists = instance_.tasks[value.op].always();
  const std::int64_t always = exists ? std::min(lifetimes_[value.op] / ii_, countable) : 0;
  if (always > 0) terms.push_back({value.amount * always, shared});
  for (std::int64_t copy = always + 1; copy <= countable; ++copy) {
    terms.push_back({value.amount, copy_alive(value.op, event, copy, shared)});
  }
}

/// Literal that must be true if `copy` or more copies of the value are alive when `event` is
/// issued. Only if `shared` is true and both exist.
Literal Encoding::copy_alive(std::size_t value, std::size_t event, std::int64_t copy,
                             Literal shared) {
  if (placed_ && shared == kTrue) {  // counted in the memory and in the buffer
    const auto known = alive_.find({value, event, copy});
    if (known != alive_.end()) return known->second;
  }
  const auto kind = shared == kTrue ? Meaning::Kind::alive : Meaning::Kind::held;
  const Literal alive = consequence({kind, value, event, copy});
  for (const Read& read : instance_.reads[value]) {
    count_read(value, read, event, copy, shared, alive);
  }
  if (placed_ && shared == kTrue) alive_.emplace(std::tuple(value, event, copy), alive);
  return alive;
}

/// Counts the copies that one read keeps alive at M(event). With D the distance of the read, these
/// are
///
///     s(reader) - s(value) + D + ceil((r(reader) + hold - r(event)) / II) - [r(value) > r(event)]
///
/// The ceiling is at least p iff r(reader) - r(event) >= (p - 1) * II - hold + 1. The slots differ
/// by less than II, so p takes few values. Values of p that are certainly reached make smaller ones
/// superfluous.
void Encoding::count_read(std::size_t value, const Read& read, std::size_t event, std::int64_t copy,
                          Literal shared, Literal alive) {
  Guards guards = unless_exist({value, read.reader, event}, {~shared, alive});
  if (read.transferable) guards.push_back(~same_group(value, read.reader));
  const Literal started = slot_apart(event, value, 0);  // the copy of this round has begun
  const Cycles most = ceil_divide(read.hold + ii_ - 1, ii_);
  const Cycles least = ceil_divide(read.hold - ii_ + 1, ii_);
  for (Cycles p = most; p >= least; --p) {
    const Literal reading = slot_apart(read.reader, event, (p - 1) * ii_ - read.hold + 1);
    if (reading == kFalse) continue;
    const Literal enough = stage_apart(read.reader, value, copy - read.distance - p);
    add_clause(guards, {~reading, ~started, ~enough});
    if (started != kTrue) {
      const Literal enough_anyway = stage_apart(read.reader, value, copy - read.distance - p + 1);
      add_clause(guards, {~reading, ~enough_anyway});
    }
    if (reading == kTrue) return;
  }
}

/// Literal that must be true where another group reads the value, and the value's own group has at
/// least that many warps. `shared` is true where the reader is in the same group.
Literal Encoding::handed(std::size_t value, const Guards& shared, int warps) {
  const Literal handed = consequence({Meaning::Kind::handed, value, 0, warps});
  const auto fits = [&](std::size_t g) { return instance_.problem->groups()[g].warps >= warps; };
  const std::vector<std::size_t>& groups = instance_.tasks[value].groups;
  const bool all = std::all_of(groups.begin(), groups.end(), fits);
  for (const Literal one : shared) {
    if (all) add_clause({}, {one, handed});
    for (const std::size_t group : groups) {
      if (!all && fits(group)) add_clause({}, {one, ~in_group_[value][group], handed});
    }
  }
  return handed;
}

/// Terms of the memory in which values wait that change groups, at all times. A value takes more
/// bytes in a wider group, in steps.
std::vector<Term> Encoding::staged_terms(std::size_t memory) {
  std::vector<Term> terms;
  if (instance_.staging != memory) return terms;
  for (std::size_t value = 0; value < instance_.op_count(); ++value) {
    if (instance_.tasks[value].staged == 0) continue;
    Guards shared;
    for (const Read& read : instance_.reads[value]) {
      shared.push_back(same_group(value, read.reader));
    }
    std::erase(shared, kTrue);
    const std::vector<std::size_t>& groups = instance_.tasks[value].groups;
    if (shared.empty() || groups.empty()) continue;
    std::set<int> widths;
    for (const std::size_t group : groups) {
      widths.insert(instance_.problem->groups()[group].warps);
    }
    int narrower = 0;
    for (const int warps : widths) {
      const std::int64_t more = instance_.tasks[value].staged * (warps - narrower);
      terms.push_back({more, handed(value, shared, warps)});
      narrower = warps;
    }
  }
  return terms;
}

void Encoding::add_memories() {
  for (std::size_t number = 0; number < instance_.memories.size(); ++number) {
    const Store& memory = instance_.memories[number];
    const std::vector<Term> staged = staged_terms(number);
    // Sum over the interval: a count at the issue of each op would be no smaller.
    if (!staged.empty())
      add_at_most({Meaning::Kind::memory, number, 0, 0}, staged, memory.capacity);
    for (const Occupant& event : memory.values) {
      std::vector<Term> terms = staged;
      for (const Occupant& value : memory.values) {
        count_copies(value, event.op, memory.capacity, kTrue, terms);
      }
      add_at_most({Meaning::Kind::memory, number, event.op, 0}, terms, memory.capacity);
      if (!fits()) return;
    }
  }
}

void Encoding::add_shares() {
  for (const problem::Group& group : instance_.problem->groups()) {
    shares_.push_back({group.registers, {}});
  }
  if (!instance_.problem->in_force(Rule::registers)) return;
  for (const problem::RegisterBudget& it : instance_.problem->register_budgets()) {
    if (fits()) add_budget(it);
  }
}

/// Adds literals for the steps that each group needs; the steps of a group without live values are
/// always needed. The last step of a group may have fewer registers, if the group has its own
/// limit.
void Encoding::add_budget(const problem::RegisterBudget& budget) {
  const std::int64_t reserved = budget.steps_for(0);
  const auto count = static_cast<std::int64_t>(budget.groups.size());
  const std::int64_t spare = budget.steps() - count * reserved;
  std::vector<Term> needed;
  for (const problem::GroupId id : budget.groups) {
    Share& share = shares_[id.index()];
    const std::int64_t limit = share.registers;
    const std::int64_t most = std::min(budget.steps_for(limit), reserved + spare);
    const auto good_for = [&](std::int64_t steps) {
      return std::min(limit, steps * budget.step - budget.reserve);
    };
    Literal before = kTrue;
    for (std::int64_t steps = reserved + 1; steps <= most; ++steps) {
      const Literal needs = literal({Meaning::Kind::steps, id.index(), 0, steps});
      add_clause({}, {~needs, before});
      before = needs;
      needed.push_back({1, needs});
      share.lacking.push_back({good_for(steps) - good_for(steps - 1), ~needs});
      engine_.suggest(steps - reserved <= spare / count ? needs : ~needs);  // equal shares first
    }
    share.registers = good_for(most);
  }
  add_at_most({Meaning::Kind::budget, budget.groups.front().index(), 0, 0}, needed, spare);
}

/// Demands that the group's live values at the event fit into its share. For an event in another
/// group, the constraint only says that no group holds more than the largest.
void Encoding::limit_share(std::size_t event, std::size_t group, std::int64_t largest,
                           std::vector<Term> terms) {
  const Share& share = shares_[group];
  std::int64_t excused = std::max<std::int64_t>(0, largest - share.registers);
  for (const Term& lacking : share.lacking) {
    excused += lacking.coefficient;
    terms.push_back(lacking);
  }
  if (excused > 0) terms.push_back({excused, in_group_[event][group]});
  add_at_most({Meaning::Kind::registers, event, 0, 0}, terms, share.registers + excused);
}

/// Counts registers in the group of the event; a term adds the missing registers of a smaller
/// group.
void Encoding::add_registers() {
  const auto groups = instance_.problem->groups();
  for (const Occupant& event : instance_.register_values) {
    std::int64_t largest = 0;
    for (const std::size_t group : instance_.tasks[event.op].groups) {
      largest = std::max<std::int64_t>(largest, groups[group].registers);
    }
    std::vector<Term> limits;
    for (const std::size_t group : instance_.tasks[event.op].groups) {
      const std::int64_t missing = largest - groups[group].registers;
      if (missing > 0) limits.push_back({missing, in_group_[event.op][group]});
    }
    std::vector<Term> loads;
    for (std::size_t i = 0; i < instance_.accumulators.size(); ++i) {
      if (is_regular(instance_.accumulators[i])) count_accumulator(i, event.op, largest, loads);
    }
    for (const Occupant& value : instance_.register_values) {
      if (in_regular_accumulator(value.op)) continue;
      const Literal shared = same_group(value.op, event.op);
      if (shared != kFalse) count_copies(value, event.op, largest, shared, loads);
    }
    std::vector<Term> terms = limits;
    terms.insert(terms.end(), loads.begin(), loads.end());
    add_at_most({Meaning::Kind::registers, event.op, 0, 0}, terms, largest);
    for (const std::size_t group : instance_.tasks[event.op].groups) {
      const bool shared = instance_.problem->budget_of(problem::GroupId(group)).has_value();
      if (shared) limit_share(event.op, group, largest, loads);
    }
    if (!fits()) return;
  }
}

/// Whether no value of the accumulator lives for a whole II by itself. Values of other accumulators
/// are counted one by one.
bool Encoding::is_regular(const Accumulator& accumulator) const {
  return std::all_of(accumulator.ops.begin(), accumulator.ops.end(),
                     [this](std::size_t op) { return lifetimes_[op] < ii_; });
}

bool Encoding::in_regular_accumulator(std::size_t op) const {
  return std::any_of(instance_.accumulators.begin(), instance_.accumulators.end(), [&](auto& it) {
    return is_regular(it) && std::find(it.ops.begin(), it.ops.end(), op) != it.ops.end();
  });
}

/// Counts copies as count_copies does, for the values of an accumulator. If all values are in the
/// event's group, one of them is always alive. So the first copies count as 1 + (live values - 1):
/// a value counts if an earlier value of the accumulator is alive, too.
void Encoding::count_accumulator(std::size_t number, std::size_t event, std::int64_t capacity,
                                 std::vector<Term>& terms) {
  const Accumulator& accumulator = instance_.accumulators[number];
  Guards shared;
  for (const std::size_t op : accumulator.ops) shared.push_back(same_group(op, event));
  const Literal together = all_of(shared, {Meaning::Kind::together, number, event, 0});
  if (together != kFalse) terms.push_back({accumulator.amount, together});
  const std::int64_t countable = countable_copies(capacity / accumulator.amount);
  Literal before = kFalse;  // true if a value so far is alive
  for (std::size_t i = 0; i < accumulator.ops.size(); ++i) {
    if (shared[i] == kFalse) continue;
    const Literal alive = copy_alive(accumulator.ops[i], event, 1, shared[i]);
    const auto position = static_cast<std::int64_t>(i);
    const Literal counts = consequence({Meaning::Kind::counts, number, event, position});
    add_clause({}, {~alive, together, counts});
    add_clause({}, {~alive, ~before, counts});
    terms.push_back({accumulator.amount, counts});
    const Literal next = consequence({Meaning::Kind::before, number, event, position});
    add_clause({}, {~alive, next});
    add_clause({}, {~before, next});
    before = next;
    for (std::int64_t copy = 2; copy <= countable; ++copy) {
      const Literal more = copy_alive(accumulator.ops[i], event, copy, shared[i]);
      terms.push_back({accumulator.amount, more});
    }
  }
}

/// Literal that is true iff all literals are true.
Literal Encoding::all_of(const Guards& literals, const Meaning& meaning) {
  if (std::find(literals.begin(), literals.end(), kFalse) != literals.end()) return kFalse;
  if (std::all_of(literals.begin(), literals.end(), [](Literal it) { return it == kTrue; })) {
    return kTrue;
  }
  const Literal all = literal(meaning);
  Guards any_missing = {all};
  for (const Literal literal : literals) {
    add_clause({}, {~all, literal});
    any_missing.push_back(~literal);
  }
  engine_.add_clause(any_missing);
  return all;
}

/// Limits registers times cycles: the least demand of a group's values is at most the group's
/// supply. The counts imply this, but here is a constraint on groups alone. Hopeless distributions
/// of ops fail before the first op is placed.
void Encoding::limit_register_time() {
  constexpr std::int64_t kLargest = std::int64_t{1} << 50;  // sums beyond might overflow
  const auto groups = instance_.problem->groups();
  for (std::size_t group = 0; group < groups.size() && fits(); ++group) {
    if (groups[group].registers > kLargest / ii_) continue;
    const Share& share = shares_[group];
    std::vector<Term> terms;
    for (const Term& it : share.lacking) terms.push_back({it.coefficient * ii_, it.literal});
    const auto add = [&](std::int64_t amount, Cycles cycles, Literal literal) {
      if (cycles <= 0 || literal == kFalse) return;
      terms.push_back({amount * std::min(cycles, kLargest / amount), literal});
    };
    for (const Occupant& value : instance_.register_values) {
      add(value.amount, lifetimes_[value.op], runs_in(value.op, group));
      const Cycles abroad = least_extra_abroad(value.op);
      if (abroad > 0) add(value.amount, abroad, leaves_group(value.op, group));
    }
    for (std::size_t number = 0; number < instance_.accumulators.size(); ++number) {
      const Accumulator& it = instance_.accumulators[number];
      // Members: a member that lives longer for a reader in another group may then be the only live
      // one.
      Cycles counted = 0;
      Guards members;
      for (const std::size_t op : it.ops) {
        counted += lifetimes_[op] + least_extra_abroad(op);
        members.push_back(in_group_[op][group]);
      }
      if (counted >= it.distance * ii_) continue;
      const Literal gathered = all_of(members, {Meaning::Kind::gathered, number, group, 0});
      add(it.amount, it.distance * ii_ - counted, gathered);
    }
    add_at_most({Meaning::Kind::register_time, group, 0, 0}, terms, share.registers * ii_);
  }
}

/// Least cycles by which the value lives longer if a reader is in another group; 0 if no reader
/// makes a difference.
Cycles Encoding::least_extra_abroad(std::size_t value) const {
  Cycles least = 0;
  for (const Read& read : instance_.reads[value]) {
    const Cycles extra = extra_abroad(value, read);
    if (extra > 0 && (least == 0 || extra < least)) least = extra;
  }
  return least;
}

Cycles Encoding::extra_abroad(std::size_t value, const Read& read) const {
  return read.transfer == 0 ? 0 : read.delay + read.transfer + read.hold - lifetimes_[value];
}

/// Literal that must be true if the value is in that group and a reader that makes a difference is
/// not.
Literal Encoding::leaves_group(std::size_t value, std::size_t group) {
  const Literal here = in_group_[value][group];
  if (here == kFalse) return kFalse;
  const Literal leaves = consequence({Meaning::Kind::leaves, value, group, 0});
  for (const Read& read : instance_.reads[value]) {
    if (extra_abroad(value, read) <= 0) continue;
    add_clause({}, {~here, same_group(value, read.reader), leaves});
  }
  return leaves;
}

}  // namespace twill::solve
