// Protects the meaning of each rule of docs/reference/rules.md, on the smallest problem that shows
// the rule. The problem is accepted with room, accepted exactly at its limit, rejected one beyond.
// An error by one makes a correct schedule fail or a wrong one pass.

#include <memory>
#include <tuple>

#include "drawn.h"

namespace twill::verify {
namespace {

constexpr Cycles kInterval = 10;

TEST(Dependence, HoldsFromIssueToIssue) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn.edge(a, b, 3);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(kInterval, {{0}, {4}})), Rules{});
  EXPECT_EQ(broken(problem, issued(kInterval, {{0}, {3}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(kInterval, {{0}, {2}})),
            "dependence: b of iteration 0 issues at cycle 2, but a of iteration 0, issued at 0, is "
            "ready at 3 (delay 3)");
}

TEST(Dependence, DistanceCountsIterations) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn.edge(a, b, 3, 2);  // b waits for a of two iterations before
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{16}, {0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{17}, {0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{18}, {0}})), Rules{"dependence"});
}

TEST(Dependence, ACarriedValueBoundsTheInterval) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a");
  drawn.edge(a, a, 7, 1);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(8, {{0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(7, {{0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(6, {{0}})), Rules{"dependence"});
}

TEST(Dependence, CrossingGroupsAddsTheTransfer) {
  Drawn drawn;
  const GroupId here = drawn.group("G");
  const GroupId there = drawn.group("H");
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn.edge(a, b, 3).transfer = 4;
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0, here}, {3, here}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, here}, {7, there}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, here}, {6, there}})), Rules{"dependence"});
}

TEST(Dependence, DefaultDelayIsTheLatencyOfTheAlternativeTaken) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a", 5);
  const OpId b = drawn.op("b");
  drawn.alternative(a).name = "slow";
  drawn[a].alternatives.push_back({"fast", std::nullopt, 0, 2, 0, {}});
  drawn.edge(a, b, 0).delay.reset();
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0, {}, 0}, {5}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, {}, 0}, {4}})), Rules{"dependence"});
  EXPECT_EQ(broken(problem, issued(10, {{0, {}, 1}, {2}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, {}, 1}, {1}})), Rules{"dependence"});
}

TEST(Dependence, AStreamingLoadDelaysNobody) {
  Drawn drawn;
  const GroupId loads = drawn.group("L", 0, 1, true);
  const GroupId group = drawn.group("G");
  const OpId load = drawn.op("load", 1000);
  const OpId use = drawn.op("use");
  drawn[load].warps = 1;
  drawn[load].variable_latency = drawn[load].streaming = true;
  drawn.edge(load, use, 0).delay.reset();
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0, loads}, {0, group}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{1, loads}, {0, group}})), Rules{"dependence"});
}

TEST(Unit, HoldsOneOpAtATime) {
  Drawn drawn;
  drawn.group("G");
  const UnitId unit = drawn.unit("TC");
  drawn.on_unit("a", unit, 4);
  drawn.on_unit("b", unit, 3);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0}, {5}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {4}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(10, {{0}, {3}})),
            "unit: b takes unit TC at cycle 3 while a holds unit TC from 0 to 4");
  EXPECT_EQ(broken(problem, issued(7, {{0}, {4}})), Rules{});
  EXPECT_EQ(broken(problem, issued(6, {{0}, {4}})), Rules{"unit"});
}

TEST(Unit, IterationsMeetHoweverFarApartTheirStages) {
  // Protects: b is issued 7 iterations after a. Only a run of many iterations shows that they
  // collide.
  Drawn drawn;
  drawn.group("G");
  const UnitId unit = drawn.unit("TC");
  drawn.on_unit("a", unit, 4);
  drawn.on_unit("b", unit, 3);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0}, {74}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {73}})), Rules{"unit"});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {77}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {78}})), Rules{"unit"});
}

TEST(Unit, AnOpFitsIntoTheIntervalItself) {
  Drawn drawn;
  drawn.group("G");
  drawn.on_unit("a", drawn.unit("TC"), 9);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(9, {{0}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(8, {{0}})),
            "unit: a holds unit TC for 9 cycles, longer than the initiation interval 8");
}

