#include "twill/schedule/problem_json.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"

namespace twill::schedule {
namespace {

using Json = nlohmann::ordered_json;
using problem::Alternative;
using problem::Dependence;
using problem::Op;
using problem::Problem;

Json number_or_null(const std::optional<Cycles>& value) { return value ? Json(*value) : Json(); }

template <class Enums>
Json names_of(const Enums& values) {
  Json out = Json::array();
  for (const auto value : values) out.push_back(name_of(value));
  return out;
}

template <class Table, class ToJson>
Json array_of(const Table& table, ToJson to_json) {
  Json out = Json::array();
  for (const auto& it : table) out.push_back(to_json(it));
  return out;
}

Json json_of(const Problem& problem, const Alternative& alternative) {
  return {{"name", alternative.name},
          {"unit", alternative.unit ? Json(problem[*alternative.unit].name) : Json()},
          {"occupancy", alternative.occupancy},
          {"latency", alternative.latency},
          {"issue", alternative.issue},
          {"pipes", array_of(alternative.pipes, [&](const problem::PipeUse& use) -> Json {
             return {{"pipe", problem[use.pipe].name}, {"demand", use.demand}};
           })}};
}

Json json_of(const Problem& problem, const Op& op) {
  return {
      {"name", op.name},
      {"warps", op.warps},
      {"registers", op.registers},
      {"footprint", array_of(op.footprint,
                             [&](const problem::Footprint& it) -> Json {
                               return {{"memory", problem[it.memory].name}, {"amount", it.amount}};
                             })},
      {"asynchronous", op.asynchronous},
      {"variable_latency", op.variable_latency},
      {"streaming", op.streaming},
      {"alternatives",
       array_of(op.alternatives,
                [&](const Alternative& alternative) { return json_of(problem, alternative); })},
      {"source", op.source}};
}

Json json_of(const Problem& problem, const Dependence& it) {
  Json json = {{"from", problem[it.from].name},
               {"to", problem[it.to].name},
               {"distance", it.distance},
               {"delay", number_or_null(it.delay)},
               {"blocking", it.blocking},
               {"carries_value", it.carries_value},
               {"read_hold", number_or_null(it.read_hold)},
               {"in_place", it.in_place},
               {"transfer", it.transfer}};
  if (it.through_memory) json["through_memory"] = true;
  return json;
}

}  // namespace

Json json_of(const Problem& problem, const problem::RegisterBudget& it) {
  return {{"groups",
           array_of(it.groups, [&](problem::GroupId id) -> Json { return problem[id].name; })},
          {"total", it.total},
          {"step", it.step},
          {"reserve", it.reserve}};
}

std::string problem_json(const Problem& problem) {
  const auto named = [](const auto& it) -> Json { return {{"name", it.name}}; };
  Json json = {
      {"format", "twill-problem"},
      {"version", 2},
      {"name", problem.name()},
      {"hash", problem_hash(problem)},
      {"relaxed", names_of(problem.relaxed())},
      {"objectives", names_of(problem.objectives())},
      {"minimum_compute_groups", problem.minimum_compute_groups()},
      {"units", array_of(problem.units(), named)},
      {"pipes", array_of(problem.pipes(),
                         [](const problem::Pipe& it) -> Json {
                           return {{"name", it.name}, {"port", it.port}};
                         })},
      {"memories", array_of(problem.memories(),
                            [](const problem::Memory& it) -> Json {
                              return {{"name", it.name}, {"capacity", it.capacity}};
                            })},
      {"groups", array_of(problem.groups(),
                          [](const problem::Group& it) -> Json {
                            return {{"name", it.name},
                                    {"warps", it.warps},
                                    {"registers", it.registers},
                                    {"loads", it.loads}};
                          })},
      {"ops", array_of(problem.ops(), [&](const Op& op) { return json_of(problem, op); })},
      {"dependences",
       array_of(problem.dependences(), [&](const Dependence& it) { return json_of(problem, it); })},
      {"same_group", array_of(problem.same_group(),
                              [&](const std::vector<problem::OpId>& ops) {
                                return array_of(ops, [&](problem::OpId op) -> Json {
                                  return problem[op].name;
                                });
                              })},
      {"transfers", array_of(problem.transfers(), [&](const problem::Transfer& it) -> Json {
         return {{"value", problem[it.value].name},
                 {"store", problem[it.store].name},
                 {"loads", array_of(it.loads, [&](const problem::Transfer::Load& load) -> Json {
                    return {{"load", problem[load.op].name}, {"reader", problem[load.reader].name}};
                  })}};
       })}};
  if (!problem.register_budgets().empty()) {
    json["register_budgets"] =
        array_of(problem.register_budgets(), [&](const auto& it) { return json_of(problem, it); });
  }
  // Replaces bytes that are not UTF-8 by U+FFFD: source texts may hold any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace twill::schedule
