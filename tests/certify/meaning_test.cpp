// Protects the property that no proof step can: the constraints of the checker hold for every
// schedule. Each predicate is evaluated on a schedule by its definition, in absolute cycles. Then
// no clause and no difference may be violated, and no sum may overflow.

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "twill/certify/constraints.h"
#include "twill/certify/symmetry.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"
#include "twill/solve/symmetry.h"
#include "twill/verify/verify.h"

namespace twill::certify {
namespace {

using problem::Problem;
using schedule::Schedule;
using Kind = Predicate::Kind;

/// Truth of predicates in one schedule.
class ScheduleTruth {
 public:
  ScheduleTruth(const Problem& problem, const Schedule& schedule, const Subject& subject)
      : problem_(problem), schedule_(schedule), subject_(subject), ii_(subject.interval) {
    const Cycles zero = schedule.ops[subject.anchor].issue;
    for (const auto& at : schedule.ops) {
      const Cycles issue = at.issue - zero;
      Cycles slot = issue % ii_;
      if (slot < 0) slot += ii_;
      slots_.push_back(slot);
      stages_.push_back((issue - slot) / ii_);
    }
    lay_out();
  }

  bool of(const Predicate& it) const {
    const auto number = it.number;
    switch (it.kind) {
      case Kind::slot:
        return slots_[it.first] - slots_[it.second] >= number;
      case Kind::stage:
        return stages_[it.first] - stages_[it.second] >= number;
      case Kind::in:
        return group(it.first) == it.second;
      case Kind::used:
        return some_op([&](std::size_t op) { return group(op) == it.first; });
      case Kind::opened:
        return some_op([&](std::size_t op) { return op <= it.second && group(op) == it.first; });
      case Kind::same:
        return group(it.first) == group(it.second);
      case Kind::waits:
        return waits(it.first);
      case Kind::alive:
        return copies(it.first, it.second) >= number;
      case Kind::held:
        return group(it.first) == group(it.second) && copies(it.first, it.second) >= number;
      case Kind::together:
        return together(it.first, it.second);
      case Kind::before:
        for (std::int64_t i = 0; i <= number; ++i) {
          if (held(member(it.first, i), it.second)) return true;
        }
        return false;
      case Kind::counts: {
        if (!held(member(it.first, number), it.second)) return false;
        if (!together(it.first, it.second)) return true;
        for (std::int64_t i = 0; i < number; ++i) {
          if (held(member(it.first, i), it.second)) return true;
        }
        return false;
      }
      case Kind::gathered:
        return std::all_of(subject_.accumulators[it.first].begin(),
                           subject_.accumulators[it.first].end(),
                           [&](std::size_t op) { return group(op) == it.second; });
      case Kind::leaves:
        return leaves(it.first, it.second);
      case Kind::crosses:
        return crosses(it.first, it.second);
      case Kind::handed:
        return problem_.groups()[group(it.first)].warps >= number &&
               some_op([&](std::size_t op) { return crosses(it.first, group(op)); });
      case Kind::steps:
        return steps(it.first) >= number;
      case Kind::deep:
        return depths_[tied(it.first)] >= number;
      case Kind::shorter:
        return depths_[tied(it.first)] * size_of(tied(it.first)) < number;
      case Kind::above: {
        const std::size_t other = tied(it.second);
        return offsets_[tied(it.first)] >= offsets_[other] + depths_[other] * size_of(other);
      }
      case Kind::groups:
        return groups() <= number;
      case Kind::crossings:
        return crossings() <= number;
      case Kind::length:
        return schedule::length_of(problem_, schedule_) <= number;
      default:
        ADD_FAILURE() << "no variable";
        return false;
    }
  }

 private:
  std::size_t group(std::size_t op) const { return schedule_.ops[op].group.index(); }
  std::size_t member(std::size_t accumulator, std::int64_t position) const {
    return subject_.accumulators[accumulator][static_cast<std::size_t>(position)];
  }
  template <class Test>
  bool some_op(Test test) const {
    for (std::size_t op = 0; op < schedule_.ops.size(); ++op) {
      if (test(op)) return true;
    }
    return false;
  }
  bool held(std::size_t value, std::size_t event) const {
    return group(value) == group(event) && copies(value, event) >= 1;
  }
  bool together(std::size_t accumulator, std::size_t event) const {
    const auto& ops = subject_.accumulators[accumulator];
    return std::all_of(ops.begin(), ops.end(),
                       [&](std::size_t op) { return group(op) == group(event); });
  }

