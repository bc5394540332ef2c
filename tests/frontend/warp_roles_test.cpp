// Modules whose warps have roles: traits hold the meaning of ops between roles. Partitions that do
// not fit the module's captures are refused.
#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/ir/operands.h"

namespace twill::tests {
namespace {

using ir::OpKind;

// Every op by which roles wait for each other, once each.
constexpr const char* kModule = R"(
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#l = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%d: !tt.tensordesc<tensor<64x64xf16, #s>>, %p: tensor<64x64x!tt.ptr<f16>, #l>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %full, 3 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttg.warp_specialize(%d, %ring, %full, %p) attributes {requestedRegisters = array<i32: 24, 32>}
    default {
      ttng.wait_barrier %full, %c0, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>
      ttng.arrive_barrier %full, 2, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%pd: !tt.tensordesc<tensor<64x64xf16, #s>>, %pring: !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, %pfull: !ttg.memdesc<1xi64, #b, #smem, mutable>, %pp: tensor<64x64x!tt.ptr<f16>, #l>) num_warps(1) {
      %yes = arith.constant true
      %zero = arith.constant 0 : i32
      %slot = ttg.memdesc_index %pring[%zero] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      ttng.barrier_expect %pfull, 8192, %yes : !ttg.memdesc<1xi64, #b, #smem, mutable>
      ttng.async_tma_copy_global_to_local %pd[%zero, %zero] %slot, %pfull, %yes : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<1xi64, #b, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      ttng.async_tma_copy_local_to_global %pd[%zero, %zero] %slot : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      ttng.async_tma_store_wait {pendings = 1 : i32}
      ttg.warp_return
    }
    partition1(%qd: !tt.tensordesc<tensor<64x64xf16, #s>>, %qring: !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, %qfull: !ttg.memdesc<1xi64, #b, #smem, mutable>, %qp: tensor<64x64x!tt.ptr<f16>, #l>) num_warps(4) {
      %zero = arith.constant 0 : i32
      %slot = ttg.memdesc_index %qring[%zero] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      %t = ttg.async_copy_global_to_local %qp, %slot : tensor<64x64x!tt.ptr<f16>, #l> -> <64x64xf16, #s, #smem, mutable>
      ttng.async_copy_mbarrier_arrive %qfull {noIncrement} : !ttg.memdesc<1xi64, #b, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      %w = ttg.async_wait %g {num = 2 : i32}
      ttng.inval_barrier %qfull : !ttg.memdesc<1xi64, #b, #smem, mutable>
      ttg.warp_return
    } : (!tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, !ttg.memdesc<1xi64, #b, #smem, mutable>, tensor<64x64x!tt.ptr<f16>, #l>) -> ()
    tt.return
  }
}
)";

