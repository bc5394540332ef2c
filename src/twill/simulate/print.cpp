#include "twill/simulate/print.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "twill/plan/text.h"
#include "twill/problem/problem.h"
#include "twill/support/text_table.h"

namespace twill::simulate {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

constexpr std::int64_t kAccountTrips = 200;
constexpr std::size_t kMostStalls = 4;  ///< listed for a role
constexpr double kShortest = 0.05;      ///< listed stalls are as long, in cycles

std::string names(const plan::Plan& plan, const std::vector<RoleId>& roles) {
  std::string text;
  for (const RoleId role : roles) text += (text.empty() ? "" : ", ") + plan[role].name;
  return text;
}

/// Roles for which a role waits at a step.
std::string others(const plan::Plan& plan, const Cause& cause) {
  if (cause.unit) return plan.problem[*cause.unit].name;
  if (cause.operand) return plan.problem[*cause.operand].name;
  if (!cause.step->channel) return "its own " + std::string(plan::name_of(cause.step->queue));
  const plan::Channel& channel = plan[*cause.step->channel];
  return cause.step->kind == plan::StepKind::acquire ? names(plan, channel.consumers)
                                                     : plan[channel.producer].name;
}

std::string figure(std::optional<double> cycles) {
  return cycles ? fmt::format("{:.1f}", *cycles) : std::string("-");
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Reason why the plan's order takes another interval than the schedule's II, at the same costs and
/// on the same units.
std::string off_schedule(const plan::Plan& plan, const Account& account) {
  const auto interval = static_cast<double>(plan.schedule.initiation_interval);
  constexpr double kSome = 0.5;
  if (!account.scheduled) return "";
  if (*account.scheduled < interval - kSome) {
    return "  below the II, which counts the work of the pipes; the plan has them only in the line "
           "with shared\n  pipes\n";
  }
  if (*account.scheduled <= interval + kSome) return "";
  return "  above the II: a role takes one step after the other, so that a wait (for a slot, for "
         "groups that\n  end in their order, for a branch that is rarely taken) holds up what "
         "stands behind it\n";
}

std::string account_text(const plan::Plan& plan, const Account& account) {
  TextTable table({Align::left, Align::right}, 2);
  const auto interval = static_cast<double>(plan.schedule.initiation_interval);
  table.add({"the schedule's II", figure(interval)});
  table.add({"the plan's order, at the costs it was scheduled for", figure(account.scheduled)});
  table.add({"with units that serve first come, first served", figure(account.own)});
  if (account.order != account.own) {
    table.add({"the plan's order, every op at its full rate", figure(account.order)});
  }
  if (account.pipes) table.add({"with shared pipes", figure(account.pipes)});
  table.add({"with the signals of barriers", figure(account.barriers)});
  table.add({"with the latency of loads", figure(account.loads)});
  const bool alone = !account.pipes && plan.kernel;
  return "where the cycles of an iteration come from\n" + table.to_string() +
         off_schedule(plan, account) +
         (alone ? "  pipes are not shared: of a plan without its kernel only the costs it was made "
                  "for "
                  "are known\n"
                : "");
}

std::string roles_text(const plan::Plan& plan, const Simulation& run) {
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right}, 2);
  table.add({"", "prologue", "steady", "drain", "busy", "waiting"});
  for (std::size_t r = 0; r < run.roles.size(); ++r) {
    const RoleTimes& role = run.roles[r];
    const double windows = role.windows > 0 ? static_cast<double>(role.windows) : 1;
    double waiting = 0;
    for (const Stall& stall : role.stalls) waiting += stall.cycles;
    table.add({plan.roles[r].name, figure(role.prologue), figure(role.steady / windows),
               figure(role.drain), figure(role.busy), figure(waiting)});
  }
  return "roles: cycles in each section, of one window in the steady state\n" + table.to_string();
}

std::string stalls_text(const plan::Plan& plan, const Simulation& run) {
  TextTable table({Align::left, Align::right, Align::left}, 2);
  bool any = false;
  for (std::size_t r = 0; r < run.roles.size(); ++r) {
    std::size_t listed = 0;
    for (const Stall& stall : run.roles[r].stalls) {
      if (stall.cycles < kShortest || ++listed > kMostStalls) break;
      table.add({plan.roles[r].name, figure(stall.cycles), to_text(plan, stall.cause)});
      any = true;
    }
  }
  return any ? "waits of one window\n" + table.to_string() : std::string();
}

std::string loads_text(const plan::Plan& plan, const Simulation& run) {
  std::string text;
  for (std::size_t u = 0; u < run.units.size(); ++u) {
    text += fmt::format("  {} {}", plan.problem.units()[u].name, percent(run.units[u]));
  }
  for (std::size_t p = 0; p < run.pipes.size(); ++p) {
    text += fmt::format("  {} {}", plan.problem.pipes()[p].name, percent(run.pipes[p]));
  }
  return text.empty() ? text : "load\n" + text + "\n";
}