TEST(Unit, OnlyTheUnitOfTheAlternativeTakenCounts) {
  Drawn drawn;
  drawn.group("G");
  const UnitId mufu = drawn.unit("MUFU");
  const UnitId fma = drawn.unit("FMA");
  drawn.on_unit("a", mufu, 6);
  const OpId b = drawn.on_unit("b", mufu, 6);
  drawn.alternative(b).name = "mufu";
  drawn[b].alternatives.push_back({"fma", fma, 6, 0, 0, {}});
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0}, {6, {}, 1}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {6, {}, 0}})), Rules{"unit"});
}

TEST(Unit, EveryPairIsToldOnce) {
  Drawn drawn;
  drawn.group("G");
  const UnitId unit = drawn.unit("TC");
  for (const char* name : {"a", "b", "c"}) drawn.on_unit(name, unit, 3);
  const auto checked = verify(drawn.problem(), issued(30, {{0}, {1}, {2}}));
  ASSERT_FALSE(checked);
  ASSERT_EQ(checked.error().size(), 3U);
  EXPECT_EQ(checked.error()[0].ops, (std::vector{OpId(0), OpId(1)}));
  EXPECT_EQ(checked.error()[1].ops, (std::vector{OpId(0), OpId(2)}));
  EXPECT_EQ(checked.error()[2].ops, (std::vector{OpId(1), OpId(2)}));
}

TEST(Pipe, DemandsOfOneIterationFitIntoTheInterval) {
  Drawn drawn;
  drawn.group("G");
  const PipeId pipe = drawn.pipe("MUFU");
  for (const char* name : {"a", "b"}) drawn.alternative(drawn.op(name)).pipes.push_back({pipe, 4});
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(9, {{0}, {0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(8, {{0}, {0}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(7, {{0}, {0}})),
            "pipe: 2 ops ask for 8 cycles of pipe MUFU per iteration, but the initiation interval "
            "is 7");
}

/// Makes a value of 3 bytes that lives from 0 until its reader is issued.
Drawn one_value(Amount capacity) {
  Drawn drawn;
  drawn.group("G");
  const MemoryId memory = drawn.memory("SMEM", capacity);
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn[a].footprint.push_back({memory, 3});
  drawn.edge(a, b, 0);
  return drawn;
}

TEST(Memory, HoldsEveryLiveCopy) {
  const Problem problem = one_value(6).problem();  // two copies
  EXPECT_EQ(broken(problem, issued(10, {{0}, {10}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {20}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(10, {{0}, {21}})),
            "memory: 9 live in memory SMEM at cycle 20, but it has 6: a 3 x 3");
}

TEST(Memory, AValueThatNobodyReadsAfterItsIssueTakesNoRoom) {
  const Problem problem = one_value(2).problem();  // not even one copy
  EXPECT_EQ(broken(problem, issued(10, {{0}, {0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {1}})), Rules{"memory"});
}

TEST(Memory, TheReaderKeepsReadingForItsHold) {
  Drawn drawn = one_value(3);
  drawn.parts.dependences.front().read_hold = 4;
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0}, {6}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {7}})), Rules{"memory"});
}

TEST(Memory, AnAsynchronousReaderHoldsForItsLatencyUnlessInPlace) {
  Drawn drawn = one_value(3);
  drawn[OpId(1)].asynchronous = true;
  drawn.alternative(OpId(1)).latency = 4;
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {6}})), Rules{});
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {7}})), Rules{"memory"});
  drawn.parts.dependences.front().in_place = true;
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {10}})), Rules{});
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {11}})), Rules{"memory"});
}

TEST(Memory, OrderingAloneKeepsNothingAlive) {
  Drawn drawn = one_value(3);
  drawn.parts.dependences.front().carries_value = false;
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {500}})), Rules{});
}

TEST(Memory, TheDistanceExtendsTheLife) {
  Drawn drawn = one_value(6);
  drawn.parts.dependences.front().distance = 1;
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {10}})), Rules{});
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {11}})), Rules{"memory"});
}

TEST(Memory, WhatEndsMakesRoomForWhatBegins) {
  Drawn drawn = one_value(3);
  const OpId c = drawn.op("c");
  const OpId d = drawn.op("d");
  drawn[c].footprint.push_back({MemoryId(0), 3});
  drawn.edge(c, d, 0);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0}, {5}, {5}, {10}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {5}, {4}, {10}})), Rules{"memory"});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {5}, {5}, {11}})), Rules{"memory"});
}

