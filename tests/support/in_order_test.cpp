#include "twill/support/in_order.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace twill {
namespace {

// Protects: results come in order and each once, for any number of threads and although later
// results are ready earlier; the calling thread takes them.
TEST(InOrder, WhateverTheNumberOfThreads) {
  for (const std::size_t jobs : {1u, 2u, 7u, 100u}) {
    const auto me = std::this_thread::get_id();
    std::vector<std::size_t> taken;
    const auto work = [](std::size_t i) {
      if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      return std::to_string(i * i);
    };
    in_order(40, jobs, work, [&](std::size_t i, const std::string& result) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      EXPECT_EQ(result, std::to_string(i * i));
      taken.push_back(i);
      return true;
    });
    ASSERT_EQ(taken.size(), 40u);
    for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], i);
  }
}

// Protects: without work, no thread is started and the call returns.
TEST(InOrder, Nothing) {
  in_order(
      0, 4, [](std::size_t) -> int { throw std::logic_error("nothing is to be done"); },
      [](std::size_t, int) { return false; });
}

// Protects: a reader that stops ends the work instead of letting it run for hours.
TEST(InOrder, StopsWhenNobodyTakes) {
  std::atomic<int> begun = 0;
  int taken = 0;
  const auto work = [&](std::size_t) {
    ++begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 0;
  };
  in_order(100'000, 2, work, [&](std::size_t, int) { return ++taken < 3; });
  EXPECT_EQ(taken, 3);
  EXPECT_LT(begun, 10'000);
}

// Protects: an exception comes out where its result would have, after those before it, and leaves
// no thread behind.
TEST(InOrder, ExceptionsComeOut) {
  int taken = 0;
  const auto work = [](std::size_t i) {
    if (i == 4) throw std::runtime_error("four");
    return i;
  };
  const auto take = [&](std::size_t, std::size_t) { return ++taken > 0; };
  EXPECT_THROW(in_order(9, 3, work, take), std::runtime_error);
  EXPECT_EQ(taken, 4);
}

}  // namespace
}  // namespace twill
