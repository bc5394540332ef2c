#include "twill/support/diagnostic.h"

#include <string>

#include <gtest/gtest.h>

namespace twill {
namespace {

// Protects: the documented shape, with the caret under the column it names.
TEST(Diagnostic, PrintsLocationLineCaretAndHint) {
  const Diagnostic diagnostic{
      {"a.loop", 3, 8}, "unknown unit 'TX'", "op S { TX }", "units are TC, TMA"};
  EXPECT_EQ(to_string(diagnostic),
            "a.loop:3:8: error: unknown unit 'TX'\n"
            "  op S { TX }\n"
            "         ^\n"
            "hint: units are TC, TMA\n");
}

// Protects: unknown parts of a location are left out, without a placeholder.
TEST(Diagnostic, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(to_string(Diagnostic{{}, "no loop", "", ""}), "error: no loop\n");
  EXPECT_EQ(to_string(Diagnostic{{"k.ttgir"}, "no loop", "", ""}, "warning"),
            "k.ttgir: warning: no loop\n");
}

// Protects: a line of megabytes, as noise has, is shown around the column and no further.
TEST(Diagnostic, CutsLongLinesAroundTheColumn) {
  std::string line(100'000, 'a');
  line[50'000] = 'X';
  const std::string text = to_string(Diagnostic{{"k.ttgir", 1, 50'001}, "odd", line, ""});
  ASSERT_LT(text.size(), 500u);
  const std::size_t shown = text.find('X') - text.rfind('\n', text.find('X'));
  const std::size_t caret = text.find('^') - text.rfind('\n', text.find('^'));
  EXPECT_EQ(shown, caret);
}

// Protects: a column past the end of the line, and control characters, print without harm.
TEST(Diagnostic, SurvivesOddPlaces) {
  const std::string text = to_string(Diagnostic{{"k", 1, 1000}, "odd", "a\tb\x01", ""});
  EXPECT_EQ(text, "k:1:1000: error: odd\n  a b \n");
}

TEST(LineOf, CountsFromOneAndEndsWithTheText) {
  EXPECT_EQ(line_of("a\nbc\n", 1), "a");
  EXPECT_EQ(line_of("a\nbc\n", 2), "bc");
  EXPECT_EQ(line_of("a\nbc\n", 3), "");
  EXPECT_EQ(line_of("a\nbc\n", 9), "");
}

}  // namespace
}  // namespace twill