/// Makes two copies of a (3 each) that live from 0 to 2, and one from then on; b (3) lives from 4
/// to 8. At most 6 are alive at once, but b fits on neither place of a.
Drawn ring_and_value(Amount capacity) {
  Drawn drawn;
  drawn.group("G");
  const MemoryId memory = drawn.memory("SMEM", capacity);
  for (const char* name : {"a", "b", "read_a", "read_b"}) drawn.op(name);
  for (const OpId op : {OpId(0), OpId(1)}) {
    drawn[op].footprint.push_back({memory, 3});
    drawn.edge(op, OpId(op.index() + 2), 0);
  }
  return drawn;
}
const std::vector<At> kRingAndValue = {{0}, {4}, {12}, {8}};

TEST(Placement, EveryCopyHasAPlaceForGood) {
  const Schedule schedule = issued(10, kRingAndValue);
  EXPECT_EQ(broken(ring_and_value(10).problem(), schedule), Rules{});
  EXPECT_EQ(broken(ring_and_value(9).problem(), schedule), Rules{});
  EXPECT_EQ(
      complaint(ring_and_value(8).problem(), schedule),
      "placement: there are no addresses for the values in memory SMEM, which has 8: a 2 x 3, "
      "b 1 x 3");
  EXPECT_EQ(broken(ring_and_value(6).problem(), schedule), Rules{"placement"});
  EXPECT_EQ(broken(ring_and_value(5).problem(), schedule), Rules{"memory"});
}

TEST(Placement, WhatNeverLivesTogetherSharesAddresses) {
  const Problem problem = ring_and_value(3).problem();
  EXPECT_EQ(broken(problem, issued(10, {{0}, {4}, {4}, {10}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {4}, {4}, {11}})), Rules{"memory"});
}

TEST(Placement, OffsetsAreChecked) {
  const Problem problem = ring_and_value(9).problem();
  Schedule schedule = issued(10, kRingAndValue);
  const auto put = [&](Amount a, Amount b) {
    schedule.addresses = {{OpId(0), MemoryId(0), a}, {OpId(1), MemoryId(0), b}};
  };
  put(0, 6);
  EXPECT_EQ(broken(problem, schedule), Rules{});
  put(3, 0);
  EXPECT_EQ(broken(problem, schedule), Rules{});
  put(0, 5);
  EXPECT_EQ(
      complaint(problem, schedule),
      "placement: in memory SMEM, a (2 x 3) from 0 to 6 shares addresses with b (1 x 3) from 5 "
      "to 8, and both live at cycle 14");
  put(0, 7);
  EXPECT_EQ(complaint(problem, schedule),
            "placement: b (1 x 3) from 7 to 10 lies beyond the 9 of memory SMEM");
  schedule.addresses.pop_back();
  EXPECT_EQ(complaint(problem, schedule),
            "placement: b has no offset in memory SMEM, where others have one");
}

TEST(Placement, OneBufferHasOneOffset) {
  Drawn drawn = ring_and_value(3);
  drawn.parts.dependences = {};
  drawn.edge(OpId(0), OpId(1), 0).in_place = true;  // a, updated by b, read by read_b
  drawn.edge(OpId(1), OpId(3), 0);
  const Problem problem = drawn.problem();
  Schedule schedule = issued(10, {{0}, {4}, {0}, {10}});
  EXPECT_EQ(broken(problem, schedule), Rules{});
  schedule.addresses = {{OpId(0), MemoryId(0), 0}, {OpId(1), MemoryId(0), 0}};
  EXPECT_EQ(broken(problem, schedule), Rules{});
  schedule.addresses[1].offset = 1;
  EXPECT_EQ(complaint(problem, schedule),
            "placement: a and b are one buffer of memory SMEM, but begin at 0 and 1");
}

// Protects: a buffer is as large as the largest value in it, and as deep as all its values
// together.
TEST(Placement, ABufferHoldsTheLargestOfItsValues) {
  Drawn drawn = ring_and_value(8);
  drawn[OpId(1)].footprint.front().amount = 4;
  drawn.parts.dependences = {};
  drawn.edge(OpId(0), OpId(1), 0).in_place = true;
  drawn.edge(OpId(1), OpId(3), 0);
  const std::vector<At> two_copies = {{0}, {4}, {0}, {11}};  // from 10 to 11, b and the next a live
  EXPECT_EQ(broken(drawn.problem(), issued(10, two_copies)), Rules{});
  drawn.parts.memories.front().capacity = 7;
  EXPECT_EQ(broken(drawn.problem(), issued(10, two_copies)), Rules{"placement"});
}

