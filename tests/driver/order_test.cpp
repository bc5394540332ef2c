// Protects: orders of loops with transfers. Evaluating the order of an optimal schedule gives no
// slower schedule. Written as an order, with the transfer ops that its groups need, it is read,
// completed and evaluated to the same.

#include "twill/schedule/order.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "twill/driver/driver.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"

namespace twill::driver {
namespace {

using problem::Problem;
using schedule::Order;
using schedule::Schedule;

/// Line "  group G: a put b@1" for each group and unit, of the residual problem.
std::string order_text(const Problem& problem, const Schedule& schedule) {
  const Order order = schedule::order_of(problem, schedule);
  std::string text = "order\n";
  const auto add = [&](const std::string& whose, const std::vector<problem::OpId>& ops,
                       bool staged) {
    if (ops.empty()) return;
    text += "  " + whose + ":";
    for (const problem::OpId op : ops) {
      text += " " + problem[op].name;
      const int stage = order.ops[op.index()].stage;
      if (staged && stage > 0) text += "@" + std::to_string(stage);
    }
    text += "\n";
  };
  for (std::size_t i = 0; i < order.groups.size(); ++i) {
    add("group " + problem.groups()[i].name, order.groups[i], true);
  }
  for (std::size_t i = 0; i < order.units.size(); ++i) {
    add("unit " + problem.units()[i].name, order.units[i], false);
  }
  return text;
}

TEST(Orders, OfTransfers) {
  int handed = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = solve_test::for_length(
        solve_test::with_transfer_ops(random, solve_test::random_problem(random, {.ops = 4})));
    const schedule::Answer answer = solve::solve(problem);
    if (!answer.schedule) continue;
    const std::string whole = print_loop(schedule::loop_text_of(problem, answer.schedule));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + whole);
    const auto taken = evaluate_order({"whole.loop", whole});
    ASSERT_TRUE(taken.has_value()) << to_string(taken.error());
    const Schedule& least = *taken->answer.schedule;
    EXPECT_LE(least.initiation_interval, answer.schedule->initiation_interval);
    const problem::Residual left =
        problem::residual_of(problem, schedule::groups_of(*answer.schedule));
    EXPECT_EQ(taken->problem, left.problem);
    const std::string order =
        order_text(left.problem, schedule::in_residual(left, *answer.schedule));
    const auto read =
        verify_schedule({"order.loop", print_loop(schedule::loop_text_of(problem)) + "\n" + order});
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    if (read->violations.empty()) {
      EXPECT_EQ(*read->answer.schedule, least) << order;
    } else {  // `evaluate` searches on until the values have room, perhaps within the same interval
      EXPECT_LE(read->answer.schedule->initiation_interval, least.initiation_interval) << order;
    }
    EXPECT_EQ(read->problem, left.problem);
    for (const problem::Transfer& it : problem.transfers()) {
      handed += answer.schedule->ops[it.store.index()].exists ? 1 : 0;
    }
  }
  EXPECT_GT(handed, 10);
}

}  // namespace
}  // namespace twill::driver
