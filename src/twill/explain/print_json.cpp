#include <utility>

#include <nlohmann/json.hpp>

#include "twill/explain/print.h"
#include "twill/problem/problem.h"
#include "twill/schedule/pool_class.h"

namespace twill::explain {
namespace {

using Json = nlohmann::ordered_json;
using problem::Problem;

const char* name_of(Status status) {
  switch (status) {
    case Status::held:
      return "held";
    case Status::reachable:
      return "reachable";
    case Status::infeasible:
      return "infeasible";
    case Status::undecided:
      break;
  }
  return "undecided";
}

const char* name_of(Extent extent) {
  switch (extent) {
    case Extent::least:
      return "least";
    case Extent::perhaps_less:
      return "perhaps-less";
    case Extent::example:
      break;
  }
  return "example";
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::minimum_groups:
      return "minimum-groups";
    case Kind::width:
      return "width";
    case Kind::load_group:
      return "load-group";
    case Kind::same_group:
      return "same-group";
    case Kind::group_count:
      return "group-count";
    case Kind::register_limit:
      return "register-limit";
    case Kind::budget:
      return "register-budget";
    case Kind::registers:
      return "registers";
    case Kind::footprint:
      return "footprint";
    case Kind::transfer_costs:
      return "transfer-op";
    case Kind::transfer:
      return "transfer";
    case Kind::wait:
      return "wait";
    case Kind::issue:
      return "issue";
    case Kind::demand:
      return "demand";
    case Kind::hold:
      return "hold";
    case Kind::dependence:
      break;
  }
  return "dependence";
}

Json groups_json(const Problem& problem, std::size_t index) {
  Json names = Json::array();
  const auto classes = schedule::pool_classes(problem);
  for (const problem::GroupId group : classes[index].groups) {
    names.push_back(problem[group].name);
  }
  return names;
}

Json member_json(const Problem& problem, const Requirement& it) {
  Json json = {{"kind", name_of(it.kind)}};
  switch (it.kind) {
    case Kind::minimum_groups:
    case Kind::width:
    case Kind::load_group:
      return json;
    case Kind::same_group:
      json["ops"] = Json::array();
      for (const problem::OpId op : problem.same_group()[it.index]) {
        json["ops"].push_back(problem[op].name);
      }
      return json;
    case Kind::group_count:
    case Kind::register_limit:
      json["groups"] = groups_json(problem, it.index);
      return json;
    case Kind::transfer_costs: {
      const problem::Transfer& transfer = problem.transfers()[it.index];
      json["value"] = problem[transfer.value].name;
      json["store"] = problem[transfer.store].name;
      json["loads"] = Json::array();
      for (const auto& load : transfer.loads) json["loads"].push_back(problem[load.op].name);
      return json;
    }
    case Kind::budget:
      json["groups"] = Json::array();
      for (const problem::GroupId group : problem.register_budgets()[it.index].groups) {
        json["groups"].push_back(problem[group].name);
      }
      return json;
    case Kind::transfer:
    case Kind::wait:
    case Kind::dependence: {
      const problem::Dependence& dependence = problem.dependences()[it.index];
      json["from"] = problem[dependence.from].name;
      json["to"] = problem[dependence.to].name;
      json["distance"] = dependence.distance;
      return json;
    }
    case Kind::footprint:
    case Kind::demand:
    case Kind::registers:
    case Kind::issue:
    case Kind::hold:
      break;
  }
  json["op"] = problem.ops()[it.index].name;
  if (it.kind == Kind::footprint) json["resource"] = problem.memories()[it.other].name;
  if (it.kind == Kind::demand) json["resource"] = problem.pipes()[it.other].name;
  return json;
}

Json help_json(const Help& help) {
  Json points = Json::array();
  for (const Point& point : help.points) {
    points.push_back({{"to", point.to},
                      {"initiation_interval", point.interval},
                      {"best", point.best},
                      {"extent", name_of(point.extent)}});
  }
  return {{"what", help.what}, {"from", help.from}, {"points", std::move(points)}};
}

Json optional_json(const std::optional<Cycles>& value) { return value ? Json(*value) : Json(); }

Json optimum_json(const schedule::Answer& answer) {
  Json json = {{"verdict", schedule::name_of(answer.verdict)},
               {"lower_bound", answer.lower_bound.value},
               {"argument", answer.argument}};
  json["initiation_interval"] =
      answer.schedule ? Json(answer.schedule->initiation_interval) : Json();
  return json;
}

}  // namespace

std::string explanation_json(const Heading& heading, const Explanation& it) {
  Json json = {{"format", "twill-explanation"}, {"version", kExplanationJsonVersion},
               {"name", it.problem.name()},     {"input", heading.input},
               {"loop", heading.loop},          {"story", heading.story},
               {"machine", heading.machine},    {"machine_measured", heading.machine_measured},
               {"pool", heading.pool},          {"rate", heading.rate},
               {"status", name_of(it.status)},  {"optimum", optimum_json(it.answer)}};
  json["asked"] = optional_json(it.asked);
  json["question"] = optional_json(it.question);
  json["bound"] = it.bound ? Json{{"value", it.bound->value},
                                  {"kind", schedule::name_of(it.bound->kind)},
                                  {"witness", it.bound->witness}}
                           : Json();
  Json core = Json::array();
  for (const Requirement& requirement : it.core.requirements)
    core.push_back(member_json(it.problem, requirement));
  json["core"] = {{"minimal", it.core.minimal}, {"requirements", std::move(core)}};
  json["helps"] = Json::array();
  for (const Help& help : it.sensitivity.helps) json["helps"].push_back(help_json(help));
  Json useless = it.sensitivity.useless;
  for (const std::string& what : it.sensitivity.useless_of_op) useless.push_back(what);
  json["useless"] = std::move(useless);
  json["undecided"] = it.sensitivity.undecided;
  json["questions"] = it.questions;
  json["work"] = it.work;
  return json.dump(2) + "\n";
}

}  // namespace twill::explain
