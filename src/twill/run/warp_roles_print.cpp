#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "twill/concurrent/forms.h"
#include "twill/run/report.h"
#include "twill/run/warp_roles.h"

namespace twill::run {
namespace {

using Landing = concurrent::Order::Landing;
using RolesJson = nlohmann::ordered_json;

std::string order_in_words(const concurrent::Order& order) {
  if (order.random) return fmt::format("at random, seed {}", order.seed);
  return fmt::format("role {} first, copies {}", order.first,
                     order.landing == Landing::late ? "late" : "early");
}

std::string trips_in_words(const RolesTrial& trial) {
  if (!trial.trips) return "no iteration";
  return fmt::format("{} iteration{}", *trial.trips, *trial.trips == 1 ? "" : "s");
}

/// A finding, and the number of further findings of the same roles: one missing wait breaks many
/// rules.
struct Cause {
  const concurrent::Finding* first = nullptr;
  const RolesTrial* trial = nullptr;  ///< null: finding of a proof
  std::size_t more = 0;
  std::set<int> lines;  ///< lines of these findings
};

/// Findings of different roles, each only once, in order.
class Causes {
 public:
  explicit Causes(const ir::Program& program) : program_(program) {}

  void add(const concurrent::Finding& finding, const RolesTrial* trial) {
    if (!seen_.emplace(finding.rule, finding.op, finding.with).second) return;
    const auto role = [&](ir::OpId op) { return concurrent::role_of(program_, op); };
    const std::size_t here = role(finding.op), there = role(finding.with.value_or(finding.op));
    const std::pair key(std::min(here, there), std::max(here, there));
    const auto [place, added] = places_.try_emplace(key, causes_.size());
    if (added) {
      causes_.push_back({&finding, trial, 0, {}});
      return;
    }
    Cause& cause = causes_[place->second];
    ++cause.more;
    cause.lines.insert(program_.op(finding.op).line);
  }

  std::string text(const std::string& module) const {
    std::string text;
    for (const Cause& cause : causes_) {
      const concurrent::Finding& it = *cause.first;
      const ir::Op& op = program_.op(it.op);
      text += fmt::format("  {}:{}:{}: {}: {}\n", module, op.line, op.column,
                          concurrent::name_of(it.rule), it.message);
      if (it.with) {
        const ir::Op& with = program_.op(*it.with);
        text += fmt::format("    {}:{}:{}: the other side: {}\n", module, with.line, with.column,
                            with.name);
      }
      if (cause.trial != nullptr) {
        text += fmt::format("    with {}, {}\n", trips_in_words(*cause.trial),
                            order_in_words(cause.trial->order));
      }
      if (cause.more == 0) continue;
      text +=
          fmt::format("    {} more between the same roles may follow from it, at line{} {}\n",
                      cause.more, cause.lines.size() == 1 ? "" : "s", fmt::join(cause.lines, ", "));
    }
    return text;
  }

