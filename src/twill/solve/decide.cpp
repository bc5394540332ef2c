#include "twill/solve/decide.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "twill/schedule/bounds.h"
#include "twill/solve/candidate.h"
#include "twill/solve/search.h"

namespace twill::solve {
namespace {

/// Puts the question to each combination of alternatives until one has a schedule. Combinations
/// that need an II above `most` are skipped.
Decision ask_all(const problem::Problem& problem, Cycles most, const Options& options,
                 const std::function<Search::Found(Search&)>& question) {
  Decision decision;
  decision.decided = Decided::infeasible;
  if (schedule::min_ii(problem).value > most || schedule::never_feasible(problem)) return decision;
  Progress progress{"initiation_interval", std::nullopt, most, 0};
  Budget budget(options.work_limit, options.hurry_after, options.memory_limit, [&] {
    if (options.progress) options.progress(progress);
    return !options.cancelled || !options.cancelled();
  });
  budget.tell(options.tally);
  const Candidates candidates =
      candidates_of(problem, find_sub_tiles(problem), options.most_combinations);
  if (!candidates.all) decision.decided = Decided::undecided;
  for (const Candidate& candidate : candidates.tried) {
    if (candidate.min_ii.value > most) continue;
    const auto no_report = [](std::string_view, std::optional<std::int64_t>, std::int64_t) {};
    Search search(candidate, budget, options.proof, no_report, {}, options.room_for_staging);
    auto found = question(search);
    decision.work = budget.work();
    if (found.outcome == Outcome::stopped) decision.decided = Decided::undecided;
    if (found.outcome != Outcome::satisfied) continue;
    decision.decided = Decided::feasible;
    decision.schedule = with_alternatives(*std::move(found.schedule), candidate);
    break;
  }
  return decision;
}

}  // namespace

Decision decide_better(const problem::Problem& problem, std::span<const std::int64_t> values,
                       const Options& options) {
  const Cycles most = values.front() - (values.size() == 1 ? 1 : 0);
  return ask_all(problem, most, options,
                 [&](Search& search) { return search.decide_below(values, 1); });
}

/// Refutes all intervals by one question at the decisive II. Only one copy of each value is
/// counted, so there are more models than schedules: only a refutation is conclusive.
Outcome Search::refute_all_roughly() {
  const Cycles ii = std::max(decisive_interval(instance_), bound_without_search());
  Encoding encoding(instance_, sub_tiles_, ii, 1, budget_.memory_limit(), proof_, "any II, roughly",
                    placed_);
  if (!may_go_on(encoding)) return Outcome::stopped;
  const Outcome outcome = encoding.solve(kTrue, budget_, {});
  return outcome == Outcome::refuted ? outcome : Outcome::stopped;
}

Decision refute_all(const problem::Problem& problem, const Options& options) {
  return ask_all(problem, std::numeric_limits<Cycles>::max(), options, [](Search& search) {
    return Search::Found{search.refute_all_roughly(), std::nullopt, 1};
  });
}

Decision decide(const problem::Problem& problem, Cycles ii, const Options& options) {
  const std::int64_t next = ii + 1;
  return decide_better(problem, std::span(&next, 1), options);
}

}  // namespace twill::solve