  bool waits(std::size_t op) const {
    for (const auto& it : problem_.dependences()) {
      if (it.to.index() != op) continue;
      const bool comes = it.carries_value && problem_[it.from].registers > 0 &&
                         group(it.from.index()) != group(op);
      if (it.blocking || comes) return true;
    }
    return false;
  }

  /// End of the life of iteration 0's value.
  Cycles end_of(std::size_t value) const {
    Cycles end = schedule_.ops[value].issue;
    for (const auto& it : problem_.dependences()) {
      if (it.from.index() != value || !it.carries_value) continue;
      const auto& to = problem_[it.to];
      end = std::max(end, schedule_.ops[it.to.index()].issue + it.distance * ii_ +
                              read_hold_of(it, to, to.alternatives.front()));
    }
    return end;
  }

  std::int64_t copies(std::size_t value, std::size_t event) const {
    return copies_at(value, schedule_.ops[event].issue);
  }

  std::int64_t copies_at(std::size_t value, Cycles now) const {
    const Cycles begin = schedule_.ops[value].issue;
    const Cycles end = end_of(value);
    std::int64_t count = 0;
    for (Cycles iteration = -400; iteration <= 400; ++iteration) {
      count += begin + iteration * ii_ <= now && now < end + iteration * ii_ ? 1 : 0;
    }
    return count;
  }

  /// Evaluates `leaves` by its definition: a reader in another group for which the value certainly
  /// lives longer than its least life.
  bool leaves(std::size_t value, std::size_t to) const {
    if (group(value) != to) return false;
    const Facts facts = facts_of(problem_);
    const Cycles least = least_lives(facts, ii_)[value];
    for (const Reading& it : facts.readings[value]) {
      if (it.abroad && *it.abroad > least && group(it.reader) != to) return true;
    }
    return false;
  }

  bool crosses(std::size_t value, std::size_t to) const {
    if (problem_.ops()[value].registers == 0 || group(value) == to) return false;
    for (const auto& it : problem_.dependences()) {
      if (it.from.index() == value && it.carries_value && group(it.to.index()) == to) return true;
    }
    return false;
  }

  /// Steps of the group's register budget: registers in its fullest cycle, with the reserve.
  std::int64_t steps(std::size_t group_) const {
    const auto& budget =
        problem_.register_budgets()[*problem_.budget_of(schedule::GroupId(group_))];
    std::int64_t most = 0;
    for (Cycles now = 0; now < ii_; ++now) {
      std::int64_t sum = 0;
      for (std::size_t op = 0; op < schedule_.ops.size(); ++op) {
        if (group(op) == group_) sum += problem_.ops()[op].registers * copies_at(op, now);
      }
      most = std::max(most, sum);
    }
    std::int64_t steps = 0;
    while (steps * budget.step < most + budget.reserve) ++steps;
    return steps;
  }

  std::int64_t amount(std::size_t op) const {
    const auto& all = problem_.ops()[op].footprint;
    return all.empty() ? 0 : all.front().amount;
  }

  /// Finds the first op that in-place dependences in the memory tie to this op.
  std::size_t tied(std::size_t op) const {
    std::set<std::size_t> all = {op};
    for (std::size_t times = 0; times < problem_.ops().size(); ++times) {
      for (const auto& it : problem_.dependences()) {
        const std::set<std::size_t> ends = {it.from.index(), it.to.index()};
        if (!it.in_place || amount(*ends.begin()) == 0 || amount(*ends.rbegin()) == 0) continue;
        if (all.contains(*ends.begin()) || all.contains(*ends.rbegin())) {
          all.insert(ends.begin(), ends.end());
        }
      }
    }
    return *all.begin();
  }

