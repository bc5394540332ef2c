#include "twill/report/gantt.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/schedule/loop_text.h"

namespace twill::report {
namespace {

std::vector<std::string> drawn(const std::string& text, std::size_t width = 100) {
  const auto loop = schedule::parse_loop(text, "test.loop");
  EXPECT_TRUE(loop) << (loop ? "" : to_string(loop.error()));
  if (!loop || !loop->schedule) return {};
  std::istringstream in(draw_steady_state(loop->problem, *loop->schedule, width));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

const char* const kFigure1 = R"(loop fig1
unit TC
unit EXP
group WG0
op S on TC for 1
op P on EXP for 1
op O on TC for 1
S -> P
P -> O
O -> O distance 1
schedule interval 2
  S at 0 in WG0
  P at 1 in WG0
  O at 3 in WG0
)";

// Protects the picture of the paper's Figure 1: S and O share the tensor core, and P runs beside O.
// O is one stage behind (its bar is filled with 1).
TEST(Gantt, DrawsFigure1) {
  const auto lines = drawn(kFigure1);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[1], "  TC   |S 000000000|O 111111111");
  EXPECT_EQ(lines[2], "  EXP              |P 000000000");
  EXPECT_EQ(lines[3], "  WG0  |S 000000000|P 000000000");
}

// Protects: bars that would hide each other go to further lines, and a name that does not fit into
// its bar stands beside it. No op is missing from the picture.
TEST(Gantt, EveryOpIsNamed) {
  std::string text = "loop crowd\nrelax one-stream\nunit U\ngroup G\n";
  std::string placed = "schedule interval 10000\n";
  for (int i = 0; i < 8; ++i) {
    const std::string name = "operation_" + std::to_string(i);
    text += "op " + name + " on U for 1\n";
    placed += "  " + name + " at " + std::to_string(9990 + i) + " in G\n";
  }
  std::string all;
  for (const std::string& line : drawn(text + placed)) all += line + "\n";
  for (int i = 0; i < 8; ++i) {
    EXPECT_NE(all.find("operation_" + std::to_string(i)), std::string::npos) << all;
  }
}

// Protects: a reservation that runs over the end of the interval continues at its beginning.
TEST(Gantt, BarsWrapAround) {
  const auto lines = drawn(
      "loop wrap\nunit U\ngroup G\nop a on U for 60 issue 1\nschedule interval 90\n"
      "  a at 60 in G\n");
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[1].substr(5, 30), std::string(30, '0')) << lines[1];
  EXPECT_EQ(lines[1].substr(65, 4), "|a 0") << lines[1];
}

// Protects: the drawing fits the given width, whatever the names and the interval.
TEST(Gantt, KeepsItsWidth) {
  const std::string name(40, 'x');
  const std::string text = "loop wide\nunit " + name + "u\ngroup " + name + "g\nop " + name +
                           " on " + name + "u for 1\nschedule interval 1000000007\n  " + name +
                           " at 999999999 in " + name + "g\n";
  for (const std::size_t width : {60U, 80U, 100U}) {
    for (const std::string& line : drawn(text, width)) EXPECT_LE(line.size(), width) << line;
  }
}

}  // namespace
}  // namespace twill::report
