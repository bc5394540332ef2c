#include "twill/driver/answers.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "twill/driver/driver.h"
#include "twill/problem/problem.h"

namespace twill::driver {
namespace {

problem::Problem loop(const std::string& name, Cycles cycles) {
  problem::Parts parts;
  parts.name = name;
  parts.units = {{"TC"}};
  parts.groups = {{"G", 4, 100, false}};
  problem::Op op;
  op.name = "mma";
  op.alternatives = {{"", problem::UnitId(0), cycles, cycles, 0, {}}};
  parts.ops = {op};
  auto posed = problem::pose(std::move(parts));
  if (!posed) throw std::runtime_error(posed.error().message);
  return *std::move(posed);
}

// Protects: problems that differ only in names are solved once. Another cost or limit makes another
// problem.
TEST(Answers, SolvesEachProblemOnce) {
  Answers answers;
  EXPECT_EQ(answers.solve(loop("a", 5), {}).schedule->initiation_interval, 5);
  EXPECT_EQ(answers.solve(loop("b", 5), {}).schedule->initiation_interval, 5);
  EXPECT_EQ(answers.solved(), 1u);
  EXPECT_EQ(answers.solve(loop("b", 6), {}).schedule->initiation_interval, 6);
  EXPECT_EQ(answers.solved(), 2u);
  solve::Options few;
  few.most_interval = 3;
  EXPECT_FALSE(answers.solve(loop("b", 5), few).schedule);
  EXPECT_EQ(answers.solved(), 3u);
  EXPECT_EQ(answers.asked(), 4u);
}

// Protects: threads that ask for the same Problem at the same time share one search and its answer.
TEST(Answers, ManyThreads) {
  Answers answers;
  std::vector<std::uint64_t> work(16, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < work.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto answer = answers.solve(loop("x" + std::to_string(i), Cycles(5 + i % 2)), {});
        work[i] = answer.work;
      });
    }
  }
  EXPECT_EQ(answers.solved(), 2u);
  EXPECT_EQ(answers.asked(), work.size());
  for (std::size_t i = 2; i < work.size(); ++i) EXPECT_EQ(work[i], work[i % 2]);
}

// Protects: sharing changes no output, for a kernel with its pools and both cost bounds. The second
// request finds every answer in the store.
TEST(Answers, AKernelIsAnsweredTheSame) {
  auto input = read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/fa_fwd/sm_90/d64.pre.ttgir");
  ASSERT_TRUE(input);
  Request request;
  request.input = *std::move(input);
  const auto alone = schedule_loop(request);
  ASSERT_TRUE(alone);
  Answers answers;
  request.answers = &answers;
  const auto first = schedule_loop(request);
  const std::size_t solved = answers.solved();
  EXPECT_GT(solved, 0u);
  const auto second = schedule_loop(request);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(answers.solved(), solved);
  for (const auto* shared : {&*first, &*second}) {
    EXPECT_EQ(shared->answer.schedule, alone->answer.schedule);
    EXPECT_EQ(shared->answer.work, alone->answer.work);
    EXPECT_EQ(shared->problem_hash, alone->problem_hash);
    EXPECT_EQ(shared->pool, alone->pool);
  }
}

}  // namespace
}  // namespace twill::driver