  /// Size of one copy: the largest value that has a reader.
  std::int64_t size_of(std::size_t first) const {
    std::int64_t size = 0;
    for (const auto& it : problem_.dependences()) {
      if (it.carries_value && tied(it.from.index()) == first) {
        size = std::max(size, amount(it.from.index()));
      }
    }
    return size;
  }

  /// Finds depths of the buffers, and offsets: the schedule's, or for a schedule without offsets
  /// the first offsets that fit.
  void lay_out() {
    const std::size_t n = schedule_.ops.size();
    if (problem_.memories().empty()) return;
    depths_.assign(n, 0);
    offsets_.assign(n, 0);
    together_.assign(n, std::vector<bool>(n, false));
    for (Cycles now = 0; now < ii_; ++now) {
      std::vector<std::int64_t> alive(n, 0);
      for (std::size_t op = 0; op < n; ++op) {
        if (amount(op) > 0) alive[tied(op)] += copies_at(op, now);
      }
      for (std::size_t a = 0; a < n; ++a) {
        depths_[a] = std::max(depths_[a], alive[a]);
        for (std::size_t b = 0; b < n; ++b) {
          if (a != b && alive[a] > 0 && alive[b] > 0) together_[a][b] = true;
        }
      }
    }
    for (const auto& it : schedule_.addresses) offsets_[tied(it.value.index())] = it.offset;
    if (!schedule_.addresses.empty() || !problem_.in_force(problem::Rule::placement)) return;
    ASSERT_TRUE(place(0));
  }

  bool place(std::size_t op) {
    if (op == offsets_.size()) return true;
    const std::int64_t length = depths_[op] * size_of(op);
    for (offsets_[op] = 0; offsets_[op] + length <= problem_.memories()[0].capacity;
         ++offsets_[op]) {
      bool apart = true;
      for (std::size_t b = 0; b < op; ++b) {
        const std::int64_t end = offsets_[b] + depths_[b] * size_of(b);
        apart &= !together_[op][b] || offsets_[op] >= end || offsets_[op] + length <= offsets_[b];
      }
      if (apart && place(op + 1)) return true;
    }
    return false;
  }

  std::int64_t groups() const {
    std::set<std::size_t> used;
    for (std::size_t op = 0; op < schedule_.ops.size(); ++op) used.insert(group(op));
    return static_cast<std::int64_t>(used.size());
  }
  std::int64_t crossings() const {
    std::int64_t count = 0;
    for (std::size_t op = 0; op < schedule_.ops.size(); ++op) {
      for (std::size_t to = 0; to < problem_.groups().size(); ++to)
        count += crosses(op, to) ? 1 : 0;
    }
    return count;
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const Subject& subject_;
  Cycles ii_;
  std::vector<std::int64_t> depths_;  ///< by the first op of a buffer
  std::vector<std::int64_t> offsets_;
  std::vector<std::vector<bool>> together_;
  std::vector<Cycles> slots_;
  std::vector<Cycles> stages_;
};

/// Renames equal groups so that groups with earlier ops come first, and shifts the first issue to
/// 0.
Schedule normal(const Problem& problem, Schedule schedule) {
  using Like = std::tuple<int, int, bool, std::optional<std::size_t>>;
  const auto like = [&](std::size_t i) {
    const auto& group = problem.groups()[i];
    return Like(group.warps, group.registers, group.loads, problem.budget_of(schedule::GroupId(i)));
  };
  std::map<Like, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < problem.groups().size(); ++i) {
    alike[like(i)].push_back(i);
  }
  std::map<std::size_t, std::size_t> renamed;
  std::map<Like, std::size_t> next;
  Cycles first = schedule.ops.front().issue;
  for (auto& at : schedule.ops) {
    first = std::min(first, at.issue);
    const Like kind = like(at.group.index());
    const auto [place, fresh] = renamed.try_emplace(at.group.index(), 0);
    if (fresh) place->second = alike[kind][next[kind]++];
    at.group = schedule::GroupId(place->second);
  }
  for (auto& at : schedule.ops) at.issue -= first;
  return schedule;
}

/// Finds circuits of readings of values of one size, up to three ops long, each disjoint from those
/// before.
std::vector<std::vector<std::size_t>> accumulators_of(const Problem& problem) {
  const Facts facts = facts_of(problem);
  const std::size_t n = problem.ops().size();
  std::vector<std::vector<std::size_t>> out;
  std::set<std::size_t> taken;
  const auto offer = [&](const std::vector<std::size_t>& ops) {
    if (rounds_of(facts, ops) < 1) return;
    for (const std::size_t op : ops) {
      const bool fits = problem.ops()[op].registers > 0 &&
                        problem.ops()[op].registers == problem.ops()[ops[0]].registers;
      if (!fits || taken.contains(op)) return;
    }
    taken.insert(ops.begin(), ops.end());
    out.push_back(ops);
  };
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      offer({a, b});
      for (std::size_t c = 0; c < n; ++c) {
        if (c != a && c != b) offer({a, b, c});
      }
    }
  }
  return out;
}

