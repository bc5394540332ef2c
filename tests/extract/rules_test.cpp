#include <gmock/gmock.h>

#include "extract/ttgir.h"

namespace twill::extract::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string gemm() { return hopper_kernel(loads() + product()); }

// The TMA loads stream, go to the load group, and the allocations they fill cost nothing.
TEST(Rules, TmaLoadsFillTheirAllocation) {
  const Extraction gemm_loop = extracted(gemm(), "h200", kWhole);
  const problem::Problem& problem = gemm_loop.problem;
  EXPECT_THAT(names_of(problem), ElementsAre("load_a", "load_b", "mma"));
  const problem::Op& load = *find_op(problem, "load_a");
  EXPECT_TRUE(load.streaming && load.variable_latency && load.asynchronous);
  EXPECT_EQ(load.warps, 1);
  ASSERT_EQ(load.footprint.size(), 1U);
  EXPECT_EQ(load.footprint[0].amount, 128 * 64 * 2);
  EXPECT_TRUE(find_dependence(problem, "load_a", "mma")->blocking);
}

// An accumulator carried around the loop is one buffer: 128 x 128 f32 over 128 threads.
TEST(Rules, CarriedAccumulatorsAreUpdatedInPlace) {
  const Extraction loop = extracted(gemm(), "h200", kWhole);
  const problem::Dependence* chain = find_dependence(loop.problem, "mma", "mma", 1);
  ASSERT_NE(chain, nullptr);
  EXPECT_TRUE(chain->in_place);
  EXPECT_FALSE(chain->blocking);
  EXPECT_EQ(chain->delay, 0);
  EXPECT_EQ(find_op(loop.problem, "mma")->registers, 128);
  EXPECT_EQ(find_op(loop.problem, "mma")->warps, 4);
}

// A zero accumulator starts a fresh value; the previous iteration's value is not read.
TEST(Rules, ZeroAccumulatorsStartFresh) {
  const Extraction loop = extracted(hopper_kernel(loads() + product("%zero")), "h200", kWhole);
  EXPECT_EQ(find_dependence(loop.problem, "mma", "mma", 1), nullptr);
}

