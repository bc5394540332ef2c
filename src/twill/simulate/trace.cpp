#include "twill/simulate/trace.h"

#include <nlohmann/json.hpp>

#include "twill/simulate/print.h"

namespace twill::simulate {
namespace {

using Json = nlohmann::ordered_json;

int process_of(Track::Kind kind) { return kind == Track::Kind::role ? 1 : 2; }

Json named(const char* what, int process, std::size_t track, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}};
}

Json slice(const plan::Plan& plan, const Span& span) {
  std::string name = span.op ? plan.problem[*span.op].name : std::string();
  if (span.stalled) {
    name = std::string(plan::name_of(span.step->kind));
    if (span.step->channel) name += " " + plan[*span.step->channel].name;
    if (span.op) name += " " + plan.problem[*span.op].name;
  }
  return {{"name", name},
          {"cat", span.stalled ? "stall" : "work"},
          {"ph", "X"},
          {"ts", span.begin},
          {"dur", span.end - span.begin},
          {"pid", process_of(span.track.kind)},
          {"tid", span.track.index},
          {"args", {{"iteration", span.iteration}}}};
}

Json end_of(const plan::Plan& plan, const Arrow& arrow, std::size_t id, bool begin) {
  const Track& track = begin ? arrow.from : arrow.to;
  Json json = {{"name", plan[arrow.channel].name + (arrow.empty ? " empty" : " full")},
               {"cat", "barrier"},
               {"ph", begin ? "s" : "f"},
               {"id", id},
               {"ts", begin ? arrow.begin : arrow.end},
               {"pid", process_of(track.kind)},
               {"tid", track.index},
               {"args", {{"iteration", arrow.iteration}}}};
  if (!begin) json["bp"] = "e";
  return json;
}

}  // namespace

std::string trace_json(const plan::Plan& plan, const Simulation& run) {
  Json events = Json::array();
  events.push_back(named("process_name", 1, 0, "roles"));
  events.push_back(named("process_name", 2, 0, "units"));
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    events.push_back(named("thread_name", 1, r, plan.roles[r].name));
  }
  for (std::size_t u = 0; u < plan.problem.units().size(); ++u) {
    events.push_back(named("thread_name", 2, u, plan.problem.units()[u].name));
  }
  for (const Span& span : run.spans) events.push_back(slice(plan, span));
  for (std::size_t i = 0; i < run.arrows.size(); ++i) {
    events.push_back(end_of(plan, run.arrows[i], i, true));
    events.push_back(end_of(plan, run.arrows[i], i, false));
  }
  const Json json = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  return json.dump() + "\n";
}

}  // namespace twill::simulate
