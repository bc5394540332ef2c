#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "problem/parts.h"
#include "twill/problem/circuit.h"
#include "twill/problem/objection.h"
#include "twill/problem/problem.h"

// Protects the promise of Problem on which every other room builds: the input rules listed there
// hold. Each case breaks one rule of a good loop and expects the element to be named.
namespace twill::problem {
namespace {

Op op_on(std::string name, UnitId unit, Cycles occupancy) {
  Op op;
  op.name = std::move(name);
  op.alternatives.push_back({"", unit, occupancy, occupancy, occupancy, {}});
  return op;
}

/// Makes two units, two pipes, two memories, a pool of two groups, and a -> b -> c -> a around one
/// iteration.
Parts good() {
  Parts parts;
  parts.name = "good";
  parts.units = {{"TC"}, {"TMA"}};
  parts.pipes = {{"ALU"}, {"MUFU"}};
  parts.memories = {{"SMEM", 1000}, {"TMEM", 512}};
  parts.groups = {{"WG0", 4, 200, false}, {"LD", 1, 24, true}};
  parts.ops = {op_on("a", UnitId(0), 10), op_on("b", UnitId(1), 20), op_on("c", UnitId(0), 30)};
  parts.ops[1].footprint = {{MemoryId(0), 5}, {MemoryId(1), 6}};
  parts.ops[2].alternatives = {{"x", UnitId(0), 30, 40, 1, {{PipeId(0), 3}, {PipeId(1), 4}}},
                               {"y", std::nullopt, 0, 90, 90, {}}};
  parts.dependences = {edge(0, 1), edge(1, 2), edge(2, 0, 1)};
  return parts;
}

TEST(Pose, AcceptsAGoodLoopAndKeepsItsParts) {
  const Result<Problem> problem = pose(good());
  ASSERT_TRUE(problem) << to_string(problem.error());
  EXPECT_EQ(problem->parts(), good());
  EXPECT_FALSE(objection_to(good()));
}

struct Refusal {
  std::string label;
  std::function<void(Parts&)> spoil;
  Part part;
  std::size_t index;
  std::string says;  // part of the message
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.label; }

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, NamesTheElement) {
  const Refusal& refusal = GetParam();
  Parts parts = good();
  refusal.spoil(parts);
  const std::optional<Objection> objection = objection_to(parts);
  ASSERT_TRUE(objection);
  EXPECT_EQ(objection->part, refusal.part);
  EXPECT_EQ(objection->index, refusal.index);
  EXPECT_NE(objection->message.find(refusal.says), std::string::npos) << objection->message;
  EXPECT_FALSE(objection->hint.empty());

  const Result<Problem> problem = pose(std::move(parts));
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().message, objection->message);
}

constexpr std::int64_t kTooLarge = kLargestNumber + 1;

const std::vector<Refusal> kNames = {
    {"loop_without_name", [](Parts& p) { p.name = ""; }, Part::loop, 0, "loop without a name"},
    {"loop_name", [](Parts& p) { p.name = "two words"; }, Part::loop, 0, "'two words'"},
    {"unit_name", [](Parts& p) { p.units[1].name = "7"; }, Part::unit, 1, "unit '7'"},
    {"units_alike", [](Parts& p) { p.units[1].name = "TC"; }, Part::unit, 1, "two units"},
    {"pipes_alike", [](Parts& p) { p.pipes[1].name = "ALU"; }, Part::pipe, 1, "two pipes"},
    {"memories_alike", [](Parts& p) { p.memories[1].name = "SMEM"; }, Part::memory, 1, "'SMEM'"},
    {"groups_alike", [](Parts& p) { p.groups[1].name = "WG0"; }, Part::group, 1, "two groups"},
    {"ops_alike", [](Parts& p) { p.ops[2].name = "a"; }, Part::op, 2, "two ops are called 'a'"},
    {"op_name_with_blank", [](Parts& p) { p.ops[0].name = "a b"; }, Part::op, 0, "'a b'"},
    {"op_name_too_long", [](Parts& p) { p.ops[0].name.assign(201, 'x'); }, Part::op, 0, "..."},
    {"way_without_name", [](Parts& p) { p.ops[2].alternatives[0].name = ""; }, Part::op, 2,
     "alternative called"},
    {"ways_alike", [](Parts& p) { p.ops[2].alternatives[1].name = "x"; }, Part::op, 2,
     "two alternatives"},
};