TEST(Placement, IsInForceWhereMemoryIs) {
  Drawn drawn = ring_and_value(8);
  const Schedule schedule = issued(10, kRingAndValue);
  drawn.parts.relaxed = {Rule::memory};
  EXPECT_EQ(broken(drawn.problem(), schedule), Rules{});
  drawn.parts.relaxed = {Rule::placement};
  EXPECT_EQ(broken(drawn.problem(), schedule), Rules{});
}

// Protects: the published model runs the steady state once and misses the copies of earlier
// iterations. That model accepts this schedule at II 3, where three copies meet in room for two.
TEST(Memory, CountsCopiesThatAStraightLineRunMisses) {
  Drawn drawn;
  drawn.group("G");
  drawn.relax(Rule::one_stream);
  const UnitId unit_a = drawn.unit("A");
  const UnitId unit_b = drawn.unit("B");
  const MemoryId memory = drawn.memory("M", 2);
  const OpId o0 = drawn.on_unit("o0", unit_b, 3);
  const OpId o1 = drawn.on_unit("o1", unit_a, 1);
  const OpId o2 = drawn.on_unit("o2", unit_a, 2);
  drawn[o0].footprint.push_back({memory, 1});
  drawn[o2].footprint.push_back({memory, 1});
  for (const auto& [from, to, distance] : {std::tuple{o0, o1, 0}, {o0, o2, 0}, {o2, o2, 1}}) {
    drawn.edge(from, to, 3, distance).read_hold = 0;
  }
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(3, {{0}, {3}, {4}})), Rules{"memory"});
  EXPECT_EQ(broken(problem, issued(4, {{0}, {4}, {5}})), Rules{"memory"});
  EXPECT_EQ(broken(problem, issued(4, {{0}, {3}, {4}})), Rules{});
}

TEST(Registers, AreCountedInTheGroupThatProducedTheValue) {
  Drawn drawn;
  const GroupId producer = drawn.group("P", 8);
  const GroupId consumer = drawn.group("C", 0);
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn[a].registers = 4;
  drawn.edge(a, b, 0);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0, producer}, {19, consumer}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, producer}, {20, consumer}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(10, {{0, producer}, {21, consumer}})),
            "registers: 12 live in the registers of group P at cycle 20, but it has 8: a 3 x 4");
  EXPECT_EQ(broken(problem, issued(10, {{0, consumer}, {1, consumer}})), Rules{"registers"});
}

/// Makes two groups with values in registers, and a budget of six steps of four.
Drawn sharing_registers() {
  Drawn drawn;
  drawn.group("G");
  drawn.group("H");
  drawn.parts.register_budgets = {{{GroupId(0), GroupId(1)}, 24, 4, 3}};
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  const OpId reads_a = drawn.op("reads_a");
  const OpId reads_b = drawn.op("reads_b");
  drawn[a].registers = 4;
  drawn[b].registers = 6;
  drawn.edge(a, reads_a, 0);
  drawn.edge(b, reads_b, 0);
  return drawn;
}

TEST(RegisterBudget, IsSharedByWhatEachGroupNeeds) {
  const Problem problem = sharing_registers().problem();
  const GroupId g(0);
  const GroupId h(1);
  const auto until = [&](Cycles read) { return issued(10, {{0, g}, {0, h}, {read, g}, {1, h}}); };
  EXPECT_EQ(broken(problem, until(10)), Rules{});  // one copy of a: 2 and 3 steps
  EXPECT_EQ(broken(problem, until(20)), Rules{});  // two copies: 3 and 3 steps
  EXPECT_EQ(complaint(problem, until(21)),
            "register-budget: 7 steps of 4 registers are taken, but there are 6: G 4 for 12 alive, "
            "H 3 for 6 alive");
}

TEST(RegisterBudget, CountsFullestCyclesWhereverTheyAre) {
  const Problem problem = sharing_registers().problem();
  const GroupId g(0);
  const GroupId h(1);
  // The third copy of a and the value of b never meet.
  const Schedule apart = issued(10, {{0, g}, {5, h}, {21, g}, {6, h}});
  EXPECT_EQ(broken(problem, apart), Rules{"register-budget"});
}

