#include "twill/support/spelling.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace twill {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"unit", "latency", "issue", "one-stream", "TC"};

// Protects the hints of all readers: a slip of the keyboard finds its word.
TEST(DidYouMean, FindsSlipsOfTheKeyboard) {
  EXPECT_EQ(did_you_mean("unti", kWords), "did you mean 'unit'?");
  EXPECT_EQ(did_you_mean("latncy", kWords), "did you mean 'latency'?");
  EXPECT_EQ(did_you_mean("LATENCY", kWords), "did you mean 'latency'?");
  EXPECT_EQ(did_you_mean("onestream", kWords), "did you mean 'one-stream'?");
  EXPECT_EQ(did_you_mean("TX", kWords), "did you mean 'TC'?");
}

// A wrong hint is worse than no hint.
TEST(DidYouMean, IsSilentWhenNothingIsClose) {
  EXPECT_EQ(did_you_mean("memory", kWords), "");
  EXPECT_EQ(did_you_mean("x", kWords), "");
  EXPECT_EQ(did_you_mean("", kWords), "");
  EXPECT_EQ(did_you_mean("latency", {}), "");
}

// Words come from arbitrary files: 10 MB must not be compared letter by letter.
TEST(DidYouMean, IgnoresEndlessWords) {
  EXPECT_EQ(did_you_mean(std::string(10 << 20, 'u'), kWords), "");
}

// Readers of tasks list the few names that there are, so that a user need not look them up.
TEST(NamesLike, ListsAFewNamesWhereNoneIsClose) {
  struct Named {
    std::string name;
  };
  const std::vector<Named> values = {{"left"}, {"right"}};
  EXPECT_EQ(names_like("lefd", names_of(values)), "did you mean 'left'?");
  EXPECT_EQ(names_like("accumulator", names_of(values)), "there is 'left', 'right'");
  EXPECT_EQ(names_like("accumulator", {}), "");
  EXPECT_EQ(names_like("accumulator", names_of(std::vector<Named>(9, {"x"}))), "");
}

TEST(InQuotes, ShowsOneShortPrintableLine) {
  EXPECT_EQ(in_quotes("qk"), "'qk'");
  EXPECT_EQ(in_quotes("a\nb\x01"), "'a?b?'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace twill
