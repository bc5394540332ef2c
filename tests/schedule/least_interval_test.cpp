// Protects the least II of a given order. Its answers must be exact in both directions, since the
// published schedules and the co-run model are judged by them.

#include "twill/schedule/least_interval.h"

#include <functional>
#include <stdlib.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/random_parts.h"
#include "twill/problem/problem.h"
#include "verify/drawn.h"

namespace twill::schedule {
namespace {

using problem::Dependence;
using problem::Problem;
using problem::Rule;
using problem::UnitId;
using verify::broken;
using verify::Drawn;
using verify::issued;
using verify::Rules;

const bool kConfigured = setenv("RC_PARAMS", "seed=5 max_success=400 max_discard_ratio=50", 0) == 0;

/// Makes an order of one group that issues the ops as they are numbered; stages as given.
Order in_order(const Problem& problem, const std::vector<int>& stages) {
  Order order;
  order.groups.resize(problem.groups().size());
  order.units.resize(problem.units().size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    order.ops.push_back({stages[i], GroupId(0), 0});
    order.groups[0].emplace_back(i);
  }
  return order;
}

Cycles least(const Problem& problem, const Order& order) {
  const Result<LeastInterval> found = least_interval(problem, order);
  if (!found) {
    ADD_FAILURE() << to_string(found.error());
    return 0;
  }
  EXPECT_EQ(broken(problem, found->schedule), Rules{});
  EXPECT_EQ(found->schedule.initiation_interval, found->initiation_interval);
  return found->initiation_interval;
}

std::string refusal(const Problem& problem, const Order& order) {
  const Result<LeastInterval> found = least_interval(problem, order);
  return found ? "(an answer)" : found.error().message;
}

/// Makes qk -> exp -> pv, 4 cycles each; the products share a unit.
Drawn attention() {
  Drawn drawn;
  drawn.group("G");
  const UnitId tc = drawn.unit("TC");
  const UnitId mufu = drawn.unit("MUFU");
  drawn.on_unit("qk", tc, 4);
  drawn.on_unit("exp", mufu, 4);
  drawn.on_unit("pv", tc, 4);
  drawn.edge(OpId(0), OpId(1), 4);
  drawn.edge(OpId(1), OpId(2), 4);
  return drawn;
}

TEST(LeastInterval, OfTheSequentialLoopIsItsLength) {
  const Problem problem = attention().problem();
  EXPECT_EQ(least(problem, in_order(problem, {0, 0, 0})), 12);
}

// Protects: with the product of the iteration before, the tensor core is never idle.
TEST(LeastInterval, FallsWhenAnOpMovesToTheNextStage) {
  const Problem problem = attention().problem();
  Order order = in_order(problem, {0, 0, 1});
  order.groups[0] = {OpId(0), OpId(2), OpId(1)};
  EXPECT_EQ(least(problem, order), 8);
}

TEST(LeastInterval, IsTheLargestRatioOfDelayToDistance) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn.edge(a, b, 3);
  drawn.edge(b, a, 4, 2);
  const Problem problem = drawn.problem();
  Order order = in_order(problem, {0, 1});
  order.groups[0] = {OpId(1), OpId(0)};
  const Result<LeastInterval> found = least_interval(problem, order);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->initiation_interval, 4);  // 7 cycles over 2 iterations
  EXPECT_EQ(found->circuit.delay, 7);
  EXPECT_EQ(found->circuit.iterations, 2);
  EXPECT_EQ(found->circuit.edges,
            (std::vector<std::string>{"a -> b: dependence, 3 cycles",
                                      "b -> a: dependence, 4 cycles, 2 iterations on"}));
}

TEST(LeastInterval, HonoursTheIssueOfAGroup) {
  Drawn drawn;
  drawn.group("G");
  drawn.op("a", 0, 5);
  drawn.op("b", 0, 6);
  EXPECT_EQ(least(drawn.problem(), in_order(drawn.problem(), {0, 0})), 11);
  drawn.relax(Rule::one_stream);
  EXPECT_EQ(least(drawn.problem(), in_order(drawn.problem(), {0, 0})), 1);
}

// Protects: b waits for a and takes no issue slots itself, so b fits before or after the windows,
// not inside.
TEST(LeastInterval, HonoursWaits) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a", 0, 5);
  const OpId b = drawn.op("b", 0, 0);
  drawn.edge(a, b, 2).blocking = true;
  EXPECT_EQ(least(drawn.problem(), in_order(drawn.problem(), {0, 0})), 6);
  drawn.relax(Rule::one_stream);
  EXPECT_EQ(least(drawn.problem(), in_order(drawn.problem(), {0, 0})), 6);
  drawn.relax(Rule::blocking);
  drawn.parts.relaxed = {Rule::blocking, Rule::one_stream};
  EXPECT_EQ(least(drawn.problem(), in_order(drawn.problem(), {0, 0})), 2);
}

