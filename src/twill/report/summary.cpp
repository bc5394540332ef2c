#include "twill/report/summary.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/report/alternatives.h"
#include "twill/report/buffers.h"
#include "twill/report/entry.h"
#include "twill/report/gantt.h"
#include "twill/report/load.h"
#include "twill/report/story.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/bounds.h"
#include "twill/support/text_table.h"

namespace twill::report {
namespace {

using Align = TextTable::Align;
using problem::OpId;

std::string percent(Cycles part, Cycles whole) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string title(const Outcome& outcome) {
  std::string text = outcome.problem.name();
  if (!outcome.machine.empty()) text += " on " + outcome.machine;
  if (!outcome.pool.empty()) text += ", pool " + outcome.pool;
  text += "\n" + entry("input", outcome.input + (outcome.loop.empty() ? "" : ", " + outcome.loop));
  if (!outcome.machine_measured) {
    text += entry("model only",
                  "nothing of this machine has been measured: its numbers come from "
                  "public documents");
  }
  return text;
}

std::string verdict_line(const Outcome& outcome) {
  const schedule::Answer& answer = outcome.answer;
  const schedule::Schedule& found = *answer.schedule;
  const Cycles ii = found.initiation_interval;
  std::string text = interval_line(outcome.problem, found) + ": ";
  if (answer.verdict == schedule::Verdict::optimal) return text + "optimal, proven";
  if (outcome.strategy != "twill") {
    return text + fmt::format("what strategy {} makes of it, no optimum", outcome.strategy);
  }
  if (outcome.alternative > 0) {
    return text + fmt::format("alternative {} to the best found; nothing below {} exists",
                              outcome.alternative, answer.lower_bound.value);
  }
  if (answer.lower_bound.value == ii) return text + "fastest, proven; not all objectives are";
  const Cycles least = outcome.with_room ? outcome.with_room->value : answer.lower_bound.value;
  return text + fmt::format("feasible, and not proven to be the best; {} (gap {})",
                            nothing_below(outcome), percent(ii - least, least));
}

std::string limiter(const Outcome& outcome) {
  const schedule::Bound& bound = outcome.answer.lower_bound;
  if (outcome.strategy != "twill" && !outcome.order_circuit.empty()) {
    return fmt::format("its order: {}", fmt::join(outcome.order_circuit, "; "));
  }
  if (outcome.with_room) return outcome.with_room->witness;
  if (bound.kind != schedule::BoundKind::search) return bound.witness;
  return fmt::format("{}; resources and circuits alone would allow {} ({})", bound.witness,
                     outcome.min_ii.value, outcome.min_ii.witness);
}

std::string objectives(const schedule::Answer& answer) {
  std::string text;
  for (const schedule::ObjectiveValue& level : answer.objectives) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", level.name, level.value);
    if (!level.proven) text += fmt::format(" (proven: at least {})", level.bound);
  }
  return text;
}

std::string candidates(const Outcome& outcome) {
  const auto number = [](std::optional<Cycles> it) { return it ? std::to_string(*it) : "-"; };
  TextTable table({Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
                   Align::left},
                  2);
  table.add({"pool", "rates", "II", "expected", "at slowest", "simulated", ""});
  std::string notes;
  const bool optima = outcome.strategy == "twill";
  const auto note = [&](const Candidate& it, const std::string& what) {
    notes += wrap(what, kWidth,
                  fmt::format("  {}{}{}: ", it.pool, it.rate.empty() ? "" : ", ", it.rate), "    ");
  };
  for (const Candidate& it : outcome.candidates) {
    if (!it.refused.empty()) note(it, it.refused);
    if (!it.interval) {
      note(it, it.note);
      continue;
    }
    std::vector<std::string> marks;
    if (it.chosen) marks.emplace_back("chosen");
    if (optima && it.verdict != schedule::Verdict::optimal) marks.emplace_back("gap");
    if (optima && !it.note.empty()) marks.push_back(it.note);
    table.add({it.pool, it.rate, number(it.interval), number(it.expected), number(it.slowest),
               it.simulated ? fmt::format("{:.1f}", *it.simulated) : "-",
               fmt::format("{}", fmt::join(marks, ", "))});
  }
  return (optima ? "\ncandidates: the optimum of a pool with every op at one of its rates\n"
                 : "\ncandidates: what strategy " + outcome.strategy + " makes of each pool\n") +
         table.to_string() + notes;
}

std::string load_table(const Outcome& outcome) {
  const schedule::Schedule& found = *outcome.answer.schedule;
  const Cycles ii = found.initiation_interval;
  TextTable table({Align::left, Align::left, Align::right, Align::right, Align::left}, 2);
  for (const Load& load : loads_of(outcome.problem, found)) {
    if (load.cycles == 0 || load.kind == Load::Kind::group) continue;
    const auto columns = static_cast<std::size_t>(std::min<Cycles>(load.cycles * 40 / ii, 60));
    table.add({load.kind == Load::Kind::unit ? "unit" : "pipe", load.name,
               std::to_string(load.cycles), percent(load.cycles, ii), std::string(columns, '#')});
  }
  return "\nload per interval, in cycles\n" + table.to_string();
}

/// Name as in sequences of `.loop` texts: "exp2[poly]" if there is a choice.
std::string name_with_alternative(const problem::Problem& problem, const schedule::Schedule& found,
                                  OpId op) {
  const problem::Op& it = problem[op];
  if (it.alternatives.size() == 1) return it.name;
  const auto alternative = static_cast<std::size_t>(found.ops[op.index()].alternative);
  return fmt::format("{}[{}]", it.name, it.alternatives[alternative].name);
}

/// Lists the ops of one group, by stage and slot: "stage 0: qkA 0, rmaxA 576".
std::string ops_of_group(const Outcome& outcome, problem::GroupId group) {
  const schedule::Schedule& found = *outcome.answer.schedule;
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < found.ops.size(); ++i) {
    if (found.ops[i].group == group) ops.emplace_back(i);
  }
  std::stable_sort(ops.begin(), ops.end(), [&](OpId a, OpId b) {
    return found.ops[a.index()].issue < found.ops[b.index()].issue;
  });
  std::string out;
  for (std::size_t i = 0; i < ops.size();) {
    const Cycles stage = schedule::stage_of(found, ops[i]);
    std::string line;
    for (; i < ops.size() && schedule::stage_of(found, ops[i]) == stage; ++i) {
      if (!line.empty()) line += ",  ";
      line += fmt::format("{} {}", name_with_alternative(outcome.problem, found, ops[i]),
                          schedule::slot_of(found, ops[i]));
    }
    out += wrap(line, kWidth, fmt::format("    stage {}: ", stage), std::string(13, ' '));
  }
  return out;
}

