#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "plan/explorer.h"
#include "plan/plans.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"

// Protects the construction and the JSON: the plan is proven, and its file reads back as the same
// plan. A changed file is refused with the reason.
namespace twill::plan::testing {
namespace {

std::string loop_file(const std::string& name) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/loops/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Plan, OfBundledLoopsIsProven) {
  for (const char* name : {"fig1.loop", "gemm.loop", "fwd_h1.loop", "fwd_h1big.loop", "fwd_h2.loop",
                           "fwd_b1.loop", "meta_fwd.loop"}) {
    const auto proven = prove(plan_of(loop_file(name)));
    EXPECT_TRUE(proven.has_value()) << name << "\n" << text_of(proven.error());
  }
}

TEST(Plan, WithAllWaitsIsProvenToo) {
  const auto loop = schedule::parse_loop(kTensor, "test");
  const auto answer = solve::solve(loop->problem, {});
  Setting setting;
  setting.every_wait = true;
  const auto plan = draft_plan(*verify::verify(loop->problem, *answer.schedule), setting);
  ASSERT_TRUE(plan.has_value());
  const auto proven = prove(*plan);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
}

// The proof lays out trip counts up to its bound; far beyond the bound no new fault may appear.
TEST(Plan, HoldsFarBeyondTheTripsThatWereLaidOut) {
  const Plan plan = plan_of(kCrossing);
  const auto proven = prove(plan);
  ASSERT_TRUE(proven.has_value());
  const Exploration far = explore(plan, proven->size().trips + 25, 2'000'000);
  EXPECT_EQ(far.end, Exploration::End::fine) << far.what;
}

// For every start of the interval, no product with other readers is in flight over the back edge of
// a role's loop. ptxas would serialize such products. A plan that already begins well is not
// changed.
TEST(Plan, BeginsTheIntervalBetweenProducts) {
  std::string text = kRegisters;  // with an op that takes longer than the product
  const std::string work = "op f latency 2 issue 2";
  text.replace(text.find(work), work.size(), "op f latency 8 issue 8");
  const auto loop = schedule::parse_loop(text, "test");
  const auto answer = solve::solve(loop->problem, {});
  const Cycles interval = answer.schedule->initiation_interval;
  const OpId product(1);
  ASSERT_EQ(loop->problem[product].name, "mm");
  const Cycles latency = loop->problem[product].alternatives[0].latency;
  int moved = 0;
  for (Cycles later = 0; later < interval; ++later) {
    schedule::Schedule schedule = *answer.schedule;
    for (schedule::Placement& placement : schedule.ops) placement.issue += later;
    const auto checked = verify::verify(loop->problem, schedule);
    ASSERT_TRUE(checked.has_value());
    const auto plan = draft_plan(*checked, {});
    ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
    const Cycles slot = schedule::slot_of(plan->schedule, product);
    EXPECT_LE(slot + latency, interval) << to_text(*plan);
    const bool over = schedule::slot_of(schedule, product) + latency > interval;
    EXPECT_EQ(slot != schedule::slot_of(schedule, product), over);
    moved += over ? 1 : 0;
    EXPECT_TRUE(prove(*plan).has_value());
  }
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, interval);
}

// The next tile of a persistent kernel waits for work that the previous tile leaves unfinished. A
// product whose result outlives the interval is awaited at the end of its window. There the loop
// moves the result to other registers.
TEST(Plan, WaitsForAProductThatItMovesOn) {
  const Plan plan = plan_of(kRegisters);
  const auto& steady = plan.roles[1].sections.steady;
  const auto is_issue = [](const Step& step) { return step.kind == StepKind::issue; };
  const auto issue = std::find_if(steady.begin(), steady.end(), is_issue);
  ASSERT_NE(issue, steady.end());
  const auto drain = std::find_if(issue, steady.end(), [](const Step& step) {
    return step.kind == StepKind::drain_groups && step.queue == Mechanism::wgmma;
  });
  ASSERT_NE(drain, steady.end()) << to_text(plan);
  EXPECT_EQ(drain->pending, 0);
}