Subject subject_of(const Problem& problem, const Schedule& schedule, std::mt19937& random) {
  Subject out;
  out.interval = schedule.initiation_interval;
  out.anchor = random() % problem.ops().size();
  out.accumulators = accumulators_of(problem);
  const solve::SubTiles tiles = solve::find_sub_tiles(problem);
  if (tiles.ops.empty()) return out;
  for (const auto& map : tiles.exchanges) {
    Exchange& exchange = out.exchanges.emplace_back();
    for (std::size_t op = 0; op < map.size(); ++op) {
      if (op < map[op]) exchange.emplace_back(op, map[op]);
    }
  }
  // Order of the tiles in the schedule, which is one of the orders that exchanges lead to.
  const Cycles ii = schedule.initiation_interval;
  const auto apart = [&](std::size_t from, std::size_t to) {
    const Cycles cycles = (schedule.ops[to].issue - schedule.ops[from].issue) % ii;
    return cycles < 0 ? cycles + ii : cycles;
  };
  out.tiles = tiles.ops;
  if (out.tiles.size() == 2 && apart(out.tiles[0], out.tiles[1]) > ii / 2) {
    std::swap(out.tiles[0], out.tiles[1]);
  }
  out.anchor = out.tiles.front();
  std::sort(out.tiles.begin() + 1, out.tiles.end(), [&](std::size_t a, std::size_t b) {
    return apart(out.anchor, a) < apart(out.anchor, b);
  });
  return out;
}

/// Makes all variables, some of them with numbers around the decisive ones.
void name_everything(Constraints& constraints, const Problem& problem, const Subject& subject) {
  const std::size_t n = problem.ops().size();
  const std::size_t groups = problem.groups().size();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      for (std::int64_t copies = 1; copies <= 3; ++copies) {
        constraints.literal({Kind::alive, a, b, copies});
        constraints.literal({Kind::held, a, b, copies});
      }
    }
    for (std::size_t group = 0; group < groups && problem.ops()[a].registers > 0; ++group) {
      constraints.literal({Kind::handed, a, 0, problem.groups()[group].warps});
    }
    for (std::size_t group = 0; group < groups; ++group) {
      constraints.literal({Kind::leaves, a, group, 0});
      constraints.literal({Kind::crosses, a, group, 0});
    }
  }
  for (std::size_t i = 0; i < subject.accumulators.size(); ++i) {
    for (std::size_t op = 0; op < n; ++op) {
      constraints.literal({Kind::together, i, op, 0});
      for (std::size_t p = 0; p < subject.accumulators[i].size(); ++p) {
        constraints.literal({Kind::counts, i, op, static_cast<std::int64_t>(p)});
      }
    }
    for (std::size_t group = 0; group < groups; ++group) {
      constraints.literal({Kind::gathered, i, group, 0});
    }
  }
  for (const auto& budget : problem.register_budgets()) {
    for (const auto group : budget.groups) {
      for (std::int64_t steps = 0; steps <= budget.steps() + 1; ++steps) {
        constraints.literal({Kind::steps, group.index(), 0, steps});
      }
    }
  }
  for (std::size_t a = 0; a < n && !problem.memories().empty(); ++a) {
    for (std::int64_t number = 1; number <= 9; ++number) {
      constraints.literal({Kind::deep, a, 0, number});
      constraints.literal({Kind::shorter, a, 0, number});
    }
    for (std::size_t b = 0; b < n; ++b) constraints.literal({Kind::above, a, b, 0});
  }
  for (std::int64_t limit = 0; limit <= 4; ++limit) {
    constraints.literal({Kind::groups, 0, 0, limit});
    constraints.literal({Kind::crossings, 0, 0, limit});
  }
  for (const std::int64_t limit : {1, 3, 6, 12, 30})
    constraints.literal({Kind::length, 0, 0, limit});
}

