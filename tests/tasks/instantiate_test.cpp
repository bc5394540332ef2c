#include "programs.h"
#include "twill/tasks/holes.h"

namespace twill::tasks {
namespace {

// A mapping with tunables only: all other choices follow from the tasks.
TEST(Instantiate, DerivesWhatIsNotStated) {
  const auto tree = tree_of(must_read(bundled("gemm.task")));
  ASSERT_TRUE(tree) << to_string(tree.error());
  EXPECT_EQ(to_string(*tree),
            "gemm.host: gemm.host at host  U = 128  V = 256  C: global  A: global  B: global\n"
            "  gemm.block: gemm.block at block  W = 64  C: global  A: global  B: global\n"
            "    clear.zero: clear.zero at warpgroup  C: register\n"
            "    gemm_add.wgmma: gemm_add.wgmma at warpgroup  C: register  A: shared  B: shared\n"
            "    store.cast: store.cast at warpgroup  To: register  From: register\n");
}

// The same tree, with every choice stated.
TEST(Instantiate, TakesWhatIsStated) {
  TaskText text = must_read(bundled("gemm.task"));
  text.mappings = must_read(R"(
map stated for gemm on h200 {
  entry top: gemm.host at host  U = 64  V = 32  calls inside
  inside: gemm.block at block  W = 16  calls zero, product, out
  zero: clear.zero at warpgroup  C: register
  product: gemm_add.wgmma at warpgroup  C: register  A: shared swizzle 32  B: shared
  out: store.cast
}
)")
                      .mappings;
  const auto tree = tree_of(text);
  ASSERT_TRUE(tree) << to_string(tree.error());
  EXPECT_EQ(tree->root.instance, "top");
  ASSERT_EQ(tree->root.children.size(), 1U);
  const TreeNode& block = tree->root.children[0];
  EXPECT_EQ(block.instance, "inside");
  EXPECT_EQ(block.tunables.at("W"), 16);
  ASSERT_EQ(block.children.size(), 3U);
  EXPECT_EQ(block.children[1].instance, "product");
  EXPECT_NE(to_string(*tree).find("A: shared swizzle 32  B: shared\n"), std::string::npos);
  EXPECT_NE(print_mapping(completed(*tree)).find("A: shared swizzle 32  B: shared\n"),
            std::string::npos);
}

// Text has no such layout, but the C++ language has.
TEST(Instantiate, LayoutsAreOfSharedMemory) {
  TaskText text = must_read(bundled("gemm.task"));
  text.mappings = must_read(R"(
map m for gemm on h200 {
  U = 64  V = 32  W = 16
  p: gemm_add.wgmma  A: shared swizzle 64
}
)")
                      .mappings;
  const auto before = tree_of(text);
  ASSERT_TRUE(before) << to_string(before.error());
  text.mappings[0].instances[0].memories[0].memory = Memory::registers;
  const auto tree = tree_of(text);
  ASSERT_FALSE(tree);
  EXPECT_NE(to_string(tree.error()).find("M06: 'A' has a layout of shared memory"),
            std::string::npos)
      << to_string(tree.error());
}

struct MappingCase {
  const char* name;
  const char* mapping;
  const char* message;
};

class RefusedMapping : public testing::TestWithParam<MappingCase> {};

TEST_P(RefusedMapping, WithItsCode) {
  TaskText text = must_read(bundled("gemm.task"));
  const auto [mapping, line, column] =
      marked(std::string("map m for gemm on h200 {\n") + GetParam().mapping + "\n}");
  text.mappings = must_read(mapping).mappings;
  const auto tree = tree_of(text, {}, hopper());
  ASSERT_FALSE(tree);
  const std::string said = to_string(tree.error());
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
  EXPECT_EQ(tree.error().location.line, line) << said;
  EXPECT_EQ(tree.error().location.column, column) << said;
}

const MappingCase kRefusedMappings[] = {
    {"M01Entry", "entry a: gemm.host\nentry @b: gemm.block", "M01: 'b' is an entry, and 'a' too"},
    {"M01Twice", "a: gemm.host\n@a: gemm.block", "M01: there are two instances 'a'"},
    {"M01Unused", "U = 1 V = 1 W = 1\nm: gemm_add.wgmma\n@n: gemm_add.wgmma at warpgroup",
     "M01: no launch takes the instance 'n' of 'gemm_add.wgmma'"},
    {"M02", "@a: gemm.hots", "M02: 'gemm' has no variant 'hots'"},
    {"M02Task", "entry @a: clear.zero", "M02: the entry carries out 'clear'"},
    {"M03Missing", "U = 128 V = 128 @b: gemm.block",
     "M03: 'gemm.block' needs a value of its tunable 'W'"},
    {"M03Unknown", "U = 1 V = 1 W = 1 @X = 1", "M03: no variant has a tunable 'X'"},
    {"M03Zero", "@U = 0 V = 1 W = 1", "M03: 'U' is less than 1"},
    {"M03Leaf", "U = 1 V = 1 W = 1\nz: clear.zero @W = 2",
     "M03: the leaf 'clear.zero' has no tunable 'W'"},
    {"M04Few",
     "U = 1 V = 1\nentry a: gemm.host calls b\n@b: gemm.block W = 1 calls c\nc: clear.zero",
     "M04: 'b' calls 1 instances, but its variant has more launches"},
    {"M04Task", "U = 1 V = 1\nentry @a: gemm.host calls c\nc: clear.zero",
     "M04: launch 1 of 'a' is of 'gemm', and 'c' carries out 'clear'"},
    {"M05", "U = 1 V = 1 W = 1\nentry a: gemm.host at block calls b\n@b: gemm.block at host",
     "M05: 'b' is at host, above its caller, which is at block"},
    {"M04Leaf", "U = 1 V = 1 W = 1\n@z: clear.zero calls y",
     "M04: 'z' calls 1 instances, and the leaf 'clear.zero' launches nothing"},
    {"M05Warp", "U = 1 V = 1 W = 1\n@m: gemm_add.wgmma at warp",
     "M05: 'gemm_add.wgmma' is at warp, and no prange within the block gives it a part"},
    {"M05Thread", "U = 1 V = 1 W = 1\n@b: gemm.block at thread",
     "M05: 'gemm.block' is at thread, and no prange within the block gives it a part"},
    {"M06", "U = 1 V = 1 W = 1\nb: gemm.block at block @C: register",
     "M06: 'C' lies in the memory 'register', which a block of h200 does not see"},
    {"M09", "U = 1 V = 1 W = 1\nm: gemm_add.wgmma @B: register",
     "M09: the right operand of 'mma', 'B', lies in shared memory"},
    {"M09Swizzle", "U = 1 V = 1 W = 1\nm: gemm_add.wgmma B: shared @swizzle 16",
     "M09: 'swizzle 16' is no layout that 'mma' reads"},
    {"M06Swizzle", "U = 1 V = 1 W = 1\nb: gemm.block B: shared @swizzle 64",
     "M06: 'B' of 'gemm.block' is no operand of a product"},
    {"M11", "U = 1 V = 1 W = 1 specialize\nb: gemm.block @specialize = no",
     "M11: one instance says 'specialize', and another 'specialize = no'"},
    {"M12Zero", "U = 1 V = 1 W = 1 @depth = 0", "M12: 'depth' is from 1 to 256"},
    {"M12Large", "U = 1 V = 1 W = 1\nb: gemm.block @depth = 257", "M12: 'depth' is from 1 to 256"},
    {"M12Leaf", "U = 1 V = 1 W = 1\nz: clear.zero @depth = 3",
     "M12: the leaf 'clear.zero' has no loop of its own for 'depth'"},
    {"M13", "@U = {64, 128} V = 1 W = 1", "M13: 'U' has 2 values here, and one is needed"},
    {"M13Open", "@U = ? V = 1 W = 1", "M13: 'U' has no value here, and one is needed"},
    {"M13Depth", "U = 1 V = 1 W = 1 @depth = 2..4", "M13: 'depth' has 3 values here"},
    {"M13Size", "U = 1 V = 1 W = 1 @K = {64, 128}", "M13: 'K' has 2 values here"},
};

INSTANTIATE_TEST_SUITE_P(All, RefusedMapping, testing::ValuesIn(kRefusedMappings),
                         [](const auto& it) { return std::string(it.param.name); });

// Protects: the machine decides which level sees which memory. A mapping that fits one machine is
// refused on others, for its statements and for derived values.
TEST(Instantiate, MemoriesAreThoseOfTheMachine) {
  TaskText text = must_read(bundled("gemm.task"));
  const auto with = [&](const std::string& mapping, const Levels& levels) {
    text.mappings = must_read("map m for gemm { U = 1 V = 1 W = 1 " + mapping + " }").mappings;
    const auto tree = tree_of(text, {}, levels);
    return tree ? std::string() : to_string(tree.error());
  };
  const std::string stated = "b: gemm.block at block C: register";
  Levels levels = hopper();
  EXPECT_EQ(with("", levels), "");
  EXPECT_NE(with(stated, levels), "");
  EXPECT_EQ(with(stated, {}), "") << "of no machine nothing is known";
  levels.machine = "wide";
  levels.seen[Processor::block].insert(Memory::registers);
  EXPECT_EQ(with(stated, levels), "");

  levels.machine = "blind";
  levels.seen[Processor::warpgroup].erase(Memory::shared);
  const std::string derived = with("", levels);
  EXPECT_NE(derived.find("M06: 'A' lies in the memory 'shared', which a warpgroup of blind does "
                         "not see"),
            std::string::npos)
      << derived;
  EXPECT_NE(derived.find("hint: it is seen by: block, warp, thread"), std::string::npos) << derived;

  levels = hopper();
  levels.machine = "flat";
  levels.seen.erase(Processor::warp);
  EXPECT_EQ(with("", levels), "");
  const std::string missing = with("m: gemm_add.wgmma at warp", levels);
  EXPECT_NE(missing.find("M05: 'gemm_add.wgmma' is at warp, a level that flat does not have"),
            std::string::npos)
      << missing;
}

/// Leaves out parts of a tree that are only names.
std::string nameless(const Tree& tree) {
  std::istringstream lines(to_string(tree));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    out += line.substr(0, begin) + line.substr(line.find(": ")) + "\n";
  }
  return out;
}

class Completed : public testing::TestWithParam<std::string> {};

// Stating all derived values gives the same tree, from a text that reads back.
TEST_P(Completed, MakesTheSameTree) {
  const TaskText text = must_read(bundled(GetParam()));
  const auto tree = tree_of(text);
  ASSERT_TRUE(tree) << to_string(tree.error());
  const Mapping whole = completed(*tree);
  const auto read = read_mappings(print_mapping(whole), "whole.map");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->at(0), whole) << print_mapping(whole);
  const auto again = instantiate(text.library, read->at(0));
  ASSERT_TRUE(again) << to_string(again.error()) << print_mapping(whole);
  EXPECT_EQ(nameless(*again), nameless(*tree));
  EXPECT_EQ(completed(*again), whole);
}

