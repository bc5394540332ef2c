#include "twill/report/load.h"

#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"

namespace twill::report {
namespace {

std::vector<Cycles> issue_loads(const problem::Problem& problem,
                                const schedule::Schedule& schedule) {
  std::vector<Cycles> loads(problem.groups().size(), 0);
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const schedule::Placement& at = schedule.ops[i];
    loads[at.group.index()] +=
        problem.ops()[i].alternatives[static_cast<std::size_t>(at.alternative)].issue;
  }
  return loads;
}

template <class Resources>
void append(std::vector<Load>& loads, Load::Kind kind, const Resources& resources,
            const std::vector<Cycles>& cycles) {
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    loads.push_back({kind, resources[i].name, cycles[i]});
  }
}

}  // namespace

std::vector<Load> loads_of(const problem::Problem& problem, const schedule::Schedule& schedule) {
  std::vector<Load> loads;
  append(loads, Load::Kind::unit, problem.units(), schedule::unit_loads(problem, schedule));
  append(loads, Load::Kind::pipe, problem.pipes(), schedule::pipe_loads(problem, schedule));
  append(loads, Load::Kind::group, problem.groups(), issue_loads(problem, schedule));
  return loads;
}

}  // namespace twill::report