// A vector is no accumulator: its tile is made in registers, one move per element, and the product
// adds to that tile.
TEST(Rules, BroadcastVectorsBecomeTilesForProducts) {
  const std::string body = loads() + R"(
      %cols = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #mma}>>
      %base = tt.splat %ptr : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #mma}>>
      %ptrs = tt.addptr %base, %cols : tensor<128x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #mma}>>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #mma}>>
      %bias = tt.load %ptrs : tensor<128x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #mma}>>
      %wide = arith.extf %bias : tensor<128xf16, #ttg.slice<{dim = 0, parent = #mma}>> to tensor<128xf32, #ttg.slice<{dim = 0, parent = #mma}>>
      %row = tt.expand_dims %wide {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x128xf32, #mma>
      %tile = tt.broadcast %row : tensor<1x128xf32, #mma> -> tensor<128x128xf32, #mma>
)" + product("%tile");
  const Extraction loop = extracted(hopper_kernel(body), "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  const problem::Op* tile = find_op(problem, "broadcast");
  ASSERT_NE(tile, nullptr);
  EXPECT_EQ(tile->registers, 128);
  EXPECT_GT(tile->alternatives[0].issue, 0);
  EXPECT_THAT(tile->source, ElementsAre(HasSubstr("tt.broadcast")));
  EXPECT_FALSE(find_dependence(problem, "vec_convert", "broadcast")->in_place);
  EXPECT_TRUE(find_dependence(problem, "broadcast", "mma")->in_place);
  EXPECT_EQ(find_dependence(problem, "vec_convert", "mma"), nullptr);
  EXPECT_EQ(find_op(problem, "vec_convert")->registers, 32);  // along columns
}

// A product costs 2 M N K FLOP at the tensor core's rate; SS because both operands are in memory.
TEST(Rules, ProductsCostTheirFlops) {
  const Extraction loop = extracted(gemm(), "h200", kWhole);
  EXPECT_EQ(find_op(loop.problem, "mma")->alternatives[0].occupancy, 2 * 128 * 128 * 64 / 4096);
}

// A loaded tile that is also read in registers needs a load from shared memory, and only one.
TEST(Rules, RegisterReadersOfATmaLoadGetAnSmemLoad) {
  const std::string body = loads() + product() + R"(
      %w = arith.extf %ta : tensor<128x64xf16, #blocked> to tensor<128x64xf32, #blocked>
      "test.keep"(%w) : (tensor<128x64xf32, #blocked>) -> ()
)";
  const Extraction loop = extracted(hopper_kernel(body), "h200", kWhole);
  ASSERT_NE(find_op(loop.problem, "smem_load"), nullptr);
  EXPECT_NE(find_dependence(loop.problem, "load_a", "smem_load"), nullptr);
  EXPECT_NE(find_dependence(loop.problem, "smem_load", "convert"), nullptr);
}

// Chains become one op; the unit change to MUFU and the narrowing conversion split them.
std::string chain() {
  return loads() + product("%zero") + R"(
      %two = arith.constant dense<2.000000e+00> : tensor<128x128xf32, #mma>
      %s = arith.mulf %d, %two : tensor<128x128xf32, #mma>
      %t = arith.subf %s, %acc : tensor<128x128xf32, #mma>
      %e = math.exp2 %t : tensor<128x128xf32, #mma>
      %h = arith.truncf %e : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
      %ah = ttg.local_alloc %h : (tensor<128x128xf16, #mma>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
      %b2t = tt.descriptor_load %b_desc[%i, %i] : !tt.tensordesc<tensor<64x128xf16, #shared>> -> tensor<64x128xf16, #blocked>
      %u = arith.addf %t, %e : tensor<128x128xf32, #mma>
)";
}

TEST(Rules, ChainsSplitWhereTheUnitChanges) {
  const Extraction loop = extracted(hopper_kernel(chain(), "%u"), "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  EXPECT_THAT(names_of(problem), Contains("scale_sub"));
  EXPECT_THAT(names_of(problem), Contains("exp2"));
  EXPECT_THAT(names_of(problem), Contains("convert"));
  EXPECT_THAT(names_of(problem), Contains("add"));
  EXPECT_GT(demand_on(problem, *find_op(problem, "exp2"), "MUFU"), 0);
  EXPECT_EQ(demand_on(problem, *find_op(problem, "scale_sub"), "MUFU"), 0);
  EXPECT_THAT(find_op(problem, "scale_sub")->source,
              ElementsAre(HasSubstr("arith.mulf"), HasSubstr("arith.subf")));
}

// mul and sub are one multiply-add, which costs no more than a multiplication.
TEST(Rules, MultiplyAddIsOneInstruction) {
  const Extraction loop = extracted(hopper_kernel(chain(), "%u"), "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(demand_on(problem, *find_op(problem, "scale_sub"), "FMA"),
            demand_on(problem, *find_op(problem, "add"), "FMA"));
}

/// A tile of the loop, squared in `type`.
std::string square_in(const std::string& type) {
  const std::string tile = "tensor<128x128x" + type + ", #mma>";
  const std::string cast = type == "f64" ? "arith.extf" : "arith.truncf";
  return loads() + product("%zero") + "      %w = " + cast + " %d : tensor<128x128xf32, #mma> to " +
         tile + "\n      %s = arith.mulf %w, %w : " + tile + "\n      \"test.keep\"(%s) : (" +
         tile + ") -> ()\n";
}

// Two halves take one slot; a double takes the lanes twice.
TEST(Rules, ArithmeticIsPricedByItsElements) {
  const auto demand = [](const std::string& type, const char* pipe) {
    const Extraction loop = extracted(hopper_kernel(square_in(type)), "h200", kWhole);
    const problem::Op* joined = find_op(loop.problem, "convert_mul");  // widening joins
    return demand_on(loop.problem, joined ? *joined : *find_op(loop.problem, "mul"), pipe);
  };
  // 16384 elements at 236 and 62 a cycle, and at 256 and 128 slots.
  EXPECT_EQ(demand("f16", "FMA"), 69);
  EXPECT_EQ(demand("bf16", "FMA"), 69);
  EXPECT_EQ(demand("f16", "ISSUE"), 64);
  EXPECT_EQ(demand("f64", "FMA"), 264);
}

// Ops of a chain may be interleaved. At the fastest rate, they take less together than one after
// the other, or the lower bound would be wrong. At the slowest rate, interleaving is not assumed.
TEST(Rules, ChainsShareTheirTimeAtTheirFastestOnly) {
  const machine::Machine machine = machine_named("h200");
  for (const machine::Rate rate : {machine::Rate::fastest, machine::Rate::slowest}) {
    const auto alone = [&](const char* kind) {
      machine::Work work;
      work.kind = kind;
      work.elements = 128 * 128;
      work.rows = 128;
      return machine::price(machine, work, rate, 2)->latency;
    };
    Options options = kWhole;
    options.rate = rate;
    const Extraction loop = extracted(hopper_kernel(chain(), "%u"), "h200", options);
    Cycles together = 0;
    for (const char* name : {"scale_sub", "exp2", "convert", "add"}) {
      together += find_op(loop.problem, name)->alternatives[0].latency;
    }
    const Cycles apart = alone("fma") + alone("exp2") + alone("convert") + alone("add");
    if (rate == machine::Rate::fastest) {
      EXPECT_LT(together, apart);
    } else {
      EXPECT_EQ(together, apart);
    }
    EXPECT_GE(together, alone("exp2"));
    EXPECT_EQ(demand_on(loop.problem, *find_op(loop.problem, "exp2"), "MUFU"), 128 * 128 / 16);
  }
}

// A load without a reader, here of %b2t, is no op: dead code costs nothing.
TEST(Rules, DeadLoadsAreLeftOut) {
  const Extraction loop = extracted(hopper_kernel(chain(), "%u"), "h200", kWhole);
  int loads = 0;
  for (const problem::Op& op : loop.problem.ops()) loads += op.variable_latency ? 1 : 0;
  EXPECT_EQ(loads, 2);
}

// A register tile stored to shared memory is priced and takes space there.
TEST(Rules, StoresToSharedMemoryHaveAPriceAndASize) {
  const Extraction loop = extracted(hopper_kernel(chain(), "%u"), "h200", kWhole);
  const problem::Op* store = find_op(loop.problem, "smem_store");
  ASSERT_NE(store, nullptr);
  EXPECT_GT(demand_on(loop.problem, *store, "SMEM"), 0);
  EXPECT_EQ(store->footprint[0].amount, 128 * 128 * 2);
}

// A running sum over two products, as in a loop unrolled in the source: each product is added when
// it is done. Additions that wait for the same products are one op.
TEST(Rules, SumsThatWaitForOtherProductsStayApart) {
  const std::string second = R"(
      %e = ttng.warp_group_dot %b2, %b, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
)";
  const std::string other = R"(
      %tb2 = tt.descriptor_load %a_desc[%c64, %i] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
      %b2 = ttg.local_alloc %tb2 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
)";
  const std::string apart = R"(
      %s = arith.addf %acc, %d : tensor<128x128xf32, #mma>
      %u = arith.addf %s, %e : tensor<128x128xf32, #mma>
)";
  const std::string together = R"(
      %s = arith.addf %d, %e : tensor<128x128xf32, #mma>
      %u = arith.addf %s, %acc : tensor<128x128xf32, #mma>
)";
  const std::string products = loads() + other + product("%zero") + second;
  EXPECT_THAT(names_of(extracted(hopper_kernel(products + apart, "%u"), "h200", kWhole).problem),
              Contains("add1"));
  EXPECT_THAT(names_of(extracted(hopper_kernel(products + together, "%u"), "h200", kWhole).problem),
              Contains("add"));
}