INSTANTIATE_TEST_SUITE_P(All, Completed,
                         testing::Values("gemm.task", "attention.task", "scale.task",
                                         "dual_gemm.task", "gated_mlp.task", "gemm_rowsum.task",
                                         "gemm_levels.task", "attention_fa3.task", "gemm_f16.task"),
                         [](const auto& it) { return it.param.substr(0, it.param.find('.')); });

// A depth for all instances holds for instances without a depth of their own.
TEST(Instantiate, DepthOfAllAndOfOne) {
  TaskText text = must_read(bundled("gemm.task"));
  text.mappings = must_read(
                      "map m for gemm { U = 64 V = 64 W = 64 depth = 4\n"
                      "limit shared = 100 KiB a: gemm.block depth = 2 }")
                      .mappings;
  const auto tree = tree_of(text);
  ASSERT_TRUE(tree) << to_string(tree.error());
  EXPECT_EQ(tree->root.depth->values, std::vector<std::int64_t>{4});
  EXPECT_EQ(tree->root.children[0].depth->values, std::vector<std::int64_t>{2});
  EXPECT_EQ(tree->shared->bytes, 100 * 1024);
  EXPECT_FALSE(tree->specialize);
  EXPECT_EQ(completed(*tree).shared, tree->shared);
}

// --- Holes --------------------------------------------------------------------------------------