std::vector<Predicate> all_sums(const Problem& problem) {
  std::vector<Predicate> sums = {{Kind::compute_groups, 0, 0, 0}};
  for (std::size_t op = 0; op < problem.ops().size(); ++op) {
    for (std::size_t m = 0; m < problem.memories().size(); ++m) {
      sums.push_back({Kind::memory, m, op, 0});
      sums.push_back({Kind::depth, op, m, 0});
    }
    sums.push_back({Kind::registers, op, 0, 0});
  }
  for (std::size_t group = 0; group < problem.groups().size(); ++group) {
    sums.push_back({Kind::issue, group, 0, 0});
    sums.push_back({Kind::register_time, group, 0, 0});
    sums.push_back({Kind::budget, group, 0, 0});
  }
  for (std::int64_t limit = 0; limit <= 4; ++limit) {
    sums.push_back({Kind::groups, 0, 0, limit});
    sums.push_back({Kind::crossings, 0, 0, limit});
  }
  return sums;
}

std::string in_words(const Problem& problem, const Schedule& schedule) {
  return schedule::print_loop(schedule::loop_text_of(problem, schedule));
}

/// Checks that all constraints of the checker hold for this schedule, which is right.
void expect_allowed(const Problem& problem, const Schedule& schedule, std::mt19937& random,
                    bool with_room = false) {
  const Schedule right = normal(problem, schedule);
  ASSERT_TRUE(verify::verify(problem, right).has_value());
  Subject subject = subject_of(problem, right, random);
  subject.with_room = with_room;
  UnitPropagation clauses;
  Constraints constraints(problem, subject, clauses);
  ASSERT_EQ(constraints.objection(), "");
  ASSERT_FALSE(constraints.nothing_fits()) << in_words(problem, right);
  name_everything(constraints, problem, subject);
  const ScheduleTruth truth(problem, right, subject);
  const Facts facts = facts_of(problem);
  const auto is_atom = [&](const Predicate& it) {
    if (it.kind == Kind::slot || it.kind == Kind::stage) return true;
    if (it.kind == Kind::shorter) return facts.buffer_of(it.first, 0) != nullptr;
    if (it.kind != Kind::above) return false;
    const auto* const buffer = facts.buffer_of(it.first, 0);
    const auto* const other = facts.buffer_of(it.second, 0);
    return buffer != nullptr && other != nullptr && buffer != other;
  };
  std::vector<Literal> assignment;
  std::vector<Literal> atoms;
  for (std::size_t i = 0; i < constraints.predicates().size(); ++i) {
    const Predicate& it = constraints.predicates()[i];
    const auto positive = static_cast<Literal>(2 * (i + 1));
    assignment.push_back(truth.of(it) ? positive : negation(positive));
    if (is_atom(it)) atoms.push_back(assignment.back());
  }
  ASSERT_EQ(clauses.variable_count(), assignment.size() + 1);
  ASSERT_FALSE(constraints.close_circuit(atoms)) << in_words(problem, right);
  const bool consistent = clauses.assume(assignment);
  if (!consistent) {
    std::vector<UnitPropagation::Clause> why;
    clauses.trace_contradiction(why);
    std::string text;
    for (const Literal literal : clauses.literals_in(why.front())) {
      text += (literal % 2 != 0 ? " not " : " ") +
              text_of(constraints.predicates()[literal / 2 - 1], problem) + ";";
    }
    FAIL() << text << "\n" << in_words(problem, right);
  }
  std::vector<Literal> causes;
  for (const Predicate& sum : all_sums(problem)) {
    EXPECT_FALSE(constraints.overflows(sum, causes)) << text_of(sum, problem) << "\n"
                                                     << in_words(problem, right);
  }
  clauses.release();
}