TEST(Plan, OfAPersistentKernelIsLaidOutOverTiles) {
  std::string text = kRegisters;  // f reads the product a window later
  const std::string work = "op f latency 2 issue 2";
  text.replace(text.find(work), work.size(), "op f latency 3 issue 3");
  Plan plan = plan_of(text.c_str());
  plan.kernel = Kernel{};
  plan.kernel->tiles = Tiles::persistent;
  const auto proven = prove(plan);
  ASSERT_TRUE(proven.has_value()) << text_of(proven.error());
  Plan leaving = plan;
  for (Role& role : leaving.roles) {
    const auto releases = [](const Step& step) { return step.kind == StepKind::release; };
    std::erase_if(role.sections.drain, releases);
    for (auto& path : role.sections.short_trips) std::erase_if(path, releases);
  }
  ASSERT_NE(leaving, plan);
  const auto verdict = prove(leaving);
  ASSERT_FALSE(verdict.has_value());
  EXPECT_TRUE(has_rule(verdict.error(), "deadlock")) << text_of(verdict.error());
  leaving.kernel.reset();
  EXPECT_TRUE(prove(leaving).has_value());  // no step misses it at the end of a kernel
}

TEST(Plan, TurnsOnTheTensorCoreAlternate) {
  for (const std::string& loop : {loop_file("fwd_h2.loop"), std::string(kTurns)}) {
    const Plan plan = plan_of(loop);
    int tokens = 0;
    for (const Channel& channel : plan.channels) {
      tokens += channel.kind == ChannelKind::token ? 1 : 0;
    }
    EXPECT_EQ(tokens, 2) << to_text(plan);
  }
}

TEST(Plan, RefusesMoreWindowsThanAGroupMaySpreadOver) {
  const auto loop = schedule::parse_loop(
      "loop far\ngroup A warps 1\nop x warps 1\nop y warps 1\n"
      "x -> y order-only\nschedule interval 1\n"
      "  x at 0 in A\n  y at 5000 in A\n",
      "test");
  ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
  const auto checked = verify::verify(loop->problem, *loop->schedule);
  ASSERT_TRUE(checked.has_value());
  const auto plan = draft_plan(*checked, {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_NE(plan.error().message.find("windows"), std::string::npos);
}

TEST(PlanJson, ReadsBackAsItWas) {
  for (const char* loop : {kRegisters, kTensor, kCrossing}) {
    const Plan plan = plan_of(loop);
    const std::string text = plan_json(plan);
    const auto read = read_plan_json(text, "test");
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    EXPECT_EQ(*read, plan);
    EXPECT_EQ(plan_json(*read), text);
  }
}

// Two roles that take two turns each in an iteration: channels of one name could not be told apart.
TEST(PlanJson, ReadsBackTurnsBetweenTheSameRoles) {
  const auto loop = schedule::parse_loop(R"(
loop often
unit TC
group A warps 1 registers 8
group B warps 1 registers 8
op m1 on TC for 3 latency 3 issue 1 warps 1 registers 1 async
op f1 latency 2 issue 2 warps 1 registers 1
op m2 on TC for 3 latency 3 issue 1 warps 1 registers 1 async
op m3 on TC for 3 latency 3 issue 1 warps 1 registers 1 async
op f3 latency 2 issue 2 warps 1 registers 1
op m4 on TC for 3 latency 3 issue 1 warps 1 registers 1 async
m1 -> f1 blocking
m3 -> f3 blocking
schedule interval 12
  m1 at 0 in A
  f1 at 3 in A
  m2 at 6 in A
  m3 at 3 in B
  f3 at 6 in B
  m4 at 9 in B
)",
                                         "test");
  ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
  const auto checked = verify::verify(loop->problem, *loop->schedule);
  ASSERT_TRUE(checked.has_value());
  const auto plan = draft_plan(*checked, {});
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_EQ(plan->channels.size(), 4U) << to_text(*plan);
  const auto read = read_plan_json(plan_json(*plan), "test");
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_EQ(*read, *plan);
}

TEST(PlanJson, RefusesWhatItDoesNotKnow) {
  const std::string text = plan_json(plan_of(kTensor));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    const auto read = read_plan_json(changed, "test");
    return read ? std::string() : to_string(read.error());
  };
  EXPECT_NE(with("twill-plan", "twill-plot").find("/format"), std::string::npos);
  EXPECT_NE(with("\"version\": " + std::to_string(kPlanJsonVersion), "\"version\": 99")
                .find("version 99"),
            std::string::npos);
  EXPECT_NE(with("\"do\": \"acquire\"", "\"do\": \"grab\"").find("'grab'"), std::string::npos);
  EXPECT_NE(with("\"channel\": \"ld\"", "\"channel\": \"nil\"").find("'nil'"), std::string::npos);
  EXPECT_NE(with("loop tensor", "loop sensor").find("hash"), std::string::npos);
  EXPECT_NE(with("{", "").find("not valid JSON"), std::string::npos);
}

