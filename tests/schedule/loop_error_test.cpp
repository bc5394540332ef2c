#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/schedule/loop_text.h"

// Protects authors of `.loop` texts: each kind of mistake is reported at its place, with the
// expected words.
namespace twill::schedule {
namespace {

/// A loop to which each case adds its lines from line 8 on.
constexpr std::string_view kStart = R"(loop test
unit TC
pipe ALU
memory SMEM capacity 100
group WG0
op mma on TC for 8
op exp latency 3
)";

struct Mistake {
  std::string label;
  std::string lines;  // appended to kStart, unless it begins with '!'
  int line;
  int column;
  std::string message;
  std::string hint = {};
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.label; }

class Mistaken : public testing::TestWithParam<Mistake> {};

TEST_P(Mistaken, IsReportedWhereItStands) {
  const Mistake& mistake = GetParam();
  const bool whole = mistake.lines.starts_with('!');
  const std::string text =
      whole ? mistake.lines.substr(1) : std::string(kStart) + mistake.lines + "\n";
  const Result<LoopText> loop = parse_loop(text, "my.loop");
  ASSERT_FALSE(loop);
  const Diagnostic& error = loop.error();
  EXPECT_EQ(error.location, (Location{"my.loop", mistake.line, mistake.column}))
      << to_string(error);
  EXPECT_NE(error.message.find(mistake.message), std::string::npos) << to_string(error);
  EXPECT_NE(error.hint.find(mistake.hint), std::string::npos) << to_string(error);
  EXPECT_EQ(error.source_line, line_of(text, mistake.line));
}

const std::vector<Mistake> kShape = {
    {"empty", "!", 1, 1, "no statement", "begins with 'loop NAME'"},
    {"only_comments", "!# nothing\n\n", 1, 1, "no statement"},
    {"no_loop_first", "!# x\nunit TC\n", 2, 1, "expected 'loop NAME', found 'unit'"},
    {"loop_without_name", "!loop\n", 1, 5, "the name of the loop, found the end of the line"},
    {"loop_twice", "loop again", 8, 1, "already given"},
    {"nothing_in_it", "!loop x\n", 1, 6, "no group"},
    {"unknown_statement", "unti TMA", 8, 1, "expected a statement", "did you mean 'unit'?"},
    {"strange_character", "op %0", 8, 4, "expected the name of the op, found '%0'"},
    {"rest_of_line", "unit TMA EXP", 8, 10, "expected the end of the line, found 'EXP'"},
    {"binary", std::string("unit \x01\x02", 7), 8, 6, "expected the name of the unit, found"},
};

const std::vector<Mistake> kOps = {
    {"unknown_unit", "op x on TX for 3", 8, 9, "no unit 'TX'", "did you mean 'TC'?"},
    {"undeclared_unit", "op x on vector for 3", 8, 9, "no unit 'vector'", "declare it above"},
    {"unknown_pipe", "op x uses MUFU 3", 8, 11, "no pipe 'MUFU'"},
    {"unknown_memory", "op x occupies SMEN 3", 8, 15, "no memory 'SMEN'", "'SMEM'"},
    {"unknown_property", "op x latncy 3", 8, 6, "another property", "did you mean 'latency'?"},
    {"property_twice", "op x latency 3 latency 4", 8, 16, "'latency' is said twice"},
    {"pipe_twice", "op x uses ALU 1 uses ALU 2", 8, 4, "lists its pipe uses twice"},
    {"missing_for", "op x on TC 3", 8, 12, "expected 'for', found '3'"},
    {"zero_cycles", "op x on TC for 0", 8, 16, "out of range", "between 1 and 1000000000"},
    {"not_a_number", "op x latency soon", 8, 14, "expected the latency, found 'soon'"},
    {"half_a_number", "op x latency 3ms", 8, 14, "found '3ms'"},
    {"negative", "op x latency -3", 8, 14, "found '-3'"},
    {"too_large", "op x latency 1000000001", 8, 14, "out of range"},
    {"far_too_large", "op x latency 99999999999999999999999", 8, 14, "out of range"},
    {"no_warps", "group WG1 warps 0", 8, 17, "number of warps is '0'"},
    {"capacity", "memory TMEM 512", 8, 13, "expected 'capacity'"},
    {"no_capacity", "memory TMEM capacity 0", 8, 22, "capacity is '0'"},
    {"same_op", "op mma on TC for 8", 8, 4, "two ops are called 'mma'"},
    {"budget_of_nobody", "register-budget 64 of", 8, 22, "expected a group"},
    {"budget_without_of", "register-budget 64 WG0", 8, 20, "expected a property or 'of'"},
    {"budget_twice_stepped", "register-budget 64 step 8 step 8 of WG0", 8, 27, "is said twice"},
    {"budget_of_unknown", "register-budget 64 of WG0 WG1", 8, 27, "no group 'WG1'"},
    {"budget_of_one", "register-budget 64 of WG0", 8, 17, "fewer than two groups"},
    {"hyphen", "op qk-mma", 8, 4, "'qk-mma' is not spelled as a name"},
};

const std::vector<Mistake> kLinesOfOps = {
    {"stray_way", "group WG1\nway fast", 9, 1, "belongs to the op above"},
    {"stray_source", "mma -> exp\n  source \"x\"", 9, 1, "belongs to the op above"},
    {"way_beside_own", "  way fast latency 3", 8, 1, "'exp' already says how"},
    {"same_way", "op x\n  way a\n  way a", 8, 4, "two alternatives called 'a'"},
    {"source_after_way", "op x\n  way a\n  source \"s\"", 10, 1, "after an 'alternative' line"},
    {"source_without_quotes", "  source mma", 8, 10, "expected a text", "double quotes"},
    {"open_quote", "  source \"mma", 8, 10, "found '\"mma'", "closing quote"},
    {"bad_escape", "  source \"a\\q\"", 8, 12, "unknown escape"},
    {"short_escape", "  source \"\\x4\"", 8, 11, "unknown escape"},
};

const std::vector<Mistake> kDependences = {
    {"unknown_source", "mna -> exp", 8, 1, "no op 'mna'", "did you mean 'mma'?"},
    {"unknown_target", "mma -> exo", 8, 8, "no op 'exo'", "did you mean 'exp'?"},
    {"no_arrow", "mma exp", 8, 5, "expected '->', found 'exp'", "'A -> B'"},
    {"no_target", "mma ->", 8, 7, "expected an op, found the end of the line"},
    {"unknown_word", "mma -> exp dealy 3", 8, 12, "another property", "did you mean 'delay'?"},
    {"distance", "mma -> exp distance 1001", 8, 21, "distance is '1001', out of range"},
    {"circuit", "mma -> exp\nexp -> mma", 9, 1, "'mma' -> 'exp' -> 'mma'", "distance"},
    {"order_only_in_place", "mma -> exp order-only in-place", 8, 1, "carries no value"},
    {"same_group_of_one", "same-group mma", 8, 12, "fewer than two ops"},
    {"same_group_of_none", "same-group", 8, 11, "expected an op"},
    {"same_group_unknown", "same-group mma exo", 8, 16, "no op 'exo'", "did you mean 'exp'?"},
    {"same_group_twice", "same-group mma exp\nop x\nsame-group x exp", 10, 12,
     "'exp' is said twice"},
    {"streaming_input", "op ld streaming\nmma -> ld", 9, 1, "which is streaming"},
};

const std::vector<Mistake> kRules = {
    {"unknown_rule", "relax one-streem", 8, 7, "expected a rule", "did you mean 'one-stream'?"},
    {"no_rule", "relax", 8, 6, "found the end of the line"},
    {"rule_twice", "relax width width", 8, 13, "'width' is said twice"},
    {"relax_twice", "relax width\nrelax unit", 9, 1, "already given"},
    {"unknown_objective", "minimize stages", 8, 10, "expected an objective", "one of: groups"},
    {"nothing_and_more", "minimize nothing groups", 8, 10, "beside other objectives"},
    {"more_and_nothing", "minimize groups nothing", 8, 17, "beside other objectives"},
    {"minimum", "minimum-compute-groups 65", 8, 24, "out of range"},
};

const std::vector<Mistake> kSchedules = {
    {"no_interval", "schedule 4", 8, 10, "expected 'interval'"},
    {"zero_interval", "schedule interval 0", 8, 19, "initiation interval is '0'"},
    {"op_missing", "schedule interval 4\nmma at 0 in WG0", 8, 1, "does not place op 'exp'"},
    {"op_twice", "schedule interval 4\nmma at 0 in WG0\nmma at 1 in WG0", 10, 1, "placed twice"},
    {"unknown_group", "schedule interval 4\nmma at 0 in WG1", 9, 13, "no group 'WG1'", "'WG0'"},
    {"negative_cycle", "schedule interval 4\nmma at -1 in WG0", 9, 8, "found '-1'"},
    {"no_way", "op x\n way a\n way b\nschedule interval 4\nx at 0 in WG0", 12, 14,
     "expected 'alternative'"},
    {"unknown_way", "op x\n way a\n way b\nschedule interval 4\nx at 0 in WG0 way c", 12, 19,
     "an alternative of op 'x'", "one of: a b"},
    {"offset_without_footprint", "schedule interval 4\nmma at 0 in WG0 offset SMEM 0", 9, 24,
     "op 'mma' occupies no 'SMEM'"},
    {"second_offset",
     "op x occupies SMEM 4\nschedule interval 4\nx at 0 in WG0 offset SMEM 0 offset SMEM 4", 10, 36,
     "a second offset in 'SMEM'"},
    {"negative_offset", "op x occupies SMEM 4\nschedule interval 4\nx at 0 in WG0 offset SMEM -4",
     10, 27, "found '-4'"},
    {"statement_inside", "schedule interval 4\nunit TMA", 9, 1, "no op 'unit'"},
    {"second_schedule",
     "schedule interval 4\nmma at 0 in WG0\nexp at 0 in WG0\nschedule interval 4", 11, 1,
     "second schedule"},
};

const std::vector<Mistake> kOrders = {
    {"op_left_out", "order\n  group WG0: mma", 8, 1, "leaves out op 'exp'"},
    {"op_ordered_twice", "order\n  group WG0: mma exp mma", 9, 22, "'mma' is ordered twice"},
    {"no_colon", "order\n  group WG0 mma", 9, 13, "expected ':'"},
    {"empty_sequence", "order\n  group WG0:", 9, 13, "expected an op"},
    {"two_sequences", "order\n  group WG0: mma\n  group WG0: exp", 10, 9, "second sequence"},
    {"stage", "order\n  group WG0: mma@1001 exp", 9, 18, "stage is '1001'"},
    {"open_bracket", "order\n  group WG0: mma[x exp", 9, 18, "an alternative of op 'mma'"},
    {"not_a_sequence", "order\n  mma exp", 9, 3, "expected a sequence of the order"},
    {"second_order", "order\n  group WG0: mma exp\norder", 10, 1, "second order"},
};

std::string label_of(const testing::TestParamInfo<Mistake>& info) { return info.param.label; }
INSTANTIATE_TEST_SUITE_P(Shape, Mistaken, testing::ValuesIn(kShape), label_of);
INSTANTIATE_TEST_SUITE_P(Ops, Mistaken, testing::ValuesIn(kOps), label_of);
INSTANTIATE_TEST_SUITE_P(LinesOfOps, Mistaken, testing::ValuesIn(kLinesOfOps), label_of);
INSTANTIATE_TEST_SUITE_P(Dependences, Mistaken, testing::ValuesIn(kDependences), label_of);
INSTANTIATE_TEST_SUITE_P(Rules, Mistaken, testing::ValuesIn(kRules), label_of);
INSTANTIATE_TEST_SUITE_P(Schedules, Mistaken, testing::ValuesIn(kSchedules), label_of);
INSTANTIATE_TEST_SUITE_P(Orders, Mistaken, testing::ValuesIn(kOrders), label_of);

// Protects the whole message as a user sees it.
TEST(Mistaken, ShowsTheLineAndACaret) {
  const Result<LoopText> loop =
      parse_loop(std::string(kStart) + "mma -> exp dealy 3  # a comment\n", "my.loop");
  ASSERT_FALSE(loop);
  EXPECT_EQ(to_string(loop.error()),
            "my.loop:8:12: error: expected another property or the end of the line, found 'dealy'\n"
            "  mma -> exp dealy 3  # a comment\n"
            "             ^\n"
            "hint: did you mean 'delay'?\n");
}

}  // namespace
}  // namespace twill::schedule
