#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

namespace twill::paper_test {

/// Reads loops/NAME.loop.
inline schedule::LoopText loop_text(const std::string& name) {
  const std::string path = std::string(TWILL_SOURCE_DIR) + "/loops/" + name + ".loop";
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto loop = schedule::parse_loop(text, path);
  if (!loop) throw std::runtime_error(to_string(loop.error()));
  return *std::move(loop);
}

/// Finds the proven and checked optimum; throws if there is none.
inline schedule::Schedule optimum_of(const problem::Problem& problem) {
  const schedule::Answer answer = solve::solve(problem);
  if (answer.verdict != schedule::Verdict::optimal) throw std::runtime_error("no optimum");
  if (!verify::verify(problem, *answer.schedule)) throw std::runtime_error("no schedule");
  return *answer.schedule;
}

inline Cycles optimal_interval(const problem::Problem& problem) {
  return optimum_of(problem).initiation_interval;
}

/// Changes parts of the problem.
template <class Change>
problem::Problem changed(const problem::Problem& problem, Change change) {
  problem::Parts parts = problem.parts();
  change(parts);
  auto posed = problem::pose(std::move(parts));
  if (!posed) throw std::runtime_error(to_string(posed.error()));
  return *std::move(posed);
}

}  // namespace twill::paper_test