// Every setting without a single value is a hole, except a depth that the plan may choose.
TEST(Holes, InTheOrderOfTheText) {
  const Mapping mapping = must_read(
                              "map m for gemm { U = {64, 128} V = ? W = 64 depth = ?\n"
                              "b: gemm.block W = 32..64 by 32 depth = {2, 3} }")
                              .mappings.at(0);
  const std::vector<Hole> holes = holes_of(mapping);
  ASSERT_EQ(holes.size(), 4U);
  EXPECT_EQ(holes[0].name, "U");
  EXPECT_EQ(holes[1].name, "V");
  EXPECT_EQ(holes[1].values.size(), 32U);
  EXPECT_EQ(holes[1].values.back(), 256);
  EXPECT_EQ(holes[2].name, "b.W");
  EXPECT_EQ(holes[3].name, "b.depth");
  const Mapping whole = filled(mapping, {128, 176, 32, 3});
  EXPECT_EQ(print_mapping(whole),
            "map m for gemm {\n  U = 128\n  V = 176\n  W = 64\n  depth = ?\n"
            "  b: gemm.block  W = 32  depth = 3\n}\n");
  EXPECT_TRUE(holes_of(whole).empty());
}

// For a mapping with or without statements, the open tunables of its tree are holes.
TEST(Holes, WhatIsNotStated) {
  TaskText text = must_read(bundled("gemm.task"));
  text.mappings = must_read(
                      "map all for gemm { } "
                      "map some for gemm { V = {64, 72} block: gemm.block W = 32 }")
                      .mappings;
  const auto names_of = [&](const Mapping& mapping) {
    std::string names;
    const auto open = opened(text.library, mapping);
    if (!open) return to_string(open.error());
    for (const Hole& hole : holes_of(*open)) {
      names += hole.name + " " + std::to_string(hole.values.size()) + ", ";
    }
    return names;
  };
  EXPECT_EQ(names_of(text.mappings.front()), "U 8, V 8, W 8, ");
  EXPECT_EQ(names_of(text.mappings.back()), "V 2, U 8, ");
  Mapping wrong = text.mappings.back();
  wrong.instances[0].variant = "blok";
  EXPECT_NE(names_of(wrong).find("M02"), std::string::npos);
}

