#include "twill/solve/variable_order.h"

#include <map>
#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace twill::solve {
namespace {

/// The same order by a scan of all that is in it. Its activities never fade, so a bump counts more
/// and more instead.
class Scanned {
 public:
  void insert(std::uint32_t variable) { there_[variable] = true; }
  void bump(std::uint32_t variable) { activity_[variable] += increment_; }
  void decay() { increment_ *= 1.0L / 0.95L; }

  std::optional<std::uint32_t> take_first() {
    std::optional<std::uint32_t> first;
    for (const auto& [variable, there] : there_) {
      if (there && (!first || activity_[variable] > activity_[*first])) first = variable;
    }
    if (first) there_[*first] = false;
    return first;
  }

 private:
  std::map<std::uint32_t, bool> there_;
  std::map<std::uint32_t, long double> activity_;
  long double increment_ = 1.0L;
};

// The most active variable comes first, of equal ones that of the least number, and those without
// any activity last. So it is after thousands of conflicts, when activities have been scaled down.
TEST(VariableOrder, IsThatOfAScan) {
  constexpr std::uint32_t kVariables = 150;
  std::mt19937 random(7);
  const auto any = [&] { return static_cast<std::uint32_t>(random() % kVariables); };
  VariableOrder order;
  Scanned scanned;
  for (std::uint32_t i = 0; i < kVariables; ++i) {
    order.add_variable(true);
    order.insert(i);
    scanned.insert(i);
  }
  for (int conflict = 0; conflict < 12'000; ++conflict) {
    const std::uint32_t bumped = any() / (1 + any() / 30);  // some of them seldom
    order.bump(bumped);
    scanned.bump(bumped);
    order.decay();
    scanned.decay();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(order.take_first(), scanned.take_first()) << conflict;
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t back = any();
      order.insert(back);
      scanned.insert(back);
    }
  }
  while (const auto first = scanned.take_first()) ASSERT_EQ(order.take_first(), first);
  EXPECT_EQ(order.take_first(), std::nullopt);
}

// A variable that is never decided is in no order, whatever happens to it.
TEST(VariableOrder, LeavesOutConsequences) {
  VariableOrder order;
  order.add_variable(false);
  order.add_variable(true);
  order.insert(0);
  order.insert(1);
  order.bump(0);
  order.insert(0);
  EXPECT_EQ(order.take_first(), 1U);
  EXPECT_EQ(order.take_first(), std::nullopt);
}

}  // namespace
}  // namespace twill::solve
