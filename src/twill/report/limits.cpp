#include "twill/report/limits.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "twill/report/entry.h"
#include "twill/report/outcome.h"
#include "twill/report/story.h"
#include "twill/support/text_table.h"

namespace twill::report {
namespace {

using Json = nlohmann::ordered_json;
using schedule::Bound;
using schedule::BoundKind;

/// Limit on listed bounds of single ops; the JSON has all.
constexpr std::size_t kOpsShown = 3;

std::string whole_percent(Cycles part, Cycles whole) {
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

const Bound& binding(const RatedBounds& end) { return end.bounds.front(); }

/// Compares the figure with the bound: "bound 2190 (74 %), limited by ...", or a sentence that the
/// figure is impossible.
std::string against(const RatedBounds& end, Cycles figure) {
  const Bound& bound = binding(end);
  if (figure < bound.value) {
    return fmt::format("{}, which is less than the bound {} ({})", figure, bound.value,
                       limit_of(bound));
  }
  return fmt::format("{}, bound {} ({}), limited by {}", figure, bound.value,
                     whole_percent(bound.value, figure), limit_of(bound));
}

std::string measured_line(const Limits& limits) {
  std::string text = against(limits.rates.front(), *limits.measured);
  if (*limits.measured < binding(limits.rates.front()).value) {
    return text +
           ": what was measured is not this loop, or its costs or the machine's rates are too high "
           "here";
  }
  if (limits.rates.size() == 1) return text;
  const Bound& slowest = binding(limits.rates.back());
  if (*limits.measured < slowest.value) {
    return text + fmt::format("; less than {}, which is the least if every op went at its slowest",
                              slowest.value);
  }
  return text + fmt::format("; a schedule for the slowest rates is bound by {} ({})", slowest.value,
                            whole_percent(slowest.value, *limits.measured));
}

std::string imported_lines(const Limits& limits) {
  const ImportedSchedule& imported = *limits.imported;
  std::string text = against(limits.rates.front(), imported.interval);
  if (!imported.violations.empty()) {
    text += fmt::format("; but it breaks {} rule{}, first: {}", imported.violations.size(),
                        imported.violations.size() == 1 ? "" : "s", imported.violations.front());
  }
  if (!imported.circuit.empty()) text += "; the order is held by";
  std::string out = entry(imported.is_order ? "order" : "schedule", text);
  for (const std::string& edge : imported.circuit) out += entry("", edge);
  return out;
}

std::string slowest_line(const Limits& limits) {
  const Bound& slowest = binding(limits.rates.back());
  return fmt::format("no schedule has an II below {} with every op at its slowest co-run rate ({})",
                     slowest.value, limit_of(slowest));
}

/// Whether the bound is listed in a line of its own.
bool is_shown(const Bound& bound, std::size_t& ops_shown) {
  if (bound.kind == BoundKind::trivial) return false;
  return bound.kind != BoundKind::op || ops_shown++ < kOpsShown;
}

std::string table(const RatedBounds& end) {
  const Cycles first = binding(end).value;
  const std::string number = std::to_string(first);
  const auto width = static_cast<int>(std::max<std::size_t>(number.size(), 6));
  std::string out = fmt::format("  {:>{}}  {:>{}}\n", "cycles", width, "slack", width);
  std::size_t ops = 0;
  std::size_t left_out = 0;
  for (const Bound& bound : end.bounds) {
    if (!is_shown(bound, ops)) {
      left_out += bound.kind == BoundKind::op ? 1 : 0;
      continue;
    }
    std::string key =
        fmt::format("  {:>{}}  {:>{}}  ", bound.value, width, first - bound.value, width);
    const std::string rest(key.size() + 2, ' ');
    out += wrap(bound.witness, kWidth, key, rest);
  }
  if (left_out > 0) {
    out +=
        fmt::format("  {:{}}and {} more ops alone, each for less\n", "", 2 * width + 4, left_out);
  }
  return out;
}

std::string heading(const Limits& limits, const RatedBounds& end) {
  if (end.rate.empty()) return "\nbounds; slack is what may be added before it limits as well\n";
  std::string text = fmt::format("\nbounds with every op at its {}", end.rate);
  if (end.rate == "slowest") text += " co-run rate";
  if (!end.pool.empty()) text += ", pool " + end.pool;
  if (&end == &limits.rates.front())
    text += "; slack is what may be added before it limits as well";
  return text + "\n";
}

Json bound_json(const problem::Problem& problem, const Bound& bound, Cycles first) {
  Json ops = Json::array();
  for (const problem::OpId op : bound.ops) ops.push_back(problem[op].name);
  return {{"value", bound.value},
          {"slack", first - bound.value},
          {"kind", schedule::name_of(bound.kind)},
          {"resource", bound.resource},
          {"ops", std::move(ops)},
          {"witness", bound.witness}};
}

Json end_json(const RatedBounds& end) {
  Json bounds = Json::array();
  for (const Bound& bound : end.bounds) {
    bounds.push_back(bound_json(end.problem, bound, binding(end).value));
  }
  return {{"rate", end.rate},
          {"pool", end.pool},
          {"least_interval", binding(end).value},
          {"infeasible", end.infeasible ? Json(*end.infeasible) : Json(nullptr)},
          {"bounds", std::move(bounds)}};
}

Json imported_json(const ImportedSchedule& imported) {
  return {{"kind", imported.is_order ? "order" : "schedule"},
          {"initiation_interval", imported.interval},
          {"circuit", imported.circuit},
          {"violations", imported.violations}};
}

}  // namespace

std::string limits_text(const Limits& limits) {
  const RatedBounds& end = limits.rates.front();
  std::string out = limits.answer ? story(*limits.answer) : "";
  out += end.problem.name();
  if (!limits.machine.empty()) out += " on " + limits.machine;
  out += fmt::format(": no schedule has an II below {} cycle{}\n", binding(end).value,
                     binding(end).value == 1 ? "" : "s");
  out += entry("input", limits.input + (limits.loop.empty() ? "" : ", " + limits.loop));
  if (!limits.machine_measured) {
    out += entry("model only",
                 "nothing of this machine has been measured: its numbers come from public "
                 "documents");
  }
  out += entry("limited by", binding(end).witness);
  if (limits.rates.size() > 1) out += entry("at slowest", slowest_line(limits));
  if (limits.answer && limits.answer->bracket) {
    out += entry("bracket", bracket_text(*limits.answer));
  }
  if (limits.measured) out += entry("measured", measured_line(limits));
  if (limits.imported) out += imported_lines(limits);
  for (const RatedBounds& it : limits.rates) {
    if (it.infeasible) out += entry("infeasible", "there is no schedule at all: " + *it.infeasible);
  }
  if (limits.launch) out += launch_text(*limits.launch);
  for (const RatedBounds& it : limits.rates) out += heading(limits, it) + table(it);
  return out;
}

std::string limits_json(const Limits& limits) {
  Json json = {{"format", "twill-bound"},
               {"version", kLimitsJsonVersion},
               {"name", limits.rates.front().problem.name()},
               {"input", limits.input},
               {"loop", limits.loop},
               {"machine", limits.machine},
               {"machine_measured", limits.machine_measured},
               {"least_interval", binding(limits.rates.front()).value}};
  json["simulated"] = limits.answer && limits.answer->built && limits.answer->built->simulated
                          ? Json(*limits.answer->built->simulated)
                          : Json(nullptr);
  json["proven"] = limits.answer ? Json(proven_bound(*limits.answer)) : Json(nullptr);
  json["pool"] = limits.answer ? Json(limits.answer->pool) : Json(nullptr);
  json["measured"] = limits.measured ? Json(*limits.measured) : Json(nullptr);
  if (limits.launch) json["launch"] = Json::parse(launch_json(*limits.launch));
  json["imported"] = limits.imported ? imported_json(*limits.imported) : Json(nullptr);
  json["price_lists"] = Json::array();
  for (const RatedBounds& end : limits.rates) json["price_lists"].push_back(end_json(end));
  return json.dump(2) + "\n";
}

}  // namespace twill::report
