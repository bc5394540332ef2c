#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/plan_loop.h"
#include "twill/extract/body.h"
#include "twill/plan/text.h"

// Protects the path from a kernel's text to a plan of the whole kernel: loads before the loop,
// stores after it, tiles of a CTA. All memory is used.
namespace twill::driver {
namespace {

Request request_of(const std::string& kernel) {
  Request request;
  auto input = read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/" + kernel + ".pre.ttgir");
  EXPECT_TRUE(input.has_value()) << kernel;
  request.input = *std::move(input);
  return request;
}

plan::Plan plan_of(const std::string& kernel, int cluster = 1,
                   TileWalk tiles = TileWalk::where_possible) {
  Request request = request_of(kernel);
  request.cluster = cluster;
  request.tiles = tiles;
  const auto planned = plan_loop(request);
  EXPECT_TRUE(planned && planned->plan) << kernel;
  if (std::getenv("TWILL_SHOW_PLANS") != nullptr) {
    std::cout << plan::to_text(planned->plan->plan()) << planned->plan->size().events
              << " events\n";
  }
  return planned->plan->plan();
}

const plan::PerTileOp* outside(const plan::Plan& plan, const std::string& name) {
  for (const plan::PerTileOp& what : plan.kernel->per_tile_ops) {
    if (what.what.starts_with(name)) return &what;
  }
  return nullptr;
}

std::vector<std::string> names(const plan::Plan& plan, const std::vector<plan::RoleId>& roles) {
  std::vector<std::string> out;
  for (const plan::RoleId role : roles) out.push_back(plan[role].name);
  return out;
}

// Each op of the loop's text is accounted for. Either one op of the plan does it, or each role that
// needs it computes it. Otherwise it renames another value, or is unused.
TEST(PlanOfAKernel, SaysWhoComputesEverythingInTheLoop) {
  for (const char* name : {"gemm/sm_90/ptr_128x128x64", "fa_fwd/sm_90/d128",
                           "fa_fwd_causal/sm_90/d128", "fa_bwd/sm_100/m128n128d128_tmared"}) {
    SCOPED_TRACE(name);
    const Request request = request_of(name);
    const auto planned = plan_loop(request);
    ASSERT_TRUE(planned && planned->plan);
    const auto kernel = read_kernel(request);
    ASSERT_TRUE(kernel);
    const ir::Program& program = kernel->program;
    std::set<ir::OpId> stated;
    for (const extract::OpOrigin& origin : planned->outcome.origins) {
      for (const extract::Source& source : origin.sources) stated.insert(source.op);
    }
    std::set<std::pair<int, int>> rematerialized;
    for (const auto& value : planned->plan->plan().kernel->rematerialized) {
      rematerialized.emplace(value.line, value.column);
    }
    EXPECT_FALSE(rematerialized.empty());
    for (const ir::OpId id : ir::walk(program, kernel->choice.loop)) {
      const ir::Op& op = program.op(id);
      const Location where = ir::text_location(program, id);
      const bool named = extract::is_view(op.kind) || op.kind == ir::OpKind::constant ||
                         !op.regions.empty() || op.results.empty() ||
                         ir::type_of(program, op.results[0])->kind == ir::TypeKind::memdesc;
      const bool used = std::any_of(op.results.begin(), op.results.end(), [&](ir::ValueId value) {
        return !program.value(value).uses.empty();
      });
      const auto holder = ir::parent(program, id);  // the combiner of a reduction is part of it
      EXPECT_TRUE(named || !used || stated.contains(id) || (holder && stated.contains(*holder)) ||
                  rematerialized.contains({where.line, where.column}))
          << op.name << " @ " << where.line << ":" << where.column;
    }
  }
}

TEST(PlanOfAKernel, GemmStagesItsTileAndFillsTheMemoryWithStages) {
  const plan::Plan plan = plan_of("gemm/sm_90/tma_128x256x64");
  EXPECT_EQ(plan.kernel->tiles, plan::Tiles::persistent);
  EXPECT_EQ(plan.kernel->order, plan::TileOrder::grouped);
  EXPECT_EQ(plan.kernel->group, 16);  // 16 rows of 16 KB and 9 columns of 32 KB; 8 need 17
  EXPECT_TRUE(plan.kernel->same_trips);
  const plan::PerTileOp* store = outside(plan, "tt.descriptor_store");
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->mechanism, plan::Mechanism::bulk_store);
  EXPECT_EQ(names(plan, store->roles), (std::vector<std::string>{"WG0", "WG1"}));
  for (const plan::BufferId buffer : store->buffers) EXPECT_EQ(plan[buffer].size, 64 * 256 * 2);
  EXPECT_EQ(plan.channels[0].depth, 3);
  EXPECT_EQ(plan_of("gemm/sm_90/tma_128x128x64").channels[0].depth, 6);
}

TEST(PlanOfAKernel, AttentionLoadsItsQueriesPerTile) {
  const plan::Plan plan = plan_of("fa_fwd/sm_90/d128");
  EXPECT_EQ(plan.kernel->tiles, plan::Tiles::persistent);
  EXPECT_EQ(plan.kernel->order, plan::TileOrder::row_major);
  const plan::PerTileOp* load = outside(plan, "tt.descriptor_load");
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->mechanism, plan::Mechanism::tma_load);
  EXPECT_EQ(names(plan, load->roles), (std::vector<std::string>{"LOAD"}));
  EXPECT_EQ(outside(plan, "ttg.local_alloc"), nullptr);  // the load fills it
  const plan::Buffer& queries = plan[load->buffers.at(0)];
  std::vector<std::string> readers;
  for (const plan::OpId op : queries.readers) readers.push_back(plan.problem[op].name);
  EXPECT_EQ(readers, (std::vector<std::string>{"mma0A", "mma0B"}));
  EXPECT_EQ(outside(plan, "tt.store")->mechanism, plan::Mechanism::threads);
  EXPECT_EQ(outside(plan, "tt.descriptor_store")->mechanism, plan::Mechanism::bulk_store);
}

