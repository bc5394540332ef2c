#include <gmock/gmock.h>

#include "extract/ttgir.h"

namespace twill::extract::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Options rows_of(std::int64_t rows) {
  Options options;
  options.subtile = rows;
  return options;
}

// Two sub-tiles of 64 rows share both loads, do half of the work each, and hold half of the tile.
TEST(SubTile, PartsShareTheLoads) {
  const Extraction loop = extracted(hopper_kernel(loads() + product()), "h200", rows_of(64));
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(loop.sub_tiles, 2);
  EXPECT_EQ(loop.sub_tile_rows, 64);
  EXPECT_THAT(names_of(problem), ElementsAre("load_a", "load_b", "mmaA", "mmaB"));
  for (const char* name : {"mmaA", "mmaB"}) {
    EXPECT_NE(find_dependence(problem, "load_a", name), nullptr);
    EXPECT_NE(find_dependence(problem, name, name, 1), nullptr);
    EXPECT_EQ(find_op(problem, name)->registers, 64);
  }
  EXPECT_EQ(find_dependence(problem, "mmaA", "mmaB"), nullptr);
  EXPECT_EQ(find_dependence(problem, "mmaA", "mmaB", 1), nullptr);
}

// Every op names its rows and its lines.
TEST(SubTile, OriginsNameTheRows) {
  const Extraction loop = extracted(hopper_kernel(loads() + product()), "h200", rows_of(64));
  EXPECT_EQ(loop.sub_tiles, 2);
  ASSERT_EQ(loop.origins.size(), loop.problem.ops().size());
  EXPECT_EQ(loop.origins[0].part, -1);
  std::int64_t covered = 0;
  for (const OpOrigin& origin : loop.origins) {
    ASSERT_FALSE(origin.sources.empty());
    if (origin.part < 0) continue;
    EXPECT_EQ(origin.row_begin, covered);
    covered = origin.row_end;
  }
  EXPECT_EQ(covered, 128);
}

// The launch made the box of a bulk store for the whole tile: each part stages its rows, and one op
// stores them all.
TEST(SubTile, BulkStoresStayWhole) {
  const std::string store = R"(
      %h = arith.truncf %d : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
      tt.descriptor_reduce add, %out[%c0, %i], %h : !tt.tensordesc<tensor<128x128xf16, #shared>>, tensor<128x128xf16, #mma>
)";
  const std::string text = hopper_kernel(loads() + product() + store, "%d", R"(
    %out = "test.descriptor"(%ptr) : (!tt.ptr<f16>) -> !tt.tensordesc<tensor<128x128xf16, #shared>>
)");
  const Extraction loop = extracted(text, "h200", rows_of(64));
  for (const char* name : {"stageA", "stageB"}) {
    EXPECT_NE(find_dependence(loop.problem, name, "reduce_store"), nullptr) << name;
  }
}

// --subtile 0 disables cutting; the default is the machine's 64 rows.
TEST(SubTile, DefaultIsTheMachines) {
  const std::string text = hopper_kernel(loads() + product());
  EXPECT_EQ(extracted(text, "h200", rows_of(0)).sub_tiles, 1);
  EXPECT_EQ(extracted(text).sub_tiles, 2);
}

// Rows that do not divide the tile are refused if requested.
TEST(SubTile, RefusesRowsThatDoNotDivide) {
  const auto refused = extract_from(hopper_kernel(loads() + product()), "h200", rows_of(48));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no multiple of 48"));
}

// An instruction of the tensor core takes 64 rows. No sub-tile has fewer rows, unless the machine
// does not state the number.
TEST(SubTile, HasWholeBlocksOfProducts) {
  const std::string text = hopper_kernel(loads() + product());
  const auto refused = extract_from(text, "h200", rows_of(32));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "the rows cannot be split into sub-tiles of 32: a product takes a multiple of 64 at "
            "once");
  EXPECT_FALSE(extract_from(text, "b200", rows_of(32)));

  std::string any = text_of(project() / "machines" / "h200.json");
  const std::size_t number = any.find("    \"product_rows\"");
  any.erase(number, any.find('\n', number) + 1 - number);
  const auto machine = machine::load_machine(any, "any.json");
  ASSERT_TRUE(machine) << to_string(machine.error());
  const ir::Program program = program_of(text);
  const auto loop = choose_loop(program, "");
  ASSERT_TRUE(loop);
  const auto parts = extract(program, loop->loop, *machine, rows_of(32));
  ASSERT_TRUE(parts) << to_string(parts.error());
  EXPECT_EQ(parts->sub_tiles, 4);
}

