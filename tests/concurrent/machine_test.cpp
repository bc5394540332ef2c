// Roles run as threads of control: a good module computes what its kernel does under every order.
// Each kind of bug is found, by its rule and at its line.
#include "twill/concurrent/machine.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "concurrent/modules.h"
#include "twill/concurrent/every_trip.h"
#include "twill/execute/compare.h"
#include "twill/frontend/ttgir/read.h"

namespace twill::tests {
namespace {

using concurrent::Order;
using concurrent::Rule;

ir::Program read(const std::string& text) {
  auto program = frontend::read_ttgir(text, "k.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  return std::move(*program);
}

std::vector<Order> orders() {
  std::vector<Order> all(6);
  all[1].first = 1;
  all[2].landing = Order::Landing::early;
  all[3].landing = Order::Landing::early;
  all[3].first = 1;
  for (std::size_t i = 4; i < 6; ++i) {
    all[i].landing = Order::Landing::random;
    all[i].random = true;
    all[i].seed = i;
  }
  return all;
}

execute::Launch launch_of(std::int64_t n) {
  execute::Launch launch;
  launch.programs = {2, 1, 1};
  launch.arguments["n"] = static_cast<double>(n);
  return launch;
}

struct Ran {
  std::vector<concurrent::Finding> findings;
  std::string error;
  execute::Memory::Written written;  ///< of %c
};

Ran run(const ir::Program& program, std::int64_t n, const Order& order, bool tiles = true) {
  Ran ran;
  const execute::Launch launch = launch_of(n);
  execute::Memory memory(1);
  const ir::OpId function = ir::functions(program)[0];
  const auto arguments = execute::arguments_of(program, function, launch, memory);
  concurrent::Findings findings;
  for (std::int64_t x = 0; x < launch.programs[0]; ++x) {
    concurrent::Machine machine(program, memory, launch, {x, 0, 0}, {order, tiles}, findings);
    const auto result = machine.run(function, *arguments);
    if (!result) ran.error = to_string(result.error());
  }
  ran.findings = findings.all();
  ran.written = memory.written(2);
  return ran;
}

TEST(Machine, good_roles_do_what_the_kernel_does_in_every_order) {
  const ir::Program plain = read(kPlain);
  const ir::Program roles = read(kRoles);
  for (std::int64_t n = 0; n <= 5; ++n) {
    const execute::Launch launch = launch_of(n);
    execute::Memory memory(1);
    const ir::OpId function = ir::functions(plain)[0];
    const auto arguments = execute::arguments_of(plain, function, launch, memory);
    for (std::int64_t x = 0; x < launch.programs[0]; ++x) {
      ASSERT_TRUE(execute::Interpreter(plain, memory, launch, {x, 0, 0}).run(function, *arguments));
    }
    const auto expected = memory.written(2);
    ASSERT_EQ(expected.size(), 2U * 64 * 64);
    for (const Order& order : orders()) {
      const Ran ran = run(roles, n, order);
      EXPECT_EQ(ran.error, "");
      for (const auto& finding : ran.findings) ADD_FAILURE() << n << ": " << finding.message;
      EXPECT_EQ(execute::difference(expected, ran.written).differing, 0) << "n = " << n;
    }
  }
}

TEST(Machine, counts_iterations_without_tiles) {
  const ir::Program roles = read(kRoles);
  const ir::OpId function = ir::functions(roles)[0];
  const execute::Launch launch = launch_of(7);
  execute::Memory memory(1);
  const auto arguments = execute::arguments_of(roles, function, launch, memory);
  concurrent::Findings findings;
  concurrent::Machine machine(roles, memory, launch, {0, 0, 0}, {Order(), false}, findings);
  ASSERT_TRUE(machine.run(function, *arguments));
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(machine.trips().size(), 2U);
  for (const auto& [loop, trips] : machine.trips()) EXPECT_EQ(trips, 7);
  EXPECT_TRUE(memory.written(2).empty());
}

/// A change of kRoles, and what is found then.
struct Bug {
  const char* name;
  const char* from;
  const char* to;
  Rule rule;
  const char* at;  ///< part of the line that is named, after the change
};

const char* const kArrive =
    "        ttng.arrive_barrier %e, 1, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>\n";
const char* const kWaitFull =
    "        ttng.wait_barrier %f, %phase, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>\n";
const char* const kWaitEmpty =
    "        ttng.wait_barrier %e, %parity, %ptrue : !ttg.memdesc<1xi64, #b, #smem, mutable>\n";

const char* const kInit =
    "    ttng.init_barrier %full1, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>\n";
const char* const kInitTwice =
    "    ttng.init_barrier %full1, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>\n"
    "    ttng.init_barrier %full1, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>\n";
const char* const kInvalidate =
    "        scf.yield\n      }\n"
    "      %dead = ttg.memdesc_index %pfull[%p1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> "
    "!ttg.memdesc<1xi64, #b, #smem, mutable>\n"
    "      ttng.inval_barrier %dead : !ttg.memdesc<1xi64, #b, #smem, mutable>\n"
    "      ttg.warp_return\n";

const Bug kBugs[] = {
    {"no_arrival", kArrive, "", Rule::deadlock, "wait_barrier %e"},
    {"two_arrivals", "arrive_barrier %e, 1", "arrive_barrier %e, 2", Rule::arrivals,
     "arrive_barrier %e"},
    {"count_too_high", "init_barrier %empty1, 1", "init_barrier %empty1, 2", Rule::deadlock,
     "wait_barrier %e"},
    {"not_initialized", kInit, "", Rule::barrier, "barrier_expect %f"},
    {"initialized_twice", kInit, kInitTwice, Rule::barrier, "init_barrier %full1"},
    {"invalidated_too_early", "        scf.yield\n      }\n      ttg.warp_return\n", kInvalidate,
     Rule::barrier, "inval_barrier %dead"},
    {"no_wait_for_data", kWaitFull, "", Rule::read_before_write, "warp_group_dot %at"},
    {"no_wait_for_room", kWaitEmpty, "", Rule::overwrite, "copy_global_to_local %pa"},
    {"other_parity", "wait_barrier %f, %phase", "wait_barrier %f, %c1", Rule::read_before_write,
     "warp_group_dot %at"},
    {"constant_parity", "wait_barrier %e, %parity", "wait_barrier %e, %p1", Rule::overwrite,
     "copy_global_to_local %pa"},
    {"product_not_awaited", "pendings = 0 : i32} : tensor", "pendings = 1 : i32} : tensor",
     Rule::overwrite, "copy_global_to_local %pa"},
    {"too_many_bytes", "%f, 16384", "%f, 16400", Rule::deadlock, "wait_barrier %e"},
    {"too_few_bytes", "%f, 16384", "%f, 8192", Rule::deadlock, "wait_barrier %f"},
    {"no_fence", "      ttng.fence_async_shared {bCluster = false}\n", "", Rule::fence,
     "copy_local_to_global"},
    {"store_in_flight", "      ttng.async_tma_store_wait {pendings = 0 : i32}\n", "", Rule::exit,
     "copy_local_to_global"},
    {"slot_outside", "memdesc_index %pas[%slot]", "memdesc_index %pas[%i]", Rule::bounds,
     "memdesc_index %pas[%i]"},
    {"other_slot", "memdesc_index %bs[%slot]", "memdesc_index %bs[%c0]", Rule::overwrite,
     "copy_global_to_local %pb"},
};

class Bugs : public testing::TestWithParam<Bug> {};

std::string text_of(const ir::Program& program, const concurrent::Finding& finding) {
  return std::to_string(program.op(finding.op).line) + ": " + std::string(name_of(finding.rule)) +
         ": " + finding.message + "\n";
}

// Something is found in every order, with and without numbers; some order shows the rule that is
// broken, and the line that breaks it or has to
// wait for that.
TEST_P(Bugs, are_found) {
  const Bug& bug = GetParam();
  const std::string text = replaced(kRoles, bug.from, bug.to);
  const int line = line_with(text, bug.at);
  const ir::Program program = read(text);
  bool named = false;
  std::string all;
  for (const Order& order : orders()) {
    for (const bool tiles : {true, false}) {
      const Ran ran = run(program, 6, order, tiles);
      EXPECT_EQ(ran.error, "");
      EXPECT_FALSE(ran.findings.empty()) << "from role " << order.first;
      for (const auto& finding : ran.findings) {
        all += text_of(program, finding);
        const std::string in_words = "line " + std::to_string(line);
        const bool there = program.op(finding.op).line == line ||
                           finding.message.find(in_words) != std::string::npos;
        named = named || (finding.rule == bug.rule && there);
      }
    }
  }
  EXPECT_TRUE(named) << "line " << line << " in\n" << all;
}

INSTANTIATE_TEST_SUITE_P(Machine, Bugs, testing::ValuesIn(kBugs),
                         [](const auto& bug) { return std::string(bug.param.name); });

// A barrier that one role initializes is used by another, which nothing tells of it: found in every
// order, and for every trip count.
TEST(Machine, barriers_are_there_for_who_knows_of_them) {
  const std::string begin = "    default {\n      %true = arith.constant true\n";
  const ir::Program program =
      read(replaced(replaced(kRoles, kInit, ""), begin, begin + ("  " + std::string(kInit))));
  for (const Order& order : orders()) {
    const Ran ran = run(program, 6, order, false);
    ASSERT_FALSE(ran.findings.empty());
    EXPECT_EQ(ran.findings.front().rule, Rule::barrier) << ran.findings.front().message;
  }
  const ir::Program invalidated =
      read(replaced(kRoles, "        scf.yield\n      }\n      ttg.warp_return\n", kInvalidate));
  for (const ir::Program* wrong : {&program, &invalidated}) {
    const auto proof = concurrent::follow_every_trip(*wrong, ir::functions(*wrong)[0]);
    ASSERT_TRUE(proof.has_value()) << to_string(proof.error());
    ASSERT_FALSE(proof->findings.empty());
    EXPECT_EQ(proof->findings.front().rule, Rule::barrier) << proof->findings.front().message;
  }
}

// Clusters are refused: the machine knows one CTA.
TEST(Machine, clusters_are_refused) {
  const ir::Program program =
      read(replaced(kRoles, "\"ttg.num-ctas\" = 1 : i32", "\"ttg.num-ctas\" = 2 : i32"));
  EXPECT_NE(run(program, 6, Order()).error.find("clusters of 2 CTAs"), std::string::npos);
  const auto proof = concurrent::follow_every_trip(program, ir::functions(program)[0]);
  ASSERT_FALSE(proof.has_value());
  EXPECT_NE(proof.error().message.find("clusters of 2 CTAs"), std::string::npos);
}

// Copies by threads land at an unknown time: each thread arrives, and their reader fences.
TEST(Machine, copies_by_threads) {
  const auto found = [](const std::string& text) {
    std::string all;
    const ir::Program program = read(text);
    for (const Order& order : orders()) {
      const Ran ran = run(program, 5, order);
      EXPECT_EQ(ran.error, "");
      for (const auto& finding : ran.findings) all += text_of(program, finding);
    }
    return all;
  };
  EXPECT_EQ(found(kCopies), "");
  const std::string fence =
      "        ttng.fence_async_shared {bCluster = false}\n        %at = ttg.memdesc_index %as";
  EXPECT_NE(found(replaced(kCopies, fence, "        %at = ttg.memdesc_index %as")).find("fence: "),
            std::string::npos);
  EXPECT_NE(found(replaced(kCopies, " {noIncrement}", "")).find("deadlock: "), std::string::npos);
  EXPECT_NE(found(replaced(kCopies, "init_barrier %full0, 33", "init_barrier %full0, 32"))
                .find("arrivals: "),
            std::string::npos);
}

// Triton's copies by threads leave zeros where their mask is false, whatever else they are given.
TEST(Machine, copies_by_threads_bring_no_other_value) {
  const std::string width = "      %width = arith.constant dense<64>";
  std::string text = replaced(kCopies, width,
                              "      %none = arith.constant dense<false> : tensor<64x64xi1, #l>\n"
                              "      %ones = arith.constant dense<1.000000e+00> : "
                              "tensor<64x64xf16, #l>\n" +
                                  width);
  text = replaced(text, "%ptrs, %bt :", "%ptrs, %bt mask %none other %ones :");
  const Ran ran = run(read(text), 3, Order());
  EXPECT_EQ(ran.error, "");
  ASSERT_FALSE(ran.written.empty());
  for (const auto& [index, value] : ran.written) ASSERT_EQ(value, 0) << index;
}

}  // namespace
}  // namespace twill::tests