std::string rings_text(const plan::Plan& plan, const Simulation& run) {
  if (run.rings.empty()) return "";
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right}, 2);
  table.add({"", "slots", "taken", "filled", "most"});
  for (const Ring& ring : run.rings) {
    table.add({plan[ring.channel].name, std::to_string(plan[ring.channel].depth),
               fmt::format("{:.2f}", ring.taken), fmt::format("{:.2f}", ring.full),
               std::to_string(ring.most)});
  }
  return "rings: slots on average, and taken at most\n" + table.to_string();
}

Json figure_json(std::optional<double> cycles) { return cycles ? Json(*cycles) : Json(nullptr); }

Json role_json(const plan::Plan& plan, const plan::Role& role, const RoleTimes& times) {
  Json stalls = Json::array();
  for (const Stall& stall : times.stalls) {
    stalls.push_back({{"step", plan::to_text(plan, *stall.cause.step)},
                      {"on", others(plan, stall.cause)},
                      {"cycles", stall.cycles}});
  }
  return {{"name", role.name},          {"prologue", times.prologue}, {"steady", times.steady},
          {"drain", times.drain},       {"windows", times.windows},   {"busy", times.busy},
          {"stalls", std::move(stalls)}};
}

}  // namespace

tl::expected<Account, Fault> account_for(const plan::Plan& plan, const Setting& setting) {
  const auto run = [&](const Timing& timing, const problem::Problem* costs) {
    return simulate(plan, {kAccountTrips, timing, costs, false});
  };
  Account account;
  Timing timing;
  timing.scheduled_units = true;
  if (const auto ran = run(timing, nullptr)) account.scheduled = ran->interval;
  timing.scheduled_units = false;
  for (auto step : {0, 1, 2, 3, 4}) {
    if (step == 2) timing.shared_pipes = setting.timing.shared_pipes;
    if (step == 3) timing.mbarrier_signal = setting.timing.mbarrier_signal;
    if (step == 3) timing.named_barrier_signal = setting.timing.named_barrier_signal;
    if (step == 4) timing.load_latency = setting.timing.load_latency;
    const auto ran = run(timing, step == 0 ? nullptr : setting.costs);
    if (!ran) return tl::unexpected(ran.error());
    if (step == 0) account.own = ran->interval;
    if (step == 1) account.order = ran->interval;
    if (step == 2 && timing.shared_pipes) account.pipes = ran->interval;
    if (step == 3) account.barriers = ran->interval;
    if (step == 4) account.loads = ran->interval;
  }
  return account;
}

std::string to_text(const plan::Plan& plan, const Cause& cause) {
  return plan::to_text(plan, *cause.step) + ", for " + others(plan, cause);
}

std::string to_text(const plan::Plan& plan, const Simulation& run, const Account& account) {
  std::string text =
      fmt::format("{}: {} trips in {:.0f} cycles\n", plan.name, run.trips, run.total);
  if (run.interval) {
    const double rest = run.total - *run.interval * static_cast<double>(run.trips);
    text += fmt::format("  steady state     {:.1f} cycles an iteration\n", *run.interval);
    text += fmt::format("  iteration 0      is complete after {:.0f} cycles\n", run.first);
    text +=
        fmt::format("  start and end    {:.0f} cycles more than {} iterations\n", rest, run.trips);
  } else {
    text += "  too few for a steady state\n";
  }
  for (const std::string& part :
       {account_text(plan, account), roles_text(plan, run), stalls_text(plan, run),
        loads_text(plan, run), rings_text(plan, run)}) {
    if (!part.empty()) text += "\n" + part;
  }
  return text;
}

std::string simulation_json(const plan::Plan& plan, const Simulation& run, const Account& account) {
  Json json = {{"format", "twill-simulation"},
               {"version", kSimulationJsonVersion},
               {"loop", plan.name},
               {"trips", run.trips},
               {"total", run.total},
               {"first", run.first},
               {"interval", figure_json(run.interval)},
               {"initiation_interval", plan.schedule.initiation_interval}};
  json["account"] = {
      {"scheduled", figure_json(account.scheduled)}, {"own", figure_json(account.own)},
      {"order", figure_json(account.order)},         {"pipes", figure_json(account.pipes)},
      {"barriers", figure_json(account.barriers)},   {"loads", figure_json(account.loads)}};
  json["roles"] = Json::array();
  for (std::size_t r = 0; r < run.roles.size(); ++r) {
    json["roles"].push_back(role_json(plan, plan.roles[r], run.roles[r]));
  }
  json["units"] = Json::object();
  for (std::size_t u = 0; u < run.units.size(); ++u) {
    json["units"][plan.problem.units()[u].name] = run.units[u];
  }
  json["pipes"] = Json::object();
  for (std::size_t p = 0; p < run.pipes.size(); ++p) {
    json["pipes"][plan.problem.pipes()[p].name] = run.pipes[p];
  }
  json["rings"] = Json::array();
  for (const Ring& ring : run.rings) {
    json["rings"].push_back({{"channel", plan[ring.channel].name},
                             {"slots", plan[ring.channel].depth},
                             {"taken", ring.taken},
                             {"filled", ring.full},
                             {"most", ring.most}});
  }
  return json.dump(2) + "\n";
}

}  // namespace twill::simulate