std::string groups(const Outcome& outcome) {
  const schedule::Schedule& found = *outcome.answer.schedule;
  std::string out = "\ngroups, with the slot of each op\n";
  const std::vector<Amount> registers = schedule::peak_registers(outcome.problem, found);
  const std::vector<Load> loads = loads_of(outcome.problem, found);
  const std::size_t first = loads.size() - outcome.problem.groups().size();
  for (std::size_t i = 0; i < outcome.problem.groups().size(); ++i) {
    const problem::Group& group = outcome.problem.groups()[i];
    const std::string ops = ops_of_group(outcome, problem::GroupId(i));
    if (ops.empty()) {
      out += fmt::format("  {}: unused\n", group.name);
      continue;
    }
    out += fmt::format("  {}: {} warp{}{}, {} of {} registers per thread, issuing {}\n", group.name,
                       group.warps, group.warps == 1 ? "" : "s", group.loads ? ", loads" : "",
                       registers[i], group.registers,
                       percent(loads[first + i].cycles, found.initiation_interval));
    out += ops;
  }
  return out;
}

/// Lists the registers that each group takes of a shared budget.
std::string register_budgets(const Outcome& outcome) {
  const problem::Problem& problem = outcome.problem;
  std::string out;
  for (const problem::RegisterBudget& budget : problem.register_budgets()) {
    const std::vector<Amount> taken =
        schedule::registers_taken(problem, *outcome.answer.schedule, budget);
    std::string line = fmt::format("{} registers per thread are shared:", budget.total);
    Amount left = budget.total;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      line += fmt::format(" {} {},", problem[budget.groups[i]].name, taken[i]);
      left -= taken[i];
    }
    out += wrap(line + fmt::format(" {} to spare", left), kWidth, "  ", "    ");
  }
  return out;
}

/// Whether two values begin at shared addresses, so that offsets tell more than sizes. False if
/// rings are deeper than the schedule needs: such rings move the values above them.
bool share_addresses(const problem::Problem& problem, const schedule::Schedule& found,
                     const std::vector<Buffer>& list) {
  const std::vector<schedule::Buffer> needed = schedule::buffers_of(problem, found);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].depth > needed[i].depth) return false;
  }
  for (const Buffer& a : list) {
    const auto from = schedule::offset_of(found, a.value, a.memory);
    for (const Buffer& b : list) {
      const auto other = schedule::offset_of(found, b.value, b.memory);
      const bool here = a.value != b.value && a.memory == b.memory && from && other;
      if (here && *from <= *other && *other < *from + a.amount) return true;
    }
  }
  return false;
}

