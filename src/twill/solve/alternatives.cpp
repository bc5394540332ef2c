#include "twill/solve/alternatives.h"

#include <algorithm>
#include <utility>

#include "twill/schedule/difference.h"
#include "twill/solve/solve_without.h"
#include "twill/support/check.h"

namespace twill::solve {
namespace {

using problem::Problem;
using schedule::Answer;
using schedule::ObjectiveValue;
using schedule::Schedule;
using schedule::Verdict;

/// Values of the levels up to the first level that is not proven.
std::vector<std::int64_t> proven_levels(const std::vector<ObjectiveValue>& levels) {
  std::vector<std::int64_t> out;
  for (const ObjectiveValue& level : levels) {
    if (!level.proven) break;
    out.push_back(level.value);
  }
  return out;
}

/// Renames groups, then sub-tiles of the schedule while that brings it closer to `model`.
Schedule like(const Problem& problem, const Schedule& schedule, const Schedule& model,
              const std::vector<Exchange>& exchanges) {
  Schedule closest = schedule::aligned(problem, schedule, model);
  std::size_t least = schedule::differences(problem, closest, model).size();
  for (bool closer = true; closer;) {
    closer = false;
    for (const Exchange& exchange : exchanges) {
      const Schedule image = schedule::aligned(problem, image_of(closest, exchange), model);
      const std::size_t count = schedule::differences(problem, image, model).size();
      if (count >= least) continue;
      closest = image;
      least = count;
      closer = true;
    }
  }
  return closest;
}

}  // namespace

AlternativeSchedules alternatives(const Problem& problem, const Answer& first, std::size_t count,
                                  const Options& options) {
  TWILL_CHECK(first.schedule.has_value(), "alternatives are those of a schedule");
  const Schedule& best = *first.schedule;
  Options each = options;
  each.proof = nullptr;
  each.most_interval =
      std::max(best.initiation_interval, options.most_interval.value_or(best.initiation_interval));
  Exclusion exclusion{{best}, proven_levels(first.objectives)};
  const std::vector<Exchange> exchanges = find_sub_tiles(problem).exchanges;
  AlternativeSchedules out;
  while (out.list.size() < count) {
    Answer next = solve_without(problem, exclusion, each);
    out.work += next.work;
    if (!next.schedule) {
      out.complete = next.lower_bound.value > *each.most_interval;
      out.stopped = !out.complete;
      break;
    }
    exclusion.structures.push_back(*next.schedule);
    const bool proven = next.verdict == Verdict::optimal;
    if (proven) exclusion.least = proven_levels(next.objectives);
    out.list.push_back(
        {like(problem, *next.schedule, best, exchanges), std::move(next.objectives), proven});
  }
  return out;
}

}  // namespace twill::solve
