#include "twill/frontend/ttgir/source_of_line.h"

#include <gmock/gmock.h>

#include "twill/frontend/ttgir/read.h"

// Protects: a message about a text also names the user's own source line, even for a text that
// cannot be read.
namespace twill::frontend::ttgir {
namespace {

const char* const kText = R"(#loc = loc("/home/me/k.py":7:1)
#loc3 = loc("/lib/standard.py":290:4)
module {
  tt.func public @k(%x: f32 loc("x"(#loc))) {
    %0 = arith.addf %x, %x : f32 loc(#loc1)
    %1 = arith.addf %0, %x : f32 loc(#loc2)
    %2 = arith.addf %1, %x : f32 loc(fused<"m">[#loc5, #loc3])
    %3 = arith.addf %2, %x : f32
    %4 = arith.addf %3, %x : f32 loc(#loc9)
    %5 = arith.addf %4, %x : f32 loc(unknown)
    %6 = arith.addf %5, %x : f32 loc(#round)
    %7 = arith.addf %6, 
  }
}
#loc1 = loc("k.py":12:9)
#loc2 = loc(callsite(#loc3 at #loc4))
#loc4 = loc("named"(#loc1))
#loc5 = loc("acc"("a/b/k.py":30:2))
#round = loc("again"(#round))
)";

TEST(SourceOfLine, FollowsAliasesNamesAndCallers) {
  EXPECT_EQ(source_of_line(kText, 4), "k.py:7");
  EXPECT_EQ(source_of_line(kText, 5), "k.py:12");
  EXPECT_EQ(source_of_line(kText, 6), "k.py:12");  // place of the user's call of the library
  EXPECT_EQ(source_of_line(kText, 7), "k.py:30");
  for (const int unknown : {0, 3, 8, 9, 10, 11, 99}) {
    EXPECT_EQ(source_of_line(kText, unknown), std::nullopt) << unknown;
  }
}

TEST(SourceOfLine, IsSaidOnce) {
  EXPECT_EQ(with_source("is wrong", kText, 5), "is wrong (k.py:12 of the source)");
  EXPECT_EQ(with_source("is wrong (j.py:3)", kText, 5), "is wrong (j.py:3)");
  EXPECT_EQ(with_source("is wrong", kText, 8), "is wrong");
}

TEST(SourceOfLine, IsNamedByWhatCannotBeRead) {
  std::string text = kText;
  text.replace(text.find("%0, %x"), 6, "%0, %y");
  const auto read = read_ttgir(text, "k.ttgir");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, ::testing::EndsWith(" (k.py:12 of the source)"));
}

}  // namespace
}  // namespace twill::frontend::ttgir