TEST(PlanOfAKernel, ALoopOverTilesOfItsOwnStays) {
  const plan::Plan plan = plan_of("gemm_persistent/sm_90/128x128x64_nested");
  EXPECT_EQ(plan.kernel->tiles, plan::Tiles::program_loop);
  EXPECT_TRUE(plan.kernel->same_trips);
  EXPECT_NE(outside(plan, "tt.descriptor_store"), nullptr);
}

// Causal attention: the number of key blocks depends on the tile.
TEST(PlanOfAKernel, TilesOfDifferentTripCountsAreTold) {
  const plan::Plan plan = plan_of("fa_fwd_causal/sm_90/d128");
  EXPECT_EQ(plan.kernel->tiles, plan::Tiles::persistent);
  EXPECT_FALSE(plan.kernel->same_trips);
}

// Protects tiles that a loop after the main loop reads: the next tile's queries are loaded after
// that loop.
TEST(PlanOfAKernel, HoldsATileThatALoopBehindReads) {
  const plan::Plan plan = plan_of("fa_fwd_causal/sm_90/d128");
  const plan::PerTileOp* loop = outside(plan, "scf.for");
  ASSERT_NE(loop, nullptr);
  const plan::BufferId queries = outside(plan, "tt.descriptor_load")->buffers.at(0);
  EXPECT_EQ(loop->reads, std::vector<plan::BufferId>{queries});
  ASSERT_FALSE(loop->roles.empty());
  for (const plan::RoleId role : loop->roles) {
    bool done = false, released = false;
    for (const plan::Step& step : plan[role].after) {
      done = done ||
             (step.per_tile_op && plan.kernel->per_tile_ops[*step.per_tile_op].what == loop->what);
      if (step.kind != plan::StepKind::release || !step.channel) continue;
      if (plan[*step.channel].buffers != std::vector<plan::BufferId>{queries}) continue;
      EXPECT_TRUE(done) << plan[role].name;
      released = true;
    }
    EXPECT_TRUE(released) << plan[role].name;
  }
}

// A request for one tile per CTA overrules walking; then no CTA can form a cluster.
TEST(PlanOfAKernel, HasOneTileForEachCtaIfAskedFor) {
  const plan::Plan plan = plan_of("fa_fwd/sm_90/d64", 2, TileWalk::one);
  EXPECT_EQ(plan.kernel->tiles, plan::Tiles::one_per_cta);
  EXPECT_EQ(plan.kernel->cluster, 1);
  EXPECT_NE(std::find(plan.notes.begin(), plan.notes.end(),
                      "no cluster: the kernel does not walk the grid on its own"),
            plan.notes.end());
  EXPECT_EQ(plan_of("fa_fwd/sm_90/d64", 1, TileWalk::persistent).kernel->tiles,
            plan::Tiles::persistent);
}

/// Sharing in a plan that may have clusters: "x: load1" if two tiles along x share load1; otherwise
/// the note with the reason against sharing.
std::string shared_in(const std::string& kernel) {
  const plan::Plan plan = plan_of(kernel, 2);
  if (plan.kernel->cluster == 1) {
    for (const std::string& note : plan.notes) {
      if (note.starts_with("no cluster: ")) return note;
    }
    return "";
  }
  std::string text(plan::name_of(plan.kernel->axis));
  for (std::size_t v = 0; v < plan.mechanisms.size(); ++v) {
    if (plan.mechanisms[v] != plan::Mechanism::tma_multicast) continue;
    text += (text.size() == 1 ? ": " : ", ") + plan.problem.ops()[v].name;
  }
  for (const plan::Channel& channel : plan.channels) {
    EXPECT_TRUE(channel.scope == plan::Scope::cta || !channel.buffers.empty());
  }
  return text;
}

