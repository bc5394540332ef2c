#include <algorithm>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "plan/plans.h"

// Protects the order of accesses to global memory in plans: plans have the steps that keep the
// order, and the proof refuses plans without them.
namespace twill::plan::testing {
namespace {

/// Two warps store and load the same places.
constexpr const char* kOneRole = R"(
loop one
group C warps 2 registers 20
op st latency 2 issue 2 warps 2
op ld latency 4 issue 1 warps 2 registers 1
op f latency 2 issue 2 warps 2 registers 1
st -> ld order-only through-memory
ld -> f blocking
f -> st distance 1
ld -> st distance 1 order-only through-memory
)";

/// One role stores to addresses that another role loads.
constexpr const char* kTwoRoles = R"(
loop two
minimum-compute-groups 2
group A warps 2 registers 4
group B warps 1 registers 4
op f latency 2 issue 2 warps 2 registers 1
op st latency 2 issue 2 warps 2
op ld latency 4 issue 1 warps 1 registers 1
op g latency 2 issue 2 warps 1 registers 1
f -> st
st -> ld order-only through-memory
ld -> g blocking
ld -> st distance 1 order-only through-memory
)";

/// Threads store to addresses that a bulk copy loads.
constexpr const char* kBulkLoad = R"(
loop bulk
unit TMA
memory SMEM capacity 8
group L warps 1 loads
group C warps 2 registers 20
op st latency 2 issue 2 warps 2
op ld on TMA for 2 latency 4 issue 1 warps 1 occupies SMEM 2 async variable-latency
op f latency 2 issue 2 warps 2 registers 1
st -> ld order-only through-memory
ld -> f blocking read-hold 2
f -> st distance 1
ld -> st distance 1 order-only through-memory
)";

/// A bulk store to addresses that a load of the next iteration reads.
constexpr const char* kBulkStore = R"(
loop sent
unit TMA
memory SMEM capacity 8
group S warps 1
group C warps 2 registers 20
op ld latency 4 issue 1 warps 2 registers 1
op tile latency 2 issue 2 warps 2 occupies SMEM 2
op send on TMA for 2 latency 4 issue 1 warps 1 async
ld -> tile
tile -> send blocking
send -> ld distance 1 order-only through-memory
ld -> send order-only through-memory
)";

/// The rule by which a plan is refused; empty if it is accepted.
std::string refused_by(Plan plan) {
  const auto proven = prove(std::move(plan));
  return proven ? std::string() : proven.error().front().rule;
}

TEST(MemoryOrder, PlansKeepIt) {
  for (const char* text : {kOneRole, kTwoRoles, kBulkLoad, kBulkStore}) {
    const Plan plan = plan_of(text);
    EXPECT_EQ(refused_by(plan), "") << to_text(plan);
  }
}

// The warps of a role meet between a store by one of them and a load by another.
TEST(MemoryOrder, WarpsOfARoleMeet) {
  Plan plan = plan_of(kOneRole);
  ASSERT_GT(drop(plan, [](const Step& s) { return s.kind == StepKind::rendezvous; }), 0);
  EXPECT_EQ(refused_by(plan), "dependence");
}

// An order alone takes no rendezvous if each warp keeps the order of its own accesses.
TEST(MemoryOrder, OrderOfOtherKindsTakesNoMeeting) {
  std::string text = kOneRole;
  for (std::size_t at = text.find(" through-memory"); at != std::string::npos;
       at = text.find(" through-memory")) {
    text.erase(at, std::string(" through-memory").size());
  }
  Plan plan = plan_of(text);
  EXPECT_EQ(drop(plan, [](const Step& s) { return s.kind == StepKind::rendezvous; }), 0);
}

// Each role waits for the other.
TEST(MemoryOrder, RolesWaitForEachOther) {
  for (const char* text : {kTwoRoles, kBulkLoad, kBulkStore}) {
    const Plan plan = plan_of(text);
    for (const Channel& channel : plan.channels) {
      if (channel.name.find(".done") == std::string::npos) continue;
      Plan without = plan;
      const ChannelId id(static_cast<std::size_t>(&channel - plan.channels.data()));
      ASSERT_GT(drop(without,
                     [&](const Step& s) {
                       return s.channel == id &&
                              (s.kind == StepKind::wait || s.kind == StepKind::acquire);
                     }),
                0);
      EXPECT_NE(refused_by(without), "") << channel.name << " of " << text;
    }
  }
}

// Bulk copies see stores by threads if these threads execute a fence after the stores.
TEST(MemoryOrder, BulkCopiesWantAFence) {
  Plan plan = plan_of(kBulkLoad);
  const auto is_fence = [](const Step& s) {
    return s.kind == StepKind::fence && s.fence == Fence::proxy;
  };
  ASSERT_GT(drop(plan, is_fence), 0);
  EXPECT_EQ(refused_by(plan), "fence");
}

// A bulk store has written when it is done, which is later than its read of the source.
TEST(MemoryOrder, BulkStoresEndBeforeTheyAreRead) {
  Plan plan = plan_of(kBulkStore);
  ASSERT_GT(
      drop(plan, [](const Step& s) { return s.kind == StepKind::drain_groups && !s.reads_only; }),
      0);
  EXPECT_NE(refused_by(plan), "");
}

}  // namespace
}  // namespace twill::plan::testing
