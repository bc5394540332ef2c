#include "twill/solve/decide.h"

#include <utility>

#include "twill/schedule/bounds.h"
#include "twill/solve/candidate.h"
#include "twill/solve/search.h"

namespace twill::solve {

Decision decide_better(const problem::Problem& problem, std::span<const std::int64_t> values,
                       const Options& options) {
  const Cycles most = values.front() - (values.size() == 1 ? 1 : 0);
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
    Search search(candidate, budget, options.proof, no_report);
    auto found = search.decide_below(values, 1);
    decision.work = budget.work();
    if (found.outcome == Outcome::stopped) decision.decided = Decided::undecided;
    if (found.outcome != Outcome::satisfied) continue;
    decision.decided = Decided::feasible;
    decision.schedule = with_alternatives(*std::move(found.schedule), candidate);
    break;
  }
  return decision;
}

Decision decide(const problem::Problem& problem, Cycles ii, const Options& options) {
  const std::int64_t next = ii + 1;
  return decide_better(problem, std::span(&next, 1), options);
}

}  // namespace twill::solve
