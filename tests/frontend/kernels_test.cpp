#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "frontend/same_program.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/spelling.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/ir/encoding.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::tests {
namespace {

const std::filesystem::path kKernels = std::filesystem::path(TWILL_SOURCE_DIR) / "kernels";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> all_kernels() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kKernels)) {
    if (entry.path().extension() != ".ttgir") continue;
    names.push_back(std::filesystem::relative(entry.path(), kKernels).generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

ir::Program kernel(const std::string& name) {
  auto program = frontend::read_ttgir(text_of(kKernels / name), name);
  if (!program) ADD_FAILURE() << to_string(program.error());
  return program ? *std::move(program) : ir::Program();
}

// Every bundled kernel, in every state of Triton's pipeline, is read without loss. The printed text
// reads back to the same Program, and prints to the same bytes.
TEST(Kernels, round_trip) {
  const std::vector<std::string> names = all_kernels();
  ASSERT_GT(names.size(), 90U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const ir::Program first = kernel(name);
    const std::string printed = frontend::ttgir::to_text(first);
    auto second = frontend::read_ttgir(printed, name + " (printed)");
    ASSERT_TRUE(second) << to_string(second.error());
    ASSERT_EQ(content_of(first), content_of(*second));
    ASSERT_EQ(printed, frontend::ttgir::to_text(*second));
  }
}

// All ops of these kernels are in the table: every operand has a known role, every result a known
// type.
TEST(Kernels, every_op_is_understood) {
  for (const std::string& name : all_kernels()) {
    const ir::Program program = kernel(name);
    for (const ir::OpId id : ir::walk(program, program.module())) {
      const ir::Op& op = program.op(id);
      EXPECT_EQ(op.form, "") << name << ":" << op.line << " " << op.name;
      EXPECT_NE(op.kind, ir::OpKind::other) << op.name;
      EXPECT_TRUE(frontend::ttgir::roles_of(op.name).empty() ||
                  frontend::ttgir::operand_segments(op))
          << op.name;
      for (const ir::ValueId result : op.results) {
        EXPECT_NE(ir::type_of(program, result)->text, "!twill.unknown") << op.name;
      }
    }
  }
}

// Attention forward on Hopper: loop, carried values, products and their layouts.
TEST(Kernels, attention_forward_on_hopper) {
  const ir::Program program = kernel("fa_fwd/sm_90/d128.pre.ttgir");
  const auto loops = ir::loops(program, ir::functions(program).at(0));
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].carried.size(), 3U);
  std::vector<ir::MmaOperands> products;
  for (const ir::OpId id : ir::walk(program, loops[0].op)) {
    if (const auto mma = ir::mma_operands(program.op(id))) products.push_back(*mma);
  }
  ASSERT_EQ(products.size(), 2U);
  EXPECT_EQ(ir::constant_number(program, products[0].accumulator), 0.0);
  const auto layout = ir::mma_encoding(ir::type_of(program, *products[0].result)->encoding);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->version_major, 3);
  EXPECT_EQ(layout->instr_shape, (std::vector<std::int64_t>{16, 128, 16}));
  const auto operand = ir::dot_operand_encoding(ir::type_of(program, products[1].a)->encoding);
  ASSERT_TRUE(operand) << "P of the second product comes from registers";
  EXPECT_EQ(operand->index, 0);
  EXPECT_EQ(operand->k_width, 2);
  const ir::Type k = ir::type_of(program, products[0].b);
  EXPECT_TRUE(ir::is_memdesc(k, ir::MemorySpace::shared));
  const auto swizzle = ir::nvmma_shared_encoding(k->encoding);
  ASSERT_TRUE(swizzle);
  EXPECT_EQ(swizzle->swizzle_bytes, 128);
  EXPECT_TRUE(swizzle->transposed);
}

// On Blackwell, tokens are carried around the loop and P is in tensor memory.
TEST(Kernels, attention_forward_on_blackwell) {
  const ir::Program program = kernel("fa_fwd/sm_100/d128.pre.ttgir");
  const auto loops = ir::loops(program, program.module());
  ASSERT_EQ(loops.size(), 1U);
  ASSERT_EQ(loops[0].carried.size(), 4U);
  EXPECT_EQ(ir::type_of(program, loops[0].carried[3].argument)->kind, ir::TypeKind::token);
  std::vector<ir::MmaOperands> products;
  for (const ir::OpId id : ir::walk(program, loops[0].op)) {
    if (const auto mma = ir::mma_operands(program.op(id))) products.push_back(*mma);
  }
  ASSERT_EQ(products.size(), 2U);
  EXPECT_EQ(ir::constant_integer(program, *products[0].use_accumulator), 0);
  EXPECT_EQ(ir::constant_integer(program, *products[1].use_accumulator), 1);
  EXPECT_TRUE(ir::is_memdesc(ir::type_of(program, products[1].a), ir::MemorySpace::tensor));
  EXPECT_EQ(ir::tensor_memory_columns(ir::type_of(program, products[1].a)), 64);
  EXPECT_EQ(ir::tensor_memory_columns(ir::type_of(program, products[1].accumulator)), 128);
}

// Partitions are regions of their own, in which only their arguments are visible.
TEST(Kernels, warp_specialized) {
  const ir::Program program = kernel("fa_fwd/sm_90/dev_d128_ws.ws90.ttgir");
  for (const ir::OpId id : ir::walk(program, program.module())) {
    const ir::Op& op = program.op(id);
    if (op.name != "ttg.warp_specialize") continue;
    EXPECT_EQ(frontend::ttgir::integers_attribute(op, "partitionNumWarps"),
              (std::vector<std::int64_t>{4, 4}));
    EXPECT_EQ(frontend::ttgir::integers_attribute(op, "requestedRegisters"),
              (std::vector<std::int64_t>{232, 232}));
    ASSERT_EQ(op.regions.size(), 2U);
    const auto holder = ir::terminator(program, *ir::body(program, id, 1));
    ASSERT_TRUE(holder);
    EXPECT_EQ(program.op(*holder).regions.size(), 2U);
    EXPECT_EQ(program.block(*ir::body(program, *holder, 1)).arguments.size(), op.operands.size());
    return;
  }
  ADD_FAILURE() << "no ttg.warp_specialize";
}

// Schedules are reported by lines of the user's source.
TEST(Kernels, locations_lead_to_the_source) {
  const ir::Program program = kernel("fa_fwd/sm_90/d128.final.ttgir");
  std::size_t located = 0;
  for (const ir::OpId id : ir::walk(program, program.module())) {
    const auto where = ir::source_location(program, id);
    if (!where) continue;
    if (where->file == "kernels/fa_fwd/fa_fwd.py") ++located;
    if (program.op(id).name == "math.log2") {
      EXPECT_EQ(where->line, 29);
    }
  }
  EXPECT_GT(located, 50U);
}

}  // namespace
}  // namespace twill::tests