std::string buffers(const Outcome& outcome) {
  const schedule::Schedule& found = *outcome.answer.schedule;
  const std::vector<Buffer> list = allocated_buffers(outcome);
  if (list.empty()) return "";
  const bool shared = share_addresses(outcome.problem, found, list);
  std::vector<Align> columns = {Align::left, Align::left, Align::right, Align::left, Align::left};
  if (shared) columns.push_back(Align::left);
  TextTable table(columns, 2);
  for (const Buffer& buffer : list) {
    std::vector<std::string> row = {
        outcome.problem[buffer.value].name, outcome.problem[buffer.memory].name,
        std::to_string(buffer.amount), fmt::format("x {}", buffer.depth)};
    const auto offset = schedule::offset_of(found, buffer.value, buffer.memory);
    if (shared) row.push_back(offset ? fmt::format("at {}", *offset) : "");
    row.push_back(buffer.ring ? fmt::format("hides {} of {} cycles",
                                            std::min(buffer.ring->hides, buffer.ring->wants),
                                            buffer.ring->wants)
                              : "");
    table.add(std::move(row));
  }
  std::string out = "\nbuffers, with their depth\n" + table.to_string();
  const std::vector<Amount> peaks = schedule::peak_memory(outcome.problem, found);
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const problem::Memory& memory = outcome.problem.memories()[i];
    out += fmt::format("  {}: the schedule needs at most {} of {} at once\n", memory.name, peaks[i],
                       memory.capacity);
  }
  return out;
}

std::string assumptions(const Outcome& outcome) {
  std::string out;
  for (const extract::Reserved& part : outcome.reserved) {
    out += wrap(fmt::format("{} {} for {}: {}", part.amount,
                            part.memory == "registers" ? "registers per thread" : part.memory,
                            part.what, part.why),
                kWidth, "  ", "    ");
  }
  if (!out.empty()) out = "\ntaken for the whole loop\n" + out;
  if (outcome.notes.empty()) return out;
  out += "\napproximations\n";
  for (const std::string& note : outcome.notes) out += wrap(note, kWidth, "  ", "    ");
  return out;
}

std::string timings(const Timings& timings) {
  return fmt::format("\nseconds: read {:.3f}, solve {:.3f}, verify {:.3f}\n", timings.read,
                     timings.solve, timings.verify);
}

std::string without_schedule(const Outcome& outcome) {
  const schedule::Answer& answer = outcome.answer;
  const bool infeasible = answer.verdict == schedule::Verdict::infeasible;
  std::string out = infeasible
                        ? "  infeasible: no schedule at any initiation interval\n"
                        : "  undecided: no schedule found, and no proof that there is none\n";
  out += entry("because", answer.argument);
  if (infeasible) {
    out += entry("advice", "`twill explain` says what would make it possible, one change each");
  } else {
    out += entry("bound", fmt::format("II is at least {}: {}", answer.lower_bound.value,
                                      answer.lower_bound.witness));
  }
  return out + entry("scope", scope_of(outcome));
}

}  // namespace

std::string interval_line(const problem::Problem& problem, const schedule::Schedule& schedule) {
  const Cycles stages = schedule::stage_count(problem, schedule);
  return fmt::format("II {} cycle{}, {} stage{}, length {}", schedule.initiation_interval,
                     schedule.initiation_interval == 1 ? "" : "s", stages, stages == 1 ? "" : "s",
                     schedule::length_of(problem, schedule));
}

std::string picture(const Outcome& outcome) {
  const schedule::Schedule& found = *outcome.answer.schedule;
  return fmt::format(
             "steady state: one interval of {} cycles; bars are filled with the op's stage\n",
             found.initiation_interval) +
         draw_steady_state(outcome.problem, found, kWidth);
}

namespace {

/// Prints all facts about the schedule.
std::string in_full(const Outcome& outcome) {
  std::string out = wrap(verdict_line(outcome), kWidth, "  ", "    ");
  if (!outcome.differences.empty()) {
    out += entry("differs", in_words(outcome.problem, outcome.differences));
  }
  out += entry("limited by", limiter(outcome));
  if (outcome.bracket) out += entry("bracket", bracket_text(outcome));
  out += entry("objectives", objectives(outcome.answer));
  out += entry("scope", scope_of(outcome));
  if (outcome.candidates.size() > 1) out += candidates(outcome);
  out += load_table(outcome);
  out += groups(outcome) + register_budgets(outcome);
  out += buffers(outcome);
  out += assumptions(outcome);
  return out + "\n" + picture(outcome);
}

}  // namespace

std::string summary(const Outcome& outcome, const Printing& printing) {
  std::string out;
  if (!outcome.answer.schedule) {
    out = title(outcome) + without_schedule(outcome);
    if (!outcome.candidates.empty()) out += candidates(outcome);
    return printing.timing ? out + timings(outcome.timings) : out;
  }
  out = first_screen(outcome);
  if (printing.trips > 0) {
    const auto total = outcome.built ? outcome.built->total : std::nullopt;
    out += entry("total", total ? fmt::format("{:.1f} cycles for {} iterations, simulated", *total,
                                              printing.trips)
                                : "not known: no plan that runs");
  }
  if (printing.verbose) out += "\nschedule\n" + in_full(outcome);
  if (outcome.alternatives) out += "\n" + alternatives_text(outcome);
  return printing.timing ? out + timings(outcome.timings) : out;
}

}  // namespace twill::report