/// A running sum of %d along `axis`, and one of a vector.
std::string scans(const std::string& axis) {
  const std::string combine = R"(
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.scan.return %z : f32
      }))";
  return loads() + product("%zero") + R"(
      %t = arith.sitofp %i : i32 to f32
      %ts = tt.splat %t : f32 -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %v = "tt.scan"(%ts) <{axis = 0 : i32, reverse = false}> ({)" +
         combine +
         R"( : (tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %vx = tt.expand_dims %v {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xf32, #mma>
      %vb = tt.broadcast %vx : tensor<128x1xf32, #mma> -> tensor<128x128xf32, #mma>
      %s = "tt.scan"(%d) <{axis = )" +
         axis + " : i32, reverse = false}> ({" + combine +
         R"( : (tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma>
      %u = arith.addf %s, %vb : tensor<128x128xf32, #mma>
)";
}

// A scan costs the machine's price for its direction: shuffles along a row, shared memory where the
// warps of a group synchronize.
TEST(Rules, ScansHavePricesByTheirDirection) {
  const Extraction along = extracted(hopper_kernel(scans("1"), "%u"), "h200", kWhole);
  const Extraction down = extracted(hopper_kernel(scans("0"), "%u"), "h200", kWhole);
  EXPECT_TRUE(along.warnings.empty());
  EXPECT_TRUE(down.warnings.empty());
  const problem::Op* vector = find_op(along.problem, "row_scan0");
  const problem::Op* row = find_op(along.problem, "row_scan1");
  const problem::Op* column = find_op(down.problem, "column_scan");
  ASSERT_NE(vector, nullptr);
  ASSERT_NE(row, nullptr);
  ASSERT_NE(column, nullptr);
  EXPECT_GT(demand_on(along.problem, *row, "SHUFFLE"), 0);
  EXPECT_EQ(demand_on(along.problem, *row, "SMEM"), 0);
  EXPECT_GT(demand_on(down.problem, *column, "SMEM"), 0);
  EXPECT_LT(vector->alternatives[0].latency, row->alternatives[0].latency);
  EXPECT_GT(column->alternatives[0].latency, row->alternatives[0].latency);
}

