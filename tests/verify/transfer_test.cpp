// Protects rule `transfer-op`. Stores and loads exist exactly if a value changes groups, and run in
// the group of their op. Every rule counts the stores and loads that exist, and no others.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

namespace twill::verify {
namespace {

/// Loop in which b reads the value of a, 4 registers. G has registers for one copy of that value, H
/// for b's value alone.
constexpr const char* kLoop =
    "loop x\nmemory M capacity 8\ngroup G registers 4\ngroup H registers 4\n"
    "op a latency 3 issue 2 registers 4\n"
    "op b latency 2 issue 2\n"
    "op put latency 2 issue 1 occupies M 8\n"
    "op get latency 2 issue 1 registers 4\n"
    "a -> b\n"
    "hand-off a store put load get for b\n"
    "schedule interval ";

std::vector<std::string> complaints(const std::string& schedule) {
  const auto loop = schedule::parse_loop(kLoop + schedule, "test.loop");
  if (!loop) return {to_string(loop.error())};
  const auto checked = verify(loop->problem, *loop->schedule);
  std::vector<std::string> out;
  if (checked) return out;
  for (const Violation& it : checked.error()) out.push_back(it.message);
  return out;
}

using Lines = std::vector<std::string>;

TEST(Transfer, IsThereExactlyIfTheValueCrosses) {
  EXPECT_EQ(complaints("6\n  a at 0 in G\n  b at 3 in G\n"), Lines{});
  EXPECT_EQ(complaints("6\n  a at 0 in G\n  b at 7 in H\n  put at 3 in G\n  get at 5 in H\n"),
            Lines{});
  EXPECT_EQ(complaints("6\n  a at 0 in G\n  b at 3 in G\n  put at 3 in G\n"),
            Lines{"transfer-op: put is scheduled, but what it moves stays in its group"});
  EXPECT_EQ(complaints("6\n  a at 0 in G\n  b at 7 in H\n  put at 3 in G\n"),
            Lines{"transfer-op: get is missing, but what it moves goes to another group"});
  EXPECT_EQ(complaints("6\n  a at 0 in G\n  b at 7 in H\n  put at 3 in G\n  get at 5 in G\n"),
            Lines{"transfer-op: get runs in group G, but b, with which it goes, in H"});
}

TEST(Transfer, IsReadyAfterStoreAndLoad) {
  const auto at = [](int get, int b) {
    return complaints("9\n  a at 0 in G\n  b at " + std::to_string(b) +
                      " in H\n  put at 3 in G\n  get at " + std::to_string(get) + " in H\n");
  };
  EXPECT_EQ(at(6, 9), Lines{});
  EXPECT_EQ(at(5, 7), Lines{});
  EXPECT_EQ(at(5, 6).size(), 1U);
  EXPECT_EQ(at(4, 7).size(), 1U);
}

TEST(Transfer, FreesTheRegistersOfTheValueAtTheStore) {
  // Room for one copy in G: at the interval 4 the next a is issued at 4: before, at and after the
  // store.
  const auto stored = [](int put) {
    return complaints("4\n  a at 0 in G\n  b at " + std::to_string(put + 4) + " in H\n  put at " +
                      std::to_string(put) + " in G\n  get at " + std::to_string(put + 2) +
                      " in H\n");
  };
  EXPECT_EQ(stored(3), Lines{});
  EXPECT_EQ(stored(6).size(), 1U);
  EXPECT_NE(stored(6).front().find("registers"), std::string::npos);
}

TEST(Transfer, TakesMemoryFromTheStoreToTheLoad) {
  // Room for one copy in memory: at the interval 4 the load must be issued 4 after the store at the
  // latest.
  const auto loaded = [](int get) {
    return complaints("4\n  a at 0 in G\n  b at " + std::to_string(get + 2) +
                      " in H\n  put at 3 in G\n  get at " + std::to_string(get) + " in H\n");
  };
  EXPECT_EQ(loaded(6), Lines{});
  EXPECT_EQ(loaded(7), Lines{});
  EXPECT_EQ(loaded(9).size(), 1U);
  EXPECT_NE(loaded(9).front().find("memory"), std::string::npos);
}

}  // namespace
}  // namespace twill::verify
