#include "twill/solve/candidate.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"
#include "twill/support/check.h"

namespace twill::solve {
namespace {

using problem::Problem;

/// Limit on visited combinations, repetitions included, per combination to try.
constexpr std::size_t kRepetitions = 64;

/// Length of the longest chain of ops within an iteration.
Cycles least_length(const Problem& problem) {
  std::vector<Cycles> issue(problem.ops().size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (const problem::Dependence& it : problem.dependences()) {
      if (it.distance > 0) continue;
      const problem::Op& from = problem[it.from];
      const Cycles after = issue[it.from.index()] + delay_of(it, from, from.alternatives.front());
      moved |= after > issue[it.to.index()];
      issue[it.to.index()] = std::max(issue[it.to.index()], after);
    }
  }
  Cycles length = 0;
  for (std::size_t i = 0; i < issue.size(); ++i) {
    length = std::max(length, issue[i] + span_of(problem.ops()[i].alternatives.front()));
  }
  return length;
}

Candidate candidate_of(const Problem& problem, const std::vector<int>& alternatives) {
  problem::Parts parts = problem.parts();
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    auto& of_op = parts.ops[i].alternatives;
    of_op = {of_op[static_cast<std::size_t>(alternatives[i])]};
  }
  Result<Problem> posed = problem::pose(std::move(parts));
  TWILL_CHECK(posed.has_value(), "a Problem stays well-formed if alternatives are taken away");
  schedule::Bound bound = schedule::min_ii(*posed);
  const Cycles length = least_length(*posed);
  return {alternatives, *std::move(posed), std::move(bound), length};
}

/// Advances to the next combination in lexicographic order. Returns false after the last one.
bool advance(const Problem& problem, std::vector<int>& alternatives) {
  for (std::size_t i = alternatives.size(); i-- > 0;) {
    if (static_cast<std::size_t>(++alternatives[i]) < problem.ops()[i].alternatives.size())
      return true;
    alternatives[i] = 0;
  }
  return false;
}

/// Whether an exchange of sub-tiles turns the combination into an earlier one.
bool is_repetition(const std::vector<int>& alternatives, const SubTiles& sub_tiles) {
  return std::any_of(sub_tiles.exchanges.begin(), sub_tiles.exchanges.end(),
                     [&](const Exchange& exchange) {
                       std::vector<int> exchanged(alternatives.size());
                       for (std::size_t i = 0; i < alternatives.size(); ++i)
                         exchanged[i] = alternatives[exchange[i]];
                       return exchanged < alternatives;
                     });
}

/// Orders combinations. The first is searched for its own sake. Of the others it is asked whether
/// they have a better schedule: with the shortest chains first, one that has refutes the rest.
void put_in_order(std::deque<Candidate>& tried) {
  if (tried.empty()) return;
  std::stable_sort(tried.begin(), tried.end(), [](const Candidate& a, const Candidate& b) {
    return a.min_ii.value < b.min_ii.value;
  });
  std::stable_sort(tried.begin() + 1, tried.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.min_ii.value, a.least_length) < std::tuple(b.min_ii.value, b.least_length);
  });
}

}  // namespace

Candidates candidates_of(const Problem& problem, const SubTiles& sub_tiles, std::size_t limit) {
  Candidates out;
  std::vector<int> alternatives(problem.ops().size(), 0);
  std::size_t looked_at = 0;
  do {
    if (++looked_at > kRepetitions * limit) out.all = false;
    if (!out.all) break;
    if (is_repetition(alternatives, sub_tiles)) continue;
    if (out.tried.size() < limit) {
      out.tried.push_back(candidate_of(problem, alternatives));
    } else {
      out.all = false;
    }
  } while (advance(problem, alternatives));
  put_in_order(out.tried);
  return out;
}

schedule::Schedule with_alternatives(schedule::Schedule schedule, const Candidate& candidate) {
  for (std::size_t i = 0; i < schedule.ops.size(); ++i)
    schedule.ops[i].alternative = candidate.alternatives[i];
  return schedule;
}

}  // namespace twill::solve