std::string rows() {
  return loads() + product("%zero") + R"(
      %m = "tt.reduce"(%d) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x128xf32, #mma>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %mm = arith.mulf %m, %m : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %me = math.exp2 %mm : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %mx = tt.expand_dims %me {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xf32, #mma>
      %mb = tt.broadcast %mx : tensor<128x1xf32, #mma> -> tensor<128x128xf32, #mma>
      %u = arith.addf %d, %mb : tensor<128x128xf32, #mma>
)";
}

// A broadcast row vector is no tile: it has no op of its own, and takes few registers.
TEST(Rules, RowVectorsAreNotTiles) {
  const Extraction loop = extracted(hopper_kernel(rows(), "%u"), "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  EXPECT_THAT(names_of(problem),
              ElementsAre("load_a", "load_b", "mma", "row_max", "vec_mul_exp2", "add"));
  EXPECT_LE(find_op(problem, "vec_mul_exp2")->registers, 4);
  EXPECT_LE(find_op(problem, "row_max")->registers, 4);
  EXPECT_GT(demand_on(problem, *find_op(problem, "row_max"), "SHUFFLE"), 0);
  EXPECT_LT(find_dependence(problem, "row_max", "vec_mul_exp2")->transfer,
            find_dependence(problem, "mma", "add")->transfer);
}

