#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"

// Protects clusters: two CTAs that share a load are planned and proven as a pair. Omitting a wait
// of one CTA for the other, or a release for the other, is always found.
namespace twill::plan::testing {
namespace {

Channel& ring(Plan& plan) { return plan.channels.front(); }

void drop_leaves(Role& role) {
  std::erase_if(role.tail, [](const Step& step) { return step.kind == StepKind::leave; });
}

TEST(Cluster, ReleasesGoToBothCtasAndAllLeaveTogether) {
  Plan plan = cluster_plan();
  EXPECT_EQ(plan.kernel->cluster, 2);
  EXPECT_EQ(ring(plan).scope, Scope::cluster);
  EXPECT_EQ(ring(plan).full_arrivals, 1);
  EXPECT_EQ(ring(plan).bytes, 2);  // of both shares
  const Plan alone = cluster_plan(true, Mechanism::tma_load);
  EXPECT_EQ(ring(plan).empty_arrivals, 2 * alone.channels.front().empty_arrivals);
  for (const Role& role : plan.roles) EXPECT_EQ(role.tail.back().kind, StepKind::leave);
  const std::string text = to_text(plan);
  EXPECT_NE(text.find("clusters of 2 along x"), std::string::npos) << text;
  EXPECT_NE(text.find("issue ld [n] into all CTAs"), std::string::npos) << text;
}

TEST(Cluster, NeedsALoadThatIsShared) {
  const Plan plan = cluster_plan(true, Mechanism::tma_load);
  EXPECT_EQ(plan.kernel->cluster, 1);
  EXPECT_EQ(plan.channels.front().scope, Scope::cta);
}

TEST(Cluster, IsProvenAndReadBack) {
  for (const bool same_trips : {true, false}) {
    const Plan plan = cluster_plan(same_trips);
    const auto proven = prove(plan);
    EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
    const auto read = read_plan_json(plan_json(plan), "test");
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    EXPECT_EQ(*read, plan);
  }
}

TEST(Cluster, ArrivalsOfTheOtherCtaAreCounted) {
  Plan plan = cluster_plan();
  ring(plan).scope = Scope::cta;
  EXPECT_EQ(rule_of(plan), "arrivals");
  for (const int off : {-1, 1}) {
    plan = cluster_plan();
    ring(plan).empty_arrivals += off;
    EXPECT_EQ(rule_of(plan), "arrivals") << off;
  }
  for (const Amount bytes : {1, 4}) {
    plan = cluster_plan();
    ring(plan).bytes = bytes;
    EXPECT_EQ(rule_of(plan), "arrivals") << bytes;
  }
}

// Counts that fit, but no step asks whether the other CTA has read the slot. Its share of the next
// copy comes while the barrier is in the phase before.
TEST(Cluster, ALoaderThatAsksItsOwnCtaOnlyIsRefused) {
  Plan plan = cluster_plan();
  ring(plan).scope = Scope::cta;
  ring(plan).empty_arrivals /= 2;
  const auto proven = prove(plan);
  ASSERT_FALSE(proven.has_value());
  EXPECT_TRUE(has_rule(proven.error(), "overrun")) << text_of(proven.error());
  EXPECT_NE(text_of(proven.error()).find("the other CTA"), std::string::npos);
}

// Without the cluster's release the slot's bytes race as well, where no phase gives it away.
TEST(Cluster, TheOtherCtasShareIsAWriteOfTheSlot) {
  Plan plan = cluster_plan();
  for (Role& role : plan.roles) {
    for (auto* steps : {&role.sections.prologue, &role.sections.steady, &role.sections.drain}) {
      std::erase_if(*steps, [](const Step& step) { return step.kind == StepKind::acquire; });
    }
    for (auto& steps : role.sections.short_trips) {
      std::erase_if(steps, [](const Step& step) { return step.kind == StepKind::acquire; });
    }
  }
  const std::string rule = rule_of(plan);
  EXPECT_TRUE(rule == "overrun" || rule == "overwrite") << rule;
  plan = cluster_plan();
  ++ring(plan).depth;
  EXPECT_EQ(rule_of(plan), "overwrite");
}

TEST(Cluster, NobodyIsGoneWhileTheOtherStillSends) {
  Plan plan = cluster_plan();
  for (Role& role : plan.roles) drop_leaves(role);
  EXPECT_EQ(rule_of(plan), "exit");
  // One role that waits for the other CTA is enough: a CTA exists as long as one of its warps runs.
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    plan = cluster_plan();
    drop_leaves(plan.roles[r]);
    EXPECT_EQ(rule_of(plan), "");
  }
}

TEST(Cluster, WhatIsOfAClusterNeedsOne) {
  Plan plan = cluster_plan();
  plan.kernel->cluster = 1;
  EXPECT_EQ(rule_of(plan), "well-formed");
  plan = cluster_plan();
  plan.kernel->cluster = 3;
  EXPECT_EQ(rule_of(plan), "well-formed");
  plan = cluster_plan();
  plan.kernel->tiles = Tiles::program_loop;  // both CTAs may have different numbers of tiles
  EXPECT_EQ(rule_of(plan), "well-formed");
  plan = cluster_plan();
  plan.kernel->per_tile_ops[0].writes = false;  // a repeated tile would be stored twice
  EXPECT_EQ(rule_of(plan), "well-formed");
  plan = cluster_plan();
  std::swap(plan.roles.back().tail.front(), plan.roles.back().tail.back());
  EXPECT_EQ(rule_of(plan), "well-formed");  // leaves, and then waits for its stores
  plan = cluster_plan(true, Mechanism::tma_load);
  plan.roles[0].tail.push_back(cluster_plan().roles[0].tail.back());
  EXPECT_EQ(rule_of(plan), "well-formed");
}

}  // namespace
}  // namespace twill::plan::testing
