#include "twill/gate/front_end.h"

#include <gtest/gtest.h>

#include "twill/gate/verdict.h"

namespace twill::gate {
namespace {

std::string warning(int number, const std::string& text = "text") {
  return "/tmp/k/kernel.cu(204): warning #" + std::to_string(number) + "-D: " + text +
         "\n    float x[2];\n          ^\n\nRemark: The warnings can be suppressed with "
         "\"-diag-suppress <warning-number>\"\n\n";
}

// Protects against a kernel that computed NaN and was accepted: nvcc had warned of variables that
// are set and never used.
TEST(FrontEnd, RefusesWhatIsComputedAndNotUsed) {
  const auto complaints =
      read_complaints(warning(550, "variable \"row_maxA\" was set but never used"));
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].file, "/tmp/k/kernel.cu");
  EXPECT_EQ(complaints[0].line, 204);
  EXPECT_EQ(complaints[0].number, 550);
  EXPECT_FALSE(complaints[0].is_error);
  EXPECT_EQ(refusals(complaints),
            std::vector<std::string>{
                "nvcc warning 550: kernel.cu:204: variable \"row_maxA\" was set but never used"});
  for (const int number : {177, 549, 174, 1, 99999}) {
    EXPECT_EQ(refusals(read_complaints(warning(number))).size(), 1U) << number;
  }
}

// Protects kernels in which a constant makes code unreachable: this warning is no reason for a
// refusal.
TEST(FrontEnd, TakesUnreachableCode) {
  for (const int number : {111, 128, 186}) {
    EXPECT_TRUE(refusals(read_complaints(warning(number))).empty()) << number;
  }
  EXPECT_EQ(refusals(read_complaints(warning(186) + warning(550))).size(), 1U);
}

// Protects the reader of many: errors first, five of each, and the number of the others.
TEST(FrontEnd, ListsAFewOfEach) {
  std::string text;
  for (int i = 0; i < 6; ++i) text += warning(550);
  for (int i = 0; i < 5; ++i) text += "kernel.cu(" + std::to_string(i) + "): error: wrong\n";
  const auto reasons = refusals(read_complaints(text));
  ASSERT_EQ(reasons.size(), 11U);
  EXPECT_EQ(reasons[0], "nvcc error: kernel.cu:0: wrong");
  EXPECT_EQ(reasons[10], "nvcc: 1 more warnings");
}

// Protects against failures on text that does not come from the front end, and on truncated text.
TEST(FrontEnd, SkipsWhatItDoesNotKnow) {
  EXPECT_TRUE(read_complaints("ptxas info    : Used 8 registers (3): x\nk(1)\nk(x): warning #1-D: "
                              "y\n(: warning\n): warning: \n\n")
                  .empty());
  const std::string whole = warning(550);
  for (std::size_t i = 0; i < whole.find(": text"); ++i) {
    EXPECT_TRUE(read_complaints(whole.substr(0, i)).empty()) << i;
  }
}

// Protects the words and the file with the verdict on a kernel.
TEST(Verdict, SaysWhatWasCheckedAndWhatNot) {
  Verdict verdict;
  verdict.cubin = "code";
  EXPECT_EQ(words_of(verdict), "accepted");
  EXPECT_NE(status_json(verdict, "kernel.cu", "abc").find("\"status\": \"accepted\""),
            std::string::npos);
  EXPECT_NE(status_json(verdict, "kernel.cu", "abc").find("\"machine_code\": \"checked\""),
            std::string::npos);
  verdict.code_unread = "there is no nvdisasm";
  EXPECT_EQ(words_of(verdict), "accepted, machine code not checked: there is no nvdisasm");
  EXPECT_NE(status_json(verdict, "kernel.cu", "abc").find("\"machine_code\": \"not checked\""),
            std::string::npos);
  verdict.refusals = {"k spills \xff"};  // whatever a compiler prints is text
  EXPECT_EQ(words_of(verdict), "refused");
  EXPECT_NE(status_json(verdict, "k.cu", "abc").find("\"status\": \"refused\""), std::string::npos);
  verdict.unchecked = "there is no nvcc";
  EXPECT_EQ(words_of(verdict), "spills and machine code not checked: there is no nvcc");
  EXPECT_EQ(verdict.standing(), Standing::unchecked);
}

}  // namespace
}  // namespace twill::gate
