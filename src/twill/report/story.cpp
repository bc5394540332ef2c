#include "twill/report/story.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "twill/report/entry.h"
#include "twill/report/summary.h"
#include "twill/support/text_table.h"

namespace twill::report {
namespace {

/// Limits on characters of an entry: one line, or two.
constexpr std::size_t kOneLine = 86;
constexpr std::size_t kTwoLines = 160;
std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

constexpr double kSome = 0.05;  ///< least cycles of a part in the story

/// Rounds to the value that `{:.1f}` prints, so that printed parts add up to the printed whole.
double in_tenths(double cycles) { return std::stod(fmt::format("{:.1f}", cycles)); }

constexpr std::ptrdiff_t kMostLines = 12;  ///< of the first screen

std::optional<double> simulated(const Outcome& outcome) {
  return outcome.built ? outcome.built->simulated : std::nullopt;
}

std::string where_limited(const Limiter& limiter) {
  return limiter.lines.empty() ? "" : " (" + limiter.lines + ")";
}

/// Lists a few names: "mma0A, mma0B and 14 more".
std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 4;
  const std::size_t shown = names.size() <= kMost + 1 ? names.size() : kMost;
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// Pools over which the proven bound holds: all for which the loop can be posed.
std::vector<std::string> pools_of(const Outcome& outcome) {
  std::vector<std::string> pools;
  for (const Candidate& it : outcome.candidates) {
    if (it.rate.empty() || std::count(pools.begin(), pools.end(), it.pool) > 0) continue;
    pools.push_back(it.pool);
  }
  return pools;
}

/// States the bound with the scope of its proof, as in "2092 cycles: no schedule takes less at
/// h200's full rates, one CTA per SM (...)".
std::string bound_line(const Outcome& outcome) {
  const Cycles bound = proven_bound(outcome);
  if (!outcome.bracket && outcome.with_room) {
    return fmt::format(
        "{} cycles: no schedule of this loop takes less at these costs and leaves memory for the "
        "values that its groups transfer (proven; {} for all schedules)",
        bound, outcome.answer.lower_bound.value);
  }
  if (!outcome.bracket) {
    return fmt::format(
        "{} cycles: no schedule of this loop takes less at these costs, in these groups (proven)",
        bound);
  }
  const std::vector<std::string> pools = pools_of(outcome);
  return fmt::format(
      "{} cycles: no schedule takes less{} at {}'s full rates, one CTA per SM (proven{})", bound,
      outcome.live_only ? " in iterations that take the branches priced" : "", outcome.machine,
      pools.empty()
          ? std::string()
          : fmt::format(" for pool{} {}", pools.size() == 1 ? "" : "s", fmt::join(pools, ", ")));
}

/// Splits the gap between the bound and the simulated interval into its parts.
std::string gap_line(const Outcome& outcome) {
  const Built& built = *outcome.built;
  const auto bound = static_cast<double>(proven_bound(outcome));
  const double gap = in_tenths(*built.simulated) - bound;
  if (gap < -kSome) {
    return fmt::format(
        "{:.1f} cycles less than proven: schedules repeat in whole cycles, and keep a value's "
        "registers until other groups have read it; runs do neither",
        -gap);
  }
  if (gap < kSome) return "none: no schedule is faster";
  std::string text = fmt::format("{:.1f} cycles ({:.1f} %)", gap, 100 * gap / bound);
  const char* separator = ": ";
  for (const GapPart& part : gap_of(outcome)) {
    text += fmt::format("{}{} {:.1f}", separator, part.what, part.cycles);
    separator = ", ";
  }
  return text;
}

std::string limiter_line(const Outcome& outcome) {
  const Limiter& it = *outcome.limiter;
  std::string text = fmt::format("{}, {} cycles", it.what, it.cycles);
  if (!it.alone) text = "several rules together (`twill explain` names them); alone " + text;
  if (const auto cycles = simulated(outcome)) text += fmt::format(" of {:.1f}", *cycles);
  if (!it.ops.empty()) text += ": " + few_of(it.ops);
  return shortened(text + where_limited(it), kTwoLines);
}

/// States the schedule; "optimal" stands only beside the scope of its proof.
std::string schedule_line_of(const Outcome& outcome) {
  const schedule::Answer& answer = outcome.answer;
  const Cycles ii = answer.schedule->initiation_interval;
  std::string text = interval_line(outcome.problem, *answer.schedule);
  if (outcome.strategy != "twill") return text + ", by strategy " + outcome.strategy;
  if (outcome.alternative > 0) {
    text += fmt::format(", alternative {} to the best found", outcome.alternative);
    if (answer.verdict != schedule::Verdict::optimal) return text;
    return text + " and as good, proven optimal";
  }
  if (answer.verdict == schedule::Verdict::optimal) {
    return text + ", proven optimal among schedules of this loop at these costs";
  }
  if (answer.lower_bound.value >= ii) {
    return text + "; no smaller II exists, proven; not all objectives are proven";
  }
  return text + ", feasible; " + nothing_below(outcome);
}

/// Whether the schedule's own figures are the answer's. A kernel's schedule is for one of two
/// rates, and its plan runs between them.
bool tells_schedule(const Outcome& outcome) {
  return outcome.rate.empty() || outcome.strategy != "twill" || outcome.alternative > 0;
}

std::string plan_line(const Built& built) {
  if (!built.planned) return shortened("none: " + built.refusal, kTwoLines);
  return "proven safe for every trip count";
}

/// Counts refused candidates: "2 of 5 candidates, first 2x64 fastest (plan: the buffers need ...)";
/// empty if none was refused.
std::string refused_line(const Outcome& outcome) {
  const Candidate* first = nullptr;
  std::size_t count = 0;
  for (const Candidate& it : outcome.candidates) {
    if (it.refused.empty() || it.chosen) continue;
    if (first == nullptr) first = &it;
    ++count;
  }
  if (first == nullptr) return "";
  std::string which = first->pool.empty() ? "" : fmt::format("{} {}, ", first->pool, first->rate);
  if (first->interval) which += fmt::format("II {}", *first->interval);
  return shortened(fmt::format("{} of {} candidates; {}: {}", count, outcome.candidates.size(),
                               which, first->refused),
                   kOneLine);
}

}  // namespace

Cycles proven_bound(const Outcome& outcome) {
  if (outcome.bracket) return outcome.bracket->fastest;
  return outcome.with_room ? outcome.with_room->value : outcome.answer.lower_bound.value;
}

std::string nothing_below(const Outcome& outcome) {
  if (outcome.with_room)
    return fmt::format("nothing below {} can be built", outcome.with_room->value);
  return fmt::format("nothing below {} exists", outcome.answer.lower_bound.value);
}

std::vector<GapPart> gap_of(const Outcome& outcome) {
  std::vector<GapPart> parts;
  if (!simulated(outcome)) return parts;
  const Built& built = *outcome.built;
  const double whole = in_tenths(*built.simulated);
  // Clamps the parts. The bound may include causes that a run adds later, such as the latency of
  // loads: no part lies below the bound. A run with fewer causes may be slower, since other ops
  // meet: no part lies above the whole.
  double level = std::max(0.0, static_cast<double>(proven_bound(outcome)));
  const auto add = [&](const char* what, std::optional<double> to) {
    if (!to) return;
    const double up_to = std::min(in_tenths(*to), whole);
    if (up_to - level < kSome) return;
    parts.push_back({what, up_to - level});
    level = up_to;
  };
  add(outcome.bracket ? "order on shared pipes" : "order", built.in_order);
  add("signals", built.with_signals);
  add("load latency", built.simulated);
  return parts;
}

std::optional<double> kept_by_plan(const Outcome& outcome) {
  const auto cycles = simulated(outcome);
  if (!cycles) return std::nullopt;
  return std::max(*cycles, outcome.built->at_slowest.value_or(0));
}

std::string bracket_text(const Outcome& outcome) {
  const Bracket& bracket = *outcome.bracket;
  const std::string least = "every op at its fastest (nothing is faster: " + bracket.fastest_limit;
  if (const auto kept = kept_by_plan(outcome)) {
    return fmt::format("{} .. {:.1f} cycles: {}) .. what the plan is simulated to take {}",
                       bracket.fastest, *kept, least,
                       *kept > *simulated(outcome) ? "with every op at its slowest co-run rate"
                                                   : "on shared pipes");
  }
  return fmt::format("{} .. {} cycles: {}) .. at its slowest co-run rate (this order{})",
                     bracket.fastest, bracket.slowest ? std::to_string(*bracket.slowest) : "?",
                     least, bracket.slowest ? "" : " cannot be kept then");
}

std::string headline(const Outcome& outcome) {
  std::string text = outcome.problem.name();
  if (!outcome.machine.empty()) text += " on " + outcome.machine;
  if (!outcome.machine_measured) text += " (nothing measured)";
  if (!outcome.pool.empty()) text += ", pool " + outcome.pool;
  if (outcome.strategy != "twill") text += ", strategy " + outcome.strategy;
  if (const auto cycles = simulated(outcome)) {
    return text + fmt::format(": {:.1f} cycles an iteration, simulated", *cycles);
  }
  const bool planned = outcome.built && outcome.built->planned;
  return text + fmt::format(": II {} cycles, and {}", outcome.answer.schedule->initiation_interval,
                            planned ? "a plan without a steady state" : "no plan that keeps it");
}

std::string story(const Outcome& outcome) {
  if (!outcome.answer.schedule) return "";
  std::string text = wrap(headline(outcome), kWidth, "", "  ");
  std::string line = fmt::format("{} cycles, proven", proven_bound(outcome));
  if (outcome.live_only) line += " for iterations that take the branches priced";
  if (outcome.limiter) {
    line +=
        outcome.limiter->alone ? "; limited by " : "; limited by several rules together, most by ";
    line += outcome.limiter->what + where_limited(*outcome.limiter);
  }
  text += entry("at least", line);
  const bool unplanned = outcome.built && !outcome.built->planned;
  return unplanned ? text + entry("plan", plan_line(*outcome.built)) : text;
}

std::string way_out(const Built& built) {
  const bool triton = built.no_ttgir == "", cuda = built.not_printable == "";
  if (triton && cuda) return "`twill emit ttgir` (Triton) or `twill emit cuda`";
  if (triton) return "`twill emit ttgir` (Triton)";
  std::string text = cuda ? "`twill emit cuda`" : "not printable";
  if (built.no_ttgir) {
    text += "; for Triton: " + *built.no_ttgir;
  } else if (!cuda) {
    text += ": " + *built.not_printable;
  }
  return shortened(text, kTwoLines);
}

std::string first_screen(const Outcome& outcome) {
  std::string out = wrap(headline(outcome), kWidth, "", "  ");
  std::string input = outcome.input;
  if (!outcome.loop.empty()) input += ", " + outcome.loop;
  if (!outcome.loop_source.empty()) input += " (" + outcome.loop_source + ")";
  out += entry("input", shortened(input, kOneLine));
  out += entry("at least", bound_line(outcome));
  if (simulated(outcome)) out += entry("gap", gap_line(outcome));
  if (outcome.limiter) out += entry("limited by", limiter_line(outcome));
  if (outcome.built) {
    out += entry("plan", plan_line(*outcome.built));
    const bool looked = outcome.built->not_printable || outcome.built->no_ttgir;
    if (outcome.built->planned && looked) out += entry("run it", way_out(*outcome.built));
  }
  const std::string rest =
      (tells_schedule(outcome) ? entry("schedule", schedule_line_of(outcome)) : "") +
      entry("details", "--verbose; what would make it faster: `twill explain`");
  const std::string refused = refused_line(outcome);
  const auto lines =
      std::count(out.begin(), out.end(), '\n') + std::count(rest.begin(), rest.end(), '\n');
  if (!refused.empty() && lines < kMostLines) out += entry("refused", refused);
  return out + rest;
}

}  // namespace twill::report
