#include <algorithm>
#include <gmock/gmock.h>
#include <set>

#include "extract/ttgir.h"

namespace twill::extract::testing {
namespace {

using ::testing::HasSubstr;

Extraction kernel(const std::string& path, Options options = {}) {
  const std::string machine = path.find("sm_100") != std::string::npos ? "b200" : "h200";
  return extracted(text_of(project() / "kernels" / path), machine, options);
}

/// Ops whose name starts with `stem`, for all numbers and sub-tiles.
std::vector<const problem::Op*> ops_like(const problem::Problem& problem, const std::string& stem) {
  std::vector<const problem::Op*> found;
  for (const problem::Op& op : problem.ops()) {
    if (op.name.starts_with(stem)) found.push_back(&op);
  }
  return found;
}

Cycles tensor_cycles(const problem::Problem& problem) {
  Cycles cycles = 0;
  for (const problem::Op& op : problem.ops()) {
    if (op.alternatives[0].unit && problem[*op.alternatives[0].unit].name == "TC")
      cycles += op.alternatives[0].occupancy;
  }
  return cycles;
}

std::size_t streaming_loads(const problem::Problem& problem) {
  return static_cast<std::size_t>(std::count_if(problem.ops().begin(), problem.ops().end(),
                                                [](const auto& op) { return op.streaming; }));
}

using Names = std::vector<std::string>;

std::vector<Names> same_groups(const problem::Problem& problem) {
  std::vector<Names> sets;
  for (const std::vector<problem::OpId>& ops : problem.same_group()) {
    Names& names = sets.emplace_back();
    for (const problem::OpId op : ops) names.push_back(problem[op].name);
  }
  return sets;
}

// On the b200, the exponentials of a tile have two alternatives, those of a row vector one. On the
// h200, every op has one.
TEST(Kernels, TilesHaveTheMachinesAlternatives) {
  const problem::Problem b200 = kernel("fa_fwd/sm_100/d128.pre.ttgir").problem;
  const problem::Op& tile = *find_op(b200, "exp2");
  ASSERT_EQ(tile.alternatives.size(), 2U);
  EXPECT_EQ(tile.alternatives[0].name, "exp2");
  EXPECT_EQ(tile.alternatives[1].name, "exp2_quarter_fma");
  for (const problem::Op& op : b200.ops()) {
    const std::size_t alternatives = &op == &tile ? 2 : 1;
    EXPECT_EQ(op.alternatives.size(), alternatives) << op.name;
  }
  for (const problem::Op& op : kernel("fa_fwd/sm_90/d128.pre.ttgir").problem.ops()) {
    EXPECT_EQ(op.alternatives.size(), 1U) << op.name;
  }
}

// A tile in eight warps takes half the registers of each thread. A row vector does not: on
// Blackwell, both warpgroups need the values of all 128 rows, and reductions meet in shared memory.
TEST(Kernels, AWideGroupSpreadsItsTiles) {
  const std::string path = "fa_fwd/sm_100/d128.pre.ttgir";
  Options narrow;
  narrow.pool = "1x128";
  Options wide;
  wide.pool = "1x128w8";
  const problem::Problem four = kernel(path, narrow).problem;
  const problem::Problem eight = kernel(path, wide).problem;
  ASSERT_EQ(four.ops().size(), eight.ops().size());
  for (std::size_t i = 0; i < four.ops().size(); ++i) {
    const problem::Op& op = eight.ops()[i];
    if (op.warps == 1) continue;
    EXPECT_EQ(op.warps, 8) << op.name;
    const int registers = four.ops()[i].registers;
    EXPECT_EQ(op.registers, registers > 1 ? registers / 2 : registers) << op.name;
  }
  EXPECT_EQ(demand_on(four, *find_op(four, "row_max"), "SMEM"), 0);
  EXPECT_GT(demand_on(eight, *find_op(eight, "row_max"), "SMEM"), 0);
}

// Two products of the same rows are multiplied after the loop. No step transfers registers there,
// so a group with only one product could not finish its rows.
TEST(Kernels, WhatMeetsBehindTheLoopSharesAGroup) {
  const std::string path = "dual_gemm/sm_90/128x128x64.pre.ttgir";
  EXPECT_EQ(same_groups(kernel(path).problem),
            (std::vector<Names>{{"mma0A", "mma1A"}, {"mma0B", "mma1B"}}));
  EXPECT_EQ(same_groups(kernel(path, without_sub_tiles()).problem),
            (std::vector<Names>{{"mma0", "mma1"}}));
}

// The accumulator is divided by the row sum: one product and vectors, whose groups the search may
// choose freely. Every group can read tensor memory.
TEST(Kernels, OnlyProductsAreTied) {
  EXPECT_TRUE(
      same_groups(kernel("fa_fwd/sm_90/d128.pre.ttgir", without_sub_tiles()).problem).empty());
  EXPECT_TRUE(
      same_groups(kernel("fa_fwd/sm_100/d128.pre.ttgir", without_sub_tiles()).problem).empty());
  EXPECT_TRUE(same_groups(kernel("dual_gemm/sm_100/128x128x64.pre.ttgir").problem).empty());
}

// Sum and product of the row-sum kernel are stored separately.
TEST(Kernels, WhatIsStoredApartNeedNotMeet) {
  EXPECT_TRUE(same_groups(kernel("gemm_rowsum/sm_90/128x128x64.pre.ttgir").problem).empty());
}

/// A kernel of tests/emit/kinds.
Extraction of_kind(const std::string& name) {
  return extracted(text_of(project() / "tests/emit/kinds" / (name + ".ttgir")), "h200");
}

// A row sum of an operand scales the product after the loop. No register value links the two in the
// loop, so separate groups could not finish the rows.
TEST(Kernels, SumsThatMeetTheProductBehindTheLoopShareItsGroup) {
  for (const Names& names : same_groups(of_kind("rms_gemm").problem)) {
    EXPECT_TRUE(std::find(names.begin(), names.end(), "mmaA") != names.end() ||
                std::find(names.begin(), names.end(), "mmaB") != names.end());
    EXPECT_EQ(names.size(), 2U);
  }
  EXPECT_EQ(same_groups(of_kind("rms_gemm").problem).size(), 2U);
}

// A branch is printed as a whole at its last op, the second product. The keys of the first product
// are kept until then, and one group runs all ops of the branch.
TEST(Kernels, BranchesKeepWhatTheyReadUntilTheirLastOp) {
  const Extraction loop = of_kind("skip_block");
  for (const char* const part : {"A", "B"}) {
    EXPECT_NE(find_dependence(loop.problem, "load_k", std::string("mma1") + part), nullptr);
  }
  for (const Names& names : same_groups(loop.problem)) {
    EXPECT_THAT(names, ::testing::AllOf(::testing::Contains(::testing::StartsWith("mma0")),
                                        ::testing::Contains(::testing::StartsWith("mma1"))));
  }
  EXPECT_EQ(same_groups(loop.problem).size(), 2U);
}

// Every bundled kernel, in every state of Triton's pipeline, gives a problem or is refused with a
// message. No input crashes. Before pipelining, tensor-core work always gives a problem.
TEST(Kernels, AllExtract) {
  int posed = 0;
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(project() / "kernels")) {
    if (entry.path().extension() == ".ttgir") paths.insert(entry.path());
  }
  for (const std::filesystem::path& path : paths) {
    const std::string file = path.string();
    const std::string machine = file.find("sm_100") != std::string::npos ? "b200" : "h200";
    for (const std::int64_t rows : {-1, 0, 32, 64, 128}) {
      Options options;
      if (rows >= 0) options.subtile = rows;
      const auto loop = extract_from(text_of(path), machine, options);
      if (file.find("softmax") != std::string::npos) {
        ASSERT_FALSE(loop) << file;
        EXPECT_THAT(loop.error().message, HasSubstr("tensor-core work"));
      } else if (file.find(".pre.") != std::string::npos && rows <= 0) {
        ASSERT_TRUE(loop) << file << ": " << to_string(loop.error());
        EXPECT_GT(tensor_cycles(loop->problem), 0) << file;
        EXPECT_GE(streaming_loads(loop->problem), 2U) << file;
        ++posed;
      }
    }
  }
  EXPECT_GE(posed, 100);
}

// The same input gives the same problem.
TEST(Kernels, ExtractionIsDeterministic) {
  for (const char* path :
       {"fa_fwd/sm_90/d128.pre.ttgir", "fa_bwd/sm_100/m64n128d128_atomic.pre.ttgir"}) {
    EXPECT_TRUE(kernel(path).problem == kernel(path).problem) << path;
  }
}

// Flash attention forward on Hopper: the ops that a kernel engineer would draw, twice, with two
// loads.
TEST(Kernels, FlashAttentionForwardHopper) {
  const Extraction loop = kernel("fa_fwd/sm_90/d128.pre.ttgir");
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(loop.sub_tiles, 2);
  EXPECT_EQ(problem.ops().size(), 2U + 2U * 11U);
  EXPECT_TRUE(loop.warnings.empty());
  EXPECT_EQ(streaming_loads(problem), 2U);
  // 2 products of 2 * 128 * 128 * 128 FLOP at 4096 a cycle.
  EXPECT_EQ(tensor_cycles(problem), 2048);
  for (const char* stem : {"row_max", "scale_sub", "exp2", "row_sum", "convert", "rescale"}) {
    ASSERT_EQ(ops_like(problem, stem).size(), 2U) << stem;
    EXPECT_EQ(ops_like(problem, stem)[0]->warps, 4) << stem;
  }
  // 64 x 128 exponentials at 16 a cycle; the vectors' own are few.
  EXPECT_EQ(demand_on(problem, *find_op(problem, "exp2A"), "MUFU"), 512);
  // O is rescaled and updated in place; P stays in registers for the second product.
  const problem::Dependence* update = find_dependence(problem, "rescaleA", "mma1A");
  ASSERT_NE(update, nullptr);
  EXPECT_TRUE(update->in_place);
  EXPECT_TRUE(find_dependence(problem, "mma1A", "rescaleA", 1)->blocking);
  EXPECT_NE(find_dependence(problem, "convertA", "mma1A"), nullptr);
  EXPECT_TRUE(ops_like(problem, "smem_store").empty());
  // A product of form RS has a slightly shorter latency than SS.
  EXPECT_LT(find_op(problem, "mma1A")->alternatives[0].latency,
            find_op(problem, "mma0A")->alternatives[0].latency);
  // Q stays in shared memory: 128 x 128 f16.
  ASSERT_EQ(loop.reserved.size(), 1U);
  EXPECT_EQ(loop.reserved[0].amount, 32768);
}

// The kernel written with two chains of 64 rows gives the same problem as the cut kernel.
TEST(Kernels, SubTiledByHandIsTheSameAsCut) {
  const Extraction by_hand = kernel("fa_fwd_subtiled/sm_90/2x64n128d128.pre.ttgir");
  const Extraction cut = kernel("fa_fwd/sm_90/d128.pre.ttgir");
  EXPECT_EQ(by_hand.sub_tiles, 1);
  EXPECT_EQ(by_hand.problem.ops().size(), cut.problem.ops().size());
  EXPECT_EQ(by_hand.problem.dependences().size(), cut.problem.dependences().size());
  EXPECT_EQ(tensor_cycles(by_hand.problem), tensor_cycles(cut.problem));
}

// On Blackwell, S, P and O are in tensor memory, and moves of these tiles have prices.
TEST(Kernels, FlashAttentionForwardBlackwell) {
  const Extraction loop = kernel("fa_fwd/sm_100/d128.pre.ttgir");
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(problem.ops().size(), 17U);
  EXPECT_EQ(ops_like(problem, "tmem_load").size(), 2U);
  EXPECT_EQ(ops_like(problem, "tmem_store").size(), 2U);
  for (const problem::Op* move : ops_like(problem, "tmem_")) {
    EXPECT_GT(demand_on(problem, *move, "TMEM"), 0) << move->name;
  }
  EXPECT_EQ(find_op(problem, "mma0")->warps, 1);
  EXPECT_EQ(find_op(problem, "mma0")->registers, 0);
  // Columns: S 128, P 64. O is one buffer of 128 that belongs to the product; the store only
  // updates it.
  EXPECT_EQ(find_op(problem, "mma0")->footprint[0].amount, 128);
  EXPECT_EQ(find_op(problem, "mma1")->footprint[0].amount, 128);
  EXPECT_EQ(find_op(problem, "tmem_store0")->footprint[0].amount, 64);
  EXPECT_TRUE(find_op(problem, "tmem_store1")->footprint.empty());
  EXPECT_TRUE(find_dependence(problem, "tmem_store1", "mma1")->in_place);
  EXPECT_TRUE(find_dependence(problem, "mma1", "mma1", 1)->in_place);
  EXPECT_FALSE(find_dependence(problem, "tmem_load1", "tmem_store1")->carries_value);
  EXPECT_NE(find_op(problem, "rescale"), nullptr);
}

// The mask of the diagonal block costs a comparison and a selection per element.
TEST(Kernels, CausalMasksArePriced) {
  const ir::Program program =
      program_of(text_of(project() / "kernels/fa_fwd_causal/sm_90/d128.pre.ttgir"));
  const auto masked = extract(program, choose_loop(program, "1")->loop, machine_named("h200"), {});
  const auto plain = extract(program, choose_loop(program, "0")->loop, machine_named("h200"), {});
  ASSERT_TRUE(masked && plain);
  EXPECT_NE(find_op(masked->problem, "scale_maskA"), nullptr);
  EXPECT_EQ(find_op(plain->problem, "scale_maskA"), nullptr);
  EXPECT_EQ(tensor_cycles(masked->problem), tensor_cycles(plain->problem));
}

// The backward pass on Hopper has five products. dQ contracts the cut rows: one shared product of
// tiles that both sub-tiles stored. Its reduction is kept, with staging.
TEST(Kernels, FlashAttentionBackwardHopper) {
  const Extraction loop = kernel("fa_bwd/sm_90/m64n128d128_tmared.pre.ttgir");
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(ops_like(problem, "mma").size(), 4U * 2U + 1U);
  EXPECT_EQ(tensor_cycles(problem), 5 * 512);
  EXPECT_NE(find_dependence(problem, "smem_storeA", "mma4"), nullptr);
  EXPECT_NE(find_dependence(problem, "smem_storeB", "mma4"), nullptr);
  ASSERT_NE(find_op(problem, "reduce_store"), nullptr);
  EXPECT_EQ(find_op(problem, "reduce_store")->warps, 1);
  EXPECT_TRUE(find_op(problem, "reduce_store")->alternatives[0].unit.has_value());
  EXPECT_EQ(find_op(problem, "stage")->footprint[0].amount, 64 * 128 * 4);
  // dK and dV are accumulators in registers.
  EXPECT_TRUE(find_dependence(problem, "mma1A", "mma1A", 1)->in_place);
  EXPECT_TRUE(find_dependence(problem, "mma3A", "mma3A", 1)->in_place);
  // The row statistics are blocking loads in the compute groups, one per sub-tile.
  for (const problem::Op* load : ops_like(problem, "load")) {
    if (load->variable_latency) continue;
    EXPECT_EQ(load->warps, 4);
    EXPECT_GT(load->registers, 0);
    EXPECT_LE(load->registers, 16);
  }
  // K and V: 2 x 128 x 128 f16.
  Amount reserved = 0;
  for (const Reserved& tile : loop.reserved) reserved += tile.amount;
  EXPECT_EQ(reserved, 65536);
}

// Blackwell's backward pass: an accumulate flag known only at run time still means one buffer.
TEST(Kernels, FlashAttentionBackwardBlackwell) {
  const Extraction loop = kernel("fa_bwd/sm_100/m64n128d128_atomic.pre.ttgir");
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(ops_like(problem, "mma").size(), 5U);
  int in_place = 0;
  for (const problem::Dependence& dependence : problem.dependences()) {
    in_place += dependence.in_place && dependence.from == dependence.to ? 1 : 0;
  }
  EXPECT_EQ(in_place, 2);  // dK and dV
  EXPECT_NE(find_op(problem, "atomic"), nullptr);
  EXPECT_NE(find_op(problem, "smem_store"), nullptr);  // dS, priced
}

// A tile that is multiplied and summed is loaded once, and fetched into registers once per
// sub-tile.
TEST(Kernels, GemmWithRowSum) {
  const Extraction loop = kernel("gemm_rowsum/sm_90/128x128x64.pre.ttgir");
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(streaming_loads(problem), 2U);
  EXPECT_EQ(ops_like(problem, "smem_load").size(), 2U);
  EXPECT_EQ(ops_like(problem, "row_sum").size(), 2U);
}

// Loads through pointers for products are cp.async, with the work for masks and addresses included.
TEST(Kernels, ConvolutionCopiesThroughPointers) {
  const Extraction loop = kernel("conv2d/sm_90/3x3_128x128x64.pre.ttgir");
  const problem::Problem& problem = loop.problem;
  EXPECT_EQ(streaming_loads(problem), 2U);
  EXPECT_EQ(problem.ops().size(), 4U);
  EXPECT_GT(find_op(problem, "load0")->source.size(), 10U);
}

// A flattened persistent loop: the epilogue is no steady-state work. Both groups own it, and its
// staging buffer is reserved.
TEST(Kernels, FlattenedPersistentLoop) {
  const Extraction loop = kernel("gemm_persistent/sm_90/128x256x64_flat.pre.ttgir");
  EXPECT_EQ(ops_like(loop.problem, "epilogue").size(), 2U);
  EXPECT_EQ(tensor_cycles(loop.problem), 1024);
  ASSERT_EQ(loop.reserved.size(), 1U);
  EXPECT_EQ(loop.reserved[0].amount, 128 * 256 * 2);
  EXPECT_EQ(loop.warnings.size(), 1U);
}

// In the nested loop, the inner loop is the main loop.
TEST(Kernels, NestedPersistentLoop) {
  const Extraction loop = kernel("gemm_persistent/sm_100/128x128x64_nested.pre.ttgir");
  EXPECT_EQ(loop.problem.ops().size(), 3U);
  EXPECT_TRUE(find_dependence(loop.problem, "mma", "mma", 1)->in_place);
  ASSERT_EQ(loop.reserved.size(), 1U);  // the store overlaps the next tile
  EXPECT_TRUE(loop.reserved[0].staging);
  EXPECT_EQ(loop.reserved[0].amount, 128 * 128 * 2);
}

// fp8 products run at twice the rate of fp16 ones.
TEST(Kernels, Fp8RunsAtTwiceTheRate) {
  const Extraction loop = kernel("gemm_fp8/sm_90/128x256x128.pre.ttgir");
  EXPECT_EQ(tensor_cycles(loop.problem), 2LL * 128 * 256 * 128 / 8192);
}

}  // namespace
}  // namespace twill::extract::testing
