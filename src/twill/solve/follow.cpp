#include "twill/solve/follow.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "twill/solve/instance.h"
#include "twill/solve/place.h"
#include "twill/solve/recheck.h"
#include "twill/solve/residual.h"
#include "twill/solve/structure.h"

namespace twill::solve {
namespace {

using problem::Problem;
using schedule::Schedule;

bool is_about(const Problem& problem, const Schedule& known) {
  if (known.ops.size() != problem.ops().size()) return false;
  for (std::size_t op = 0; op < known.ops.size(); ++op) {
    if (known.ops[op].group.index() >= problem.groups().size()) return false;
    if (known.ops[op].alternative >= static_cast<int>(problem.ops()[op].alternatives.size()))
      return false;
  }
  return true;
}

/// Makes the Problem with the schedule's alternatives only.
std::optional<Problem> with_its_alternatives(const Problem& problem, const Schedule& known) {
  problem::Parts parts = problem.parts();
  for (std::size_t op = 0; op < parts.ops.size(); ++op) {
    auto& alternatives = parts.ops[op].alternatives;
    alternatives = {alternatives[static_cast<std::size_t>(known.ops[op].alternative)]};
  }
  auto posed = problem::pose(std::move(parts));
  if (!posed) return std::nullopt;
  return *std::move(posed);
}

/// Does the work of `follow`. Precondition: every op has one alternative.
std::optional<Schedule> follow_in(const Problem& problem, const Schedule& known,
                                  std::optional<Cycles> most) {
  const Instance whole = instance_of(problem);
  const ResidualInstance left(whole, known);
  const Instance& instance = left.instance();
  const Schedule pattern = left.in_residual(known);
  const std::vector<Inequality> structure = structure_of(instance, pattern);
  if (most && !has_solution(structure, instance.op_count(), *most)) return std::nullopt;
  const auto ii = least_interval(structure, instance.op_count(), load_bound(instance));
  if (!ii || (most && *ii > *most)) return std::nullopt;
  const Schedule retimed = tightened(pattern, structure, *ii);
  if (!keeps_order(instance, retimed) || !fits_storage(instance, retimed)) return std::nullopt;
  const auto placed = with_addresses(instance, retimed);
  if (!placed) return std::nullopt;
  return left.completed(*placed);
}

}  // namespace

std::optional<Schedule> follow(const Problem& problem, const Schedule& known,
                               std::optional<Cycles> most) {
  if (!is_about(problem, known)) return std::nullopt;
  Schedule pattern = known;
  for (schedule::Placement& it : pattern.ops) it.alternative = 0;
  pattern = schedule::with_existence(problem, std::move(pattern));
  const bool has_choice =
      std::any_of(problem.ops().begin(), problem.ops().end(),
                  [](const problem::Op& op) { return op.alternatives.size() > 1; });
  const std::optional<Problem> chosen =
      has_choice ? with_its_alternatives(problem, known) : std::optional<Problem>();
  if (has_choice && !chosen) return std::nullopt;
  auto found = follow_in(chosen ? *chosen : problem, pattern, most);
  if (!found) return std::nullopt;
  for (std::size_t op = 0; op < found->ops.size(); ++op)
    found->ops[op].alternative = known.ops[op].alternative;
  return found;
}

}  // namespace twill::solve