TEST(LeastInterval, PaysForTheTransferBetweenGroups) {
  Drawn drawn;
  drawn.group("G");
  drawn.group("H");
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn.edge(a, b, 3).transfer = 10;
  drawn.edge(b, a, 1, 1);
  const Problem problem = drawn.problem();
  Order order = in_order(problem, {0, 0});
  EXPECT_EQ(least(problem, order), 4);
  order.ops[1].group = GroupId(1);
  order.groups = {{a}, {b}};
  EXPECT_EQ(least(problem, order), 14);
}

TEST(LeastInterval, SaysWhyNoIntervalIsLargeEnough) {
  const Problem problem = attention().problem();
  Order order = in_order(problem, {0, 0, 0});
  order.groups[0] = {OpId(1), OpId(0), OpId(2)};  // exp before the product it reads
  EXPECT_EQ(refusal(problem, order),
            "no initiation interval is large enough for this order: qk -> exp: dependence, 4 "
            "cycles; exp -> qk: group G, 0 cycles");
}

TEST(LeastInterval, RefusesOrdersThatDoNotFitTheLoop) {
  const Problem problem = attention().problem();
  const auto refused = [&](const std::function<void(Order&)>& spoil) {
    Order order = in_order(problem, {0, 0, 0});
    spoil(order);
    return refusal(problem, order);
  };
  EXPECT_EQ(refused([](Order& o) { o.ops.pop_back(); }),
            "the order is for 2 ops, 1 groups and 2 units; loop 'drawn' has 3, 1 and 2");
  EXPECT_EQ(refused([](Order& o) { o.ops[1].stage = -1; }),
            "op 'exp' is in stage -1; stages are 0 to 1000");
  EXPECT_EQ(refused([](Order& o) { o.ops[1].alternative = 1; }), "op 'exp' has no alternative 1");
  EXPECT_EQ(refused([](Order& o) { o.ops[1].group = GroupId(9); }),
            "op 'exp' is in a group that the pool does not have");
  EXPECT_EQ(refused([](Order& o) { o.groups[0].pop_back(); }),
            "op 'pv' is missing from the sequence of group 'G'");
  EXPECT_EQ(refused([](Order& o) { o.groups[0].push_back(OpId(0)); }),
            "op 'qk' stands twice in the sequence of group 'G'");
  EXPECT_EQ(refused([](Order& o) { o.groups[0].push_back(OpId(7)); }),
            "the sequence of group 'G' names an op that the loop does not have");
  EXPECT_EQ(refused([](Order& o) {
              o.units[0] = {OpId(0), OpId(1), OpId(2)};
            }),
            "op 'exp' does not belong into the sequence of unit 'TC'");
}

TEST(LeastInterval, NeedsASequenceForAUnitThatGroupsShare) {
  Drawn drawn = attention();
  drawn.group("H");
  const Problem problem = drawn.problem();
  Order order = in_order(problem, {0, 0, 1});
  order.ops[2].group = GroupId(1);
  order.groups = {{OpId(0), OpId(1)}, {OpId(2)}};
  EXPECT_EQ(refusal(problem, order),
            "unit 'TC' is used by several groups, but the order has no sequence for it");
  order.units[0] = {OpId(0), OpId(2)};
  EXPECT_EQ(least(problem, order), 8);
}