// --- Edges --------------------------------------------------------------------------------------

/// Attention with any number of keys.
Result<Tree> ragged_attention(const std::string& sizes, const std::string& online = {}) {
  std::string text = bundled("attention.task");
  for (std::size_t at = 0; (at = text.find(", exact", at)) != std::string::npos;) text.erase(at, 7);
  const std::string loop = "srange j < N / BN";
  text.replace(text.find(loop), loop.size(), "srange j < cdiv(N, BN)");
  if (!online.empty()) {
    const std::size_t from = text.find("leaf softmax.online");
    text.replace(from, text.find("leaf weigh") - from, online);
  }
  TaskText read = must_read(text);
  read.mappings = must_read("map m for attention { BM = 64 D = 64 " + sizes + " }").mappings;
  return tree_of(read);
}

// T12: zeros beyond the last key are no keys, but would be greater than negative scores.
TEST(Edges, ZerosUnderALargestElement) {
  const auto tree = ragged_attention("BN = 64");
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().message,
            "T12: 'row_max' of 'softmax' goes over what lies beyond the edge of "
            "blocks(K, BN, D)[j, 0] (line 21), which is zeros");
  EXPECT_EQ(tree.error().location.line, 30);
}

TEST(Edges, SizesOfTheMappingMaySayThatThereIsNone) {
  const auto divides = ragged_attention("BN = 64 N = 192");
  EXPECT_TRUE(divides) << to_string(divides.error());
  EXPECT_FALSE(ragged_attention("BN = 64 N = 200"));
}