// Two tiles share loads according to the program ids in the loads' coordinates, along the axis that
// saves most. load0 is the left operand, with a tile of 128 rows; the right operand's tile has 256.
TEST(PlanOfACluster, SharesWhatDoesNotDependOnTheAxis) {
  EXPECT_EQ(shared_in("gemm/sm_90/tma_128x256x64"), "x: load1");
  EXPECT_EQ(shared_in("gemm/sm_90/tma_128x128x64"), "x: load1");
  EXPECT_EQ(shared_in("gemm_batched/sm_90/128x128x64"), "x: load1");  // z is the batch: shares none
  EXPECT_EQ(shared_in("dual_gemm/sm_90/128x128x64"), "x: load1, load2");  // both right operands
  EXPECT_EQ(shared_in("gemm_rowsum/sm_90/128x128x64"), "x: load1");
  EXPECT_EQ(shared_in("fa_fwd/sm_90/d128"), "x: load0, load1");  // keys and values of one head
}

TEST(PlanOfACluster, IsRefusedWhereItIsNotProvablyRight) {
  // The number of key blocks depends on x, and every load depends on y.
  EXPECT_EQ(shared_in("fa_fwd_causal/sm_90/d128"),
            "no cluster: no two tiles have a load in common");
  EXPECT_EQ(shared_in("gemm_persistent/sm_90/128x128x64_nested"),
            "no cluster: the kernel does not walk the grid on its own");
}

int tokens(const plan::Plan& plan) {
  int count = 0;
  for (const plan::Channel& channel : plan.channels) {
    count += channel.kind == plan::ChannelKind::token ? 1 : 0;
  }
  return count;
}

// Protects: turns at the tensor core cost time and are taken only where the simulated loop needs
// them.
TEST(PlanOfAKernel, TakesTurnsOnlyWhereTheyPay) {
  EXPECT_EQ(tokens(plan_of("fa_fwd/sm_90/d64")), 2);
  EXPECT_EQ(tokens(plan_of("fa_fwd_subtiled/sm_90/2x64n128d64")), 0);
}

/// A door that prints no plan of that pool. Each refusal has other words, since repeated words
/// would end the search.
Door door_without(const std::string& pool) {
  auto asked = std::make_shared<int>(0);
  return {
      [pool, asked](const Reading&, const report::Outcome& outcome,
                    const plan::ProvenPlan&) -> std::optional<Diagnostic> {
        if (outcome.pool != pool) return std::nullopt;
        return Diagnostic{{}, "no pool " + pool + ", asked " + std::to_string(++*asked), "", ""};
      },
      [](const plan::Plan&) { return true; }};
}

// A door does not decide the answer. If it cannot print the answer's plan, the best plan that it
// prints is printed instead, with a warning. If it prints no plan, the answer stays, with the
// reason.
TEST(Doors, WhatIsPrintedInsteadOfTheAnswerIsSaid) {
  const Request request = request_of("gemm/sm_90/tma_128x128x64");
  const auto answer = answer_loop(request, {});
  ASSERT_TRUE(answer && answer->plan);
  const std::string pool = answer->outcome.pool;

  const Door other = door_without(pool);
  const auto printed = answer_loop(request, {true, &other});
  ASSERT_TRUE(printed && printed->plan);
  EXPECT_NE(printed->outcome.pool, pool);
  EXPECT_FALSE(printed->unprinted.has_value());
  ASSERT_FALSE(printed->outcome.warnings.empty());
  const std::string warning = printed->outcome.warnings.back().message;
  const std::string expected = "the answer (pool " + pool + ") is not printed: no pool " + pool +
                               ", asked 1; printed instead is one of pool " + printed->outcome.pool;
  EXPECT_TRUE(warning.starts_with(expected)) << warning;

  const Door none = {[](const Reading&, const report::Outcome&,
                        const plan::ProvenPlan&) -> std::optional<Diagnostic> {
                       return Diagnostic{{}, "it prints nothing", "", ""};
                     },
                     [](const plan::Plan&) { return true; }};
  const auto unprinted = answer_loop(request, {true, &none});
  ASSERT_TRUE(unprinted && unprinted->plan);
  EXPECT_EQ(unprinted->outcome.pool, pool);
  ASSERT_TRUE(unprinted->unprinted.has_value());
  EXPECT_EQ(unprinted->unprinted->message, "it prints nothing");
}

}  // namespace
}  // namespace twill::driver
