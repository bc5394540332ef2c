#include "twill/explain/explain.h"

#include <utility>

#include "twill/schedule/bounds.h"

namespace twill::explain {
namespace {

using problem::Problem;
using schedule::Verdict;
using solve::Decided;

/// Parts of the remaining work, for each step. All other questions build on the first one; a core
/// takes many questions.
constexpr std::uint64_t kPartsOfLeast = 3;
constexpr std::uint64_t kPartsOfCore = 2;
constexpr std::uint64_t kPartsOfFact = 12;

/// Status of the explanation, and the question to explain if there is one.
Status status_of(Explanation& it, Asker& asker) {
  if (it.answer.verdict == Verdict::infeasible) return Status::infeasible;
  const Cycles bound = it.answer.lower_bound.value;
  if (!it.asked) {
    it.question = bound - 1;
    return it.answer.schedule ? Status::held : Status::undecided;
  }
  it.question = it.asked;
  if (it.answer.schedule && it.answer.schedule->initiation_interval <= *it.asked) {
    return Status::reachable;
  }
  if (*it.asked < bound) return Status::held;
  switch (asker.decide(it.problem, it.asked).decided) {
    case Decided::feasible:
      return Status::reachable;
    case Decided::infeasible:
      return Status::held;
    case Decided::undecided:
      break;
  }
  return Status::undecided;
}

/// Finds the least II, from the known bounds and schedules.
schedule::Answer least_from(const Problem& problem, const Known& known, Asker& asker) {
  asker.remember(known.schedule);
  if (!known.bound) return asker.least(problem);
  schedule::Answer answer = asker.least(problem, known.schedule, known.bound->value);
  if (answer.lower_bound.value <= known.bound->value) answer.lower_bound = *known.bound;
  return answer;
}

/// Requirements of a static bound if one explains the question, else all requirements.
std::vector<Requirement> starting_requirements(Explanation& it, Asker& asker) {
  const schedule::Bound bound = schedule::min_ii(it.problem);
  if (it.question && bound.value > *it.question) {
    std::vector<Requirement> requirements = requirements_of_bound(it.problem, bound);
    if (asker.decide(only(it.problem, requirements), it.question).decided == Decided::infeasible) {
      it.bound = bound;
      return requirements;
    }
  }
  return requirements_of(it.problem);
}

}  // namespace

Explanation explain(const Problem& problem, std::optional<Cycles> ii,
                    std::span<const Variant> variants, const Limits& limits,
                    const std::optional<Known>& known) {
  Explanation it(problem);
  it.asked = ii;
  Asker asker(limits);
  asker.begin("the least II", kPartsOfLeast, 1);
  it.answer = known ? least_from(problem, *known, asker) : asker.least(problem);
  it.status = status_of(it, asker);
  const bool nothing_below = it.question && *it.question < 1;
  const bool explained = it.status == Status::held || it.status == Status::infeasible;
  if (explained && !nothing_below) {
    asker.begin("what holds it there", kPartsOfCore, kPartsOfFact);
    it.core = minimal_core(it.problem, starting_requirements(it, asker), it.question, asker);
    const Goal goal{it.question, !it.asked && it.question.has_value()};
    it.sensitivity = sensitivity(what_ifs_of(it.problem), variants, it.core, goal, asker);
  }
  it.questions = asker.questions();
  it.work = asker.work();
  return it;
}

}  // namespace twill::explain
