#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

namespace twill::solve_test {

inline problem::Problem problem_of(const std::string& text) {
  auto loop = schedule::parse_loop(text, "test.loop");
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  return std::move(loop->problem);
}

/// Reads a loop that comes with Twill, by the name of its file.
inline std::string text_of(const std::string& name) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/loops/" + name + ".loop");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
inline problem::Problem bundled(const std::string& name) { return problem_of(text_of(name)); }

/// Solves the problem; the schedule must pass verification.
inline schedule::Answer solve_checked(const problem::Problem& problem,
                                      const solve::Options& options = {}) {
  schedule::Answer answer = solve::solve(problem, options);
  if (!answer.schedule) return answer;
  const auto checked = verify::verify(problem, *answer.schedule);
  if (!checked) ADD_FAILURE() << problem.name() << ": " << checked.error().front().message;
  return answer;
}

/// II of an optimal answer, 0 for a loop without schedule, -1 for any other verdict.
inline Cycles optimal_interval(const problem::Problem& problem) {
  const schedule::Answer answer = solve_checked(problem);
  if (answer.verdict == schedule::Verdict::infeasible) return 0;
  if (answer.verdict != schedule::Verdict::optimal) return -1;
  return answer.schedule->initiation_interval;
}
inline Cycles optimal_interval(const std::string& text) {
  return optimal_interval(problem_of(text));
}

}  // namespace twill::solve_test
