#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "twill/run/report.h"

namespace twill::run {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostFindings = 10;  ///< most findings of a trial in the text

std::string setting_of(const Trial& trial) {
  const auto& grid = trial.launch.programs;
  return fmt::format(
      "{} {}, grid {} x {} x {}, {}, seed {}", trial.trips ? std::to_string(*trial.trips) : "no",
      trial.trips == 1 ? "trip" : "trips", grid[0], grid[1], grid[2],
      trial.machine.random ? "completion at random" : "late completion", trial.machine.seed);
}

std::string arguments_of(const Report& report, const Trial& trial) {
  std::string text;
  for (const emit::Parameter& it : report.description.parameters) {
    const auto found = trial.launch.arguments.find(it.name);
    if (found == trial.launch.arguments.end()) continue;
    text += fmt::format(" --arg {}={:g}", it.name, found->second);
  }
  return text;
}

std::string line_of(const Output& it) {
  std::string text = fmt::format("    %{}: {} elements, ", it.name, it.written);
  if (agrees(it) && it.rounded == 0) return text + "all the same to the last bit\n";
  if (agrees(it)) {
    return text + fmt::format("{} differ by rounding, by at most {:g} (allowed: {} units of {})\n",
                              it.rounded, it.largest, it.allowed.units, it.allowed.type);
  }
  std::vector<std::string> faults;
  if (it.differing > 0) {
    faults.push_back(fmt::format("{} differ, by up to {:g}", it.differing, it.largest));
  }
  if (it.example) {
    faults.push_back(fmt::format("element {} is {:g}, not {:g}", it.example->index,
                                 it.example->found, it.example->expected));
  }
  if (it.stray > 0) {
    faults.push_back(fmt::format("{} that the text leaves alone were written", it.stray));
  }
  if (it.scattered) {
    faults.push_back(
        fmt::format("differences of {:g} of the numbers' size are more than roundings", it.spread));
  }
  return text + fmt::format("{}\n", fmt::join(faults, "; "));
}

std::string text_of(const Report& report, const Trial& trial, const std::string& folder) {
  const bool good = agrees(trial);
  std::string text = fmt::format("  {} {}\n", good ? "ok   " : "WRONG", setting_of(trial));
  if (!good) text += "    again:" + arguments_of(report, trial) + "\n";
  if (!trial.called.refusal.empty()) {
    text += "    the launch function refuses: " + trial.called.refusal + "\n";
  }
  if (!trial.called.fault.empty()) text += "    " + trial.called.fault + "\n";
  const auto& findings = trial.called.findings;
  for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    const Finding& it = findings[i];
    text +=
        fmt::format("    {}/kernel.cu:{}: {}: {} [{}]{}\n", folder, it.line, it.kind, it.message,
                    it.thread, it.times > 1 ? fmt::format(" ({} times)", it.times) : "");
  }
  if (findings.size() > kMostFindings) {
    text += fmt::format("    and {} more\n", findings.size() - kMostFindings);
  }
  for (const Output& it : trial.outputs) {
    if (!good || it.rounded > 0) text += line_of(it);
  }
  return text;
}

Json output_json(const Output& it) {
  return {{"name", it.name},           {"written", it.written}, {"rounded", it.rounded},
          {"differing", it.differing}, {"stray", it.stray},     {"largest", it.largest},
          {"agrees", agrees(it)}};
}

Json trial_json(const Trial& trial) {
  Json json;
  json["agrees"] = agrees(trial);
  json["trips"] = trial.trips ? Json(*trial.trips) : Json(nullptr);
  json["grid"] = trial.launch.programs;
  json["seed"] = trial.machine.seed;
  json["completion"] = trial.machine.random ? "random" : "late";
  json["arguments"] = trial.launch.arguments;
  json["refusal"] = trial.called.refusal;
  json["fault"] = trial.called.fault;
  json["findings"] = Json::array();
  for (const Finding& it : trial.called.findings) {
    json["findings"].push_back({{"kind", it.kind},
                                {"line", it.line},
                                {"times", it.times},
                                {"thread", it.thread},
                                {"message", it.message}});
  }
  json["outputs"] = Json::array();
  for (const Output& it : trial.outputs) json["outputs"].push_back(output_json(it));
  json["seconds"] = trial.seconds;
  return json;
}

}  // namespace

bool agrees(const Trial& trial) {
  return trial.called.refusal.empty() && trial.called.fault.empty() &&
         trial.called.findings.empty() &&
         std::all_of(trial.outputs.begin(), trial.outputs.end(),
                     [](const Output& it) { return agrees(it); });
}

bool agrees(const Report& report) {
  return report.complaints.empty() && !report.trials.empty() &&
         std::all_of(report.trials.begin(), report.trials.end(),
                     [](const Trial& it) { return agrees(it); });
}

std::string to_text(const Report& report, const std::string& folder) {
  std::string text = fmt::format("{} from {}\n", report.description.name, report.description.input);
  for (const std::string& note : report.notes) text += "  note: " + note + "\n";
  if (!report.complaints.empty()) {
    text += "  kernel.cu does not compile:\n";
    for (const std::string& line : report.complaints) text += "    " + line + "\n";
    return text;
  }
  for (const Trial& it : report.trials) text += text_of(report, it, folder);
  if (!report.left_out.empty()) {
    text += fmt::format("  no arguments make the main loop run {} times\n",
                        fmt::join(report.left_out, ", "));
  }
  const auto good = std::count_if(report.trials.begin(), report.trials.end(),
                                  [](const Trial& it) { return agrees(it); });
  bool rounded = false;
  for (const Trial& trial : report.trials) {
    for (const Output& it : trial.outputs) rounded = rounded || it.rounded > 0;
  }
  const auto count = static_cast<std::ptrdiff_t>(report.trials.size());
  if (good != count) {
    return text +
           fmt::format("  {} of {} calls do not do what the text does\n", count - good, count);
  }
  return text + fmt::format("  {} calls do what the text does, {}\n", count,
                            rounded ? "but for the stated rounding" : "to the last bit");
}

std::string report_json(const Report& report) {
  Json json;
  json["format"] = "twill-run";
  json["version"] = kReportJsonVersion;
  json["agrees"] = agrees(report);
  json["kernel"] = report.description.name;
  json["input"] = report.description.input;
  json["exact"] = report.tolerances.exact();
  json["notes"] = report.notes;
  json["complaints"] = report.complaints;
  json["left_out"] = report.left_out;
  json["trials"] = Json::array();
  for (const Trial& it : report.trials) json["trials"].push_back(trial_json(it));
  return json.dump(1) + "\n";
}

}  // namespace twill::run