const std::vector<Refusal> kTables = {
    {"no_op", [](Parts& p) { p.ops.clear(), p.dependences.clear(); }, Part::loop, 0, "no op"},
    {"no_group", [](Parts& p) { p.groups.clear(); }, Part::loop, 0, "no group"},
    {"no_way", [](Parts& p) { p.ops[0].alternatives.clear(); }, Part::op, 0, "0 alternatives"},
    {"too_many_groups", [](Parts& p) { p.groups.resize(kMostOfAKind + 1); }, Part::group,
     kMostOfAKind, "more than 64"},
    {"too_many_ops", [](Parts& p) { p.ops.resize(kMostOps + 1); }, Part::op, kMostOps, "10000"},
    {"unit_out_of_range", [](Parts& p) { p.ops[0].alternatives[0].unit = UnitId(2); }, Part::op, 0,
     "'a' names a unit"},
    {"pipe_out_of_range", [](Parts& p) { p.ops[2].alternatives[0].pipes[1].pipe = PipeId(2); },
     Part::op, 2, "alternative 'x', names a pipe"},
    {"memory_out_of_range", [](Parts& p) { p.ops[1].footprint[1].memory = MemoryId(9); }, Part::op,
     1, "'b' names a memory"},
    {"op_out_of_range", [](Parts& p) { p.dependences[1].to = OpId(3); }, Part::dependence, 1,
     "dependence 1"},
    {"one_op_alone", [](Parts& p) { p.same_group = {{OpId(1)}}; }, Part::same_group, 0,
     "fewer than two"},
    {"op_out_of_range_in_set",
     [](Parts& p) {
       p.same_group = {{OpId(0), OpId(3)}};
     },
     Part::same_group, 0, "does not exist"},
    {"op_in_two_sets",
     [](Parts& p) {
       p.same_group = {{OpId(0), OpId(1)}, {OpId(1), OpId(2)}};
     },
     Part::same_group, 1, "'b' is said twice"},
    {"op_twice_in_set",
     [](Parts& p) {
       p.same_group = {{OpId(1), OpId(1)}};
     },
     Part::same_group, 0, "'b' is said twice"},
    {"set_out_of_order",
     [](Parts& p) {
       p.same_group = {{OpId(2), OpId(0)}};
     },
     Part::same_group, 0, "out of order"},
    {"budget_of_one_group",
     [](Parts& p) {
       p.register_budgets = {{{GroupId(0)}, 9}};
     },
     Part::register_budget, 0, "fewer than two groups"},
    {"group_out_of_range_in_budget",
     [](Parts& p) {
       p.register_budgets = {{{GroupId(0), GroupId(2)}, 9}};
     },
     Part::register_budget, 0, "does not exist"},
    {"group_in_two_budgets",
     [](Parts& p) {
       p.register_budgets = {{{GroupId(0), GroupId(1)}, 9}, {{GroupId(0), GroupId(1)}, 9}};
     },
     Part::register_budget, 1, "'WG0' shares registers twice"},
    {"budget_out_of_order",
     [](Parts& p) {
       p.register_budgets = {{{GroupId(1), GroupId(0)}, 9}};
     },
     Part::register_budget, 0, "out of order"},
    {"budget_without_step",
     [](Parts& p) {
       p.register_budgets = {{{GroupId(0), GroupId(1)}, 9, 0}};
     },
     Part::register_budget, 0, "has step 0"},
    {"budget_of_many_steps",
     [](Parts& p) {
       p.register_budgets = {{{GroupId(0), GroupId(1)}, 2050, 2}};
     },
     Part::register_budget, 0, "has 1025 steps"},
    {"budget_below_reserves",
     [](Parts& p) {
       p.register_budgets = {{{GroupId(0), GroupId(1)}, 63, 8, 28}};
     },
     Part::register_budget, 0, "has 7 steps, but 2 groups take 8"},
    {"pipe_twice", [](Parts& p) { p.ops[2].alternatives[0].pipes[1].pipe = PipeId(0); }, Part::op,
     2, "twice or out of order"},
    {"memory_twice", [](Parts& p) { p.ops[1].footprint[1].memory = MemoryId(0); }, Part::op, 1,
     "twice or out of order"},
    {"rule_twice",
     [](Parts& p) {
       p.relaxed = {Rule::unit, Rule::unit};
     },
     Part::loop, 0, "relaxed"},
    {"rules_out_of_order",
     [](Parts& p) {
       p.relaxed = {Rule::pipe, Rule::unit};
     },
     Part::loop, 0, "relaxed"},
    {"objective_twice",
     [](Parts& p) {
       p.objectives = {Objective::length, Objective::groups, Objective::length};
     },
     Part::loop, 0, "objective"},
};

