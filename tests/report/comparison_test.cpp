#include "twill/report/comparison.h"

#include <gtest/gtest.h>

namespace twill::report {
namespace {

Compared row(const char* strategy, double simulated) {
  Compared out;
  out.strategy = strategy;
  out.simulated = simulated;
  return out;
}

// Protects: a row that is simulated to be faster than the answer has a remark. The remark calls it
// a tie within the simulator's error, or says how to get its schedule. (Once a ratio of 0.97 had no
// remark.)
TEST(Comparison, NothingIsFasterWithoutAWord) {
  Comparison comparison;
  comparison.tolerance = 1.11;
  comparison.rows = {row("twill", 1000), row("modulo", 970), row("triton", 800),
                     row("cypress", 1020), row("triton-plain", 999.8)};
  EXPECT_EQ(on_faster(comparison, comparison.rows[0]), "");
  EXPECT_NE(
      on_faster(comparison, comparison.rows[1]).find("a tie with twill's: figures within 11 %"),
      std::string::npos);
  EXPECT_NE(on_faster(comparison, comparison.rows[2]).find("`--strategy triton` gives it"),
            std::string::npos);
  EXPECT_EQ(on_faster(comparison, comparison.rows[3]), "");
  EXPECT_NE(on_faster(comparison, comparison.rows[4]).find("a tie with"), std::string::npos);
  EXPECT_NE(to_text(comparison).find("modulo: a tie with twill's"), std::string::npos);
}

// Protects: figures of the model and measured figures are told apart, in the table and in JSON.
TEST(Comparison, WhatWasMeasuredHasARowOfItsOwn) {
  Comparison comparison;
  comparison.rows = {row("twill", 1000), row("triton-plain", 1200)};
  EXPECT_NE(to_text(comparison).find("  all in the model"), std::string::npos);
  EXPECT_NE(comparison_json(comparison).find("\"measured\": null"), std::string::npos);
  comparison.measured = 1250;
  const std::string text = to_text(comparison);
  EXPECT_NE(text.find("  all but the last in the model"), std::string::npos) << text;
  EXPECT_NE(text.find("1250.0   1.25"), std::string::npos) << text;
  EXPECT_NE(text.find("measured: the kernel as you ran it"), std::string::npos) << text;
  EXPECT_NE(comparison_json(comparison).find("\"measured\": 1250.0"), std::string::npos);
  comparison.rows.erase(comparison.rows.begin());
  EXPECT_NE(to_text(comparison).find("1250.0      -"), std::string::npos) << to_text(comparison);
}

}  // namespace
}  // namespace twill::report
