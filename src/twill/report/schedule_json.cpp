#include "twill/report/schedule_json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "twill/problem/problem.h"
#include "twill/report/alternatives.h"
#include "twill/report/buffers.h"
#include "twill/report/load.h"
#include "twill/report/story.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/bounds.h"

namespace twill::report {
namespace {

using Json = nlohmann::ordered_json;
using problem::OpId;

Json names_of(const problem::Problem& problem, const std::vector<OpId>& ops) {
  Json names = Json::array();
  for (const OpId op : ops) names.push_back(problem[op].name);
  return names;
}

Json problem_part(const Outcome& outcome) {
  return {{"name", outcome.problem.name()},
          {"hash", outcome.problem_hash},
          {"ops", outcome.problem.ops().size()},
          {"dependences", outcome.problem.dependences().size()},
          {"text", outcome.problem_text}};
}

Json bound_part(const Outcome& outcome, const schedule::Bound& bound) {
  return {{"value", bound.value},
          {"kind", schedule::name_of(bound.kind)},
          {"resource", bound.resource},
          {"ops", names_of(outcome.problem, bound.ops)},
          {"witness", bound.witness}};
}

Json candidate(const Candidate& it) {
  const auto number = [](std::optional<Cycles> n) { return n ? Json(*n) : Json(nullptr); };
  return {{"rate", it.rate.empty() ? Json(nullptr) : Json(it.rate)},
          {"pool", it.pool},
          {"verdict", name_of(it.verdict)},
          {"initiation_interval", number(it.interval)},
          {"expected", number(it.expected)},
          {"slowest", number(it.slowest)},
          {"simulated", it.simulated ? Json(*it.simulated) : Json(nullptr)},
          {"refused", it.refused},
          {"note", it.note},
          {"chosen", it.chosen}};
}

Json plan_part(const std::optional<Built>& built) {
  if (!built) return nullptr;
  const auto number = [](std::optional<double> it) { return it ? Json(*it) : Json(nullptr); };
  const std::optional<std::string>& unprinted = built->not_printable;
  return {{"planned", built->planned},
          {"refusal", built->refusal},
          {"simulated", number(built->simulated)},
          {"with_signals", number(built->with_signals)},
          {"in_order", number(built->in_order)},
          {"at_slowest", number(built->at_slowest)},
          {"printable", unprinted ? Json(unprinted->empty()) : Json(nullptr)},
          {"not_printable", unprinted.value_or("")},
          {"ttgir", built->no_ttgir ? Json(built->no_ttgir->empty()) : Json(nullptr)},
          {"no_ttgir", built->no_ttgir.value_or("")}};
}

Json limiter_part(const std::optional<Limiter>& it) {
  if (!it) return nullptr;
  return {{"what", it->what},
          {"alone", it->alone},
          {"cycles", it->cycles},
          {"ops", it->ops},
          {"lines", it->lines}};
}

Json bracket_json(const Outcome& outcome) {
  const std::optional<Bracket>& bracket = outcome.bracket;
  if (!bracket) return nullptr;
  Json json = {{"fastest", bracket->fastest},
               {"slowest", bracket->slowest ? Json(*bracket->slowest) : Json(nullptr)},
               {"fastest_limit", bracket->fastest_limit},
               {"fastest_witness", bracket->fastest_witness}};
  const auto expected = expected_within(*bracket);
  json["expected"] = expected ? Json(*expected) : Json(nullptr);
  const auto kept = kept_by_plan(outcome);
  json["kept"] = kept ? Json(*kept) : Json(nullptr);
  return json;
}

/// Rows of the tile, [begin, end), if the tile is cut.
Json rows(const Outcome& outcome, std::size_t op) {
  if (op >= outcome.origins.size() || outcome.origins[op].row_end == 0) return nullptr;
  return Json::array({outcome.origins[op].row_begin, outcome.origins[op].row_end});
}

Json ops(const Outcome& outcome, const schedule::Schedule& found) {
  const problem::Problem& problem = outcome.problem;
  Json list = Json::array();
  for (std::size_t i = 0; i < found.ops.size(); ++i) {
    const problem::Op& op = problem.ops()[i];
    const schedule::Placement& at = found.ops[i];
    list.push_back({{"name", op.name},
                    {"issue_cycle", at.issue},
                    {"stage", schedule::stage_of(found, OpId(i))},
                    {"slot", schedule::slot_of(found, OpId(i))},
                    {"group", problem[at.group].name},
                    {"alternative", op.alternatives[static_cast<std::size_t>(at.alternative)].name},
                    {"source", op.source},
                    {"line", i < outcome.lines.size() ? outcome.lines[i] : std::string()},
                    {"rows", rows(outcome, i)}});
  }
  return list;
}

Json groups(const problem::Problem& problem, const schedule::Schedule& found) {
  const std::vector<Amount> registers = schedule::peak_registers(problem, found);
  Json list = Json::array();
  for (std::size_t g = 0; g < problem.groups().size(); ++g) {
    const problem::Group& group = problem.groups()[g];
    std::vector<OpId> members;
    for (std::size_t i = 0; i < found.ops.size(); ++i) {
      if (found.ops[i].group.index() == g) members.emplace_back(i);
    }
    std::stable_sort(members.begin(), members.end(), [&](OpId a, OpId b) {
      return schedule::slot_of(found, a) < schedule::slot_of(found, b);
    });
    list.push_back({{"name", group.name},
                    {"width", group.warps},
                    {"registers", registers[g]},
                    {"limit", group.registers},
                    {"loads", group.loads},
                    {"ops", names_of(problem, members)}});
  }
  return list;
}

Json register_budgets(const problem::Problem& problem, const schedule::Schedule& found) {
  Json list = Json::array();
  for (const problem::RegisterBudget& budget : problem.register_budgets()) {
    const std::vector<Amount> taken = schedule::registers_taken(problem, found, budget);
    Json groups = Json::array();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      groups.push_back({{"name", problem[budget.groups[i]].name}, {"registers", taken[i]}});
    }
    list.push_back({{"total", budget.total},
                    {"step", budget.step},
                    {"reserve", budget.reserve},
                    {"groups", std::move(groups)}});
  }
  return list;
}

Json buffers(const Outcome& outcome, const schedule::Schedule& found) {
  Json list = Json::array();
  for (const Buffer& buffer : allocated_buffers(outcome)) {
    const std::string& memory = outcome.problem[buffer.memory].name;
    Json json = {{"value", outcome.problem[buffer.value].name}, {"memory", memory}};
    json[memory == "TMEM" ? "columns" : "bytes"] = buffer.amount;
    json["depth"] = buffer.depth;
    const auto offset = schedule::offset_of(found, buffer.value, buffer.memory);
    json["offset"] = offset ? Json(*offset) : Json(nullptr);
    json["hides"] = buffer.ring ? Json(buffer.ring->hides) : Json(nullptr);
    json["wants"] = buffer.ring ? Json(buffer.ring->wants) : Json(nullptr);
    list.push_back(std::move(json));
  }
  return list;
}

Json memories(const problem::Problem& problem, const schedule::Schedule& found) {
  const std::vector<Amount> peaks = schedule::peak_memory(problem, found);
  Json list = Json::array();
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const problem::Memory& memory = problem.memories()[i];
    list.push_back({{"name", memory.name}, {"peak", peaks[i]}, {"capacity", memory.capacity}});
  }
  return list;
}

