// Kernels that users wrote in Gluon (gluon/kernels.py): each is proven, or broken where its author
// took an iteration for granted; and bugs planted into them are found at their line.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "concurrent/modules.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/run_module.h"
#include "twill/driver/verify_module.h"
#include "twill/problem/problem.h"

namespace twill::tests {
namespace {

using concurrent::Rule;

std::string gluon(const std::string& name) {
  auto input = driver::read_input(std::string(TWILL_SOURCE_DIR) + "/tests/concurrent/gluon/" +
                                  name + ".ttgir");
  if (!input) throw std::runtime_error(to_string(input.error()));
  return input->text;
}

driver::VerifiedModule verified(const std::string& text, std::int64_t at_least = 0) {
  auto made = driver::verify_module({"k.ttgir", text}, at_least);
  if (!made) throw std::runtime_error(to_string(made.error()));
  return *std::move(made);
}

TEST(Gluon, GoodKernelsAreProven) {
  for (const char* name :
       {"turns",   "copies",  "stream",   "groups",  "late",  "halves",     "added",     "gather",
        "dequant", "whiles",  "causal",   "grouped", "drawn", "blockscale", "cpasync",   "named",
        "paged",   "reduced", "split2",   "streamk", "twice", "tickets",    "producers", "depths",
        "early",   "loaded",  "partsums", "chain",   "local", "redring"}) {
    const auto made = verified(gluon(name));
    EXPECT_TRUE(run::is_proven(made.proof)) << run::to_text(made.proof, made.program);
  }
  for (const char* name :
       {"persist", "scaled", "splitk", "attend", "dynamic", "pingpong", "silu", "dual"}) {
    const auto made = verified(gluon(name), 1);
    EXPECT_TRUE(run::is_proven(made.proof)) << run::to_text(made.proof, made.program);
  }
}

/// Iterations that every loop is taken to make are counted where a rule breaks.
TEST(Gluon, IterationsThatAreTakenForGrantedAreCounted) {
  std::string text = gluon("splitk");
  const std::string old = "async_tma_store_wait {pendings = 1";
  text.replace(text.find(old), old.size(), "async_tma_store_wait {pendings = 2");
  const auto made = verified(text, 1);
  ASSERT_TRUE(made.proof.every_trip);
  ASSERT_FALSE(made.proof.every_trip->trips.empty());
  for (const auto& loop : made.proof.every_trip->trips) {
    for (const std::int64_t trips : loop.trips) EXPECT_GE(trips, 1);
  }
}

/// Gathered rows, copies to tensor memory and block scales: no alarm in any order.
TEST(Gluon, GoodKernelsRunWithoutAlarm) {
  for (const char* name :
       {"gather",  "dequant",  "scaled",  "splitk",   "attend",    "whiles",  "blockscale",
        "cpasync", "named",    "paged",   "pingpong", "ppgemm",    "reduced", "silu",
        "split2",  "streamk",  "tickets", "twice",    "producers", "depths",  "early",
        "loaded",  "partsums", "chain",   "local",    "redring",   "dual"}) {
    driver::RunModuleRequest request;
    request.module = {name, gluon(name)};
    request.trips = {1, 2, 7};
    request.tiles = false;
    const auto ran = driver::run_module(request);
    ASSERT_TRUE(ran) << name << to_string(ran.error());
    EXPECT_TRUE(run::agrees(ran->report)) << run::to_text(ran->report, ran->program);
  }
}

/// A consumer skips the tiles of the other: how far, the trips of a tile say. That is not followed.
TEST(Gluon, SlotsThatDependOnTripsOfOthersAreNotFollowed) {
  const std::string text = gluon("ppgemm");
  const auto made = verified(text);
  ASSERT_FALSE(made.proof.every_trip) << run::to_text(made.proof, made.program);
  EXPECT_NE(to_string(made.proof.every_trip.error()).find("depends on %s"), std::string::npos)
      << to_string(made.proof.every_trip.error());
}

/// A role that computes draws the next tile itself, and the first one is drawn in front of all.
TEST(Gluon, PrintedTilesByACounterAreProven) {
  auto input =
      driver::read_input(std::string(TWILL_SOURCE_DIR) + "/tests/emit/kinds/dyn_sched.ttgir");
  ASSERT_TRUE(input) << to_string(input.error());
  driver::Request request;
  request.input = *input;
  const auto emitted = driver::emit_ttgir(request);
  ASSERT_TRUE(emitted) << to_string(emitted.error());
  const auto made = verified(emitted->text);
  EXPECT_TRUE(run::is_proven(made.proof)) << run::to_text(made.proof, made.program);
}

/// A role draws tiles from a counter that begins at 0, and all go on while there are some. The
/// kernel hangs where the first tile is none, for which no arguments are tried.
TEST(Gluon, TilesThatAreDrawnAreRunAndProvenFromOneOn) {
  driver::RunModuleRequest request;
  request.module = {"dynamic", gluon("dynamic")};
  request.trips = {0, 1, 4};
  const auto ran = driver::run_module(request);
  ASSERT_TRUE(ran) << to_string(ran.error());
  EXPECT_TRUE(run::agrees(ran->report)) << run::to_text(ran->report, ran->program);
  const auto made = verified(gluon("dynamic"));
  EXPECT_TRUE(run::is_proven_from_one(made.proof)) << run::to_text(made.proof, made.program);
}

/// Without an iteration, the sum that is stored is not written: there are such arguments.
TEST(Gluon, AnIterationThatIsTakenForGrantedIsABrokenRule) {
  const std::string text = gluon("persist");
  const auto made = verified(text);
  EXPECT_TRUE(run::is_broken(made.proof)) << run::to_text(made.proof, made.program);
  EXPECT_TRUE(made.proof.from_one);
  ASSERT_FALSE(made.proof.every_trip->findings.empty());
  const auto& found = made.proof.every_trip->findings[0];
  EXPECT_EQ(found.rule, Rule::read_before_write);
  EXPECT_EQ(made.program.op(found.op).line, line_with(text, "ttng.tmem_load"));
}

struct Planted {
  const char* module;
  const char* old;
  const char* made;
  Rule rule;
  std::int64_t at_least = 0;  ///< iterations: the good kernel takes one for granted
};

class GluonBug : public testing::TestWithParam<Planted> {};

TEST_P(GluonBug, IsFound) {
  std::string text = gluon(GetParam().module);
  const std::string old = GetParam().old;
  const std::size_t at = text.find(old);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, old.size(), GetParam().made);
  const auto made = verified(text, GetParam().at_least);
  ASSERT_TRUE(run::is_broken(made.proof)) << run::to_text(made.proof, made.program);
  bool found = false;
  for (const auto& it : made.proof.every_trip->findings)
    found = found || it.rule == GetParam().rule;
  EXPECT_TRUE(found) << run::to_text(made.proof, made.program);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, GluonBug,
    testing::Values(
        // The other consumer's turn never comes.
        Planted{"turns", "bar.arrive 9, 256", "bar.arrive 10, 256", Rule::deadlock},
        // Two roles count a barrier differently.
        Planted{"turns", "bar.arrive 9, 256", "bar.arrive 9, 384", Rule::arrivals},
        // Halves of a sum in tensor memory: read too early, beside it, overwritten too early.
        Planted{"halves", "        ttng.wait_barrier %ready, %15, %true ",
                "        ttng.wait_barrier %ready, %c1_i32, %true ", Rule::read_before_write},
        Planted{"halves", "%right = ttng.tmem_subslice %acc {N = 64",
                "%right = ttng.tmem_subslice %acc {N = 96", Rule::bounds},
        Planted{"halves", "        ttng.wait_barrier %arg20, %12, %true_13 ",
                "        ttng.wait_barrier %arg20, %12, %false ", Rule::overwrite},
        // A tile's iterations are added to what was done before, but by one role only.
        Planted{"added", "%done_19 = arith.addi %done_10, %N_9",
                "%done_19 = arith.addi %done_10, %c1_i32", Rule::deadlock},
        // Where trip counts are loaded: no mbarrier, before any loop has had an iteration.
        Planted{"groups",
                "    ttng.init_barrier %0, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>\n", "",
                Rule::barrier},
        // Rows that are still scattered at the end, or without a fence; too few gathered.
        Planted{"gather", "async_tma_store_wait {pendings = 0",
                "async_tma_store_wait {pendings = 1", Rule::exit},
        Planted{"gather", "        ttng.fence_async_shared {bCluster = false}\n        %22",
                "        %22", Rule::fence},
        Planted{"gather", "barrier_expect %14, 4096", "barrier_expect %14, 8192", Rule::deadlock},
        // Scales that are not copied, that are copied too early, and of another slot.
        Planted{"scaled", "ttng.tmem_copy %16, %arg39", "ttng.tmem_copy %16, %arg38",
                Rule::read_before_write, 1},
        Planted{"scaled", "ttng.wait_barrier %6, %8", "ttng.wait_barrier %6, %c1_i32_33",
                Rule::read_before_write, 1},
        Planted{"scaled", "%13 = ttg.memdesc_index %arg37[%s]",
                "%13 = ttg.memdesc_index %arg37[%c0_i32_32]", Rule::overwrite, 1},
        // A second arrival, by products, which may come before the wait for the first.
        Planted{"scaled", "      ttng.tc_gen5_commit %arg43 :",
                "      ttng.tc_gen5_commit %arg43 : !ttg.memdesc<1xi64, #shared2, #smem, mutable>\n"
                "      ttng.tc_gen5_commit %arg43 :",
                Rule::phase, 1},
        // Widened numbers without a fence, and operands that are given back too early.
        Planted{"dequant", "        ttng.fence_async_shared {bCluster = false}\n", "", Rule::fence},
        Planted{"dequant", "warp_group_dot_wait %acc_48 {pendings = 1",
                "warp_group_dot_wait %acc_48 {pendings = 2", Rule::overwrite},
        // While loops: a step that skips, a count that skips slots, a bound that only one has, an
        // iteration more.
        Planted{"whiles", "%n_36 = arith.addi %n_34, %c1_i32_24",
                "%n_36 = arith.addi %n_34, %c3_i32_25", Rule::deadlock},
        Planted{"whiles", "%i_35 = arith.addi %i_33, %c1_i32_24",
                "%i_35 = arith.addi %i_33, %c3_i32_25", Rule::deadlock},
        Planted{"whiles", "%0 = arith.addi %arg24, %c63_i32_27",
                "%0 = arith.addi %arg24, %c64_i32_26", Rule::exit},
        Planted{"whiles", "arith.cmpi sgt, %12, %n_32", "arith.cmpi sge, %12, %n_32",
                Rule::deadlock},
        Planted{"whiles", "arith.cmpi slt, %n_34, %1", "arith.cmpi sle, %n_34, %1", Rule::exit},
        // The number that ends all is not handed on; a slot is written that may still be read.
        Planted{"drawn", "arith.select %more_16, %t, %c-1_i32_10", "arith.select %more_16, %t, %t",
                Rule::deadlock},
        Planted{"drawn", "ttng.wait_barrier %11, %14,", "ttng.wait_barrier %11, %c1_i32_12,",
                Rule::deadlock},
        // A second loop that does not go on where the first one ended, or goes over blocks again.
        Planted{"causal", "%p_23 = %p#3", "%p_23 = %c0_i32", Rule::deadlock},
        Planted{"causal", "%n = %full to %N_29", "%n = %c1_i32_20 to %N_29", Rule::deadlock},
        // Roles that go from tile to tile in other steps, and from group to group.
        Planted{"grouped", "%tile_29 = arith.addi %tile_25, %tile_28",
                "%tile_29 = arith.addi %tile_25, %c1_i32_15", Rule::deadlock},
        Planted{"grouped", "%last_24 = arith.addi %last, %tiles_22",
                "%last_24 = arith.addi %last, %arg23", Rule::deadlock},
        // A box that is still stored; a phase that is shifted too little.
        Planted{"splitk", "async_tma_store_wait {pendings = 1",
                "async_tma_store_wait {pendings = 2", Rule::overwrite, 1},
        Planted{"splitk", "arith.shrsi %k_26, %c1_i32", "arith.shrsi %k_26, %c0_i32",
                Rule::read_before_write, 1},
        // Two passes over the same blocks: the slots of the second begin anew in one role.
        Planted{"twice", "%i_19 = %i_17)", "%i_19 = %c0_i32_14)", Rule::deadlock},
        Planted{"twice", "iter_args(%i_13 = %i#1)", "iter_args(%i_13 = %c0_i32)", Rule::exit},
        // Named barriers in place of mbarriers, and for turns: another one, an arrival for a wait.
        Planted{"named", "bar.arrive 2, 256", "bar.arrive 1, 256", Rule::overrun},
        Planted{"named", "bar.sync 4, 256", "bar.sync 3, 256", Rule::deadlock},
        Planted{"pingpong", "bar.sync 2, 256", "bar.arrive 2, 256", Rule::overrun, 1},
        Planted{"pingpong", "bar.arrive 2, 256", "bar.arrive 3, 256", Rule::deadlock, 1},
        // Copies of threads that are not counted; a box that is still added up.
        Planted{"cpasync", " {noIncrement}", "", Rule::deadlock},
        // Blocks that an array skips are given back twice, or are waited for too early.
        Planted{"local", "ttng.arrive_barrier %16, 1, ", "ttng.arrive_barrier %16, 2, ",
                Rule::arrivals},
        Planted{"local", "ttng.wait_barrier %13, %15, ", "ttng.wait_barrier %13, %c1_i32, ",
                Rule::read_before_write},
        // Boxes whose last slot counts too many arrivals, which the sixth tile waits for.
        Planted{"redring", "ttng.init_barrier %ce_24, 1 ", "ttng.init_barrier %ce_24, 2 ",
                Rule::deadlock},
        // A sum that is read before its products are waited for.
        Planted{"dual", "ttng.wait_barrier %2, %p_23, ", "ttng.wait_barrier %2, %c1_i32_21, ",
                Rule::read_before_write, 1},
        Planted{"reduced", "async_tma_store_wait {pendings = 1",
                "async_tma_store_wait {pendings = 2", Rule::overwrite},
        // Powers that are not waited for; a sum that is corrected in another iteration.
        Planted{"attend", "        ttng.wait_barrier %26, %27, %true_24 ",
                "        ttng.wait_barrier %26, %27, %false ", Rule::read_before_write, 1},
        Planted{"attend", "          ttng.wait_barrier %3, %35",
                "          ttng.wait_barrier %3, %32", Rule::deadlock, 1}));

/// Flags around 0 that are asked otherwise, and lengths: whichever comparison skips blocks, some
/// are done. `$` stands for the flag, 0 for the constant.
TEST(Gluon, BugsBehindAnyComparisonOfFlagsAreFound) {
  for (const char* how : {"ne, $, 0", "sgt, $, 0", "sle, $, 0", "ugt, $, 0", "slt, $, 0",
                          "sge, $, 0", "slt, %n, $"}) {
    SCOPED_TRACE(how);
    const auto asked = [&](const std::string& flag, const std::string& zero) {
      std::string text = how;
      for (const auto& [from, to] : {std::pair(std::string("$"), flag), {", 0", ", " + zero}}) {
        if (const std::size_t at = text.find(from); at != std::string::npos) {
          text.replace(at, from.size(), to);
        }
      }
      return "arith.cmpi " + text + " :";
    };
    std::string text = gluon("local");
    text = replaced(text, "arith.cmpi eq, %10, %c0_i32 :", asked("%10", "%c0_i32"));
    text = replaced(text, "arith.cmpi eq, %1, %c0_i32_25 :", asked("%1", "%c0_i32_25"));
    EXPECT_TRUE(run::is_proven(verified(text).proof));
    const auto made =
        verified(replaced(text, "ttng.arrive_barrier %16, 1, ", "ttng.arrive_barrier %16, 2, "));
    EXPECT_TRUE(run::is_broken(made.proof)) << run::to_text(made.proof, made.program);
  }
}

/// A number that is added to counters must not multiply the states: 772 of them, where periods of
/// the rings are told apart one by one.
TEST(Gluon, AddedIterationsDoNotMultiplyStates) {
  const auto made = verified(gluon("added"));
  ASSERT_TRUE(made.proof.every_trip);
  EXPECT_LT(made.proof.every_trip->states, 1000U);
}

/// A rule that breaks in the third tile of a flattened loop is seen by runs, too.
TEST(Gluon, FlattenedLoopsAreRunWithSeveralTiles) {
  auto input = driver::read_input(std::string(TWILL_SOURCE_DIR) +
                                  "/kernels/gemm_persistent/sm_100/128x256x64_flat_ws.ws100.ttgir");
  ASSERT_TRUE(input) << to_string(input.error());
  for (const char* planted : {"%17, ", "%20, "}) {  // the second slots of rings of accumulators
    std::string text = input->text;
    const std::string old = std::string("ttng.init_barrier ") + planted + "1 ";
    const std::size_t at = text.find(old);
    ASSERT_NE(at, std::string::npos);
    text[at + old.size() - 2] = '3';
    const auto made = verified(text);
    EXPECT_TRUE(run::is_broken(made.proof)) << run::to_text(made.proof, made.program);
  }
}

/// A rule that breaks in a CTA's third tile, or in a later CTA, is seen by runs, too.
TEST(Gluon, LateTilesAndLaterCtasAreRun) {
  struct Late {
    const char* name;
    const char* from;
    const char* to;
  };
  // Boxes that are stored are not given back, or not waited for; a block of K is not given back.
  for (const Late& bug : {Late{"depths", "        ttng.arrive_barrier %24, 1, %true_14 ",
                               "        ttng.arrive_barrier %24, 1, %false "},
                          Late{"partsums", "async_tma_store_wait {pendings = 1",
                               "async_tma_store_wait {pendings = 2"},
                          Late{"early", "        ttng.arrive_barrier %22, 1, %true ",
                               "        ttng.arrive_barrier %22, 1, %never "}}) {
    std::string text = replaced(gluon(bug.name), bug.from, bug.to);
    const std::string head = "    %c64_i32 = arith.constant 64 : i32\n";
    text.insert(text.find(head), "    %never = arith.constant false\n");
    const std::string inner = "      %true_14 = arith.constant true\n";
    if (text.find("%false ") != std::string::npos) {
      text.insert(text.find(inner), "      %false = arith.constant false\n");
    }
    const auto made = verified(text);
    EXPECT_TRUE(run::is_broken(made.proof)) << run::to_text(made.proof, made.program);
  }
}

/// Instructions of which nothing is known are no reason to say that all is well.
TEST(Gluon, OtherAssemblyIsNotFollowed) {
  for (const char* ptx : {"mbarrier.arrive.shared.b64 _, [$1];", "st.shared.b32 [$1], 0;",
                          "mapa.u64 $0, $1, 0;", "barrier.cluster.arrive;", "bar.sync $1, 256;",
                          "@p bar.sync 8, 256;", "cp.async.commit_group;"}) {
    std::string text = gluon("turns");
    const std::string old = "bar.sync 8, 256;";
    text.replace(text.find(old), old.size(), ptx);
    const auto made = verified(text);
    ASSERT_FALSE(made.proof.every_trip) << ptx;
    EXPECT_NE(to_string(made.proof.every_trip.error()).find("inline assembly has"),
              std::string::npos)
        << to_string(made.proof.every_trip.error());
  }
}

TEST(Gluon, UnknownOperationsAreNotPassedOver) {
  std::string text = gluon("late");
  const std::string old = "    tt.return";
  text.insert(text.find(old), "    ttng.cluster_barrier\n");
  const auto made = verified(text);
  EXPECT_FALSE(made.proof.every_trip) << run::to_text(made.proof, made.program);
}

}  // namespace
}  // namespace twill::tests
