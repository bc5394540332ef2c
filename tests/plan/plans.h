#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "twill/plan/make.h"
#include "twill/plan/proof.h"
#include "twill/plan/text.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/alternatives.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

/// Plans of small loops that cover all parts of plans.
namespace twill::plan::testing {

/// A load, asynchronous work in registers (wgmma), threads that use it.
inline constexpr const char* kRegisters = R"(
loop registers
unit TC
unit TMA
memory SMEM capacity 4
group L warps 1 loads
group C warps 2 registers 20
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op mm on TC for 4 latency 6 issue 1 warps 2 registers 4 async
op f latency 2 issue 2 warps 2 registers 1
ld -> mm blocking
mm -> f blocking
f -> f distance 1
)";

/// Tensor memory shared in turns by the warp that issues and the threads. An accumulator is
/// rescaled and an operand is written (as in attention on Blackwell).
inline constexpr const char* kTensor = R"(
loop tensor
unit TC
unit TMA
memory SMEM capacity 2
memory TMEM capacity 4
group L warps 1 loads
group M warps 1
group C warps 2 registers 20
op ld on TMA for 2 latency 4 issue 1 warps 1 occupies SMEM 1 async streaming
op s on TC for 3 latency 4 issue 1 warps 1 occupies TMEM 1 async
op get latency 2 issue 2 warps 2 registers 2
op p latency 1 issue 1 warps 2 occupies TMEM 1
op fix latency 1 issue 1 warps 2
op o on TC for 3 latency 4 issue 1 warps 1 occupies TMEM 1 async
ld -> s blocking
s -> get blocking read-hold 2
get -> p
p -> o blocking
o -> fix distance 1 blocking
fix -> o blocking in-place
o -> o distance 1 delay 0 in-place
)";

/// Two roles of threads that transfer a value in registers.
inline constexpr const char* kCrossing = R"(
loop crossing
minimum-compute-groups 2
memory SMEM capacity 1000
group A warps 1 registers 4
group B warps 1 registers 4
op x latency 4 issue 4 warps 1 registers 1
op y latency 4 issue 4 warps 1 registers 1
op z latency 3 issue 3 warps 1 registers 1
x -> y
y -> z
z -> z distance 1
x -> x distance 1
)";

/// Two roles whose tensor-core work takes turns.
inline constexpr const char* kTurns = R"(
loop turns
minimum-compute-groups 2
unit TC
group A warps 1 registers 8
group B warps 1 registers 8
op ma on TC for 3 latency 4 issue 1 warps 1 registers 1 async
op fa latency 4 issue 4 warps 1 registers 1
op mb on TC for 3 latency 4 issue 1 warps 1 registers 1 async
op fb latency 4 issue 4 warps 1 registers 1
ma -> fa blocking transfer 100
fa -> ma distance 1 transfer 100
mb -> fb blocking transfer 100
fb -> mb distance 1 transfer 100
)";

/// The plan of the fastest schedule of a loop that has a plan. A loop without one fails the test,
/// and ends it.
inline Plan plan_of(const std::string& text) {
  auto loop = schedule::parse_loop(text, "test");
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  const schedule::Answer answer = solve::solve(loop->problem, {});
  EXPECT_TRUE(answer.schedule.has_value()) << answer.argument;
  auto plan = draft_plan(*verify::verify(loop->problem, *answer.schedule), {});
  if (plan) return *std::move(plan);
  for (const auto& next : solve::alternatives(loop->problem, answer, 4, {}).list) {
    auto other = draft_plan(*verify::verify(loop->problem, next.schedule), {});
    if (other) return *std::move(other);
  }
  ADD_FAILURE() << to_string(plan.error());
  std::abort();
}

/// Two roles that take turns at a product (ma, mb) and in the ops after it (fa, fb), by a schedule
/// that does. The pure order dependences `turns` belong to the schedule and not to the plan.
inline Plan plan_of_regions() {
  const std::string turns = R"(
ma -> mb delay 1 order-only
mb -> ma distance 1 delay 1 order-only
ga -> fb delay 1 order-only
gb -> fa distance 1 delay 1 order-only
)";
  const std::string text = R"(