TEST(LeastInterval, TakesTheLargestNumbersThereAre) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a", 0, 0);
  const OpId b = drawn.op("b", 0, 0);
  drawn.edge(a, b, 1'000'000'000);
  drawn.edge(b, a, 1'000'000'000, 1000);
  const Problem problem = drawn.problem();
  EXPECT_EQ(least(problem, in_order(problem, {0, 0})), 1'000'000'000);
  EXPECT_EQ(least(problem, in_order(problem, {0, 500})), 2'000'000);
}

TEST(OrderOf, RefusesStagesThatNoOrderHas) {
  const Problem problem = attention().problem();
  const Order order = order_of(problem, issued(1, {{0}, {4'000'000'000}, {4'000'000'004}}));
  EXPECT_EQ(refusal(problem, order), "op 'exp' is in stage 1001; stages are 0 to 1000");
}

// ---- exactness, by enumeration ----

/// Whether the schedule issues and holds in the given sequence, round after round.
bool follows(const Problem& problem, const Order& order, const Schedule& schedule) {
  const Cycles interval = schedule.initiation_interval;
  const auto in_round = [&](OpId op) {
    return schedule.ops[op.index()].issue - order.ops[op.index()].stage * interval;
  };
  const auto obeyed = [&](const std::vector<OpId>& sequence, bool unit) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const bool last = i + 1 == sequence.size();
      const Cycles next = in_round(sequence[last ? 0 : i + 1]) + (last ? interval : 0);
      const Cycles held = unit ? problem[sequence[i]].alternatives.front().occupancy : 0;
      if (next < in_round(sequence[i]) + held) return false;
    }
    return true;
  };
  for (const auto& sequence : order.groups) {
    if (!obeyed(sequence, false)) return false;
  }
  for (const auto& sequence : order.units) {
    if (!obeyed(sequence, true)) return false;
  }
  return true;
}

Drawn random_loop() {
  Drawn drawn;
  drawn.group("G");
  drawn.group("H");
  drawn.unit("A");
  drawn.parts.minimum_compute_groups = 0;
  const int ops = any(1, 3);
  for (int i = 0; i < ops; ++i) {
    const OpId op = drawn.op("o" + std::to_string(i), any(0, 3), any(0, 2));
    drawn[op].registers = any(0, 2) > 0 ? 1 : 0;
    if (!any_flag()) continue;
    drawn.alternative(op).unit = UnitId(0);
    drawn.alternative(op).occupancy = any(1, 2);
  }
  for (int from = 0; from < ops; ++from) {
    for (int to = 0; to < ops; ++to) {
      if (any(0, 2) > 0) continue;
      Dependence& edge =
          drawn.edge(OpId(static_cast<std::size_t>(from)), OpId(static_cast<std::size_t>(to)),
                     any(0, 3), from < to ? any(0, 1) : any(1, 2));
      edge.blocking = any(0, 3) == 0;
      edge.transfer = any(0, 1);
      edge.carries_value = any_flag();
    }
  }
  if (any_flag()) drawn.relax(Rule::one_stream);
  return drawn;
}

/// Tries every schedule of the order's groups at this II, up to three intervals long.
bool some_schedule_follows(const Problem& problem, const Order& order, Cycles interval) {
  const std::size_t ops = order.ops.size();
  Schedule schedule{interval, {}};
  for (const Step& step : order.ops) schedule.ops.push_back({0, step.group, step.alternative});
  while (true) {
    if (follows(problem, order, schedule) && broken(problem, schedule).empty()) return true;
    std::size_t digit = 0;
    while (digit < ops && ++schedule.ops[digit].issue == 3 * interval) {
      schedule.ops[digit++].issue = 0;
    }
    if (digit == ops) return false;
  }
}

RC_GTEST_PROP(LeastInterval, IsExact, ()) {
  const Problem problem = random_loop().problem();
  Schedule start{any(3, 6), {}};
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    start.ops.push_back({any(0, 11), GroupId(any_index(2)), 0});
  }
  const Order order = order_of(problem, start);
  const Result<LeastInterval> found = least_interval(problem, order);
  if (!found) {
    for (Cycles interval = 1; interval <= 6; ++interval) {
      RC_ASSERT(!some_schedule_follows(problem, order, interval));
    }
    return;
  }
  RC_ASSERT(follows(problem, order, found->schedule));
  RC_ASSERT(broken(problem, found->schedule) == Rules{});
  const Cycles one_less = found->initiation_interval - 1;
  if (one_less == 0) return;
  RC_ASSERT(!some_schedule_follows(problem, order, one_less));
  const CriticalCircuit& circuit = found->circuit;
  RC_ASSERT(circuit.delay > one_less * circuit.iterations);
}

// Protects: a schedule that obeys the rules is allowed by its own order.
RC_GTEST_PROP(OrderOf, IsFollowedByItsSchedule, ()) {
  const Problem problem = random_loop().problem();
  Schedule schedule{any(1, 6), {}};
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    schedule.ops.push_back({any(0, 17), GroupId(any_index(2)), 0});
  }
  RC_PRE(broken(problem, schedule).empty());
  const Order order = order_of(problem, schedule);
  RC_ASSERT(follows(problem, order, schedule));
  const Result<LeastInterval> found = least_interval(problem, order);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->initiation_interval <= schedule.initiation_interval);
}

}  // namespace
}  // namespace twill::schedule