// Any cut or changed file is refused, by the reader or by the proof, and crashes neither.
TEST(PlanJson, NumbersOutOfRangeAreFindings) {
  const std::string text = plan_json(plan_of(kTensor));
  for (const char* member : {"\"depth\": ", "\"first_warp\": ", "\"warpgroup\": ", "\"spread\": ",
                             "\"full_arrivals\": ", "\"offset\": ", "\"size\": "}) {
    for (const char* value : {"-1", "999999", "1000000000"}) {
      std::string changed = text;
      const std::size_t at = changed.find(member) + std::string(member).size();
      changed.replace(at, changed.find_first_of(",\n", at) - at, value);
      const auto read = read_plan_json(changed, "test");
      if (read) {
        EXPECT_FALSE(prove(*read).has_value()) << member << value;
      }
    }
  }
}

// Five buffers that fit only if they share addresses, and not where the largest are laid out first.
TEST(Draft, SharesAddressesInAnyOrder) {
  const auto loop = schedule::parse_loop(R"(loop sharing
relax one-stream
memory SMEM capacity 13312
group A warps 1
op w0 latency 1 warps 1 occupies SMEM 6144
op r0 latency 1 warps 1
op w1 latency 1 warps 1 occupies SMEM 3072
op r1 latency 1 warps 1
op w2 latency 1 warps 1 occupies SMEM 6144
op r2 latency 1 warps 1
op w3 latency 1 warps 1 occupies SMEM 3072
op r3 latency 1 warps 1
op w4 latency 1 warps 1 occupies SMEM 4096
op r4 latency 1 warps 1
w0 -> r0
w1 -> r1
w2 -> r2
w3 -> r3
w4 -> r4
schedule interval 12
  w0 at 8 in A
  r0 at 12 in A
  w1 at 8 in A
  r1 at 13 in A
  w2 at 2 in A
  r2 at 7 in A
  w3 at 10 in A
  r3 at 15 in A
  w4 at 1 in A
  r4 at 5 in A
)",
                                         "test");
  ASSERT_TRUE(loop && loop->schedule) << (loop ? "" : to_string(loop.error()));
  const auto checked = verify::verify(loop->problem, *loop->schedule);
  ASSERT_TRUE(checked) << checked.error().front().message;
  const auto plan = draft_plan(*checked, {});
  ASSERT_TRUE(plan) << to_string(plan.error());
  Amount end = 0;
  for (const Buffer& it : plan->buffers) end = std::max(end, it.offset + it.size * it.depth);
  EXPECT_LE(end, 13312);
  EXPECT_TRUE(prove(*plan));
}

}  // namespace
}  // namespace twill::plan::testing