loop regions
minimum-compute-groups 2
unit TC
group A warps 1 registers 8
group B warps 1 registers 8
op ma on TC for 3 latency 4 issue 1 warps 1 registers 1 async
op fa latency 2 issue 2 warps 1 registers 1
op ga latency 1 issue 1 warps 1 registers 1
op mb on TC for 3 latency 4 issue 1 warps 1 registers 1 async
op fb latency 2 issue 2 warps 1 registers 1
op gb latency 1 issue 1 warps 1 registers 1
ma -> fa blocking transfer 100
fa -> ga transfer 100
ga -> ma distance 1 transfer 100
mb -> fb blocking transfer 100
fb -> gb transfer 100
gb -> mb distance 1 transfer 100
)";
  const auto ordered = schedule::parse_loop(text + turns, "test");
  const auto loop = schedule::parse_loop(text, "test");
  if (!ordered || !loop) ADD_FAILURE() << "no loop";
  const auto answer = solve::solve(ordered->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  setting.tokens = false;
  setting.regions.all = {{{{OpId(0), OpId(0)}, {OpId(3), OpId(3)}}},
                         {{{OpId(1), OpId(2)}, {OpId(4), OpId(5)}}}};
  setting.regions.note = "two regions";
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

/// kRegisters, or a loop with ops like it, as a persistent kernel. By default, the two CTAs of a
/// cluster share its load.
inline Plan cluster_plan(bool same_trips = true, Mechanism load = Mechanism::tma_multicast,
                         const std::string& text = kRegisters) {
  const auto loop = schedule::parse_loop(text, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  setting.kernel = Kernel{};
  setting.kernel->tiles = Tiles::persistent;
  setting.kernel->same_trips = same_trips;
  setting.kernel->cluster = 2;
  setting.reserved = {{"SMEM", 16}};
  setting.mechanisms = {load, std::nullopt, std::nullopt};
  PerTileRequest store;
  store.what.when = PerTileOp::When::after;
  store.what.what = "store @ 4:1";
  store.what.mechanism = Mechanism::bulk_store;
  store.what.writes = true;
  store.memory = "SMEM";
  store.bytes = 8;
  store.uses = {OpId(2)};
  setting.per_tile_ops = {store};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

using Steps = std::function<bool(const Step&)>;

/// Calls `edit` with each sequence of steps of a role.
inline void each_sequence(Role& role, const std::function<void(std::vector<Step>&)>& edit) {
  edit(role.sections.prologue);
  edit(role.sections.steady);
  edit(role.sections.drain);
  for (auto& path : role.sections.short_trips) edit(path);
}

/// Drops such steps; returns their number.
inline int drop(Role& role, const Steps& what) {
  int dropped = 0;
  each_sequence(role, [&](std::vector<Step>& steps) {
    dropped += static_cast<int>(std::erase_if(steps, what));
  });
  return dropped;
}

inline int drop(Plan& plan, const Steps& what) {
  int dropped = 0;
  for (Role& role : plan.roles) dropped += drop(role, what);
  return dropped;
}

/// All findings of a proof, for messages.
inline std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.rule + ": " + finding.message + "\n";
    for (const std::string& line : finding.trace) text += "    " + line + "\n";
  }
  return text;
}

/// Whether some finding is of that rule.
inline bool has_rule(const std::vector<Finding>& findings, const std::string& rule) {
  for (const Finding& finding : findings) {
    if (finding.rule == rule) return true;
  }
  return false;
}

/// The same plan, proven.
inline Plan good(const char* loop) {
  Plan plan = plan_of(loop);
  const auto proven = prove(plan);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
  return plan;
}

/// The proof must refuse the plan and name the rule.
inline void expect_rule(const Plan& plan, const std::string& rule) {
  const auto verdict = prove(plan);
  ASSERT_FALSE(verdict.has_value()) << "accepted:\n" << to_text(plan);
  EXPECT_TRUE(has_rule(verdict.error(), rule)) << text_of(verdict.error());
}

inline Role& role_named(Plan& plan, const std::string& name) {
  for (Role& role : plan.roles) {
    if (role.name == name) return role;
  }
  ADD_FAILURE() << name;
  return plan.roles.front();
}

/// The rule that a plan breaks; "" if it holds.
inline std::string rule_of(const Plan& plan) {
  const auto proven = prove(plan);
  return proven ? "" : proven.error().front().rule;
}

}  // namespace twill::plan::testing
