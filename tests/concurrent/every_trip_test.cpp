// All runs of a module at once: good modules are proven, and a bug is found with the fewest
// iterations that show it. What cannot be followed is reported.
#include "twill/concurrent/every_trip.h"

#include <string>

#include <gtest/gtest.h>

#include "concurrent/modules.h"
#include "concurrent/mutants.h"
#include "twill/concurrent/launches.h"
#include "twill/concurrent/machine.h"
#include "twill/driver/driver.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/problem/problem.h"

namespace twill::tests {
namespace {

using concurrent::EveryTrip;
using concurrent::Rule;

ir::Program module_of(const std::string& text) {
  auto program = frontend::read_ttgir(text, "k.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  return std::move(*program);
}

Result<EveryTrip> follow(const std::string& text, std::int64_t at_least = 0) {
  const ir::Program program = module_of(text);
  return concurrent::follow_every_trip(program, ir::functions(program)[0], at_least);
}

std::string bundled(const std::string& name) {
  auto input = driver::read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/" + name);
  if (!input) throw std::runtime_error(to_string(input.error()));
  return input->text;
}

void expect_proven(const std::string& text) {
  const auto followed = follow(text);
  ASSERT_TRUE(followed) << to_string(followed.error());
  for (const auto& finding : followed->findings) ADD_FAILURE() << finding.message;
}

/// The line of the first finding is that with `part`, and the loop was begun so often.
void expect_found(const std::string& text, Rule rule, const char* part, std::int64_t trips) {
  const ir::Program program = module_of(text);
  const auto found = concurrent::follow_every_trip(program, ir::functions(program)[0]);
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_FALSE(found->findings.empty());
  EXPECT_EQ(found->findings[0].rule, rule) << found->findings[0].message;
  EXPECT_EQ(program.op(found->findings[0].op).line, line_with(text, part));
  ASSERT_EQ(found->trips.size(), 1U);
  EXPECT_EQ(found->trips[0].trips.back(), trips);
}

/// Blocks of a function that jump back are a loop without an op, whose conditions have no
/// iteration.
TEST(EveryTrip, blocks_that_jump_back_are_not_followed) {
  const std::string head = "    ttg.warp_specialize(";
  const auto found = follow(replaced(kRoles, head,
                                     "    cf.br ^again(%c0 : i32)\n"
                                     "  ^again(%k: i32):\n"
                                     "    %k1 = arith.addi %k, %c1 : i32\n"
                                     "    %goes = arith.cmpi slt, %k1, %n : i32\n"
                                     "    cf.cond_br %goes, ^again(%k1 : i32), ^roles\n"
                                     "  ^roles:\n" +
                                         head));
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("jumps back"), std::string::npos) << found.error().message;
}

TEST(EveryTrip, good_roles_are_proven) {
  expect_proven(kRoles);
  expect_proven(kCopies);
}

// Counters that go on for ever: carried ones, with remainders by a product, as Triton has them.
TEST(EveryTrip, tritons_own_modules_are_proven) {
  for (const char* name :
       {"gemm/sm_100/tma_128x128x64_ws.ws100.ttgir", "dual_gemm/sm_100/128x128x64_ws.ws100.ttgir",
        "fa_fwd/sm_100/d64_ws.ws100.ttgir", "fa_fwd/sm_90/d128m64.ws90.ttgir"}) {
    SCOPED_TRACE(name);
    expect_proven(bundled(name));
  }
}

// The iteration that is named is the first that shows the bug, far behind others.
TEST(EveryTrip, bugs_are_found_with_the_fewest_iterations) {
  expect_found(replaced(kRoles, "wait_barrier %e, %parity", "wait_barrier %e, %p1"), Rule::deadlock,
               "wait_barrier %f", 3);
  expect_found(replaced(kRoles, "%f, 16384", "%f, 8192"), Rule::arrivals,
               "copy_global_to_local %pb", 1);
  expect_found(replaced(kRoles, "      ttng.fence_async_shared {bCluster = false}\n", ""),
               Rule::fence, "copy_local_to_global", 0);
}

// The parity goes wrong in the fifth lap: what an iteration's number decides later belongs to the
// state.
TEST(EveryTrip, late_bugs_are_found) {
  const auto found = follow(
      replaced(kRoles, "%phase = arith.andi %lap, %c1 : i32\n        %f ",
               "%c4 = arith.constant 4 : i32\n        %late = arith.cmpi eq, %lap, %c4 : i32\n"
               "        %one = arith.extui %late : i1 to i32\n"
               "        %right = arith.andi %lap, %c1 : i32\n"
               "        %phase = arith.xori %right, %one : i32\n        %f "));
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_FALSE(found->findings.empty());
  ASSERT_EQ(found->trips.size(), 1U);
  EXPECT_EQ(found->trips[0].trips.back(), 9);
}

// Roles that do not make equally many iterations hang: the bounds are compared, not the names.
TEST(EveryTrip, roles_that_count_otherwise_hang) {
  const std::string more = replaced(
      kRoles, "      scf.for %i = %p0 to %pn step %p1  : i32 {",
      "      %pm = arith.addi %pn, %p1 : i32\n      scf.for %i = %p0 to %pm step %p1  : i32 {");
  const auto found = follow(more);
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_FALSE(found->findings.empty());
  // The same number, computed otherwise.
  expect_proven(
      replaced(kRoles, "      scf.for %i = %p0 to %pn step %p1  : i32 {",
               "      %pm = arith.addi %pn, %p1 : i32\n      %pk = arith.subi %pm, %p1 : i32\n"
               "      scf.for %i = %p0 to %pk step %p1  : i32 {"));
}

// A number that all roles load from memory without writers is one number; from memory that is
// written it is none that could be trusted.
TEST(EveryTrip, trip_counts_may_be_loaded) {
  std::string loaded = replaced(kRoles, "%n: i32)", "%n: !tt.ptr<i32>)");
  loaded = replaced(loaded, "%pn: i32)", "%pn: !tt.ptr<i32>)");
  loaded = replaced(loaded, "mutable>, i32) -> ()", "mutable>, !tt.ptr<i32>) -> ()");
  loaded =
      replaced(loaded, "      %sum = scf.for %i = %c0 to %n step",
               "      %dn = tt.load %n : !tt.ptr<i32>\n      %sum = scf.for %i = %c0 to %dn step");
  loaded = replaced(loaded, "      scf.for %i = %p0 to %pn step",
                    "      %ln = tt.load %pn : !tt.ptr<i32>\n      scf.for %i = %p0 to %ln step");
  expect_proven(loaded);
  const std::string written = replaced(loaded, "      %c64 = arith.constant 64 : i32\n      %zero",
                                       "      %c64 = arith.constant 64 : i32\n"
                                       "      tt.store %n, %c64 : !tt.ptr<i32>\n      %zero");
  const auto found = follow(written);
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_FALSE(found->findings.empty());
}

TEST(EveryTrip, what_is_not_followed_is_said_at_its_line) {
  const std::string text =
      replaced(kRoles,
               "%slot = arith.remsi %i, %c2 : i32\n        %lap = arith.divsi %i, %c2 : i32\n"
               "        %phase = arith.andi %lap, %c1 : i32\n        %f ",
               "%slot = arith.remsi %n, %c2 : i32\n        %lap = arith.divsi %i, %c2 : i32\n"
               "        %phase = arith.andi %lap, %c1 : i32\n        %f ");
  const auto found = follow(text);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("depends on %slot"), std::string::npos);
  EXPECT_EQ(found.error().location.line, line_with(text, "%f = ttg.memdesc_index %full[%slot]"));
}

// A consumer that takes its first iteration for granted hangs without one, and only then.
TEST(EveryTrip, least_iterations_can_be_assumed) {
  const std::string text = replaced(
      kRoles, "      scf.for %i = %p0 to %pn step %p1  : i32 {",
      "      %first = ttg.memdesc_index %pfull[%p0] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> "
      "!ttg.memdesc<1xi64, #b, #smem, mutable>\n"
      "      %none = arith.cmpi slt, %pn, %p1 : i32\n"
      "      ttng.wait_barrier %first, %p0, %none : !ttg.memdesc<1xi64, #b, #smem, mutable>\n"
      "      scf.for %i = %p0 to %pn step %p1  : i32 {");
  const auto all = follow(text);
  ASSERT_TRUE(all) << to_string(all.error());
  ASSERT_FALSE(all->findings.empty());
  EXPECT_EQ(all->findings[0].rule, Rule::deadlock);
  const auto from_one = follow(text, 1);
  ASSERT_TRUE(from_one) << to_string(from_one.error());
  EXPECT_TRUE(from_one->findings.empty());
}

/// Whether some run with arguments breaks a rule, or cannot be made.
bool breaks_when_run(const ir::Program& program) {
  const ir::OpId function = ir::functions(program)[0];
  const std::int64_t most = 2 * concurrent::deepest_ring(program, function) + 1;
  const auto launches = concurrent::launches_up_to(program, function, {}, most);
  if (!launches) return true;
  for (const auto& [trips, launch] : *launches) {
    execute::Memory memory(1);
    const auto arguments = execute::arguments_of(program, function, launch, memory);
    concurrent::Findings findings;
    concurrent::Machine machine(program, memory, launch, {0, 0, 0}, {{}, false}, findings);
    if (!arguments || !machine.run(function, *arguments) || !findings.empty()) return true;
  }
  return false;
}

// No bug is proven to be harmless: no run of a proven module breaks a rule.
TEST(EveryTrip, mutants_are_refused_or_harmless) {
  int refused = 0, proven = 0, not_followed = 0;
  for (const std::string& module :
       {kRoles, kCopies, bundled("gemm/sm_100/tma_128x128x64_ws.ws100.ttgir"),
        bundled("fa_fwd/sm_90/d128m64.ws90.ttgir")}) {
    for (const Mutant& mutant : mutants_of(module)) {
      const auto program = frontend::read_ttgir(mutant.text, "mutant.ttgir");
      if (!program) continue;
      const auto found = concurrent::follow_every_trip(*program, ir::functions(*program)[0]);
      if (!found) {
        ++not_followed;
      } else if (!found->findings.empty()) {
        ++refused;
      } else {
        ++proven;
        EXPECT_FALSE(breaks_when_run(*program)) << mutant.kind << " at line " << mutant.line;
      }
    }
  }
  EXPECT_GE(refused, 100);
  EXPECT_LE(not_followed, 20);
  std::printf("refused %d, proven %d, not followed %d\n", refused, proven, not_followed);
}

}  // namespace
}  // namespace twill::tests