Json loads(const problem::Problem& problem, const schedule::Schedule& found) {
  Json list = Json::array();
  for (const Load& load : loads_of(problem, found)) {
    const char* kind = load.kind == Load::Kind::unit   ? "unit"
                       : load.kind == Load::Kind::pipe ? "pipe"
                                                       : "group";
    list.push_back({{"kind", kind}, {"name", load.name}, {"cycles", load.cycles}});
  }
  return list;
}

Json objectives(const std::vector<schedule::ObjectiveValue>& levels) {
  Json list = Json::array();
  for (const schedule::ObjectiveValue& level : levels) {
    list.push_back({{"name", level.name},
                    {"value", level.value},
                    {"bound", level.bound},
                    {"proven", level.proven}});
  }
  return list;
}

Json reserved(const Outcome& outcome) {
  Json list = Json::array();
  for (const extract::Reserved& part : outcome.reserved) {
    list.push_back(
        {{"what", part.what}, {"memory", part.memory}, {"amount", part.amount}, {"why", part.why}});
  }
  return list;
}

void add_schedule(Json& json, const Outcome& outcome) {
  const schedule::Schedule& found = *outcome.answer.schedule;
  json["ops"] = ops(outcome, found);
  json["groups"] = groups(outcome.problem, found);
  if (!outcome.problem.register_budgets().empty()) {
    json["register_budgets"] = register_budgets(outcome.problem, found);
  }
  json["buffers"] = buffers(outcome, found);
  json["memories"] = memories(outcome.problem, found);
  json["loads"] = loads(outcome.problem, found);
}

Json differences(const problem::Problem& problem,
                 const std::vector<schedule::Difference>& differences) {
  Json list = Json::array();
  for (const schedule::Difference& it : differences) list.push_back(in_words(problem, it));
  return list;
}

Json alternative(const Outcome& outcome, std::size_t index) {
  const AlternativeSchedule& it = outcome.alternatives->list[index];
  Outcome taken = outcome;
  taken.answer.schedule = it.schedule;
  if (it.remains) {
    taken.problem = it.remains->problem;
    taken.origins = it.remains->origins;
    taken.lines = it.remains->lines;
  }
  const auto number = [](std::optional<Cycles> n) { return n ? Json(*n) : Json(nullptr); };
  Json json = {{"number", index + 1},
               {"initiation_interval", it.schedule.initiation_interval},
               {"length", schedule::length_of(taken.problem, it.schedule)},
               {"stage_count", schedule::stage_count(taken.problem, it.schedule)},
               {"expected", number(it.expected)},
               {"slowest", number(it.slowest)},
               {"objectives", objectives(it.objectives)},
               {"proven", it.proven},
               {"differences", differences(taken.problem, it.differences)}};
  add_schedule(json, taken);
  return json;
}

