// Protects against a checker that accepts everything. A small loop like attention has a schedule
// that is right and tight in every rule. Each test breaks one thing by one unit, and the checker
// must name that rule and no other.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "drawn.h"

namespace twill::verify {
namespace {

/// load -> qk -> exp -> add (softmax group A), exp -> pv -> scale (group B), at II 24.
struct Example {
  Drawn drawn;
  GroupId l, a, b;
  OpId load, qk, exp, add, pv, scale;
  Schedule schedule;

  Dependence& edge(OpId from, OpId to) {
    for (Dependence& edge : drawn.parts.dependences) {
      if (edge.from == from && edge.to == to) return edge;
    }
    ADD_FAILURE() << "no such edge";
    return drawn.parts.dependences.front();
  }
  /// Makes the accesses of `from` to global memory, `distance` iterations before, visible to `to`.
  void through_memory(OpId from, OpId to, int distance) {
    Dependence& order = drawn.edge(from, to, 0, distance);
    order.delay = std::nullopt;  // the latency of `from`
    order.carries_value = false;
    order.through_memory = true;
  }
  schedule::Placement& at(OpId op) { return schedule.ops[op.index()]; }
};

void add_ops(Example& example, UnitId tc, UnitId mufu, UnitId tma, PipeId alu) {
  Drawn& drawn = example.drawn;
  example.load = drawn.on_unit("load", tma, 10);
  example.qk = drawn.on_unit("qk", tc, 8);
  example.exp = drawn.on_unit("exp", mufu, 6);
  example.add = drawn.op("add");
  example.pv = drawn.on_unit("pv", tc, 8);
  example.scale = drawn.op("scale");
  const auto timing = [&](OpId op, Cycles latency, Cycles issue) {
    drawn.alternative(op).latency = latency;
    drawn.alternative(op).issue = issue;
  };
  timing(example.load, 50, 1);
  timing(example.qk, 10, 1);
  timing(example.exp, 7, 6);
  timing(example.add, 4, 4);
  timing(example.pv, 10, 1);
  timing(example.scale, 5, 5);
  drawn[example.load].warps = 1;
  drawn[example.load].variable_latency = drawn[example.load].streaming = true;
  for (const OpId op : {example.load, example.qk, example.pv}) drawn[op].asynchronous = true;
  drawn[example.load].footprint.push_back({MemoryId(0), 8});
  for (const OpId op : {example.qk, example.exp, example.pv}) drawn[op].registers = 4;
  drawn[example.add].registers = 1;
  drawn.alternative(example.exp).pipes.push_back({alu, 12});
  drawn.alternative(example.add).pipes.push_back({alu, 12});
  drawn.alternative(example.exp).name = "mufu";
  drawn[example.exp].alternatives.push_back({"tensor", tc, 6, 7, 6, {}});
}

Example good() {
  Example example;
  Drawn& drawn = example.drawn;
  example.l = drawn.group("L", 0, 1, true);
  example.a = drawn.group("A", 9);
  example.b = drawn.group("B", 4);
  drawn.memory("SMEM", 8);
  const UnitId tc = drawn.unit("TC");
  const UnitId mufu = drawn.unit("MUFU");
  const UnitId tma = drawn.unit("TMA");
  add_ops(example, tc, mufu, tma, drawn.pipe("ALU"));
  drawn.edge(example.load, example.qk, 0).blocking = true;
  drawn.edge(example.qk, example.exp, 10).blocking = true;
  drawn.edge(example.exp, example.add, 7);
  drawn.edge(example.add, example.add, 4, 1);
  drawn.edge(example.exp, example.pv, 7).transfer = 15;
  example.edge(example.exp, example.pv).blocking = true;
  drawn.edge(example.pv, example.pv, 10, 1).in_place = true;
  drawn.edge(example.pv, example.scale, 10).blocking = true;
  example.schedule = issued(24, {{0, example.l},
                                 {1, example.a},
                                 {11, example.a},
                                 {18, example.a},
                                 {33, example.b},
                                 {43, example.b}});
  return example;
}

struct Mutation {
  std::string what;
  std::function<void(Example&)> apply;
  Rules breaks;
};

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all = {
      {"exp one cycle early", [](Example& e) { e.at(e.exp).issue -= 1; }, {"dependence"}},
      {"one more cycle of delay", [](Example& e) { ++*e.edge(e.qk, e.exp).delay; }, {"dependence"}},
      {"one more cycle of transfer",
       [](Example& e) { e.edge(e.exp, e.pv).transfer += 1; },
       {"dependence"}},
      {"a carried delay beyond II",
       [](Example& e) { e.edge(e.add, e.add).delay = 25; },
       {"dependence"}},
      {"pv one cycle early", [](Example& e) { e.at(e.pv).issue -= 1; }, {"dependence", "unit"}},
      {"qk one cycle longer",
       [](Example& e) { e.drawn.alternative(e.qk).occupancy += 1; },
       {"unit"}},
      {"exp on the tensor core", [](Example& e) { e.at(e.exp).alternative = 1; }, {"unit"}},
      {"one more cycle of pipe",
       [](Example& e) { e.drawn.alternative(e.exp).pipes.front().demand += 1; },
       {"pipe"}},
      {"one byte less",
       [](Example& e) { e.drawn.parts.memories.front().capacity -= 1; },
       {"memory"}},
      {"offsets of a byte too far",
       [](Example& e) {
         e.schedule.addresses = {{e.load, MemoryId(0), 1}};
       },
       {"placement"}},
      {"an offset without a footprint",
       [](Example& e) {
         e.schedule.addresses = {{e.exp, MemoryId(0), 0}};
       },
       {"well-formed"}},
      {"a load read for an interval and a cycle",
       [](Example& e) { e.edge(e.load, e.qk).read_hold = 24; },
       {"memory"}},
      {"one register less in A",
       [](Example& e) { e.drawn.parts.groups[e.a.index()].registers -= 1; },
       {"registers"}},
      {"one register less in B",
       [](Example& e) { e.drawn.parts.groups[e.b.index()].registers -= 1; },
       {"registers"}},
      {"exp in the other group", [](Example& e) { e.at(e.exp).group = e.b; }, {"registers"}},
      {"an accumulator that is not in place",
       [](Example& e) { e.edge(e.pv, e.pv).in_place = false; },
       {"registers"}},
      {"a wider group",
       [](Example& e) { e.drawn.parts.groups[e.b.index()].warps = 8; },
       {"width", "width"}},
      {"a narrower op", [](Example& e) { e.drawn[e.scale].warps = 1; }, {"width"}},
      {"the load group is no more",
       [](Example& e) { e.drawn.parts.groups[e.l.index()].loads = false; },
       {"load-group"}},
      {"the load is in A",
       [](Example& e) {
         e.at(e.load).group = e.a;
         e.drawn[e.load].warps = 4;
       },
       {"load-group"}},
      {"scale is issued around the wait of pv",
       [](Example& e) {
         e.drawn.alternative(e.pv).issue = 0;
         e.at(e.scale).issue = 53;
       },
       {"blocking"}},
      {"add is issued within exp", [](Example& e) { e.at(e.add).issue = 36; }, {"one-stream"}},
      {"exp is issued a cycle longer than until add",
       [](Example& e) { e.drawn.alternative(e.exp).issue = 8; },
       {"one-stream"}},
      {"a third compute group must work",
       [](Example& e) {
         e.drawn.group("C");
         e.drawn.parts.minimum_compute_groups = 3;
       },
       {"minimum-groups"}},
      {"what scale stores is read by qk of the next iteration",
       [](Example& e) { e.through_memory(e.scale, e.qk, 1); },
       {"dependence"}},
      {"what scale stores too late is read two iterations on",
       [](Example& e) {
         e.through_memory(e.scale, e.qk, 2);
         e.at(e.scale).issue += 2;
       },
       {"dependence"}},
      {"scale stores for too long",
       [](Example& e) {
         e.through_memory(e.scale, e.qk, 2);
         e.drawn.alternative(e.scale).latency += 2;
       },
       {"dependence"}},
      {"scale stores for longer than an interval where it stored before",
       [](Example& e) {
         e.through_memory(e.scale, e.scale, 1);
         e.drawn.alternative(e.scale).latency = 25;
       },
       {"dependence"}},
      {"an op issued before time began",
       [](Example& e) { e.at(e.load).issue = -1; },
       {"well-formed"}},
      {"an op too many", [](Example& e) { e.schedule.ops.push_back({}); }, {"well-formed"}},
  };
  return all;
}

TEST(Mutation, TheUnbrokenScheduleIsAccepted) {
  const Example example = good();
  EXPECT_EQ(broken(example.drawn.problem(), example.schedule), Rules{});
}

TEST(Mutation, ExactlyTheBrokenRuleIsNamed) {
  for (const Mutation& mutation : mutations()) {
    Example example = good();
    mutation.apply(example);
    EXPECT_EQ(broken(example.drawn.problem(), example.schedule), mutation.breaks) << mutation.what;
  }
}

// Protects: the same changes, one unit smaller, keep every rule exactly at its limit.
TEST(Mutation, AtTheLimitNothingIsBroken) {
  const std::vector<Mutation> harmless = {
      {"scale ends as pv waits",
       [](Example& e) {
         e.drawn.alternative(e.pv).issue = 0;
         e.at(e.scale).issue = 52;
       },
       {}},
      {"a load read for exactly an interval",
       [](Example& e) { e.edge(e.load, e.qk).read_hold = 23; },
       {}},
      {"an offset that fits",
       [](Example& e) {
         e.schedule.addresses = {{e.load, MemoryId(0), 0}};
       },
       {}},
      {"what scale stores is there two iterations on",
       [](Example& e) {
         e.through_memory(e.scale, e.qk, 2);
         e.drawn.alternative(e.scale).latency += 1;
       },
       {}},
      {"scale stores for an interval where it stored before",
       [](Example& e) {
         e.through_memory(e.scale, e.scale, 1);
         e.drawn.alternative(e.scale).latency = 24;
       },
       {}},
      {"exp is issued until add is", [](Example& e) { e.drawn.alternative(e.exp).issue = 7; }, {}},
      {"a carried delay of II", [](Example& e) { e.edge(e.add, e.add).delay = 24; }, {}},
      {"a third group must work, and the pool has but a helper more",
       [](Example& e) {
         e.drawn.group("K", 0, 1);
         e.drawn.parts.minimum_compute_groups = 3;
       },
       {}},
      {"both compute groups must work",
       [](Example& e) { e.drawn.parts.minimum_compute_groups = 2; },
       {}},
  };
  for (const Mutation& mutation : harmless) {
    Example example = good();
    mutation.apply(example);
    EXPECT_EQ(broken(example.drawn.problem(), example.schedule), Rules{}) << mutation.what;
  }
}

}  // namespace
}  // namespace twill::verify