// Changes of register layout are free. A transposition is not: the product reads the tile from
// memory.
TEST(Rules, TransposedOperandsGoThroughSharedMemory) {
  const std::string body = loads() + product("%zero") + R"(
      %h = arith.truncf %d : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
      %ht = tt.trans %h {order = array<i32: 1, 0>} : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #blocked>
      %ho = ttg.convert_layout %ht : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %g = ttg.convert_layout %h : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %c2 = tt.descriptor_load %v_desc[%i, %c0] : !tt.tensordesc<tensor<128x128xf16, #shared>> -> tensor<128x128xf16, #blocked>
      %c = ttg.local_alloc %c2 : (tensor<128x128xf16, #blocked>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
      %p = ttng.warp_group_dot %g, %c, %zero {inputPrecision = 0 : i32} : tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<128x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
      %q = ttng.warp_group_dot %ho, %c, %p {inputPrecision = 0 : i32} : tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<128x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
)";
  std::string text = hopper_kernel(body, "%q");
  const std::string anchor = "%ptr: !tt.ptr<f16>";
  text.replace(text.find(anchor), anchor.size(),
               "%v_desc: !tt.tensordesc<tensor<128x128xf16, #shared>>, %ptr: !tt.ptr<f16>");
  const Extraction loop = extracted(text, "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  EXPECT_NE(find_dependence(problem, "convert", "mma1"), nullptr);  // RS: straight from registers
  EXPECT_EQ(find_dependence(problem, "convert", "mma2"), nullptr);
  EXPECT_NE(find_dependence(problem, "convert", "smem_store"), nullptr);
  EXPECT_NE(find_dependence(problem, "smem_store", "mma2"), nullptr);  // SS
  // The two products update one accumulator: in order on the tensor core, without a wait.
  const problem::Dependence* chain = find_dependence(problem, "mma1", "mma2");
  EXPECT_TRUE(chain->in_place);
  EXPECT_FALSE(chain->blocking);
  EXPECT_EQ(chain->delay, find_op(problem, "mma1")->alternatives[0].occupancy);
}

std::string pointer_loop(const std::string& use) {
  return R"(
      %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %ro = tt.splat %i : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %rs = arith.addi %range, %ro : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %rx = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
      %rb = tt.broadcast %rx : tensor<128x1xi32, #blocked> -> tensor<128x64xi32, #blocked>
      %base = tt.splat %ptr : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>, #blocked>
      %at = tt.addptr %base, %rb : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
      %tp = tt.load %at : tensor<128x64x!tt.ptr<f16>, #blocked>
)" + use +
         R"(
      %tb = tt.descriptor_load %b_desc[%i, %c0] : !tt.tensordesc<tensor<64x128xf16, #shared>> -> tensor<64x128xf16, #blocked>
      %b = ttg.local_alloc %tb : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
)" + product();
}

