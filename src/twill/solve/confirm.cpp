#include "twill/solve/confirm.h"

#include <limits>

#include "twill/schedule/bounds.h"
#include "twill/solve/candidate.h"
#include "twill/solve/search.h"

namespace twill::solve {
namespace {

using schedule::ObjectiveValue;

/// Visits all combinations of alternatives in turn. `refute` asks the questions of one combination
/// and returns the outcome. Combinations that need an II above `most` are skipped.
template <typename Refute>
Decision for_each_candidate(const problem::Problem& problem, const Options& options, Cycles most,
                            const Refute& refute) {
  Decision decision;
  decision.decided = Decided::infeasible;
  const Cycles least = schedule::min_ii(problem).value;
  if (least > most || schedule::never_feasible(problem)) return decision;
  Progress progress{"certificate", std::nullopt, least, 0};
  Budget budget(options.work_limit, options.memory_limit, [&] {
    if (options.progress) options.progress(progress);
    return !options.cancelled || !options.cancelled();
  });
  const Candidates candidates =
      candidates_of(problem, find_sub_tiles(problem), options.most_combinations);
  if (!candidates.all) decision.decided = Decided::undecided;
  for (const Candidate& candidate : candidates.tried) {
    if (candidate.min_ii.value > most) continue;
    const auto no_report = [](std::string_view, std::optional<std::int64_t>, std::int64_t) {};
    Search search(candidate, budget, options.proof, no_report, {}, options.room_for_staging);
    if (options.start) search.start_from(*options.start);
    const Outcome outcome = refute(search);
    decision.work = budget.work();
    if (outcome == Outcome::stopped) decision.decided = Decided::undecided;
    if (outcome != Outcome::satisfied) continue;
    decision.decided = Decided::feasible;
    break;
  }
  return decision;
}

}  // namespace

Decision confirm(const problem::Problem& problem, std::span<const ObjectiveValue> levels,
                 const Options& options) {
  return for_each_candidate(problem, options, levels.front().value,
                            [&](Search& search) { return search.refute(levels); });
}

Decision confirm_infeasible(const problem::Problem& problem, const Options& options) {
  constexpr Cycles kAny = std::numeric_limits<Cycles>::max();
  return for_each_candidate(problem, options, kAny,
                            [](Search& search) { return search.refute_all(); });
}

}  // namespace twill::solve
