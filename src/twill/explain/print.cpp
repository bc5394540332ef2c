#include "twill/explain/print.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "twill/explain/words.h"
#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/pool_class.h"
#include "twill/support/text_table.h"

namespace twill::explain {
namespace {

using problem::Alternative;
using problem::Op;
using problem::Problem;

constexpr std::size_t kWidth = 100;

/// Limit on listed changes of single ops; the JSON has all.
constexpr std::size_t kOpsShown = 8;

std::string entry(std::string_view key, std::string_view text) {
  constexpr std::size_t kColumn = 14;
  return wrap(text, kWidth, fmt::format("  {:<{}}", key, kColumn - 2), std::string(kColumn, ' '));
}

std::string paragraph(std::string_view text) { return wrap(text, kWidth, "", ""); }
std::string item(std::string_view text) { return wrap(text, kWidth, "  ", "      "); }
std::string detail(std::string_view text) { return wrap(text, kWidth, "    ", "      "); }

/// Requirements of a kind, in order.
std::vector<Requirement> of_kind(const Core& core, Kind kind) {
  std::vector<Requirement> some;
  for (const Requirement& it : core.requirements) {
    if (it.kind == kind) some.push_back(it);
  }
  return some;
}

template <class NumberOf>
std::string numbered(const Problem& problem, const std::vector<Requirement>& requirements,
                     NumberOf number_of) {
  std::vector<std::string> words;
  for (const Requirement& it : requirements) {
    words.push_back(fmt::format("{} {}", problem.ops()[it.index].name, number_of(it)));
  }
  return listed(words);
}

template <class CostOf>
Cycles least(const Op& op, CostOf cost_of) {
  Cycles value = std::numeric_limits<Cycles>::max();
  for (const Alternative& alternative : op.alternatives)
    value = std::min(value, cost_of(alternative));
  return value;
}

Cycles demand_on(const Alternative& alternative, std::size_t pipe) {
  for (const problem::PipeUse& use : alternative.pipes) {
    if (use.pipe.index() == pipe) return use.demand;
  }
  return 0;
}

/// Describes each unit in one sentence: "unit TC does one op at a time; cycles that each holds it:
/// qkA 512 ...".
std::string holds(const Problem& problem, const Core& core) {
  std::string out;
  const std::vector<Requirement> all = of_kind(core, Kind::hold);
  for (std::size_t u = 0; u < problem.units().size(); ++u) {
    std::vector<Requirement> here;
    for (const Requirement& it : all) {
      if (problem.ops()[it.index].alternatives.front().unit == problem::UnitId(u))
        here.push_back(it);
    }
    if (here.empty()) continue;
    const auto occupancy = [&](const Requirement& it) {
      return least(problem.ops()[it.index],
                   [](const Alternative& alternative) { return alternative.occupancy; });
    };
    out += item(fmt::format("unit {} does one op at a time; cycles that each holds it: {}",
                            problem.units()[u].name, numbered(problem, here, occupancy)));
  }
  std::vector<Requirement> elsewhere;
  for (const Requirement& it : all) {
    if (!problem.ops()[it.index].alternatives.front().unit) elsewhere.push_back(it);
  }
  if (elsewhere.empty()) return out;
  const auto none = [](const Requirement&) { return "(some alternatives)"; };
  return out + item("units are held by " + numbered(problem, elsewhere, none));
}

std::string demands(const Problem& problem, const Core& core) {
  std::string out;
  const std::vector<Requirement> all = of_kind(core, Kind::demand);
  for (std::size_t p = 0; p < problem.pipes().size(); ++p) {
    std::vector<Requirement> here;
    for (const Requirement& it : all) {
      if (it.other == p) here.push_back(it);
    }
    if (here.empty()) continue;
    const auto demand = [&](const Requirement& it) {
      return least(problem.ops()[it.index],
                   [&](const Alternative& alternative) { return demand_on(alternative, p); });
    };
    out += item(fmt::format("pipe {} serves all groups; cycles of it that each op takes: {}",
                            problem.pipes()[p].name, numbered(problem, here, demand)));
  }
  return out;
}

std::string issues(const Problem& problem, const Core& core) {
  const std::vector<Requirement> all = of_kind(core, Kind::issue);
  if (all.empty()) return "";
  const auto issue = [&](const Requirement& it) {
    return least(problem.ops()[it.index],
                 [](const Alternative& alternative) { return alternative.issue; });
  };
  const char* what = problem.in_force(problem::Rule::one_stream)
                         ? "a group issues one op at a time; cycles that each takes: {}"
                         : "while a group issues one of these, it cannot wait at a barrier; "
                           "cycles of each: {}";
  return item(fmt::format(fmt::runtime(what), numbered(problem, all, issue)));
}

std::string storage(const Problem& problem, const Core& core) {
  std::string out;
  const auto classes = schedule::pool_classes(problem);
  for (const Requirement& it : of_kind(core, Kind::register_limit)) {
    std::vector<std::string> words;
    for (const problem::GroupId group : classes[it.index].groups) {
      words.push_back(fmt::format("{} has {}", problem[group].name, problem[group].registers));
    }
    out += item("registers per thread are limited: " + listed(words));
  }
  for (const Requirement& it : of_kind(core, Kind::budget)) {
    const problem::RegisterBudget& budget = problem.register_budgets()[it.index];
    out += item(fmt::format("{} share {} registers per thread, in steps of {}",
                            listed(names_of(problem, budget.groups)), budget.total, budget.step));
  }
  const std::vector<Requirement> values = of_kind(core, Kind::registers);
  if (!values.empty()) {
    const auto registers = [&](const Requirement& it) { return problem.ops()[it.index].registers; };
    const bool limited =
        !of_kind(core, Kind::register_limit).empty() || !of_kind(core, Kind::budget).empty();
    const char* why = !limited
                          ? "a group waits for values in registers of another group: the {} of {}"
                          : "registers per thread, until the last reader is done, of the {} of {}";
    out += item(fmt::format(fmt::runtime(why), values.size() == 1 ? "result" : "results",
                            numbered(problem, values, registers)));
  }
  for (std::size_t m = 0; m < problem.memories().size(); ++m) {
    std::vector<Requirement> here;
    for (const Requirement& it : of_kind(core, Kind::footprint)) {
      if (it.other == m) here.push_back(it);
    }
    if (here.empty()) continue;
    const auto amount = [&](const Requirement& it) {
      for (const problem::Footprint& each : problem.ops()[it.index].footprint) {
        if (each.memory.index() == m) return each.amount;
      }
      return Amount{0};
    };
    out +=
        item(fmt::format("{} has {}; taken until the last reader is done, by the results "
                         "of {}",
                         problem.memories()[m].name, problem.memories()[m].capacity,
                         numbered(problem, here, amount)));
  }
  return out;
}

std::string pool(const Problem& problem, const Core& core) {
  std::string out;
  const auto classes = schedule::pool_classes(problem);
  for (const Requirement& it : of_kind(core, Kind::group_count)) {
    std::vector<std::string> names;
    for (const problem::GroupId group : classes[it.index].groups) {
      names.push_back(problem[group].name);
    }
    out += item(
        fmt::format("there are no more {} than {}", classes[it.index].description, listed(names)));
  }
  if (!of_kind(core, Kind::minimum_groups).empty()) {
    out += item(fmt::format("at least {} compute groups must have an op",
                            problem.minimum_compute_groups()));
  }
  if (!of_kind(core, Kind::width).empty()) {
    out += item("an op runs in a group of exactly its width (rule width)");
  }
  if (!of_kind(core, Kind::load_group).empty()) {
    out += item("loads run in the load group, and nothing else does (rule load-group)");
  }
  for (const Requirement& it : of_kind(core, Kind::same_group)) {
    std::vector<std::string> names;
    for (const problem::OpId op : problem.same_group()[it.index]) names.push_back(problem[op].name);
    out += item(fmt::format("one group runs {} (rule same-group)", listed(names)));
  }
  return out;
}

std::string arrow(const Problem& problem, const problem::Dependence& it) {
  return problem[it.from].name + " -> " + problem[it.to].name;
}

/// Lists transfers: "rmaxA by rmaxA.put 30 and rmaxA.get.mnewA 30".
std::string transfers(const Problem& problem, const Core& core) {
  std::string out;
  for (const Requirement& it : of_kind(core, Kind::transfer_costs)) {
    const problem::Transfer& each = problem.transfers()[it.index];
    const auto timed = [&](problem::OpId op) {
      return fmt::format("{} {}", problem[op].name, problem[op].alternatives.front().latency);
    };
    std::vector<std::string> words = {timed(each.store)};
    for (const auto& load : each.loads) words.push_back(timed(load.op));
    if (!out.empty()) out += "; ";
    out += fmt::format("{} by {}", problem[each.value].name, listed(words));
  }
  if (out.empty()) return out;
  return item(
      "a result goes to another group by a store and loads, which take time and room; cycles of "
      "each: " +
      out);
}

std::string order(const Problem& problem, const Core& core) {
  std::string out;
  std::vector<std::size_t> ids;
  for (const Requirement& it : of_kind(core, Kind::dependence)) ids.push_back(it.index);
  if (!ids.empty()) {
    out += item("cycles from the issue of an op to its result:");
    for (const std::string& chain : chains_of(problem, ids)) out += detail(chain);
  }
  out += transfers(problem, core);
  std::vector<std::string> transfers;
  for (const Requirement& it : of_kind(core, Kind::transfer)) {
    const problem::Dependence& each = problem.dependences()[it.index];
    transfers.push_back(fmt::format("{} {}", arrow(problem, each), each.transfer));
  }
  if (!transfers.empty()) {
    out += item("cycles that a transfer to another group adds: " + listed(transfers));
  }
  std::vector<std::string> waits;
  for (const Requirement& it : of_kind(core, Kind::wait)) {
    waits.push_back(arrow(problem, problem.dependences()[it.index]));
  }
  if (!waits.empty()) {
    out += item("the reader waits at a barrier, and its group issues nothing meanwhile: " +
                listed(waits));
  }
  return out;
}

std::string title(const Heading& heading, const Explanation& it) {
  std::string text = it.problem.name();
  if (!heading.machine.empty()) text += " on " + heading.machine;
  if (!heading.pool.empty()) text += ", pool " + heading.pool;
  if (it.status == Status::reachable) {
    text += fmt::format(": can it run at an II of {}?", cycles(*it.asked));
  } else if (it.question && it.status == Status::held) {
    text += fmt::format(": why not an II of {}?", cycles(*it.question));
  } else {
    text += ": why is there no schedule?";
  }
  text += "\n" + entry("input", heading.input + (heading.loop.empty() ? "" : ", " + heading.loop));
  if (!heading.machine_measured) {
    text += entry("model only",
                  "nothing of this machine has been measured: its numbers come from public "
                  "documents");
  }
  if (!heading.rate.empty()) {
    text += entry("costs", fmt::format("every op at its {}{}", heading.rate,
                                       heading.rate == "slowest" ? " co-run rate" : ""));
  }
  return text;
}

std::string optimum(const Explanation& it) {
  const schedule::Answer& answer = it.answer;
  if (answer.verdict == schedule::Verdict::infeasible) {
    return entry("optimum", "none: there is no schedule at any II: " + answer.argument);
  }
  if (!answer.schedule) {
    return entry("optimum", fmt::format("not known: no schedule was found within the work limit; "
                                        "nothing below {} exists",
                                        answer.lower_bound.value));
  }
  const Cycles ii = answer.schedule->initiation_interval;
  if (answer.lower_bound.value == ii) return entry("optimum", fmt::format("II {}, proven", ii));
  return entry("optimum", fmt::format("not known: there is a schedule of II {}, none below {}, and "
                                      "the work limit ended the search in between",
                                      ii, answer.lower_bound.value));
}

std::string because(const Explanation& it) {
  const std::size_t count = it.core.requirements.size();
  const std::string goal = it.question ? fmt::format("An II of {}", cycles(*it.question))
                                       : std::string("A schedule, at any II,");
  std::string out = "\n";
  if (it.bound) {
    out +=
        paragraph(fmt::format("{} is impossible. No search is needed to see why; the bound is {}: "
                              "{}.",
                              goal, it.bound->value, it.bound->witness));
    out += paragraph(count == 1 ? "It rests on this alone:" : "It rests on these alone:");
  } else {
    out += paragraph(fmt::format("{} is impossible because of {}:", goal,
                                 count == 1 ? "this alone" : "these together"));
  }
  out += holds(it.problem, it.core) + demands(it.problem, it.core) + issues(it.problem, it.core) +
         storage(it.problem, it.core) + pool(it.problem, it.core) + order(it.problem, it.core);
  if (!it.core.minimal) {
    return out + paragraph(
                     "Some of it may not be needed: the work limit ended the search for a "
                     "smaller reason.");
  }
  if (count == 1) return out + paragraph("Nothing else matters: without it there is a schedule.");
  return out + paragraph(fmt::format(
                   "Nothing else matters, and each of these {} facts does: without any one of them "
                   "there is a schedule.",
                   count));
}

/// Gain at a point: "buys 80 cycles (II 2272 -> 2192)".
std::string bought(const Explanation& it, const Point& point) {
  if (it.asked || !it.question) return "makes it possible";
  const Cycles before = *it.question + 1;
  return fmt::format("buys {}{} (II {} -> {})", point.best ? "" : "at least ",
                     cycles(before - point.interval), before, point.interval);
}

std::string sentence(const Explanation& it, const Help& help) {
  std::string text = help.what;
  for (std::size_t i = 0; i < help.points.size(); ++i) {
    const Point& point = help.points[i];
    if (i > 0) text += ",";
    if (i == 0 && !help.from.empty()) text += " from " + help.from;
    if (!help.from.empty()) text += " to";
    if (!point.to.empty()) text += " " + point.to;
    if (point.extent == Extent::perhaps_less) text += " (perhaps less)";
    text += " " + bought(it, point);
  }
  return text;
}

std::string helps(const Explanation& it) {
  std::string out;
  std::size_t ops = 0;
  for (const Help& help : it.sensitivity.helps) {
    if (help.of_op && ++ops > kOpsShown) continue;
    out += item(sentence(it, help));
  }
  if (ops > kOpsShown) {
    out += item(fmt::format("and {} more change{} of single ops, for less", ops - kOpsShown,
                            ops == kOpsShown + 1 ? "" : "s"));
  }
  if (out.empty()) out = item("nothing that was tried");
  return out;
}

std::string what_would(const Explanation& it) {
  const Sensitivity& s = it.sensitivity;
  std::string out = "\n";
  out +=
      paragraph(it.asked || !it.question
                    ? "What would make it possible, each alone, by the smallest change that does:"
                    : "What would lower it, each alone: the smallest change that does, and the "
                      "largest that buys more:");
  out += helps(it);
  std::string useless = listed(s.useless);
  if (!s.useless_of_op.empty()) {
    if (!useless.empty()) useless += "; ";
    useless += "time, latency or unit of any op not named above";
  }
  if (!useless.empty()) {
    out += "\n" + paragraph("Changing any of these alone buys nothing:") + item(useless);
  }
  if (!s.undecided.empty()) {
    out += "\n" + paragraph("What could not be decided within the work limit:") +
           item(listed(s.undecided));
  }
  return out;
}

}  // namespace

std::string explanation_text(const Heading& heading, const Explanation& it) {
  std::string out = heading.story + title(heading, it) + optimum(it);
  switch (it.status) {
    case Status::reachable:
      return out + "\n" + paragraph("Yes: nothing holds it above that.");
    case Status::undecided:
      return out + "\n" +
             paragraph(
                 "That was not decided within the work limit, so there is "
                 "nothing to explain yet.");
    case Status::held:
    case Status::infeasible:
      break;
  }
  if (it.core.requirements.empty()) {
    return out + "\n" + paragraph("An II is at least one cycle. Nothing else holds it.");
  }
  return out + because(it) + what_would(it);
}

}  // namespace twill::explain