// A tt.load that only fills shared memory is a cp.async: in the load group, streaming, with its
// index arithmetic.
TEST(Rules, PointerLoadsOfOperandsAreAsynchronousCopies) {
  const Extraction loop = extracted(
      hopper_kernel(pointer_loop("      %a = ttg.local_alloc %tp : (tensor<128x64xf16, #blocked>) "
                                 "-> !ttg.memdesc<128x64xf16, #shared, #smem>")),
      "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(problem.ops().size(), 3U);
  const problem::Op& copy = *find_op(problem, "load");
  EXPECT_TRUE(copy.variable_latency && copy.streaming);
  EXPECT_THAT(copy.source, Contains(HasSubstr("tt.addptr")));
  EXPECT_GT(demand_on(problem, copy, "ALU"), 0);  // tensor pointer arithmetic is not free
}

// The same load with arithmetic on its result stays in a compute group, and its reader blocks.
TEST(Rules, PointerLoadsIntoRegistersStayWithTheirConsumer) {
  const Extraction loop =
      extracted(hopper_kernel(pointer_loop(
                    "      %tn = arith.addf %tp, %tp : tensor<128x64xf16, #blocked>\n"
                    "      %a = ttg.local_alloc %tn : (tensor<128x64xf16, #blocked>) -> "
                    "!ttg.memdesc<128x64xf16, #shared, #smem>")),
                "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  const problem::Op& load = *find_op(problem, "load");
  EXPECT_FALSE(load.variable_latency);
  EXPECT_EQ(load.warps, 4);
  EXPECT_TRUE(find_dependence(problem, "load", "add")->blocking);
  EXPECT_NE(find_op(problem, "smem_store"), nullptr);
}

// A copy whose address depends on a tile of the loop cannot run ahead.
TEST(Rules, CopiesThatWaitForTheLoopDoNotStream) {
  const std::string body = loads() + product() + R"(
      %mx = "tt.reduce"(%d) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x128xf32, #mma>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %my = "tt.reduce"(%mx) <{axis = 0 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>) -> f32
      %row = arith.fptosi %my : f32 to i32
      %te = tt.descriptor_load %b_desc[%row, %c0] : !tt.tensordesc<tensor<64x128xf16, #shared>> -> tensor<64x128xf16, #blocked>
      %e = ttg.local_alloc %te : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
      %f = ttng.warp_group_dot %a, %e, %d {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
)";
  const Extraction loop = extracted(hopper_kernel(body, "%f"), "h200", kWhole);
  int streaming = 0, waiting = 0;
  for (const problem::Op& op : loop.problem.ops()) {
    streaming += op.streaming ? 1 : 0;
    waiting += op.variable_latency && !op.streaming ? 1 : 0;
  }
  EXPECT_EQ(streaming, 2);
  EXPECT_EQ(waiting, 1);
}

// fp8 with a limit on imprecise sums: the product reads memory, the promotion adds to the
// accumulator.
TEST(Rules, Fp8SumsArePromotedOnTheCudaCores) {
  std::string text = hopper_kernel(loads() + product());
  for (std::size_t at = 0; (at = text.find("f16", at)) != std::string::npos;) {
    text.replace(at, 3, "f8E4M3FN");
  }
  text.replace(text.find("128, 16]"), 8, "128, 32]");
  text.replace(text.find("elementBitWidth = 16"), 20, "elementBitWidth = 8");
  const std::string precision = "{inputPrecision = 0 : i32}";
  text.replace(text.find(precision), precision.size(),
               "{inputPrecision = 0 : i32, maxNumImpreciseAcc = 32 : i32}");
  const Extraction loop = extracted(text, "h200", kWhole);
  const problem::Problem& problem = loop.problem;
  EXPECT_NE(find_dependence(problem, "load_a", "mma"), nullptr);
  EXPECT_EQ(find_dependence(problem, "load_a", "promote"), nullptr);
  EXPECT_TRUE(find_dependence(problem, "promote", "promote", 1)->in_place);
  EXPECT_EQ(find_dependence(problem, "mma", "mma", 1), nullptr);
}

// Unknown ops have the default price and a warning with their place; under --strict they are
// refused.
TEST(Rules, UnknownOpsWarnOrAreRefused) {
  const std::string text =
      hopper_kernel(loads() + product() +
                        "      %k = \"odd.shuffle\"(%d) : (tensor<128x128xf32, #mma>) -> "
                        "tensor<128x128xf32, #mma>\n",
                    "%k");
  const Extraction loop = extracted(text, "h200", kWhole);
  ASSERT_EQ(loop.warnings.size(), 1U);
  EXPECT_THAT(loop.warnings[0].message, HasSubstr("odd.shuffle"));
  EXPECT_GT(loop.warnings[0].location.line, 0);
  Options strict = kWhole;
  strict.strict = true;
  const auto refused = extract_from(text, "h200", strict);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("odd.shuffle"));
  EXPECT_GT(refused.error().location.line, 0);
}

// Tiles that live through the loop reduce the capacity.
TEST(Rules, InvariantBuffersReduceTheCapacity) {
  const std::string before = R"(
    %qt = tt.descriptor_load %a_desc[%c0, %c0] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
    %a = ttg.local_alloc %qt : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
)";
  const std::string body = R"(
      %tb = tt.descriptor_load %b_desc[%i, %c0] : !tt.tensordesc<tensor<64x128xf16, #shared>> -> tensor<64x128xf16, #blocked>
      %b = ttg.local_alloc %tb : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
)" + product();
  const Extraction loop = extracted(hopper_kernel(body, "%d", before), "h200", kWhole);
  ASSERT_EQ(loop.reserved.size(), 1U);
  EXPECT_EQ(loop.reserved[0].amount, 128 * 64 * 2);
  const auto whole = machine_named("h200")->memories[0].capacity.value;
  EXPECT_EQ(loop.problem.memories()[0].capacity,
            static_cast<Amount>(whole) - loop.reserved[0].amount);
}