// A mask of row maxima has the rows of its maxima: it is cut with them, and ties no sub-tiles.
TEST(SubTile, MasksOfRowVectorsAreCutWithThem) {
  const std::string text = hopper_kernel(loads() + product() + R"(
      %least = arith.constant dense<0xFF800000> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %m = "tt.reduce"(%d) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x128xf32, #mma>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %none = arith.cmpf oeq, %m, %least : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      "test.keep"(%none) : (tensor<128xi1, #ttg.slice<{dim = 1, parent = #mma}>>) -> ()
)");
  const Extraction loop = extracted(text, "h200", rows_of(64));
  EXPECT_NE(find_dependence(loop.problem, "row_maxA", "vec_maskA"), nullptr);
  EXPECT_NE(find_dependence(loop.problem, "row_maxB", "vec_maskB"), nullptr);
  EXPECT_EQ(find_dependence(loop.problem, "row_maxA", "vec_maskB"), nullptr);
}

// A reduction along the rows mixes sub-tiles: refused with the op if cutting was requested,
// otherwise a warning.
TEST(SubTile, ReductionsAlongTheRowsForbidIt) {
  const std::string text = hopper_kernel(loads() + product() + R"(
      %m = "tt.reduce"(%d) <{axis = 0 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x128xf32, #mma>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #mma}>>
      "test.keep"(%m) : (tensor<128xf32, #ttg.slice<{dim = 0, parent = #mma}>>) -> ()
)");
  const auto refused = extract_from(text, "h200", rows_of(64));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("column_sum"));
  const Extraction whole = extracted(text);
  EXPECT_EQ(whole.sub_tiles, 1);
  bool said = false;
  for (const Diagnostic& warning : whole.warnings) {
    said = said || warning.message.find("stay whole") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

// A second product that contracts the cut rows: `second` reads the rows of %d as its K.
std::string contracting(const std::string& operand) {
  std::string text = hopper_kernel(loads() + product("%zero") + R"(
      %h = arith.truncf %d : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
)" + operand,
                                   "%q");
  const std::string anchor = "%ptr: !tt.ptr<f16>";
  text.replace(text.find(anchor), anchor.size(),
               "%v_desc: !tt.tensordesc<tensor<128x256xf16, #shared>>, %ptr: !tt.ptr<f16>");
  for (const char* old : {"dense<0.000000e+00> : tensor<128x128xf32, #mma>"}) {
    const std::size_t at = text.find(old);
    const std::string more =
        "\n    %wide = arith.constant dense<0.000000e+00> : tensor<128x256xf32, #mma>";
    text.insert(at + std::string(old).size(), more);
  }
  return text;
}

// If a contracted operand is in shared memory, one product serves all sub-tiles and waits for all.
TEST(SubTile, ContractingProductsInMemoryAreShared) {
  const std::string text = contracting(R"(
      %hm = ttg.local_alloc %h : (tensor<128x128xf16, #mma>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
      %ht = ttg.memdesc_trans %hm {order = array<i32: 1, 0>} : !ttg.memdesc<128x128xf16, #shared, #smem> -> !ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem>
      %c2 = tt.descriptor_load %a_desc[%i, %i] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
      %c = ttg.local_alloc %c2 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %zs = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
      %p = ttng.warp_group_dot %ht, %c, %zs {inputPrecision = 0 : i32} : !ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem> * !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      "test.keep"(%p) : (tensor<128x64xf32, #mma>) -> ()
      %q = arith.addf %acc, %acc : tensor<128x128xf32, #mma>
)");
  const Extraction loop = extracted(text, "h200", rows_of(64));
  const problem::Problem& problem = loop.problem;
  ASSERT_NE(find_op(problem, "mma1"), nullptr);
  EXPECT_NE(find_dependence(problem, "smem_storeA", "mma1"), nullptr);
  EXPECT_NE(find_dependence(problem, "smem_storeB", "mma1"), nullptr);
  ASSERT_EQ(loop.notes.size(), 1U);
  EXPECT_THAT(loop.notes[0], HasSubstr("shared by all sub-tiles"));
}

// Each sub-tile computes row vectors that only sub-tiles read: no transfer for a few registers.
TEST(SubTile, RowVectorLoadsAreRepeated) {
  const std::string text = hopper_kernel(loads() + product("%zero") + R"(
      %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #mma}>>
      %base = tt.splat %ptr : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #mma}>>
      %at = tt.addptr %base, %range : tensor<128x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #mma}>>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #mma}>>
      %v = tt.load %at : tensor<128x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #mma}>>
      %vf = arith.extf %v : tensor<128xf16, #ttg.slice<{dim = 0, parent = #mma}>> to tensor<128xf32, #ttg.slice<{dim = 0, parent = #mma}>>
      %vx = tt.expand_dims %vf {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x128xf32, #mma>
      %vb = tt.broadcast %vx : tensor<1x128xf32, #mma> -> tensor<128x128xf32, #mma>
      %u = arith.addf %d, %vb : tensor<128x128xf32, #mma>
)",
                                         "%u");
  const Extraction loop = extracted(text, "h200", rows_of(64));
  EXPECT_NE(find_op(loop.problem, "loadA"), nullptr);
  EXPECT_NE(find_op(loop.problem, "loadB"), nullptr);
  EXPECT_EQ(find_dependence(loop.problem, "loadA", "vec_convertB"), nullptr);
}

}  // namespace
}  // namespace twill::extract::testing
