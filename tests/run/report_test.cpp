#include "twill/run/report.h"

#include <gtest/gtest.h>

namespace twill::run {
namespace {

std::string text_with(const Output& output) {
  Report report;
  report.trials.emplace_back().outputs = {output};
  return to_text(report, "folder");
}

// Protects: a wrong output names its faults, and never claims that there is no difference.
TEST(Report, NamesTheFaultsOfAnOutput) {
  Output output;
  output.name = "C";
  output.written = 8;
  output.scattered = true;
  output.spread = 0.5;
  std::string text = text_with(output);
  EXPECT_NE(text.find("WRONG"), std::string::npos) << text;
  EXPECT_NE(text.find("%C: 8 elements, differences of 0.5 of the numbers' size are more than "
                      "roundings\n"),
            std::string::npos)
      << text;
  output.scattered = false;
  output.stray = 2;
  text = text_with(output);
  EXPECT_NE(text.find("%C: 8 elements, 2 that the text leaves alone were written\n"),
            std::string::npos)
      << text;
  output.differing = 1;
  output.largest = 3;
  output.example = {4, 1, -2};
  text = text_with(output);
  EXPECT_NE(text.find("%C: 8 elements, 1 differ, by up to 3; element 4 is -2, not 1; 2 that the "
                      "text leaves alone were written\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace twill::run
