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

// Protects: a row simulated to be faster than the answer is called a tie within the simulator's
// error, or says how to get it. (A ratio of 0.97 stood there without a word.)
TEST(Comparison, NothingIsFasterWithoutAWord) {
  Comparison comparison;
  comparison.tolerance = 1.11;
  comparison.rows = {row("twill", 1000), row("modulo", 970), row("triton", 800),
                     row("cypress", 1020)};
  EXPECT_EQ(on_faster(comparison, comparison.rows[0]), "");
  EXPECT_NE(
      on_faster(comparison, comparison.rows[1]).find("a tie with twill's: figures within 11 %"),
      std::string::npos);
  EXPECT_NE(on_faster(comparison, comparison.rows[2]).find("`--strategy triton` gives it"),
            std::string::npos);
  EXPECT_EQ(on_faster(comparison, comparison.rows[3]), "");
  EXPECT_NE(to_text(comparison).find("modulo: a tie with twill's"), std::string::npos);
}

}  // namespace
}  // namespace twill::report
