#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "../concurrent/mutants.h"
#include "request.h"
#include "twill/driver/check_translation.h"
#include "twill/driver/run_module.h"

// Protects: a module from `twill emit ttgir` does what its plan says, step by step. A module that
// does something else is an error, even if it is safe.
namespace twill::driver {
namespace {

EmittedTtgir printed_of(const std::string& path) {
  auto emitted = emit_ttgir(request_for(path), {});
  if (!emitted) throw std::runtime_error(to_string(emitted.error()));
  return *std::move(emitted);
}

EmittedTtgir printed(const std::string& kernel) {
  return printed_of("kernels/" + kernel + ".pre.ttgir");
}

/// The report on a printed module after an edit: place number `nth` of the text `old` is replaced.
std::string report_with(const EmittedTtgir& good, const std::string& old, const std::string& made,
                        int nth = 0) {
  EmittedTtgir edited = good;
  std::size_t at = edited.text.find(old);
  for (int i = 0; i < nth && at != std::string::npos; ++i) at = edited.text.find(old, at + 1);
  if (at == std::string::npos) throw std::runtime_error("the text has no " + old);
  edited.text.replace(at, old.size(), made);
  const PrintedCheck check = check_translation(edited);
  return check.broken + check.unchecked;
}

TEST(Translation, EverythingPrintedIsWhatWasPlanned) {
  for (const char* kernel :
       {"gemm/sm_90/tma_128x256x64", "gemm/sm_90/ptr_128x128x64", "gemm_rowsum/sm_90/128x256x64",
        "fa_fwd/sm_90/d64", "fa_fwd_causal/sm_90/d128",
        "gemm_persistent/sm_90/128x128x64_nested"}) {
    const EmittedTtgir emitted = printed(kernel);
    EXPECT_EQ(emitted.broken, "") << kernel;
    const PrintedCheck check = check_translation(emitted);
    EXPECT_EQ(check.broken, "") << kernel;
    EXPECT_EQ(check.unchecked, "") << kernel;
  }
}

// The number that ends a loop over tiles may come from a counter in memory.
TEST(Translation, TilesThatAreDrawnAreCompared) {
  const EmittedTtgir drawn = printed_of("tests/emit/kinds/dyn_sched.ttgir");
  EXPECT_EQ(drawn.broken, "");
  const PrintedCheck check = check_translation(drawn);
  EXPECT_EQ(check.broken + check.unchecked, "");
  const std::string loader = "scf.yield %tile_4_2, ";
  for (const auto& [old, made] :
       {std::pair<std::string, std::string>{"{pendings = 1 : i32}", "{pendings = 0 : i32}"},
        // Starts the second tile in the same ring slot as the first tile.
        {loader + "%slot_22, %phase_18", loader + "%slot_20, %phase_16"},
        {"%phase_20 = arith.xori %tile_phase_8", "%phase_20 = arith.ori %tile_phase_8"},
        // Lets the loader take a tile that the other roles do not take.
        {"%v1_2 = arith.cmpi slt", "%v1_2 = arith.cmpi sle"}}) {
    const std::string how = report_with(drawn, old, made);
    EXPECT_NE(how.find("the roles differ"), std::string::npos) << made << ": " << how;
  }
}

// Ops of a step may read values of earlier iterations, beside an op that reads the newest value.
TEST(Translation, OpsOfAStepAreOfDifferentIterations) {
  const EmittedTtgir scan = printed_of("tests/driver/kinds/carried_scan.ttgir");
  EXPECT_EQ(scan.broken, "");
  const PrintedCheck check = check_translation(scan);
  EXPECT_EQ(check.broken + check.unchecked, "");
}

TEST(Translation, WhatIsSafeAndNotPlannedIsNamed) {
  const EmittedTtgir gemm = printed("gemm/sm_90/tma_128x256x64");
  // Products that do not overlap break no safety rule.
  const std::string drained = report_with(gemm, "{pendings = 1 : i32}", "{pendings = 0 : i32}");
  EXPECT_NE(drained.find("the text has ttng.warp_group_dot_wait"), std::string::npos) << drained;
  EXPECT_NE(drained.find("WG0, with 2 iterations"), std::string::npos) << drained;
}

/// The report on a module whose last role's loop takes its length from an earlier value of the
/// text.
std::string report_with_bound(const EmittedTtgir& good, const std::string& name,
                              const std::string& made) {
  EmittedTtgir edited = good;
  const std::size_t bound = edited.text.rfind(" to %trips");
  if (bound == std::string::npos) throw std::runtime_error("the text has no loop of %trips");
  const std::size_t end = edited.text.find(" step", bound);
  const std::string trips = edited.text.substr(bound + 4, end - bound - 4);
  edited.text.replace(bound, end - bound, " to " + name);
  const std::string line = std::regex_replace(made, std::regex("TRIPS"), trips);
  edited.text.insert(edited.text.rfind('\n', bound), "\n        " + name + " = " + line);
  const PrintedCheck check = check_translation(edited);
  return check.broken + check.unchecked;
}

// A role with a loop length of its own, stated or computed in the text, is compared with the length
// of all roles. Only a length that the role loads is taken to be equal.
TEST(Translation, ALengthOfOneRoleIsNoTripCountOfAll) {
  const EmittedTtgir gemm = printed("gemm/sm_90/tma_128x256x64");
  for (const char* made : {"arith.constant 4 : i32", "arith.addi TRIPS, TRIPS : i32"}) {
    const std::string how = report_with_bound(gemm, "%own", made);
    EXPECT_NE(how.find("the roles differ"), std::string::npos) << made << ": " << how;
  }
}

// A role that loads and waits at once, on a barrier of its own, uses memory of its own.
TEST(Translation, WhatARoleLoadsForItselfIsNoBufferOfThePlan) {
  EmittedTtgir edited = printed("gemm/sm_90/tma_128x256x64");
  const std::size_t loop = edited.text.rfind('\n', edited.text.rfind(" to %trips"));
  const std::string barrier = " : !ttg.memdesc<1xi64, #bar, #smem, mutable>";
  const std::string ring = "!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>";
  const std::string tile = "!ttg.memdesc<128x64xf16, #shared, #smem, mutable>";
  edited.text.insert(
      loop, "\n      %own = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>" +
                std::string("\n      ttng.init_barrier %own, 1") + barrier +
                "\n      ttng.barrier_expect %own, 16384, %true_2" + barrier +
                "\n      %early = ttg.memdesc_index %load0_4[%c0_3] : " + ring + " -> " + tile +
                "\n      ttng.async_tma_copy_global_to_local %arg0_2[%v1, %c0_3] %early, %own, " +
                "%true_2 : !tt.tensordesc<tensor<128x64xf16, #shared>>, " +
                "!ttg.memdesc<1xi64, #bar, #smem, mutable> -> " + tile +
                "\n      ttng.wait_barrier %own, %c0_3" + barrier);
  const PrintedCheck check = check_translation(edited);
  EXPECT_NE(check.broken.find("no step of the plan writes that buffer here"), std::string::npos)
      << check.broken << check.unchecked;
}

/// Kinds that partly concern boxes and the warp that stores them. Plans have no such steps;
/// `verify` checks them.
const std::set<std::string> kAboutBoxes = {
    "arrival doubled",        "arrival dropped",   "arrivals counted twice",
    "count too high",         "count too low",     "fence dropped",
    "fence before the store", "store not awaited", "stored behind the arrival"};

// A difference is an error: no module is written.
TEST(Translation, ADifferenceIsAnError) {
  EmittedTtgir edited = printed("gemm/sm_90/tma_128x256x64");
  const std::size_t at = edited.text.find("{pendings = 1 : i32}");
  ASSERT_NE(at, std::string::npos);
  edited.text.replace(at, std::string("{pendings = 1 : i32}").size(), "{pendings = 0 : i32}");
  EXPECT_NE(check_translation(edited).broken, "");
}

// Boxes reuse the memory of tiles that are no longer needed. A role still has the values that it
// wrote in registers. A role of the plan has the same name as the warp that stores boxes. A loop
// has a constant length.
TEST(Translation, WhatTheTextAddsIsCompared) {
  const EmittedTtgir bias = printed("fa_fwd_bias/sm_90/d64_causal");
  EXPECT_EQ(check_translation(bias).broken, "");

  // A plan whose groups store their own rows.
  EmittedTtgir apart = bias;
  apart.stored = apart.planned.plan;
  EXPECT_NE(check_translation(apart).broken, "");

  // Fills the box before all roles are done with the tile.
  EmittedTtgir early = bias;
  const std::string stage = "// stage tt.descriptor_store";
  const std::size_t from = early.text.find("ttng.wait_barrier", early.text.find(stage));
  early.text.erase(from, early.text.find('\n', from) - from);
  const std::string how = check_translation(early).broken;
  EXPECT_NE(how.find("acquire ttg.local_alloc"), std::string::npos) << how;

  const EmittedTtgir backward = printed("fa_bwd_subtiled/sm_90/m64n2x64d128w8");
  EXPECT_EQ(check_translation(backward).broken, "");

  const auto counted = emit_ttgir(request_for("kernels/tasks/split_k.task"), {});
  ASSERT_TRUE(counted) << to_string(counted.error());
  EXPECT_EQ(check_translation(*counted).broken + check_translation(*counted).unchecked, "");
}

// An op that only moves values names the arithmetic that needs them, and has none of its own.
TEST(Translation, MovesHaveNoArithmetic) {
  const EmittedTtgir split = printed_of("tests/golden/split_tf32.ttgir");
  EXPECT_EQ(split.broken, "");
  const PrintedCheck check = check_translation(split);
  EXPECT_EQ(check.broken, "");
  EXPECT_EQ(check.unchecked, "");
}

// Attention backward in one pass loads vectors for both halves of the rows. A role that gets such
// vectors from another group takes each half at the plan's transfer of that half.
TEST(Translation, WholeTilesMadeForEachPartComeAtTheirOwnTime) {
  for (const int spare : {8, 16}) {
    Request request = request_for("kernels/fa_bwd/sm_90/m64n128d128_tmared.pre.ttgir");
    request.spare_registers = spare;
    const auto emitted = emit_ttgir(request, {});
    ASSERT_TRUE(emitted.has_value()) << to_string(emitted.error());
    EXPECT_EQ(emitted->broken, "") << spare;
  }
}

// A whole tile that one part computes for all parts takes only its own arithmetic.
TEST(Translation, WhatOnePartMakesForAllIsNoOtherTile) {
  const EmittedTtgir scaled = printed_of("tests/driver/kinds/scaled_rows.ttgir");
  EXPECT_EQ(scaled.broken, "");
  EXPECT_EQ(check_translation(scaled).broken + check_translation(scaled).unchecked, "");
}

// Products may be in flight at the end of the loop, also after a short trip. One step of the plan
// after the loop waits for them.
TEST(Translation, ProductsInFlightAreWaitedForBehindTheLoop) {
  Request request = request_for("kernels/gemm/sm_90/tma_128x128x64.pre.ttgir");
  request.strategy.strategy = strategy::Strategy::sequential;
  const auto emitted = emit_ttgir(request, {});
  ASSERT_TRUE(emitted.has_value()) << to_string(emitted.error());
  EXPECT_EQ(emitted->broken, "");
  EXPECT_EQ(check_translation(*emitted).broken + check_translation(*emitted).unchecked, "");
  const std::size_t behind =
      emitted->text.rfind("{pendings = 0 : i32}", emitted->text.find("tt.descriptor_store"));
  EXPECT_NE(behind, std::string::npos);
}

// Nested loops over groups and over the tiles of a group: rings continue from group to group.
TEST(Translation, LoopsOverTilesMayStandInOneAnother) {
  for (const char* kernel : {"groups", "groups_while"}) {
    const EmittedTtgir groups = printed_of(std::string("tests/golden/") + kernel + ".ttgir");
    EXPECT_EQ(groups.broken, "") << kernel;
    const PrintedCheck check = check_translation(groups);
    EXPECT_EQ(check.unchecked, "") << kernel;
  }
}

// Causal attention in two loops walks over tiles. The second loop takes its tiles through the rings
// of the first loop, and the next tile continues after it.
TEST(Translation, LoopsBesideThePlannedOneUseItsRings) {
  const EmittedTtgir causal = printed_of("tests/golden/causal_tiles.ttgir");
  EXPECT_EQ(causal.broken, "");
  const PrintedCheck check = check_translation(causal);
  EXPECT_EQ(check.broken, "");
  EXPECT_EQ(check.unchecked, "");  // for every trip count

  // Place of the second loop, after the planned loop, in the loading role.
  const std::size_t loads = causal.text.rfind("scf.for %arg22");
  ASSERT_NE(loads, std::string::npos);
  const auto edited = [&](const std::string& begin, const std::string& from,
                          const std::string& made) {
    EmittedTtgir bad = causal;
    const std::size_t at = bad.text.find(from, bad.text.find(begin, loads));
    if (at == std::string::npos) throw std::runtime_error("the text has no " + from);
    bad.text.replace(at, from.size(), made);
    return check_translation(bad).broken;
  };
  // Starts the second loop at slot 0, whatever slots the first loop has used.
  std::smatch slot;
  const std::string header = causal.text.substr(loads, causal.text.find('\n', loads) - loads);
  ASSERT_TRUE(std::regex_search(header, slot, std::regex(R"((%slot_\d+) = (%slot_\d+))")));
  const std::string again = edited("scf.for", slot[2], "%c0_3");
  EXPECT_NE(again, "");
  // Makes the next tile continue as if the second loop did not exist.
  const std::size_t line = causal.text.rfind('\n', loads);
  const std::string results = causal.text.substr(line, loads - line);
  std::smatch result;
  ASSERT_TRUE(std::regex_search(results, result, std::regex(R"(%slot_\d+)")));
  const std::string behind = edited("\n        scf.yield", result[0], slot[2]);
  EXPECT_NE(behind, "");
}

// The second loop loads other arrays, whose tiles are of the same kinds. They go through the rings.
TEST(Translation, LoopsBesideThePlannedOneMayReadOtherArrays) {
  const EmittedTtgir two = printed_of("tests/emit/kinds/two_arrays.ttgir");
  EXPECT_EQ(two.broken, "");
  const PrintedCheck check = check_translation(two);
  EXPECT_EQ(check.broken + check.unchecked, "");  // for every trip count
  // One role loads, each array at one place.
  std::size_t loads = 0;
  for (std::size_t at = two.text.find("async_tma_copy_global_to_local"); at != std::string::npos;
       at = two.text.find("async_tma_copy_global_to_local", at + 1)) {
    ++loads;
  }
  EXPECT_EQ(loads, 4U);
}

// A schedule in which only one group releases a ring. The loading role learns of the other group's
// reads by another channel, in which the second loop has no step. That loop then has no part in the
// ring. (Both groups once released it there, a phase too early.)
TEST(Translation, LoopsBesideThePlannedOneLeaveARingThatNotAllOfTheirRolesRelease) {
  Request request = request_for("tests/golden/causal_tiles.ttgir");
  request.spare_registers = 16;
  const auto emitted = emit_ttgir(request, {});
  ASSERT_TRUE(emitted) << to_string(emitted.error());
  EXPECT_EQ(emitted->broken, "");
}

// Gives a wait of the second loop the parity of the first lap at all times. The wait then passes a
// lap early once the ring has wrapped.
TEST(Translation, LoopsBesideThePlannedOneTakeFillingsInTurn) {
  EmittedTtgir edited = printed_of("tests/golden/causal_tiles.ttgir");
  const std::size_t loop = edited.text.find("scf.for %arg22");  // in the first role that multiplies
  const std::size_t wait = edited.text.find("ttng.wait_barrier %full_", loop);
  ASSERT_NE(wait, std::string::npos);
  const std::size_t phase = edited.text.find("%phase_", wait);
  edited.text.replace(phase, edited.text.find(' ', phase) - phase, "%c0_1");
  const auto end = edited.text.begin() + static_cast<std::ptrdiff_t>(wait);
  const auto line = 1 + std::count(edited.text.begin(), end, '\n');
  const std::string how = check_translation(edited).broken;
  EXPECT_NE(how.find("printed.ttgir:" + std::to_string(line) + ": "), std::string::npos) << how;
  EXPECT_NE(how.find("a loop beside the planned one comes to filling 3 of load0 here; the text " +
                     std::string("has ttng.wait_barrier")),
            std::string::npos)
      << how;
}

// Products outside of loops are no steps of the plan. A branch with products is one piece of the
// text. All surrounding code is compared.
TEST(Translation, ProductsOutOfLineAreLeftAside) {
  const EmittedTtgir behind = printed_of("tests/driver/product_behind.ttgir");
  EXPECT_EQ(behind.broken, "");
  EXPECT_EQ(check_translation(behind).broken + check_translation(behind).unchecked, "");
  EXPECT_NE(report_with(behind, "{pendings = 1 : i32}", "{pendings = 0 : i32}"), "");

  const EmittedTtgir branch = printed_of("tests/driver/product_in_branch.ttgir");
  EXPECT_EQ(branch.broken, "");
  EXPECT_EQ(check_translation(branch).broken + check_translation(branch).unchecked, "");
  EXPECT_NE(report_with(branch, "wait_barrier %full, %phase ", "wait_barrier %full, %c0_1 "), "");
  // A product of a copy that the role has released already, or did not wait for.
  const std::string held = report_with(branch, "%load_w[%slot]", "%load_w[%c0_1]");
  EXPECT_NE(held.find("the role holds no copy of load_x+load_w in slot 0 here"), std::string::npos)
      << held;
}

// Boxes are stored before the loop, in a loop there, and after it. The role fills memory of its own
// for them. A tile that the loop multiplies is also read before the loop, so the role stores it
// there, once.
TEST(Translation, BoxesAroundTheLoopAreOfTheRolesOwnMemory) {
  const EmittedTtgir around = printed_of("tests/driver/boxes_around.ttgir");
  EXPECT_EQ(around.broken, "");
  EXPECT_EQ(check_translation(around).broken + check_translation(around).unchecked, "");
  const std::size_t put_down = around.text.find("ttg.local_store %x_");
  ASSERT_NE(put_down, std::string::npos);
  EXPECT_LT(put_down, around.text.find("ttng.warp_group_dot"));
  EXPECT_EQ(around.text.find("ttg.local_store %x_", put_down + 1), std::string::npos);

  std::smatch product;
  const std::regex operands(R"(warp_group_dot (%x_\w+), (%load_bd_\w+),)");
  ASSERT_TRUE(std::regex_search(around.text, product, operands));
  const std::string of_a_ring = report_with(around, "warp_group_dot " + product[1].str(),
                                            "warp_group_dot " + product[2].str());
  EXPECT_NE(of_a_ring.find("the plan has \"issue mma"), std::string::npos) << of_a_ring;
}

// Only branches with products are left out. Arithmetic in all other branches is compared, on both
// sides.
TEST(Translation, ArithmeticInBranchesIsCompared) {
  const EmittedTtgir apart = printed_of("tests/driver/branches_apart.ttgir");
  EXPECT_EQ(apart.broken, "");
  EXPECT_EQ(check_translation(apart).broken + check_translation(apart).unchecked, "");
  const std::string added = report_with(apart, "arith.mulf", "arith.addf");
  EXPECT_NE(added.find("the text has no arith.mulf of that iteration"), std::string::npos) << added;
}

// A step may concern the previous iteration: the state that it reads is carried.
TEST(Translation, ArithmeticOnACarriedValueIsOfTheIterationBefore) {
  const EmittedTtgir stored = printed_of("tests/golden/stored_states.ttgir");
  EXPECT_EQ(stored.broken, "");
  EXPECT_EQ(check_translation(stored).broken + check_translation(stored).unchecked, "");
  const std::string early = report_with(stored, "arith.truncf %d :", "arith.truncf %state_1 :");
  EXPECT_NE(early.find("compute convert [n]"), std::string::npos) << early;
}

/// Whether `verify` finds the text safe.
bool is_safe(const std::string& text) {
  const auto module = read_module({"printed.ttgir", text});
  const auto function = module ? function_with_roles(*module) : tl::unexpected(module.error());
  return function && run::is_proven(run::prove_roles({*module, *function}, 0));
}

/// Whether a constant in the line is changed to one of the same value.
bool stays_the_same(const tests::Mutant& mutant, const std::string& good) {
  std::istringstream lines(good);
  std::string line;
  for (int i = 0; i < mutant.line; ++i) std::getline(lines, line);
  return (mutant.kind == "slot" && line.find("[%c0_") != std::string::npos) ||
         (mutant.kind == "wait for phase 0" && line.find(", %c0_") != std::string::npos);
}

// Each planted bug is named. `verify` finds bugs in the parts that the comparison leaves out. These
// are the warp that stores boxes, and products in branches or after the loop, with their waits.
TEST(Translation, PlantedBugsAreNamed) {
  const std::set<std::string> aside = {"product_behind", "product_in_branch", "groups"};
  for (const char* kernel :
       {"kernels/gemm/sm_90/tma_128x256x64.pre.ttgir", "kernels/fa_fwd/sm_90/d64.pre.ttgir",
        "tests/driver/product_behind.ttgir", "tests/driver/product_in_branch.ttgir",
        "tests/golden/groups.ttgir"}) {
    const EmittedTtgir good = printed_of(kernel);
    const bool has_aside = std::any_of(aside.begin(), aside.end(), [&](const std::string& name) {
      return std::string(kernel).find(name) != std::string::npos;
    });
    int named = 0, left = 0;
    for (const tests::Mutant& mutant : tests::mutants_of(good.text)) {
      EmittedTtgir edited = good;
      edited.text = mutant.text;
      const PrintedCheck check = check_translation(edited);
      if (!check.unchecked.empty() || !check.broken.empty()) {
        ++named;
        continue;
      }
      if (kAboutBoxes.contains(mutant.kind) || stays_the_same(mutant, good.text)) continue;
      ++left;
      EXPECT_TRUE(has_aside && !is_safe(mutant.text))
          << kernel << ": " << mutant.kind << " at line " << mutant.line;
    }
    EXPECT_GT(named, 3 * left) << kernel;
  }
}

}  // namespace
}  // namespace twill::driver
