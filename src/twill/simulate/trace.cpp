#include "twill/simulate/trace.h"

#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "twill/plan/text.h"
#include "twill/problem/problem.h"
#include "twill/simulate/print.h"

namespace twill::simulate {
namespace {

using Json = nlohmann::ordered_json;

int process_of(Track::Kind kind) { return kind == Track::Kind::role ? 1 : 2; }

Json named(const char* what, int process, std::size_t track, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}};
}

/// Details of the op of a slice, or of the wait.
Json details(const plan::Plan& plan, const Span& span, const TraceNotes& notes) {
  Json args = {{"iteration", span.iteration}};
  if (span.stalled) args["step"] = plan::to_text(plan, *span.step);
  if (!span.op) return args;
  const std::size_t op = span.op->index();
  const problem::Op& what = plan.problem.ops()[op];
  args["op"] = what.name;
  args["stage"] = schedule::stage_of(plan.schedule, *span.op);
  args["slot"] = schedule::slot_of(plan.schedule, *span.op);
  args["role"] = plan.problem[plan.schedule.ops[op].group].name;
  args["operations"] = what.source;
  if (op < notes.lines.size() && !notes.lines[op].empty()) args["source"] = notes.lines[op];
  return args;
}

/// Values of a counter by the time at which they begin to hold.
using Counter = std::map<double, double>;

void add(Counter& changes, double begin, double end, double value) {
  changes[begin] += value;
  changes[end] -= value;
}

void print_counter(Json& events, const std::string& name, const char* unit,
                   const Counter& changes) {
  constexpr double kDigits = 1000;  // rounds values: sums of shares are not exact
  double sum = 0;
  for (const auto& [time, change] : changes) {
    sum += change;
    events.push_back({{"name", name},
                      {"ph", "C"},
                      {"ts", time},
                      {"pid", 3},
                      {"args", {{unit, std::abs(std::round(sum * kDigits) / kDigits)}}}});
  }
}

/// Counters of each ring: slots taken, and slots full among them.
void print_rings(Json& events, const plan::Plan& plan, const Simulation& run) {
  for (const Ring& ring : run.rings) {
    Counter taken;
    Counter full;
    for (const Ring::Use& use : ring.uses) {
      add(taken, use.taken, use.empty, 1);
      add(full, use.full, use.empty, 1);
    }
    const std::string& name = plan[ring.channel].name;
    print_counter(events, name + " slots taken", "slots", taken);
    print_counter(events, name + " slots full", "slots", full);
  }
}

/// Counters of pipes: share of each pipe that the work of each moment demands.
void print_pipes(Json& events, const plan::Plan& plan, const Simulation& run,
                 const problem::Problem& costs) {
  std::vector<Counter> pipes(costs.pipes().size());
  for (const Span& span : run.spans) {
    if (span.stalled || !span.op || span.end <= span.begin) continue;
    const auto alternative =
        static_cast<std::size_t>(plan.schedule.ops[span.op->index()].alternative);
    const problem::Alternative& how = costs[*span.op].alternatives[alternative];
    if (how.unit.has_value() != (span.track.kind == Track::Kind::unit)) continue;
    for (const problem::PipeUse& use : how.pipes) {
      add(pipes[use.pipe.index()], span.begin, span.end,
          static_cast<double>(use.demand) / (span.end - span.begin));
    }
  }
  for (std::size_t p = 0; p < pipes.size(); ++p) {
    print_counter(events, "pipe " + costs.pipes()[p].name, "share", pipes[p]);
  }
}

Json slice(const plan::Plan& plan, const Span& span, const TraceNotes& notes) {
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
          {"args", details(plan, span, notes)}};
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

std::string trace_json(const plan::Plan& plan, const Simulation& run, const TraceNotes& notes) {
  Json events = Json::array();
  events.push_back(named("process_name", 1, 0, "roles"));
  events.push_back(named("process_name", 2, 0, "units"));
  events.push_back(named("process_name", 3, 0, "rings and pipes"));
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    events.push_back(named("thread_name", 1, r, plan.roles[r].name));
  }
  for (std::size_t u = 0; u < plan.problem.units().size(); ++u) {
    events.push_back(named("thread_name", 2, u, plan.problem.units()[u].name));
  }
  for (const Span& span : run.spans) events.push_back(slice(plan, span, notes));
  for (std::size_t i = 0; i < run.arrows.size(); ++i) {
    events.push_back(end_of(plan, run.arrows[i], i, true));
    events.push_back(end_of(plan, run.arrows[i], i, false));
  }
  print_rings(events, plan, run);
  print_pipes(events, plan, run, notes.costs != nullptr ? *notes.costs : plan.problem);
  const Json json = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace twill::simulate