TEST(RegisterBudget, AnUnusedGroupTakesItsReserve) {
  Drawn drawn = sharing_registers();
  const GroupId g(0);
  // 4 + 4 + 6 alive and the reserve are 5 steps, and 1 for H.
  const Schedule together = issued(10, {{0, g}, {0, g}, {20, g}, {1, g}});
  EXPECT_EQ(broken(drawn.problem(), together), Rules{});
  drawn.parts.register_budgets[0].total = 23;  // only whole steps count
  EXPECT_EQ(broken(drawn.problem(), together), Rules{"register-budget"});
}

TEST(RegisterBudget, LimitsOfGroupsStay) {
  Drawn drawn = sharing_registers();
  drawn.parts.groups[1].registers = 5;
  const GroupId g(0);
  const GroupId h(1);
  const Schedule schedule = issued(10, {{0, g}, {0, h}, {10, g}, {1, h}});
  EXPECT_EQ(broken(drawn.problem(), schedule), Rules{"registers"});
  drawn.relax(Rule::registers);  // the budget is relaxed with the rule
  drawn.parts.register_budgets[0].total = 8;
  EXPECT_EQ(broken(drawn.problem(), schedule), Rules{});
}

TEST(Width, IsExact) {
  Drawn drawn;
  const GroupId two = drawn.group("two", 0, 2);
  const GroupId four = drawn.group("four", 0, 4);
  const GroupId eight = drawn.group("eight", 0, 8);
  drawn.op("a");
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0, four}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, two}})), Rules{"width"});
  EXPECT_EQ(complaint(problem, issued(10, {{0, eight}})),
            "width: a needs exactly 4 warps, but group eight has 8");
}

TEST(LoadGroup, TakesVariableLatencyOpsAndNothingElse) {
  Drawn drawn;
  const GroupId loads = drawn.group("L", 0, 4, true);
  const GroupId group = drawn.group("G");
  drawn[drawn.op("load")].variable_latency = true;
  drawn.op("a");
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0, loads}, {0, group}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(10, {{0, group}, {0, group}})),
            "load-group: load has variable latency, but group G is not for loads");
  EXPECT_EQ(broken(problem, issued(10, {{0, loads}, {0, loads}})),
            (Rules{"load-group", "minimum-groups"}));
}

/// Makes b wait for a (in another group) while c is being issued for 4 cycles in b's group.
Drawn waiting() {
  Drawn drawn;
  drawn.group("G");
  drawn.group("H");
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  drawn.op("c", 0, 4);
  drawn.edge(a, b, 0);
  return drawn;
}

TEST(Blocking, AWaitStaysOutOfTheOtherIssueWindows) {
  Drawn drawn = waiting();
  drawn.parts.dependences.front().blocking = true;
  const Problem problem = drawn.problem();
  const GroupId h{1};
  const auto wait_at = [&](Cycles cycle, Cycles interval) {
    return issued(interval, {{0}, {cycle, h}, {5, h}});
  };
  EXPECT_EQ(broken(problem, wait_at(4, 10)), Rules{});
  EXPECT_EQ(complaint(problem, wait_at(5, 10)),
            "blocking: b waits for a and issues at cycle 5 while c of the same group is being "
            "issued from 5 to 9");
  EXPECT_EQ(broken(problem, wait_at(8, 10)), Rules{"blocking"});
  EXPECT_EQ(broken(problem, wait_at(9, 10)), Rules{});
  // Next round: c is issued from 12 to 16 (II 7) or from 13 to 17 (II 8).
  EXPECT_EQ(broken(problem, wait_at(12, 7)), Rules{"blocking"});
  EXPECT_EQ(broken(problem, wait_at(12, 8)), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0}, {6, h}, {5, GroupId(0)}})), Rules{});
}

TEST(Blocking, ARegisterValueFromAnotherGroupBlocks) {
  Drawn drawn = waiting();
  const GroupId h{1};
  const Schedule meeting = issued(10, {{0}, {6, h}, {5, h}});
  EXPECT_EQ(broken(drawn.problem(), meeting), Rules{});  // nothing in registers
  drawn[OpId(0)].registers = 4;
  EXPECT_EQ(complaint(drawn.problem(), meeting),
            "blocking: b receives a from another group and issues at cycle 6 while c of the same "
            "group is being issued from 5 to 9");
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, h}, {6, h}, {5, h}})), Rules{});
  drawn.parts.dependences.front().carries_value = false;
  EXPECT_EQ(broken(drawn.problem(), meeting), Rules{});
}