/// Sums of rows of a product with any number of columns.
Result<Tree> ragged_sum(const std::string& of) {
  TaskText read = must_read(R"(
task sums(writes y: f32[M], reads A: f16[M, K], reads B: f16[N, K])
task add(updates acc: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task clear(writes acc: f32[M, N])
task fold(updates y: f32[M], reads acc: f32[M, N])
task zero(writes y: f32[M])
task copy(writes y: f32[M], reads s: f32[M])
inner sums.all tunable V, W {
  s = tensor f32[M]
  zero(s)
  srange j < cdiv(N, V) {
    acc = tensor f32[M, V]
    clear(acc)
    srange k < cdiv(K, W) { add(acc, blocks(A, M, W)[0, k], blocks(B, V, W)[j, k]) }
    fold(s, acc)
  }
  copy(y, s)
}
leaf add.l { acc += mma(A, transpose(B)) }
leaf clear.l { acc = 0 }
leaf zero.l { y = 0 }
leaf copy.l { y = s }
leaf fold.l { y = y + row_sum()" +
                            of + ") }\nmap m for sums { V = 64 W = 32 }");
  return tree_of(read);
}

// A cleared tile has zeros beyond every edge, and so has a cleared tile to which products were
// added.
TEST(Edges, ProductsOntoAClearedTileAreZeroBeyondTheEdge) {
  for (const char* of : {"acc", "abs(acc)", "acc * acc", "max(acc, 0)", "acc / 3"}) {
    const auto tree = ragged_sum(of);
    EXPECT_TRUE(tree) << of << ": " << to_string(tree.error());
  }
  for (const char* of : {"acc + 1", "exp(acc)", "max(acc, 1)", "1 / (acc + 2)"}) {
    const auto tree = ragged_sum(of);
    ASSERT_FALSE(tree) << of;
    EXPECT_NE(tree.error().message.find("T12"), std::string::npos) << to_string(tree.error());
  }
}

// exp(0) is 1, so a sum of exponentials would be wrong; a product with rows of zeros is right.
TEST(Edges, ExponentialsOfZerosAreNoZeros) {
  const std::string begin = "leaf softmax.online { alpha = l  m = m  ";
  const auto sum =
      ragged_attention("BN = 64", begin + "p = exp(S) l = row_sum(p) P = cast(f16, p) }");
  ASSERT_FALSE(sum);
  EXPECT_NE(sum.error().message.find("'row_sum' of 'softmax'"), std::string::npos);
  EXPECT_NE(sum.error().message.find("made of zeros, and not zero"), std::string::npos);
  const auto product =
      ragged_attention("BN = 64", begin + "l = row_sum(S) P = cast(f16, exp(S)) }");
  EXPECT_TRUE(product) << to_string(product.error());
}

// T10: a task that only launches itself.
TEST(Instantiate, TaskWithoutEnd) {
  const TaskText text =
      must_read("task t(updates C: f16[M])\ninner t.v { t(C) }\nmap m for t on h200 { }");
  const auto tree = tree_of(text);
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().message, "T10: 't' has no further variant that ends in leaves");
}

}  // namespace
}  // namespace twill::tasks