// Functions of the device library have prices; unknown functions cause a warning.
TEST(Rules, DeviceFunctionsHavePrices) {
  const auto calling = [](const std::string& symbol) {
    return extracted(hopper_kernel(loads() + product() + R"(
      %t = tt.extern_elementwise %d {libname = "", libpath = "", pure = true, symbol = ")" +
                                   symbol +
                                   R"("} : (tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma>
      "test.keep"(%t) : (tensor<128x128xf32, #mma>) -> ()
)"),
                     "h200", kWhole);
  };
  const Extraction known = calling("__nv_tanhf"), unknown = calling("__nv_j0f");
  ASSERT_NE(find_op(known.problem, "tanh"), nullptr);
  EXPECT_GT(demand_on(known.problem, *find_op(known.problem, "tanh"), "MUFU"), 0);
  EXPECT_LT(known.warnings.size(), unknown.warnings.size());
}

std::int64_t reserved_registers(const std::string& before, const std::string& read) {
  const Extraction loop =
      extracted(hopper_kernel(loads() + product() + read, "%d", before), "h200", kWhole);
  std::int64_t registers = 0;
  for (const Reserved& reserved : loop.reserved) {
    if (reserved.memory == "registers") registers += reserved.amount;
  }
  return registers;
}

// Values that Triton hoists out of a loop, such as broadcast row vectors and their masks, are
// recomputed where needed. A tile of loaded numbers takes registers all the time.
TEST(Rules, HoistedBroadcastsTakeNoRegisters) {
  const std::string rows = R"(
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xi32, #mma>
    %n1 = tt.splat %n : i32 -> tensor<128x1xi32, #mma>
    %below = arith.subi %n1, %column : tensor<128x1xi32, #mma>
    %row = tt.broadcast %below : tensor<128x1xi32, #mma> -> tensor<128x128xi32, #mma>
    %limit = tt.splat %n : i32 -> tensor<128x128xi32, #mma>
    %mask = arith.cmpi slt, %row, %limit : tensor<128x128xi32, #mma>
    %p = tt.splat %ptr : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>, #mma>
    %ps = tt.addptr %p, %row : tensor<128x128x!tt.ptr<f16>, #mma>, tensor<128x128xi32, #mma>
    %loaded = tt.load %ps : tensor<128x128x!tt.ptr<f16>, #mma>
)";
  const std::string keep_index = R"(
      "test.keep"(%row, %mask) : (tensor<128x128xi32, #mma>, tensor<128x128xi1, #mma>) -> ()
)";
  const std::string keep_loaded = R"(
      "test.keep"(%loaded) : (tensor<128x128xf16, #mma>) -> ()
)";
  EXPECT_EQ(reserved_registers(rows, keep_index), 0);
  EXPECT_EQ(reserved_registers(rows, keep_loaded), 64);
}

// wgmma does not run on Blackwell: refused, since its price would be meaningless.
TEST(Rules, RefusesAMachineOfAnotherArchitecture) {
  const auto refused = extract_from(gemm(), "b200");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("compiled for sm_90"));
}

// Protects: rows that a descriptor gathers or scatters are refused for Hopper, with the op. (A
// schedule was given, and no module of it compiles.)
TEST(Target, GathersByDescriptorsNeedBlackwell) {
  const std::string gather = R"(
      %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
      %g = tt.descriptor_gather %some[%rows, %i] : (!tt.tensordesc<tensor<1x64xf16, #shared>>, tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, i32) -> tensor<64x64xf16, #blocked>
)";
  std::string text = hopper_kernel(loads() + product() + gather);
  const std::string first = "%a_desc:";
  text.insert(text.find(first), "%some: !tt.tensordesc<tensor<1x64xf16, #shared>>, ");
  const auto refused = extract_from(text, "h200", {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("tt.descriptor_gather needs sm_100"));
  EXPECT_GT(refused.error().location.line, 0);
}

TEST(Rules, RefusesAnUnknownPool) {
  Options options;
  options.pool = "no-such-pool";
  const auto refused = extract_from(gemm(), "h200", options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("pools:"));
}

// The bracket's slow end is at least its fast end.
TEST(Rules, SlowestIsNeverFasterThanFastest) {
  Options slow = kWhole;
  slow.rate = machine::Rate::slowest;
  const Extraction fast = extracted(hopper_kernel(rows(), "%u"), "h200", kWhole);
  const Extraction slowest = extracted(hopper_kernel(rows(), "%u"), "h200", slow);
  ASSERT_EQ(fast.problem.ops().size(), slowest.problem.ops().size());
  for (std::size_t i = 0; i < fast.problem.ops().size(); ++i) {
    EXPECT_LE(fast.problem.ops()[i].alternatives[0].latency,
              slowest.problem.ops()[i].alternatives[0].latency);
    EXPECT_LE(fast.problem.ops()[i].alternatives[0].issue,
              slowest.problem.ops()[i].alternatives[0].issue);
  }
}

}  // namespace
}  // namespace twill::extract::testing