Schedule stretched(const Schedule& schedule) {
  Schedule out = schedule;
  ++out.initiation_interval;
  for (auto& at : out.ops) at.issue += at.issue / schedule.initiation_interval;
  return out;
}

Schedule drawn(const Problem& problem, std::mt19937& random) {
  Schedule out;
  out.initiation_interval = 1 + static_cast<Cycles>(random() % 9);
  for (std::size_t op = 0; op < problem.ops().size(); ++op) {
    const auto issue = static_cast<Cycles>(random() % 14);
    out.ops.push_back({issue, schedule::GroupId(random() % problem.groups().size()), 0});
  }
  return out;
}

void report_meaning(int schedules) {
  std::printf("meaning: all constraints hold of %d schedules that keep the rules\n", schedules);
}

// Protects: schedules of the search, and the same schedules stretched, obey the constraints. On
// tight schedules a constraint that is too strong would show.
TEST(Meaning, SchedulesOfTheSearchAreAllowed) {
  std::mt19937 random(11);
  int schedules = 0;
  for (int round = 0; round < solve_test::rounds(1500); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 5;
    size.groups = 1 + round % 3;
    const Problem problem = solve_test::random_problem(random, size);
    const schedule::Answer answer = solve::solve(problem);
    if (!answer.schedule) continue;
    Schedule schedule = *answer.schedule;
    for (int stretch = 0; stretch < 3; ++stretch) {
      expect_allowed(problem, schedule, random);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
      schedule = stretched(schedule);
      ++schedules;
    }
  }
  report_meaning(schedules);
  EXPECT_GT(schedules, 2000);
}

// Protects the same with register budgets: values alive in one group limit the other groups.
TEST(Meaning, SchedulesWithinRegisterBudgetsAreAllowed) {
  std::mt19937 random(14);
  int schedules = 0;
  for (int round = 0; round < solve_test::rounds(500); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 5;
    size.groups = 2 + round % 2;
    const Problem problem =
        solve_test::with_register_budget(random, solve_test::random_problem(random, size));
    const schedule::Answer answer = solve::solve(problem);
    if (!answer.schedule) continue;
    Schedule schedule = *answer.schedule;
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (verify::verify(problem, schedule)) {
        expect_allowed(problem, schedule, random);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
        ++schedules;
      }
      schedule = attempt == 0 ? stretched(schedule) : drawn(problem, random);
    }
  }
  report_meaning(schedules);
  EXPECT_GT(schedules, 900);
}

// Protects the same where values need addresses: addresses of the search, or the first that fit.
TEST(Meaning, SchedulesWithAddressesAreAllowed) {
  std::mt19937 random(15);
  int schedules = 0;
  for (int round = 0; round < solve_test::rounds(400); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 4;
    size.groups = 1 + round % 2;
    const Problem problem =
        solve_test::with_tight_memory(random, solve_test::random_problem(random, size));
    const schedule::Answer answer = solve::solve(problem);
    if (!answer.schedule) continue;
    Schedule schedule = *answer.schedule;
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (verify::verify(problem, schedule)) {
        expect_allowed(problem, schedule, random);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
        ++schedules;
      }
      schedule = attempt == 0 ? stretched(schedule) : drawn(problem, random);
    }
  }
  report_meaning(schedules);
  EXPECT_GT(schedules, 500);
}