Json alternatives(const Outcome& outcome) {
  const AlternativeSchedules& all = *outcome.alternatives;
  using End = AlternativeSchedules::End;
  const char* const end = all.end == End::complete ? "complete"
                          : all.end == End::count  ? "count"
                                                   : "limit";
  Json list = Json::array();
  for (std::size_t i = 0; i < all.list.size(); ++i) list.push_back(alternative(outcome, i));
  return {{"within", all.within},
          {"most_interval", all.most_interval},
          {"end", end},
          {"list", std::move(list)}};
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string schedule_line(const Outcome& outcome, int exit_code) {
  const schedule::Answer& answer = outcome.answer;
  Json json;
  json["input"] = outcome.input;
  json["exit_code"] = exit_code;
  json["verdict"] = schedule::name_of(answer.verdict);
  json["initiation_interval"] =
      answer.schedule ? Json(answer.schedule->initiation_interval) : Json(nullptr);
  json["lower_bound"] = answer.lower_bound.value;
  json["limited_by"] = limit_of(answer.lower_bound);
  json["bound_with_room"] = outcome.with_room ? Json(outcome.with_room->value) : Json(nullptr);
  json["bracket"] = bracket_json(outcome);
  json["limiter"] = limiter_part(outcome.limiter);
  json["plan"] = plan_part(outcome.built);
  json["objectives"] = objectives(answer.objectives);
  json["argument"] = answer.argument;
  json["machine"] = outcome.machine.empty() ? Json(nullptr) : Json(outcome.machine);
  json["pool"] = outcome.pool;
  json["rate"] = outcome.rate.empty() ? Json(nullptr) : Json(outcome.rate);
  json["strategy"] = outcome.strategy;
  json["problem"] = outcome.problem_hash;
  json["work"] = answer.work;
  json["work_in_all"] = outcome.work;
  json["warnings"] = Json::array();
  for (const Diagnostic& it : outcome.warnings) json["warnings"].push_back(it.message);
  return line_of(json);
}

std::string error_line(const std::string& input, const std::string& error, int exit_code) {
  return line_of({{"input", input}, {"exit_code", exit_code}, {"error", error}});
}

std::string schedule_json(const Outcome& outcome, const Printing& printing) {
  const schedule::Answer& answer = outcome.answer;
  const bool has = answer.schedule.has_value();
  const auto if_any = [&](Cycles value) { return has ? Json(value) : Json(nullptr); };
  Json json;
  json["format"] = "twill-schedule";
  json["version"] = kScheduleJsonVersion;
  json["input"] = outcome.input;
  json["loop"] = outcome.loop;
  json["loop_source"] = outcome.loop_source;
  json["machine"] = outcome.machine.empty() ? Json(nullptr) : Json(outcome.machine);
  json["machine_measured"] =
      outcome.machine.empty() ? Json(nullptr) : Json(outcome.machine_measured);
  json["pool"] = outcome.pool;
  json["rate"] = outcome.rate.empty() ? Json(nullptr) : Json(outcome.rate);
  json["strategy"] = outcome.strategy;
  if (outcome.alternative > 0) {
    json["alternative"] = {{"number", outcome.alternative},
                           {"differences", differences(outcome.problem, outcome.differences)}};
  }
  json["candidates"] = Json::array();
  for (const Candidate& it : outcome.candidates) json["candidates"].push_back(candidate(it));
  json["pools"] = outcome.pools;
  json["problem"] = problem_part(outcome);
  json["reserved"] = reserved(outcome);
  json["notes"] = outcome.notes;
  json["verdict"] = schedule::name_of(answer.verdict);
  json["scope"] = scope_of(outcome);
  json["argument"] = answer.argument;
  json["initiation_interval"] = if_any(has ? answer.schedule->initiation_interval : 0);
  json["length"] = if_any(has ? schedule::length_of(outcome.problem, *answer.schedule) : 0);
  json["stage_count"] = if_any(has ? schedule::stage_count(outcome.problem, *answer.schedule) : 0);
  json["lower_bound"] = bound_part(outcome, answer.lower_bound);
  json["bound_with_room"] =
      outcome.with_room ? bound_part(outcome, *outcome.with_room) : Json(nullptr);
  json["min_ii"] = bound_part(outcome, outcome.min_ii);
  json["bracket"] = bracket_json(outcome);
  json["limiter"] = limiter_part(outcome.limiter);
  json["plan"] = plan_part(outcome.built);
  json["objectives"] = objectives(answer.objectives);
  json["work_in_all"] = outcome.work;
  if (has && printing.trips > 0) {
    json["trips"] = printing.trips;
    const auto total = outcome.built ? outcome.built->total : std::nullopt;
    json["total_cycles"] = total ? Json(*total) : Json(nullptr);
  }
  if (has) add_schedule(json, outcome);
  if (has && outcome.alternatives) json["alternatives"] = alternatives(outcome);
  if (printing.timing) {
    const Timings& t = outcome.timings;
    json["seconds"] = {{"read", t.read}, {"solve", t.solve}, {"verify", t.verify}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace twill::report