const std::vector<Refusal> kNumbers = {
    {"capacity_zero", [](Parts& p) { p.memories[1].capacity = 0; }, Part::memory, 1,
     "memory 'TMEM' has capacity 0"},
    {"capacity_too_large", [](Parts& p) { p.memories[0].capacity = kTooLarge; }, Part::memory, 0,
     "capacity 1000000001"},
    {"group_without_warps", [](Parts& p) { p.groups[0].warps = 0; }, Part::group, 0, "warps 0"},
    {"group_registers", [](Parts& p) { p.groups[0].registers = -1; }, Part::group, 0, "-1"},
    {"op_without_warps", [](Parts& p) { p.ops[1].warps = 0; }, Part::op, 1, "'b' has warps 0"},
    {"op_registers", [](Parts& p) { p.ops[1].registers = -2; }, Part::op, 1, "registers -2"},
    {"occupancy_negative", [](Parts& p) { p.ops[0].alternatives[0].occupancy = -1; }, Part::op, 0,
     "occupancy of -1"},
    {"latency_too_large",
     [](Parts& p) { p.ops[0].alternatives[0].latency = std::numeric_limits<Cycles>::max(); },
     Part::op, 0, "latency"},
    {"issue_negative", [](Parts& p) { p.ops[2].alternatives[1].issue = -1; }, Part::op, 2,
     "alternative 'y'"},
    {"demand_too_large", [](Parts& p) { p.ops[2].alternatives[0].pipes[0].demand = kTooLarge; },
     Part::op, 2, "pipe demand"},
    {"footprint_negative", [](Parts& p) { p.ops[1].footprint[0].amount = -5; }, Part::op, 1,
     "footprint of -5"},
    {"distance_negative", [](Parts& p) { p.dependences[2].distance = -1; }, Part::dependence, 2,
     "'c' -> 'a' has distance -1"},
    {"distance_too_large", [](Parts& p) { p.dependences[2].distance = 1001; }, Part::dependence, 2,
     "distance 1001"},
    {"delay_negative", [](Parts& p) { p.dependences[0].delay = -1; }, Part::dependence, 0,
     "delay -1"},
    {"read_hold_negative", [](Parts& p) { p.dependences[0].read_hold = -1; }, Part::dependence, 0,
     "read-hold -1"},
    {"transfer_too_large", [](Parts& p) { p.dependences[0].transfer = kTooLarge; },
     Part::dependence, 0, "transfer"},
    {"minimum_groups_negative", [](Parts& p) { p.minimum_compute_groups = -1; }, Part::loop, 0,
     "minimum-compute-groups -1"},
    {"durations_together",
     [](Parts& p) {
       for (int i = 0; i < 101; ++i) {
         p.ops.push_back(p.ops[0]);
         p.ops.back().name = "n" + std::to_string(i);
         p.ops.back().alternatives[0].latency = kLargestNumber;
       }
     },
     Part::loop, 0, "all durations"},
};

const std::vector<Refusal> kSense = {
    {"unit_for_nothing", [](Parts& p) { p.ops[0].alternatives[0].occupancy = 0; }, Part::op, 0,
     "on unit 'TC' for 0 cycles"},
    {"occupancy_of_nothing", [](Parts& p) { p.ops[0].alternatives[0].unit.reset(); }, Part::op, 0,
     "occupancy but no unit"},
    {"streaming_but_prompt", [](Parts& p) { p.ops[0].streaming = true; }, Part::op, 0,
     "'a' is streaming"},
    {"streaming_with_input",
     [](Parts& p) { p.ops[1].streaming = p.ops[1].variable_latency = true; }, Part::dependence, 0,
     "brings a value to 'b'"},
    {"order_only_in_place",
     [](Parts& p) {
       p.dependences[0].carries_value = false;
       p.dependences[0].in_place = true;
     },
     Part::dependence, 0, "'a' -> 'b' carries no value"},
    {"order_only_read_hold",
     [](Parts& p) {
       p.dependences[0].carries_value = false;
       p.dependences[0].read_hold = 0;
     },
     Part::dependence, 0, "'a' -> 'b' carries no value"},
    {"circuit", [](Parts& p) { p.dependences[2].distance = 0; }, Part::dependence, 2,
     "'a' -> 'b' -> 'c' -> 'a'"},
    {"circuit_of_one", [](Parts& p) { p.dependences.push_back(edge(1, 1)); }, Part::dependence, 3,
     "'b' -> 'b'"},
};

std::string label_of(const testing::TestParamInfo<Refusal>& info) { return info.param.label; }
INSTANTIATE_TEST_SUITE_P(Names, Refused, testing::ValuesIn(kNames), label_of);
INSTANTIATE_TEST_SUITE_P(Tables, Refused, testing::ValuesIn(kTables), label_of);
INSTANTIATE_TEST_SUITE_P(Numbers, Refused, testing::ValuesIn(kNumbers), label_of);
INSTANTIATE_TEST_SUITE_P(Sense, Refused, testing::ValuesIn(kSense), label_of);

// Protects ring buffers: a load that runs ahead still waits for its slot to be free.
TEST(Pose, AStreamingOpMayWaitWithoutReadingAValue) {
  Parts parts = good();
  parts.ops[1].streaming = parts.ops[1].variable_latency = true;
  parts.dependences[0].carries_value = false;
  EXPECT_TRUE(pose(parts));
}

// Protects: a circuit of 10,000 ops is found without recursion and named briefly.
TEST(Pose, NamesALongCircuitBriefly) {
  Parts parts = good();
  parts.ops.clear();
  parts.dependences.clear();
  for (std::size_t i = 0; i < kMostOps; ++i) {
    parts.ops.push_back(op_on("n" + std::to_string(i), UnitId(0), 1));
    parts.dependences.push_back(edge(i, (i + 1) % kMostOps));
  }
  EXPECT_EQ(circuit_of_distance_zero(parts).size(), kMostOps);
  const std::optional<Objection> objection = objection_to(parts);
  ASSERT_TRUE(objection);
  EXPECT_LT(objection->message.size(), 300u);
  parts.dependences.back().distance = 1;
  EXPECT_TRUE(pose(std::move(parts)));
}

}  // namespace
}  // namespace twill::problem
