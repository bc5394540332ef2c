#include "twill/explain/ask.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "twill/explain/requirement.h"
#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"
#include "twill/solve/follow.h"
#include "twill/verify/verify.h"

namespace twill::explain {
namespace {

/// Number of schedules that are kept.
constexpr std::size_t kMostKept = 12;

/// Work units per pair of ops, of following one schedule and of posing a question.
constexpr std::uint64_t kWorkOfFollowing = 3;
constexpr std::uint64_t kWorkOfPosing = 100;

std::uint64_t pairs_of(const problem::Problem& problem) {
  return std::uint64_t{problem.ops().size()} * problem.ops().size();
}

/// Work of posing: a question is posed for every choice of alternatives.
std::uint64_t posing_of(const problem::Problem& problem) {
  std::uint64_t choices = 1;
  for (const problem::Op& op : problem.ops()) {
    choices = std::min<std::uint64_t>(choices * op.alternatives.size(),
                                      solve::Options().most_combinations);
  }
  return kWorkOfPosing * pairs_of(problem) * choices;
}

constexpr Cycles kUnlimited = std::numeric_limits<Cycles>::max();

/// Answer that follows from a bound and a schedule, without a search.
schedule::Answer known_only(schedule::Bound bound, std::optional<schedule::Schedule> known) {
  schedule::Answer answer;
  const bool least = known && known->initiation_interval <= bound.value;
  if (known) answer.verdict = schedule::Verdict::feasible;
  if (least) answer.verdict = schedule::Verdict::optimal;
  answer.lower_bound = std::move(bound);
  answer.schedule = std::move(known);
  return answer;
}

}  // namespace

void Asker::begin(std::string_view step, std::uint64_t parts, std::uint64_t parts_of_question) {
  progress_.step = step;
  const std::uint64_t left = limits_.work_limit - std::min(limits_.work_limit, work_);
  until_ = work_ + left / parts;
  parts_of_question_ = parts_of_question;
}

void Asker::remember(const schedule::Schedule& schedule) {
  const auto known = std::find(kept_.begin(), kept_.end(), schedule);
  if (known != kept_.end()) kept_.erase(known);
  if (kept_.size() == kMostKept) kept_.pop_back();
  kept_.insert(kept_.begin(), schedule);
}

bool Asker::may_ask(const problem::Problem& problem) const {
  return work_ + posing_of(problem) < until_;
}

solve::Options Asker::options(const problem::Problem& problem) const {
  solve::Options options;
  const std::uint64_t left = until_ - std::min(until_, work_);
  options.work_limit = std::max(left / parts_of_question_, posing_of(problem));
  options.hurry_after = options.work_limit;
  options.cancelled = limits_.cancelled;
  options.progress = [this](const solve::Progress&) {
    if (limits_.progress) limits_.progress(progress_);
  };
  return options;
}

/// Counts a question and the `work` of its search; 0: no search was needed.
void Asker::count(const problem::Problem& problem, std::uint64_t work) {
  work_ += work + (work > 0 ? posing_of(problem) : 0);
  ++progress_.questions;
  if (limits_.progress) limits_.progress(progress_);
}

std::optional<schedule::Schedule> Asker::followed(const problem::Problem& problem,
                                                  const schedule::Schedule& known,
                                                  std::optional<Cycles> ii) {
  work_ += kWorkOfFollowing * pairs_of(problem);
  auto schedule = solve::follow(problem, known, ii);
  if (schedule && !verify::verify(problem, *schedule)) schedule.reset();
  return schedule;
}

std::optional<schedule::Schedule> Asker::recalled(const problem::Problem& problem,
                                                  std::optional<Cycles> ii) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    auto schedule = followed(problem, kept_[i], ii);
    if (!schedule) continue;
    std::rotate(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(i),
                kept_.begin() + static_cast<std::ptrdiff_t>(i + 1));
    return schedule;
  }
  return std::nullopt;
}

std::optional<schedule::Schedule> Asker::best_kept(const problem::Problem& problem) {
  std::optional<schedule::Schedule> best;
  for (const schedule::Schedule& it : kept_) {
    std::optional<Cycles> less;
    if (best) less = best->initiation_interval - 1;
    auto schedule = followed(problem, it, less);
    if (schedule) best = std::move(schedule);
  }
  return best;
}

solve::Decision Asker::decide(const problem::Problem& problem, std::optional<Cycles> ii) {
  solve::Decision decision;
  if (schedule::min_ii(problem).value > ii.value_or(kUnlimited) ||
      schedule::never_feasible(problem)) {
    decision.decided = solve::Decided::infeasible;
    count(problem, 0);
    return decision;
  }
  decision.schedule = recalled(problem, ii);
  if (decision.schedule) {
    decision.decided = solve::Decided::feasible;
    count(problem, 0);
    return decision;
  }
  if (!may_ask(problem)) return decision;
  if (ii) {
    decision = solve::decide(problem, *ii, options(problem));
    if (decision.schedule) remember(*decision.schedule);
    count(problem, decision.work);
    return decision;
  }
  const schedule::Answer answer = least(problem);
  decision.work = answer.work;
  decision.schedule = answer.schedule;
  if (answer.schedule) decision.decided = solve::Decided::feasible;
  if (answer.verdict == schedule::Verdict::infeasible) {
    decision.decided = solve::Decided::infeasible;
  }
  return decision;
}

schedule::Answer Asker::least(const problem::Problem& problem) {
  auto known = best_kept(problem);
  if (known) return least(problem, *std::move(known), 1);
  if (!may_ask(problem)) return known_only(schedule::min_ii(problem), {});
  return solve_plain(problem, options(problem));
}

schedule::Answer Asker::least(const problem::Problem& problem, schedule::Schedule known,
                              Cycles bound) {
  schedule::Bound static_bound = schedule::min_ii(problem);
  if (bound > static_bound.value) static_bound = {bound, schedule::BoundKind::search, "", {}, ""};
  if (known.initiation_interval <= static_bound.value || !may_ask(problem)) {
    count(problem, 0);
    return known_only(std::move(static_bound), std::move(known));
  }
  solve::Options limited = options(problem);
  limited.most_interval = known.initiation_interval;
  limited.least_interval = bound;
  limited.start = std::move(known);
  return solve_plain(problem, std::move(limited));
}

schedule::Answer Asker::solve_plain(const problem::Problem& problem, solve::Options options) {
  problem::Parts plain = problem.parts();
  plain.objectives.clear();
  schedule::Answer answer = solve::solve(posed(std::move(plain)), options);
  if (!answer.schedule) answer.schedule = std::move(options.start);
  if (answer.schedule) remember(*answer.schedule);
  count(problem, answer.work);
  return answer;
}

}  // namespace twill::explain