TEST(Blocking, AnOpDoesNotBlockItself) {
  Drawn drawn;
  drawn.group("G");
  const OpId a = drawn.op("a", 0, 4);
  drawn.edge(a, a, 4, 1).blocking = true;
  EXPECT_EQ(broken(drawn.problem(), issued(4, {{0}})), Rules{});
}

TEST(OneStream, IssueWindowsOfAGroupDoNotOverlap) {
  Drawn drawn;
  const GroupId g = drawn.group("G");
  const GroupId h = drawn.group("H");
  drawn.op("a", 0, 4);
  drawn.op("b", 0, 3);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(10, {{0, g}, {5, g}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, g}, {4, g}})), Rules{});
  EXPECT_EQ(complaint(problem, issued(10, {{0, g}, {3, g}})),
            "one-stream: b issues at cycle 3 while a occupies the issue of group G from 0 to 4");
  EXPECT_EQ(broken(problem, issued(10, {{0, g}, {7, g}})), Rules{});
  EXPECT_EQ(broken(problem, issued(10, {{0, g}, {8, g}})), Rules{"one-stream"});
  EXPECT_EQ(broken(problem, issued(10, {{0, g}, {3, h}})), Rules{});
}

TEST(OneStream, AnEmptyWindowMayStandAnywhere) {
  Drawn drawn;
  drawn.group("G");
  drawn.op("a", 0, 4);
  drawn.op("b", 0, 0);
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0}, {2}})), Rules{});
}

TEST(OneStream, AnOpIsIssuedWithinTheInterval) {
  Drawn drawn;
  drawn.group("G");
  drawn.op("a", 0, 9);
  EXPECT_EQ(broken(drawn.problem(), issued(9, {{0}})), Rules{});
  EXPECT_EQ(broken(drawn.problem(), issued(8, {{0}})), Rules{"one-stream"});
  drawn.relax(Rule::one_stream);
  EXPECT_EQ(broken(drawn.problem(), issued(8, {{0}})), Rules{});
}

TEST(MinimumGroups, AsFarAsPoolAndOpsAllow) {
  Drawn drawn;
  const GroupId loads = drawn.group("L", 0, 4, true);
  const GroupId g = drawn.group("G");
  const GroupId h = drawn.group("H");
  drawn.group("I");
  drawn[drawn.op("load")].variable_latency = true;
  drawn.op("a");
  drawn.op("b");
  drawn.parts.minimum_compute_groups = 2;
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, loads}, {0, g}, {0, h}})), Rules{});
  EXPECT_EQ(complaint(drawn.problem(), issued(10, {{0, loads}, {0, g}, {0, g}})),
            "minimum-groups: 1 compute groups have ops, at least 2 must");
  drawn.parts.minimum_compute_groups = 3;  // two compute ops are fewer
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, loads}, {0, g}, {0, h}})), Rules{});
}

TEST(MinimumGroups, MoreThanAskedForAreFineAndThePoolIsALimit) {
  Drawn drawn;
  const GroupId g = drawn.group("G");
  const GroupId h = drawn.group("H");
  const GroupId i = drawn.group("I");
  for (const char* name : {"a", "b", "c", "d"}) drawn.op(name);
  const auto in = [](GroupId a, GroupId b, GroupId c, GroupId d) {
    return issued(10, {{0, a}, {0, b}, {0, c}, {0, d}});
  };
  drawn.parts.minimum_compute_groups = 2;
  EXPECT_EQ(broken(drawn.problem(), in(g, h, i, g)), Rules{});
  EXPECT_EQ(broken(drawn.problem(), in(g, h, h, g)), Rules{});
  EXPECT_EQ(broken(drawn.problem(), in(h, h, h, h)), Rules{"minimum-groups"});
  drawn.parts.minimum_compute_groups = 4;  // the pool has three groups
  EXPECT_EQ(broken(drawn.problem(), in(g, h, i, g)), Rules{});
  EXPECT_EQ(broken(drawn.problem(), in(g, h, h, g)), Rules{"minimum-groups"});
}

