#include "twill/report/comparison.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "twill/report/entry.h"
#include "twill/support/text_table.h"

namespace twill::report {
namespace {

using Align = TextTable::Align;
using Json = nlohmann::ordered_json;

template <class Number>
std::string cell(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string decimals(std::optional<double> value, int places) {
  return value ? fmt::format("{:.{}f}", *value, places) : "-";
}

std::string memory_cell(const Compared& row) {
  std::string text;
  for (const auto& [name, amount] : row.memory) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, amount);
  }
  return text.empty() ? "-" : text;
}

template <class Number>
Json json_of(const std::optional<Number>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_json(const Comparison& comparison, const Compared& row) {
  Json json;
  json["strategy"] = row.strategy;
  json["what"] = row.what;
  json["pool"] = row.pool;
  json["verdict"] = row.verdict ? Json(schedule::name_of(*row.verdict)) : Json(nullptr);
  json["initiation_interval"] = json_of(row.interval);
  json["expected"] = json_of(row.expected);
  json["stage_count"] = json_of(row.stages);
  json["groups"] = json_of(row.groups);
  json["registers"] = json_of(row.registers);
  json["memory"] = Json::object();
  for (const auto& [name, amount] : row.memory) json["memory"][name] = amount;
  json["simulated"] = json_of(row.simulated);
  json["ratio"] = json_of(ratio_to_twill(comparison, row));
  json["faster"] = on_faster(comparison, row);
  json["note"] = row.note;
  return json;
}

}  // namespace

std::optional<double> over_twill(const Comparison& comparison, double cycles) {
  const auto twill = std::find_if(comparison.rows.begin(), comparison.rows.end(),
                                  [](const Compared& it) { return it.strategy == "twill"; });
  if (twill == comparison.rows.end() || !twill->simulated) return std::nullopt;
  return cycles / *twill->simulated;
}

std::optional<double> ratio_to_twill(const Comparison& comparison, const Compared& row) {
  return row.simulated ? over_twill(comparison, *row.simulated) : std::nullopt;
}

std::string on_faster(const Comparison& comparison, const Compared& row) {
  constexpr double kShownCycles = 0.05;  // shows as one in the first decimal
  const auto ratio = ratio_to_twill(comparison, row);
  if (!ratio || row.strategy == "twill") return "";
  if (*row.simulated + kShownCycles >= *row.simulated / *ratio) return "";
  if (*ratio * comparison.tolerance < 1) {
    return fmt::format("simulated to be faster than twill's: `--strategy {}` gives it",
                       row.strategy);
  }
  return fmt::format(
      "a tie with twill's: figures within {:.0f} % of each other, the simulator's error on "
      "hardware, are not told apart",
      100 * (comparison.tolerance - 1));
}

std::string to_text(const Comparison& comparison) {
  std::string out = comparison.story + comparison.input;
  if (!comparison.loop.empty()) out += ", " + comparison.loop;
  if (!comparison.machine.empty()) out += ", on " + comparison.machine;
  out += "\n";
  if (!comparison.machine_measured) out += "  model only: nothing of this machine was measured\n";
  TextTable table({Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
                   Align::right, Align::left, Align::right, Align::right},
                  2);
  table.add({"strategy", "pool", "II", "expected", "stages", "groups", "registers", "memory",
             "cycles", "ratio"});
  std::string notes =
      fmt::format("  all{} in the model: cycles of the loop alone, in a kernel of Twill's\n",
                  comparison.measured ? " but the last" : "");
  for (const Compared& row : comparison.rows) {
    table.add({row.strategy, row.pool.empty() ? "-" : row.pool, cell(row.interval),
               cell(row.expected), cell(row.stages), cell(row.groups), cell(row.registers),
               memory_cell(row), decimals(row.simulated, 1),
               decimals(ratio_to_twill(comparison, row), 2)});
    if (!row.what.empty()) notes += fmt::format("  {}: {}\n", row.strategy, row.what);
    const std::string faster = on_faster(comparison, row);
    if (!faster.empty()) notes += wrap(faster, kWidth, "  " + row.strategy + ": ", "    ");
    if (!row.note.empty()) notes += wrap(row.note, kWidth, "  " + row.strategy + ": ", "    ");
  }
  if (comparison.measured) {
    table.add({"measured", "-", "-", "-", "-", "-", "-", "-", decimals(comparison.measured, 1),
               decimals(over_twill(comparison, *comparison.measured), 2)});
    notes += "  measured: the kernel as you ran it\n";
  }
  return out + table.to_string() + notes;
}

std::string comparison_json(const Comparison& comparison) {
  Json json;
  json["format"] = "twill-comparison";
  json["version"] = kComparisonJsonVersion;
  json["input"] = comparison.input;
  json["loop"] = comparison.loop;
  json["machine"] = comparison.machine.empty() ? Json(nullptr) : Json(comparison.machine);
  json["machine_measured"] =
      comparison.machine.empty() ? Json(nullptr) : Json(comparison.machine_measured);
  json["story"] = comparison.story;
  json["rows"] = Json::array();
  for (const Compared& row : comparison.rows) json["rows"].push_back(row_json(comparison, row));
  json["measured"] = json_of(comparison.measured);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace twill::report
