#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/page/loop_view.h"
#include "twill/problem/problem.h"
#include "twill/schedule/pool_class.h"

/// Findings of `explain` and `compare`.
namespace twill::page {
namespace {

using explain::Kind;
using explain::Requirement;
using problem::Problem;

/// A requirement of the Problem in words, with a placeholder for its op or resource.
const char* sentence_of(Kind kind) {
  switch (kind) {
    case Kind::minimum_groups:
      return "at least so many compute groups have an op";
    case Kind::width:
      return "an op runs in a group of exactly its width (rule width)";
    case Kind::load_group:
      return "loads run in the load group, and nothing else does";
    case Kind::same_group:
      return "one group runs all of";
    case Kind::group_count:
      return "there are no more groups like";
    case Kind::register_limit:
      return "registers per thread are limited in";
    case Kind::budget:
      return "registers are shared by";
    case Kind::registers:
      return "registers are taken by the results of";
    case Kind::footprint:
      return "memory is taken by the results of";
    case Kind::transfer_costs:
      return "a store and loads transfer";
    case Kind::transfer:
      return "going to another group takes longer for";
    case Kind::wait:
      return "the reader waits at a barrier for";
    case Kind::issue:
      return "their group is kept issuing by";
    case Kind::demand:
      return "a shared pipe is taken by";
    case Kind::hold:
      return "an exclusive unit is held by";
    case Kind::dependence:
      break;
  }
  return "a result is not used before it is there:";
}

std::string listed_groups(const Problem& problem, const std::vector<problem::GroupId>& groups) {
  std::vector<std::string> names;
  for (const problem::GroupId group : groups) names.push_back(problem[group].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Describes a reservation: "qkA 512 on TC".
std::string held(const Problem& problem, std::size_t op) {
  const problem::Alternative& alternative = problem.ops()[op].alternatives.front();
  return alternative.unit ? fmt::format("{} {} on {}", problem.ops()[op].name,
                                        alternative.occupancy, problem[*alternative.unit].name)
                          : problem.ops()[op].name;
}

std::string demanded(const Problem& problem, const Requirement& it) {
  const problem::Op& op = problem.ops()[it.index];
  Cycles demand = 0;
  for (const problem::PipeUse& use : op.alternatives.front().pipes) {
    if (use.pipe.index() == it.other) demand = use.demand;
  }
  return fmt::format("{} {} on {}", op.name, demand, problem.pipes()[it.other].name);
}

std::string object_of(const Problem& problem, const Requirement& it) {
  switch (it.kind) {
    case Kind::minimum_groups:
      return std::to_string(problem.minimum_compute_groups());
    case Kind::width:
    case Kind::load_group:
      return "";
    case Kind::same_group: {
      std::vector<std::string> names;
      for (const problem::OpId op : problem.same_group()[it.index])
        names.push_back(problem[op].name);
      return fmt::format("{}", fmt::join(names, ", "));
    }
    case Kind::group_count:
    case Kind::register_limit:
      return listed_groups(problem, schedule::pool_classes(problem)[it.index].groups);
    case Kind::budget:
      return listed_groups(problem, problem.register_budgets()[it.index].groups);
    case Kind::transfer_costs:
      return problem[problem.transfers()[it.index].value].name;
    case Kind::transfer:
    case Kind::wait:
    case Kind::dependence: {
      const problem::Dependence& each = problem.dependences()[it.index];
      return fmt::format("{} to {}{}", problem[each.from].name, problem[each.to].name,
                         each.distance > 0 ? fmt::format(" ({} later)", each.distance) : "");
    }
    case Kind::registers:
      return fmt::format("{} {}", problem.ops()[it.index].name, problem.ops()[it.index].registers);
    case Kind::demand:
      return demanded(problem, it);
    case Kind::hold:
      return held(problem, it.index);
    case Kind::footprint:
    case Kind::issue:
      break;
  }
  return problem.ops()[it.index].name;
}

std::vector<std::string> core_of(const explain::Explanation& it) {
  std::map<Kind, std::vector<std::string>> objects;
  for (const Requirement& requirement : it.core.requirements) {
    const std::string object = object_of(it.problem, requirement);
    auto& all = objects[requirement.kind];
    if (!object.empty()) all.push_back(object);
  }
  std::vector<std::string> sentences;
  for (const auto& [kind, all] : objects) {
    sentences.push_back(all.empty()
                            ? sentence_of(kind)
                            : fmt::format("{} {}", sentence_of(kind), fmt::join(all, ", ")));
  }
  return sentences;
}

std::string known_of(const explain::Point& point) {
  std::string text = point.extent == explain::Extent::least          ? "least change, proven"
                     : point.extent == explain::Extent::perhaps_less ? "perhaps less is enough"
                                                                     : "one value that was tried";
  return point.best ? text : text + "; may buy more";
}

std::string question_of(const explain::Explanation& it) {
  if (it.status == explain::Status::reachable) {
    return fmt::format("Can it run at an II of {} cycles? Yes.", *it.asked);
  }
  if (!it.question) return "Why is there no schedule?";
  return fmt::format("Why not an II of {} cycles?", *it.question);
}

std::string answer_of(const explain::Explanation& it) {
  if (it.status == explain::Status::undecided) return "Not decided within the work limit.";
  if (it.status == explain::Status::reachable) return "Nothing holds it above that.";
  if (it.bound)
    return fmt::format("Impossible, and no search is needed to see why: {}.", it.bound->witness);
  return it.core.minimal
             ? "Impossible, proven. These facts together leave no schedule, and without "
               "any one of them there is one:"
             : "Impossible, proven. These facts together leave no schedule:";
}

}  // namespace

void add_explanation(const Material& material, Facts& facts) {
  const explain::Explanation& it = *material.explanation;
  Changes changes;
  changes.question = question_of(it);
  changes.answer = answer_of(it);
  changes.core = core_of(it);
  const bool lowers = !it.asked && it.question.has_value();
  for (const explain::Help& help : it.sensitivity.helps) {
    for (const explain::Point& point : help.points) {
      const double gain = lowers ? static_cast<double>(*it.question + 1 - point.interval) : 0.0;
      changes.helps.push_back({help.what, help.from, point.to, static_cast<double>(point.interval),
                               gain, known_of(point), help.of_op});
    }
  }
  changes.useless = it.sensitivity.useless;
  changes.useless.insert(changes.useless.end(), it.sensitivity.useless_of_op.begin(),
                         it.sensitivity.useless_of_op.end());
  changes.undecided = it.sensitivity.undecided;
  facts.changes = std::move(changes);
}

void add_comparison(const Material& material, Facts& facts) {
  const report::Comparison& comparison = *material.comparison;
  for (const report::Compared& row : comparison.rows) {
    const auto text = [](const auto& value) {
      return value ? fmt::format("{}", *value) : std::string();
    };
    std::vector<std::string> memory;
    for (const auto& [name, amount] : row.memory)
      memory.push_back(fmt::format("{} {}", name, amount));
    Strategy strategy{row.strategy,
                      row.pool,
                      row.what,
                      std::nullopt,
                      row.simulated,
                      report::ratio_to_twill(comparison, row),
                      text(row.stages),
                      text(row.groups),
                      text(row.registers),
                      fmt::format("{}", fmt::join(memory, ", ")),
                      row.note};
    if (row.interval) strategy.interval = static_cast<double>(*row.interval);
    facts.strategies.push_back(std::move(strategy));
  }
}

}  // namespace twill::page
