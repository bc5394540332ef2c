#include "twill/solve/candidate.h"

#include <algorithm>
#include <utility>

#include "twill/schedule/bounds.h"
#include "twill/support/check.h"

namespace twill::solve {
namespace {

using problem::Problem;

/// Combinations visited, repetitions included, per combination tried.
constexpr std::size_t kRepetitions = 64;

Candidate candidate_of(const Problem& problem, const std::vector<int>& ways) {
  problem::Parts parts = problem.parts();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    auto& of_op = parts.ops[i].ways;
    of_op = {of_op[static_cast<std::size_t>(ways[i])]};
  }
  Result<Problem> posed = problem::pose(std::move(parts));
  TWILL_CHECK(posed.has_value(), "a Problem stays well-formed if alternatives are taken away");
  schedule::Bound bound = schedule::min_ii(*posed);
  return {ways, *std::move(posed), std::move(bound)};
}

/// Advances to the next combination in lexicographic order; false after the last.
bool advance(const Problem& problem, std::vector<int>& ways) {
  for (std::size_t i = ways.size(); i-- > 0;) {
    if (static_cast<std::size_t>(++ways[i]) < problem.ops()[i].ways.size()) return true;
    ways[i] = 0;
  }
  return false;
}

/// Whether an exchange gives a combination that comes earlier.
bool is_repetition(const std::vector<int>& ways, const SubTiles& sub_tiles) {
  return std::any_of(sub_tiles.exchanges.begin(), sub_tiles.exchanges.end(),
                     [&](const Exchange& exchange) {
                       std::vector<int> exchanged(ways.size());
                       for (std::size_t i = 0; i < ways.size(); ++i)
                         exchanged[i] = ways[exchange[i]];
                       return exchanged < ways;
                     });
}

}  // namespace

Candidates candidates_of(const Problem& problem, const SubTiles& sub_tiles, std::size_t limit) {
  Candidates out;
  std::vector<int> ways(problem.ops().size(), 0);
  std::size_t looked_at = 0;
  do {
    if (++looked_at > kRepetitions * limit) out.all = false;
    if (!out.all) break;
    if (is_repetition(ways, sub_tiles)) continue;
    if (out.tried.size() < limit) {
      out.tried.push_back(candidate_of(problem, ways));
    } else {
      out.all = false;
    }
  } while (advance(problem, ways));
  std::stable_sort(out.tried.begin(), out.tried.end(), [](const Candidate& a, const Candidate& b) {
    return a.min_ii.value < b.min_ii.value;
  });
  return out;
}

schedule::Schedule with_ways(schedule::Schedule schedule, const Candidate& candidate) {
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) schedule.ops[i].way = candidate.ways[i];
  return schedule;
}

}  // namespace twill::solve