// Protects: a one-warp group beside groups of four warps is not counted, and neither are its ops.
TEST(MinimumGroups, HelpersAreNoComputeGroups) {
  Drawn drawn;
  const GroupId g = drawn.group("G");
  const GroupId h = drawn.group("H");
  const GroupId helper = drawn.group("K", 0, 1);
  drawn.op("a");
  drawn.op("b");
  drawn[drawn.op("start")].warps = 1;
  drawn.parts.minimum_compute_groups = 2;
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, g}, {0, g}, {0, helper}})),
            Rules{"minimum-groups"});
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, g}, {0, h}, {0, helper}})), Rules{});
  drawn.parts.minimum_compute_groups = 3;  // only two groups are as wide as the widest
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, g}, {0, h}, {0, helper}})), Rules{});
  drawn[OpId(1)].warps = 1;  // one of the ops is narrow now
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, g}, {0, helper}, {0, helper}})), Rules{});
}

// Protects: values that one op combines after the loop are in one group's registers.
TEST(SameGroup, OneGroupRunsAllOfASet) {
  Drawn drawn;
  const GroupId g = drawn.group("G");
  const GroupId h = drawn.group("H");
  for (const char* name : {"a", "b", "c", "d"}) drawn.op(name);
  drawn.parts.same_group = {{OpId(0), OpId(2), OpId(3)}};
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, h}, {1, g}, {2, h}, {3, h}})), Rules{});
  EXPECT_EQ(complaint(drawn.problem(), issued(10, {{0, g}, {1, g}, {2, g}, {3, h}})),
            "same-group: a runs in group G, but d, which must run in the same group, in H");
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, g}, {1, h}, {2, h}, {3, h}})),
            Rules{"same-group"});
}

// Protects: two sets may run in different groups, and each divided set is reported.
TEST(SameGroup, SetsKeepToThemselves) {
  Drawn drawn;
  const GroupId g = drawn.group("G");
  const GroupId h = drawn.group("H");
  for (const char* name : {"a", "b", "c", "d"}) drawn.op(name);
  drawn.parts.same_group = {{OpId(0), OpId(1)}, {OpId(2), OpId(3)}};
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, g}, {1, g}, {2, h}, {3, h}})), Rules{});
  EXPECT_EQ(broken(drawn.problem(), issued(10, {{0, g}, {1, h}, {2, g}, {3, h}})),
            (Rules{"same-group", "same-group"}));
}

TEST(WellFormed, RefusesWhatCannotBeRun) {
  Drawn drawn;
  drawn.group("G");
  drawn.op("a");
  const Problem problem = drawn.problem();
  const Rules malformed{"well-formed"};
  EXPECT_EQ(broken(problem, issued(1, {{0}})), Rules{});
  EXPECT_EQ(broken(problem, issued(0, {{0}})), malformed);
  EXPECT_EQ(broken(problem, issued(-5, {{0}})), malformed);
  EXPECT_EQ(broken(problem, issued(kLargestCycle, {{kLargestCycle}})), Rules{});
  EXPECT_EQ(broken(problem, issued(kLargestCycle + 1, {{0}})), malformed);
  EXPECT_EQ(broken(problem, issued(kLargestCycle, {{kLargestCycle + 1}})), malformed);
  EXPECT_EQ(broken(problem, issued(10, {{-1}})), malformed);
  EXPECT_EQ(broken(problem, issued(10, {})), malformed);
  EXPECT_EQ(broken(problem, issued(10, {{0}, {0}})), malformed);
  EXPECT_EQ(broken(problem, issued(10, {{0, {}, 1}})), malformed);
  EXPECT_EQ(broken(problem, issued(10, {{0, {}, -1}})), malformed);
  EXPECT_EQ(broken(problem, issued(10, {{0, GroupId(1)}})), malformed);
  Schedule placed = issued(1, {{0}});
  placed.addresses = {{OpId(0), MemoryId(0), 0}};  // the loop has no memory
  EXPECT_EQ(broken(problem, placed), malformed);
  EXPECT_EQ(broken(problem, issued(0, {{-1, GroupId(7), 9}})),
            (Rules{"well-formed", "well-formed", "well-formed", "well-formed"}));
}

