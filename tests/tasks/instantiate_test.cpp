#include "programs.h"

namespace twill::tasks {
namespace {

// An empty mapping but for the tunables: all else follows from the tasks.
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

// The same tree, all of it stated.
TEST(Instantiate, TakesWhatIsStated) {
  TaskText text = must_read(bundled("gemm.task"));
  text.mappings = must_read(R"(
map stated for gemm on h200 {
  entry top: gemm.host at host  U = 64  V = 32  calls inside
  inside: gemm.block at block  W = 16  calls zero, product, out
  zero: clear.zero at warpgroup  C: register
  product: gemm_add.wgmma at warpgroup  C: register  A: shared  B: shared
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
}

struct MappingCase {
  const char* name;
  const char* mapping;
  const char* message;
};

class RefusedMapping : public testing::TestWithParam<MappingCase> {};

TEST_P(RefusedMapping, WithItsCode) {
  TaskText text = must_read(bundled("gemm.task"));
  text.mappings =
      must_read(std::string("map m for gemm on h200 {\n") + GetParam().mapping + "\n}").mappings;
  const auto tree = tree_of(text);
  ASSERT_FALSE(tree);
  const std::string said = to_string(tree.error());
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
}

const MappingCase kRefusedMappings[] = {
    {"M01Entry", "entry a: gemm.host\nentry b: gemm.block", "M01: 'b' is an entry, and 'a' too"},
    {"M01Twice", "a: gemm.host\na: gemm.block", "M01: there are two instances 'a'"},
    {"M02", "a: gemm.hots", "M02: 'gemm' has no variant 'hots'"},
    {"M02Task", "entry a: clear.zero", "M02: the entry carries out 'clear'"},
    {"M03Missing", "U = 128 V = 128", "M03: 'gemm.block' needs a value of its tunable 'W'"},
    {"M03Unknown", "U = 1 V = 1 W = 1 X = 1", "M03: no variant has a tunable 'X'"},
    {"M03Zero", "U = 0 V = 1 W = 1", "M03: 'U' is less than 1"},
    {"M04Few",
     "U = 1 V = 1\nentry a: gemm.host calls b\nb: gemm.block W = 1 calls c\nc: clear.zero",
     "M04: 'b' calls 1 instances, but its variant has more launches"},
    {"M04Task", "U = 1 V = 1\nentry a: gemm.host calls c\nc: clear.zero",
     "M04: launch 1 of 'a' is of 'gemm', and 'c' carries out 'clear'"},
    {"M05", "U = 1 V = 1 W = 1\nentry a: gemm.host at block calls b\nb: gemm.block at host",
     "M05: 'b' is at host, above its caller, which is at block"},
    {"M06", "U = 1 V = 1 W = 1\nb: gemm.block at block C: register",
     "M06: a block does not see the memory 'register'"},
    {"M09", "U = 1 V = 1 W = 1\nm: gemm_add.wgmma B: register",
     "M09: the right operand of 'mma', 'B', lies in shared memory"},
    {"M13", "U = {64, 128} V = 1 W = 1", "M13: 'U' has 2 values here, and one is needed"},
};

INSTANTIATE_TEST_SUITE_P(All, RefusedMapping, testing::ValuesIn(kRefusedMappings),
                         [](const auto& it) { return std::string(it.param.name); });

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
