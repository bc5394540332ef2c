#include "twill/concurrent/deciding.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/ir/op_kind.h"

// Protects: numbers by which roles decide are computed with all that they are made of, and tiles
// with fractions are not.
namespace twill::concurrent {
namespace {

ir::Program read(const std::string& text) {
  auto program = frontend::read_ttgir(text, "k.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  return *std::move(program);
}

std::size_t count(const ir::Program& program, const std::set<ir::OpId>& ops, ir::OpKind kind) {
  return static_cast<std::size_t>(
      std::ranges::count_if(ops, [&](ir::OpId op) { return program.op(op).kind == kind; }));
}

TEST(Deciding, ANumberThatIsHandedOnIsComputedAndNoProduct) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/tests/concurrent/gluon/dynamic.ttgir");
  std::stringstream text;
  text << file.rdbuf();
  const ir::Program program = read(text.str());
  const auto ops = deciding_ops(program, ir::functions(program)[0]);
  ASSERT_TRUE(ops);
  EXPECT_GT(count(program, *ops, ir::OpKind::atomic_update), 0U);
  EXPECT_GT(count(program, *ops, ir::OpKind::shared_store), 0U);
  EXPECT_GT(count(program, *ops, ir::OpKind::shared_load), 0U);
  EXPECT_EQ(count(program, *ops, ir::OpKind::wgmma), 0U);
  EXPECT_EQ(count(program, *ops, ir::OpKind::block_load_async), 0U);
}

TEST(Deciding, NothingWhereAFractionDecides) {
  const std::string text = R"(module {
  tt.func public @k(%x: !tt.ptr<f32>, %n: !tt.ptr<i32>) {
    %zero = arith.constant 0.0 : f32
    %first = tt.load %x : !tt.ptr<f32>
    %positive = arith.cmpf ogt, %first, %zero : f32
    scf.if %positive {
      tt.store %x, %zero : !tt.ptr<f32>
    }
    tt.return
  }
}
)";
  const ir::Program program = read(text);
  EXPECT_FALSE(deciding_ops(program, ir::functions(program)[0]));
}

}  // namespace
}  // namespace twill::concurrent
