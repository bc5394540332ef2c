#include "twill/explain/ask.h"

#include <algorithm>
#include <utility>

#include "twill/explain/member.h"

namespace twill::explain {
namespace {

/// A question gets this part of the limit, the first one more: everything else is about it.
constexpr std::uint64_t kParts = 64;
constexpr std::uint64_t kPartsOfFirst = 4;

}  // namespace

solve::Options Asker::options(std::uint64_t parts) {
  solve::Options options;
  const std::uint64_t left = limits_.work_limit > work_ ? limits_.work_limit - work_ : 0;
  options.work_limit = std::min(left, std::max<std::uint64_t>(limits_.work_limit / parts, 1));
  options.hurry_after = options.work_limit;
  options.cancelled = limits_.cancelled;
  options.progress = [this](const solve::Progress&) {
    if (limits_.progress) limits_.progress(progress_);
  };
  return options;
}

void Asker::count(std::uint64_t work) {
  work_ += work;
  ++progress_.questions;
  if (limits_.progress) limits_.progress(progress_);
}

solve::Decision Asker::decide(const problem::Problem& problem, std::optional<Cycles> ii) {
  if (ii) {
    solve::Decision decision = solve::decide(problem, *ii, options(kParts));
    count(decision.work);
    return decision;
  }
  const schedule::Answer answer = least(problem, {});
  solve::Decision decision;
  decision.work = answer.work;
  decision.schedule = answer.schedule;
  if (answer.schedule) decision.decided = solve::Decided::feasible;
  if (answer.verdict == schedule::Verdict::infeasible) {
    decision.decided = solve::Decided::infeasible;
  }
  return decision;
}

schedule::Answer Asker::least(const problem::Problem& problem, std::optional<Cycles> most) {
  problem::Parts plain = problem.parts();
  plain.objectives.clear();
  solve::Options limited = options(progress_.questions == 0 ? kPartsOfFirst : kParts);
  limited.most_interval = most;
  schedule::Answer answer = solve::solve(posed(std::move(plain)), limited);
  count(answer.work);
  return answer;
}

}  // namespace twill::explain