 private:
  const ir::Program& program_;
  std::set<std::tuple<concurrent::Rule, ir::OpId, std::optional<ir::OpId>>> seen_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> places_;  ///< by two roles
  std::vector<Cause> causes_;
};

std::string findings_text(const RolesReport& report, const ir::Program& program) {
  Causes causes(program);
  for (const RolesTrial& trial : report.trials) {
    for (const concurrent::Finding& it : trial.findings) causes.add(it, &trial);
  }
  return causes.text(report.module);
}

/// Text of differing outputs, from the first trial with a difference.
std::string outputs_text(const RolesReport& report) {
  std::string text;
  std::set<std::string> seen;
  for (const RolesTrial& trial : report.trials) {
    for (const Output& it : trial.outputs) {
      if (agrees(it) || !seen.insert(it.name).second) continue;
      text += fmt::format("  %{} with {}, {}: {} of {} elements differ, by up to {:g}", it.name,
                          trips_in_words(trial), order_in_words(trial.order), it.differing,
                          it.written, it.largest);
      if (it.example) {
        text += fmt::format("; element {} is {:g}, not {:g}", it.example->index, it.example->found,
                            it.example->expected);
      }
      if (it.stray > 0) {
        text += fmt::format("; {} that the kernel leaves alone were written", it.stray);
      }
      text += "\n";
    }
  }
  return text;
}

std::set<std::int64_t> trips_of(const RolesReport& report) {
  std::set<std::int64_t> trips;
  for (const RolesTrial& trial : report.trials) trips.insert(trial.trips.value_or(0));
  return trips;
}

}  // namespace

bool agrees(const RolesTrial& trial) {
  return trial.findings.empty() && std::all_of(trial.outputs.begin(), trial.outputs.end(),
                                               [](const Output& it) { return agrees(it); });
}

bool agrees(const RolesReport& report) {
  return !report.trials.empty() && std::all_of(report.trials.begin(), report.trials.end(),
                                               [](const RolesTrial& it) { return agrees(it); });
}

std::string to_text(const RolesReport& report, const ir::Program& program) {
  std::string text = fmt::format("{}: {} roles", report.module, report.roles);
  text += report.against.empty() ? "\n" : fmt::format(", against {}\n", report.against);
  text += findings_text(report, program) + outputs_text(report);
  if (!report.left_out.empty()) {
    text += fmt::format("  no arguments make {} iterations\n", fmt::join(report.left_out, ", "));
  }
  if (!report.not_computed.empty()) {
    text += fmt::format("  tiles were not computed, only how the roles meet: {}\n",
                        report.not_computed);
  }
  const std::set<std::int64_t> trips = trips_of(report);
  const auto good = std::count_if(report.trials.begin(), report.trials.end(),
                                  [](const RolesTrial& it) { return agrees(it); });
  const auto count = static_cast<std::ptrdiff_t>(report.trials.size());
  if (good != count) {
    return text + fmt::format("  wrong in {} of {} runs, of {} iterations\n", count - good, count,
                              fmt::join(trips, ", "));
  }
  bool rounded = false;
  for (const RolesTrial& trial : report.trials) {
    for (const Output& it : trial.outputs) rounded = rounded || it.rounded > 0;
  }
  text +=
      fmt::format("  nothing found in {} runs, of {} iterations\n", count, fmt::join(trips, ", "));
  if (report.against.empty()) return text;
  return text + fmt::format("  what it computes is what the kernel computes, {}\n",
                            rounded ? "but for roundings" : "to the last bit");
}

std::string report_json(const RolesReport& report, const ir::Program& program) {
  RolesJson json;
  json["format"] = "twill-run-roles";
  json["version"] = kReportJsonVersion;
  json["agrees"] = agrees(report);
  json["module"] = report.module;
  json["against"] = report.against;
  json["roles"] = report.roles;
  json["left_out"] = report.left_out;
  json["not_computed"] = report.not_computed;
  json["trials"] = RolesJson::array();
  for (const RolesTrial& trial : report.trials) {
    RolesJson entry;
    entry["agrees"] = agrees(trial);
    entry["trips"] = trial.trips ? RolesJson(*trial.trips) : RolesJson(nullptr);
    entry["grid"] = trial.launch.programs;
    entry["arguments"] = trial.launch.arguments;
    entry["order"] = order_in_words(trial.order);
    entry["tiles"] = trial.tiles;
    entry["findings"] = RolesJson::array();
    for (const concurrent::Finding& it : trial.findings) {
      RolesJson finding = {{"rule", concurrent::name_of(it.rule)},
                           {"line", program.op(it.op).line},
                           {"message", it.message}};
      if (it.with) finding["other_line"] = program.op(*it.with).line;
      entry["findings"].push_back(std::move(finding));
    }
    entry["outputs"] = RolesJson::array();
    for (const Output& it : trial.outputs) {
      entry["outputs"].push_back({{"name", it.name},
                                  {"written", it.written},
                                  {"rounded", it.rounded},
                                  {"differing", it.differing},
                                  {"stray", it.stray},
                                  {"agrees", agrees(it)}});
    }
    entry["steps"] = trial.steps;
    entry["seconds"] = trial.seconds;
    json["trials"].push_back(std::move(entry));
  }
  return json.dump(1) + "\n";
}

namespace {

/// Trip counts in words, as "2 iterations of the loop of line 40", "0, 3 or more iterations of ..."
std::string in_words(const concurrent::LoopTrips& trips, const ir::Program& program) {
  const bool one = trips.trips.size() == 1 && trips.trips[0] == 1 && !trips.goes_on;
  return fmt::format("{}{} iteration{} of the loop of line {}", fmt::join(trips.trips, ", "),
                     trips.goes_on ? " or more" : "", one ? "" : "s", program.op(trips.loop).line);
}

std::string way_in_words(const concurrent::EveryTrip& found, const ir::Program& program) {
  std::vector<std::string> parts;
  for (const auto& trips : found.trips) parts.push_back(in_words(trips, program));
  std::set<int> lines;
  for (const auto& assumed : found.assumptions) lines.insert(program.op(assumed.op).line);
  if (!lines.empty()) {
    parts.push_back(fmt::format("one of the ways that conditions of line{} {} may turn out",
                                lines.size() == 1 ? "" : "s", fmt::join(lines, ", ")));
  }
  return parts.empty() ? "without an iteration" : fmt::format("with {}", fmt::join(parts, ", "));
}

}  // namespace

std::string to_text(const RolesProof& proof, const ir::Program& program) {
  const std::string begin = fmt::format("{}: {} roles: ", proof.module, proof.roles);
  if (!proof.every_trip) {
    return begin + "not followed\n" + to_string(proof.every_trip.error(), "not followed");
  }
  const concurrent::EveryTrip& found = *proof.every_trip;
  const std::string from = proof.at_least == 0 ? "" : fmt::format(" from {} on", proof.at_least);
  if (found.findings.empty()) {
    return begin + fmt::format(
                       "proven for every trip count{}\n"
                       "  no role waits for ever, misses a phase, or touches what another may "
                       "still touch\n"
                       "  all runs go through {} states of roles, buffers and mbarriers\n",
                       from, found.states);
  }
  if (is_proven_from_one(proof)) {
    return begin +
           fmt::format(
               "proven for every trip count from 1 on, of every loop in which roles meet\n"
               "  no role waits for ever, misses a phase, or touches what another may still "
               "touch\n"
               "  no arguments are known {}; line {} would break the rule '{}' there\n",
               way_in_words(found, program), program.op(found.findings.front().op).line,
               concurrent::name_of(found.findings.front().rule));
  }
  std::string text = begin + (proof.is_seen ? "breaks a rule\n"
                                            : "not proven: this would break a rule, and no "
                                              "arguments are known that lead there\n");
  Causes causes(program);
  for (const concurrent::Finding& it : found.findings) causes.add(it, nullptr);
  text += causes.text(proof.module);
  text += fmt::format("    {}\n", way_in_words(found, program));
  if (proof.from_one) {
    text +=
        "  proven for every trip count from 1 on (--at-least 1), of every loop in which roles "
        "meet\n";
  }
  return text;
}

}  // namespace twill::run