TEST(Size, TooManyStagesAreRefusedNotRun) {
  Drawn drawn;
  drawn.group("G");
  drawn.on_unit("a", drawn.unit("TC"), 1);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(1, {{kMostInstances - 1}})), Rules{});
  EXPECT_EQ(broken(problem, issued(1, {{kMostInstances}})), Rules{"size"});
  EXPECT_EQ(broken(problem, issued(1, {{kLargestCycle}})), Rules{"size"});
}

TEST(Size, ValuesThatLiveTooLongAreRefusedNotRun) {
  Drawn drawn = one_value(3);
  drawn.parts.dependences.front().read_hold = 1'000'000'000;
  EXPECT_EQ(broken(drawn.problem(), issued(1, {{0}, {0}})), Rules{"size"});
  EXPECT_EQ(broken(drawn.problem(), issued(100'000, {{0}, {0}})), Rules{"memory"});
}

// Protects: cost does not grow with cycle counts, since the run is laid out by instances.
TEST(Size, HugeCycleCountsAreFine) {
  Drawn drawn;
  drawn.group("G");
  const UnitId unit = drawn.unit("TC");
  drawn.on_unit("a", unit, 1'000'000'000);
  drawn.on_unit("b", unit, 1'000'000'000);
  drawn.edge(OpId(0), OpId(1), 1'000'000'000);
  const Problem problem = drawn.problem();
  EXPECT_EQ(broken(problem, issued(2'000'000'000, {{0}, {1'000'000'000}})), Rules{});
  EXPECT_EQ(broken(problem, issued(1'999'999'999, {{0}, {1'000'000'000}})), Rules{"unit"});
}

// Protects: a hopeless schedule of a large loop takes no minutes and prints no gigabytes.
TEST(Size, OnlySoManyViolationsAreListed) {
  Drawn drawn;
  drawn.group("G");
  const UnitId unit = drawn.unit("TC");
  std::vector<At> placements;
  for (int i = 0; i < 3000; ++i) {
    drawn.on_unit("a" + std::to_string(i), unit, 100);
    placements.push_back({i % 50, {}, 0});
  }
  const auto checked = verify(drawn.problem(), issued(100, placements));
  ASSERT_FALSE(checked);
  ASSERT_EQ(checked.error().size(), kMostListed + 1);
  EXPECT_EQ(checked.error().back().message, "unit: further violations are not listed");
}

// Protects: a relaxed rule is not reported as broken, and the others stay in force.
TEST(Relaxed, RulesNotInForceAreNotChecked) {
  Drawn drawn;
  const GroupId loads = drawn.group("L", 0, 1, true);
  const GroupId g = drawn.group("G", 1);
  const UnitId unit = drawn.unit("TC");
  const PipeId pipe = drawn.pipe("MUFU");
  const MemoryId memory = drawn.memory("SMEM", 1);
  for (const char* name : {"a", "b", "c"}) {
    const OpId op = drawn.on_unit(name, unit, 5);
    drawn.alternative(op).issue = 5;
    drawn.alternative(op).pipes.push_back({pipe, 9});
    drawn[op].registers = 1;
    drawn[op].footprint.push_back({memory, 1});
  }
  drawn[OpId(2)].registers = 0;
  drawn.edge(OpId(0), OpId(1), 9).blocking = true;
  drawn.edge(OpId(0), OpId(2), 0);
  const Schedule bad = issued(10, {{0, g}, {4, g}, {20, loads}});
  const Rules all = {"dependence", "unit",  "unit",       "unit",     "pipe",      "memory",
                     "registers",  "width", "load-group", "blocking", "one-stream"};
  EXPECT_EQ(broken(drawn.problem(), bad), all);
  for (int i = 0; i < problem::kRuleCount; ++i) {
    const Rule rule = static_cast<Rule>(i);
    drawn.parts.relaxed = {rule};
    Rules rest = all;
    std::erase(rest, std::string(problem::name_of(rule)));
    EXPECT_EQ(broken(drawn.problem(), bad), rest) << problem::name_of(rule);
  }
}

TEST(CheckedSchedule, KeepsItsOwnCopies) {
  auto problem = std::make_unique<Problem>(one_value(3).problem());
  const auto checked = verify(*problem, issued(10, {{0}, {10}}));
  ASSERT_TRUE(checked);
  problem.reset();
  EXPECT_EQ(checked->problem(), one_value(3).problem());
  EXPECT_EQ(checked->schedule(), issued(10, {{0}, {10}}));
}

}  // namespace
}  // namespace twill::verify
