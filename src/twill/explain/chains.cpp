#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "twill/explain/print.h"

namespace twill::explain {
namespace {

using problem::Dependence;
using problem::Problem;

Cycles least_delay(const Problem& problem, const Dependence& it) {
  Cycles least = std::numeric_limits<Cycles>::max();
  for (const problem::Alternative& alternative : problem[it.from].alternatives) {
    least = std::min(least, delay_of(it, problem[it.from], alternative));
  }
  return least;
}

/// Link of a chain: "--660--> ldSA", "--12, next iteration--> mnewA".
std::string step_of(const Problem& problem, const Dependence& it) {
  std::string text = fmt::format(" --{}", least_delay(problem, it));
  if (it.distance == 1) text += ", next iteration";
  if (it.distance > 1) text += fmt::format(", {} iterations on", it.distance);
  return text + "--> " + problem[it.to].name;
}

}  // namespace

std::vector<std::string> chains_of(const Problem& problem,
                                   const std::vector<std::size_t>& dependences) {
  std::vector<std::size_t> left = dependences;
  std::vector<std::string> chains;
  const auto ends_at = [&](std::size_t a, problem::OpId op) {
    return problem.dependences()[a].to == op;
  };
  while (!left.empty()) {
    // Begins a chain at an element to which no remaining element leads; in a circuit, at any
    // element.
    auto at = std::find_if(left.begin(), left.end(), [&](std::size_t candidate) {
      const problem::OpId from = problem.dependences()[candidate].from;
      return std::none_of(left.begin(), left.end(),
                          [&](std::size_t other) { return ends_at(other, from); });
    });
    if (at == left.end()) at = left.begin();
    std::string chain = problem[problem.dependences()[*at].from].name;
    while (at != left.end()) {
      const Dependence& it = problem.dependences()[*at];
      chain += step_of(problem, it);
      left.erase(at);
      at = std::find_if(left.begin(), left.end(), [&](std::size_t next) {
        return problem.dependences()[next].from == it.to;
      });
    }
    chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace twill::explain