ir::Program read_roles(const std::string& text) {
  auto program = frontend::read_ttgir(text, "k.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  return std::move(*program);
}

/// The only op of a kind.
const ir::Op& only(const ir::Program& program, OpKind kind) {
  const ir::Op* found = nullptr;
  for (const ir::OpId id : ir::walk(program, program.module())) {
    const ir::Op& op = program.op(id);
    if (op.kind != kind) continue;
    EXPECT_EQ(found, nullptr) << op.name << " at line " << op.line;
    found = &op;
  }
  if (found == nullptr) throw std::runtime_error("no op of the kind");
  return *found;
}

std::string name_in(const ir::Program& program, const ir::Op& op, ir::Role role) {
  const auto value = ir::operand_in(op, role);
  return value ? program.value(*value).name : "";
}

TEST(WarpRoles, have_warps_and_regions) {
  const ir::Program program = read_roles(kModule);
  EXPECT_EQ(only(program, OpKind::warp_roles).warps, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(only(program, OpKind::warp_partitions).regions.size(), 2U);
  EXPECT_EQ(only(program, OpKind::roles_end).operands.size(), 0U);
}

TEST(WarpRoles, barriers_say_what_they_count) {
  const ir::Program program = read_roles(kModule);
  EXPECT_EQ(only(program, OpKind::barrier_init).count, 3);
  const ir::Op& expect = only(program, OpKind::barrier_expect);
  EXPECT_EQ(expect.count, 8192);
  EXPECT_EQ(name_in(program, expect, ir::Role::barrier), "pfull");
  EXPECT_EQ(name_in(program, expect, ir::Role::predicate), "yes");
  const ir::Op& wait = only(program, OpKind::barrier_wait);
  EXPECT_EQ(name_in(program, wait, ir::Role::barrier), "full");
  EXPECT_EQ(name_in(program, wait, ir::Role::phase), "c0");
  EXPECT_EQ(name_in(program, wait, ir::Role::predicate), "true");
  EXPECT_EQ(only(program, OpKind::barrier_arrive).count, 2);
  EXPECT_EQ(name_in(program, only(program, OpKind::barrier_end), ir::Role::barrier), "qfull");
}

TEST(WarpRoles, copies_say_how_many_may_be_in_flight) {
  const ir::Program program = read_roles(kModule);
  EXPECT_EQ(only(program, OpKind::block_store_wait).count, 1);
  EXPECT_EQ(only(program, OpKind::copy_wait).count, 2);
  EXPECT_TRUE(only(program, OpKind::copy_arrive).is_counted);
  only(program, OpKind::copy_commit);
  only(program, OpKind::proxy_fence);
}

TEST(WarpRoles, print_and_read_again) {
  const ir::Program program = read_roles(kModule);
  const std::string printed = frontend::ttgir::to_text(program);
  EXPECT_EQ(frontend::ttgir::to_text(read_roles(printed)), printed);
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kModule;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("nothing to change");
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, int line, const std::string& message) {
  const auto program = frontend::read_ttgir(text, "k.ttgir");
  ASSERT_FALSE(program) << message;
  EXPECT_EQ(program.error().location.line, line) << to_string(program.error());
  EXPECT_NE(program.error().message.find(message), std::string::npos) << to_string(program.error());
}

// Numbers that mbarriers and waits of the hardware cannot have are refused at their line.
TEST(WarpRoles, count_what_can_be_counted) {
  struct Change {
    std::string from, to, message;
  };
  const Change changes[] = {
      {"init_barrier %full, 3 ", "init_barrier %full, 0 ",
       "has the number 0, and the least is 1, the most 1048575"},
      {"init_barrier %full, 3 ", "init_barrier %full, 1048576 ",
       "has the number 1048576, and the least is 1, the most 1048575"},
      {"arrive_barrier %full, 2,", "arrive_barrier %full, -2,",
       "has the number -2, and the least is 1, the most 1048575"},
      {"barrier_expect %pfull, 8192,", "barrier_expect %pfull, -1,",
       "has the number -1, and the least is 0, the most 1048575"},
      {"{pendings = 1 : i32}", "{pendings = -1 : i32}", "has the number -1, and the least is 0"},
      {"{num = 2 : i32}", "{num = -2 : i32}", "has the number -2, and the least is 0"},
  };
  for (const auto& [from, to, message] : changes) {
    const std::string text = kModule;
    const auto at = static_cast<std::ptrdiff_t>(text.find(from));
    const auto line = std::count(text.begin(), text.begin() + at, '\n') + 1;
    expect_refused(changed(from, to), static_cast<int>(line), message);
  }
}

TEST(WarpRoles, refuse_partitions_that_do_not_fit) {
  expect_refused(changed("%pp: tensor<64x64x!tt.ptr", "%pp: tensor<64x32x!tt.ptr"), 14,
                 "captures of partition0: %p has type");
  expect_refused(changed("%pfull: !ttg.memdesc<1xi64, #b", "%pfull: !ttg.memdesc<2xi64, #b"), 24,
                 "is stated, but %pfull has type");
  expect_refused(changed("(%d, %ring, %full, %p)", "(%d, %ring, %full)"), 14,
                 "captures of partition0: 3 values, but 4 wanted");
  expect_refused(changed("      ttg.warp_yield\n", "      ttg.warp_yield %c0 : i32\n"), 18,
                 "what the default warps yield: 1 value, but 0 wanted");
  expect_refused(changed("      ttg.warp_return\n", "      gpu.barrier\n"), 28,
                 "a partition must end in 'ttg.warp_return'");
}

}  // namespace
}  // namespace twill::tests