/// Makes a loop with a value carried around it in registers, with hardly more registers than the
/// value needs. Its readers are in other groups, and a transfer takes time.
Problem accumulator_loop(std::mt19937& random) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  const int ring = pick(2, 3);
  std::string text = "loop ring\nunit X\ngroup G registers " + std::to_string(pick(4, 9)) +
                     "\ngroup H warps 8 registers 9\n";
  if (pick(0, 1) == 1) text += "group I registers " + std::to_string(pick(4, 9)) + "\n";
  const auto name = [](int op) { return std::string(1, static_cast<char>('a' + op)); };
  const auto number = [&](int low, int high) { return std::to_string(pick(low, high)); };
  for (int op = 0; op < ring; ++op) {
    text += "op " + name(op) + " latency " + number(0, 2) + " issue " + number(0, 1) +
            " registers 4" + (pick(0, 2) == 0 ? " async" : "") + "\n";
  }
  text += "op r on X for " + number(3, 9) + " latency 1 issue 1 warps 8\n";
  text += "op s latency 1 issue 1 registers " + number(0, 2) + "\n";
  for (int op = 0; op < ring; ++op) {
    text += name(op) + " -> " + name((op + 1) % ring) +
            (op + 1 == ring ? " distance " + number(1, 2) : "") + "\n";
  }
  for (int reader = pick(1, 2); reader > 0; --reader) {
    text += name(pick(0, ring - 1)) + (pick(0, 1) == 0 ? " -> r" : " -> s") + " distance " +
            number(0, 1) + " transfer " + number(1, 6) + "\n";
  }
  auto loop = schedule::parse_loop(text, "ring.loop");
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  return std::move(loop->problem);
}

// Protects sums with tight registers around accumulators: over time and over copies they are exact.
TEST(Meaning, SchedulesWithAccumulatorsAreAllowed) {
  std::mt19937 random(13);
  int schedules = 0;
  for (int round = 0; round < solve_test::rounds(400); ++round) {
    const Problem problem = accumulator_loop(random);
    const schedule::Answer answer = solve::solve(problem);
    if (!answer.schedule) continue;
    Schedule schedule = *answer.schedule;
    for (int stretch = 0; stretch < 2; ++stretch, schedule = stretched(schedule)) {
      expect_allowed(problem, schedule, random);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
      ++schedules;
    }
    for (int attempt = 0; attempt < 100; ++attempt) {
      Schedule moved = schedule;
      for (auto& at : moved.ops) at.issue += static_cast<Cycles>(random() % 7);
      if (!verify::verify(problem, moved)) continue;
      expect_allowed(problem, moved, random);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
      ++schedules;
    }
  }
  report_meaning(schedules);
  EXPECT_GT(schedules, 1500);
}

/// Makes the Problem with one memory of that capacity, which one value in three occupies.
Problem with_memory(const Problem& problem, Amount capacity) {
  problem::Parts parts = problem.parts();
  parts.memories = {{"SMEM", capacity}};
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    parts.ops[i].footprint.clear();
    if (i % 3 == 0) parts.ops[i].footprint.push_back({problem::MemoryId(0), 300});
  }
  return *problem::pose(std::move(parts));
}

// Protects the same for schedules that leave memory for their transfers, with groups of several
// widths.
TEST(Meaning, SchedulesWithRoomAreAllowed) {
  std::mt19937 random(15);
  solve::Options options;
  options.room_for_staging = true;
  int schedules = 0;
  for (int round = 0; round < solve_test::rounds(800); ++round) {
    solve_test::Size size;
    size.ops = 3 + round % 3;
    size.groups = 2 + round % 2;
    const Problem drawn = solve_test::random_problem(random, size);
    const Problem problem = with_memory(drawn, 1 + static_cast<Amount>(random() % 4000));
    if (!problem.in_force(problem::Rule::memory)) continue;
    const schedule::Answer answer = solve::solve(problem, options);
    if (!answer.schedule) continue;
    expect_allowed(problem, *answer.schedule, random, true);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    ++schedules;
  }
  report_meaning(schedules);
  EXPECT_GT(schedules, 300);
}

// Protects the same for random schedules that the simulation accepts.
TEST(Meaning, RandomSchedulesAreAllowed) {
  std::mt19937 random(12);
  int schedules = 0;
  for (int round = 0; round < solve_test::rounds(1200); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 4;
    size.groups = 1 + round % 3;
    const Problem problem = solve_test::random_problem(random, size);
    for (int attempt = 0; attempt < 150; ++attempt) {
      const Schedule schedule = drawn(problem, random);
      if (!verify::verify(problem, schedule)) continue;
      expect_allowed(problem, schedule, random);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
      ++schedules;
    }
  }
  report_meaning(schedules);
  EXPECT_GT(schedules, 3000);
}

}  // namespace
}  // namespace twill::certify
