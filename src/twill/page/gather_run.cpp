#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "twill/page/loop_view.h"
#include "twill/plan/text.h"
#include "twill/problem/problem.h"
#include "twill/simulate/print.h"

/// Facts of a recorded run of a plan: two intervals of its steady state, and its waits.
namespace twill::page {
namespace {

using simulate::Track;

constexpr double kIntervals = 2;      ///< intervals of the steady state that the chart shows
constexpr double kSomeWait = 0.5;     ///< least cycles of a wait that is shown
constexpr double kSameMoment = 0.01;  ///< tolerance, in cycles

/// Stretch of the run that the chart shows.
struct Window {
  std::int64_t iteration = 0;  ///< iteration of its first op
  double begin = 0;
  double end = 0;
};

/// Window that begins when the busiest unit begins an iteration in the middle of the run. Without
/// units: when any role begins that iteration.
Window window_of(const simulate::Simulation& run, double interval) {
  const auto busiest = std::max_element(run.units.begin(), run.units.end());
  const bool has_unit = busiest != run.units.end() && *busiest > 0;
  const Track track{Track::Kind::unit, static_cast<std::size_t>(busiest - run.units.begin())};
  Window window{run.trips / 2, -1, 0};
  for (const simulate::Span& span : run.spans) {
    if (span.iteration != window.iteration || span.stalled || !span.op) continue;
    if (has_unit && !(span.track == track)) continue;
    if (window.begin < 0 || span.begin < window.begin) window.begin = span.begin;
  }
  window.begin = std::max(window.begin, 0.0);
  window.end = window.begin + kIntervals * interval;
  return window;
}

std::size_t lane_of(const plan::Plan& plan, const Track& track) {
  return track.kind == Track::Kind::unit ? track.index : plan.problem.units().size() + track.index;
}

std::vector<Lane> lanes_of(const plan::Plan& plan, const simulate::Simulation& run) {
  std::vector<Lane> lanes;
  for (std::size_t u = 0; u < plan.problem.units().size(); ++u) {
    lanes.push_back(
        {plan.problem.units()[u].name, fmt::format("{:.0f} % busy", 100 * run.units[u]), true, {}});
  }
  for (const plan::Role& role : plan.roles) {
    lanes.push_back({role.name,
                     fmt::format("{} warp{}{}", role.warps, role.warps == 1 ? "" : "s",
                                 role.registers > 0 ? fmt::format(", {} registers", role.registers)
                                                    : std::string()),
                     false,
                     {}});
  }
  return lanes;
}

Bar run_bar_of(const LoopView& loop, const plan::Plan& plan, const simulate::Span& span,
               const Window& window) {
  Bar bar;
  bar.before = span.begin < window.begin - kSameMoment;
  bar.beyond = span.end > window.end + kSameMoment;
  bar.begin = std::max(0.0, span.begin - window.begin);
  bar.end = std::min(window.end, span.end) - window.begin;
  bar.iteration = static_cast<int>(span.iteration - window.iteration);
  bar.waits = span.stalled;
  if (span.op) bar.op = loop.place(*span.op);
  bar.label = span.stalled ? plan::to_text(plan, *span.step)
              : span.op    ? plan.problem[*span.op].name
                           : std::string();
  bar.details = {fmt::format("{:.1f} cycles", span.end - span.begin)};
  return bar;
}

void add_bars(const LoopView& loop, const Material& material, const Window& window, Chart& chart) {
  for (const simulate::Span& span : material.run->spans) {
    if (span.end <= window.begin || span.begin >= window.end) continue;
    if (span.stalled && (span.step == nullptr || span.end - span.begin < kSomeWait)) continue;
    Lane& lane = chart.lanes[lane_of(*material.plan, span.track)];
    lane.bars.push_back(run_bar_of(loop, *material.plan, span, window));
  }
}

/// Time at which the arrow of work that began at `time` leaves its lane: the end of that work, if
/// before `latest`.
double left_at(const Lane& lane, double time, double latest) {
  for (const Bar& bar : lane.bars) {
    if (bar.waits || std::abs(bar.begin - time) >= kSameMoment) continue;
    return bar.end <= latest ? bar.end : time;
  }
  return time;
}

void add_arrows(const Material& material, const Window& window, Chart& chart) {
  const plan::Plan& plan = *material.plan;
  for (const simulate::Arrow& it : material.run->arrows) {
    if (it.begin < window.begin || it.end > window.end) continue;
    const std::size_t from = lane_of(plan, it.from);
    const double end = it.end - window.begin;
    const double begin = left_at(chart.lanes[from], it.begin - window.begin, end);
    chart.arrows.push_back(
        {from, begin, lane_of(plan, it.to), end,
         fmt::format("{} {}", plan[it.channel].name, it.empty ? "is empty" : "is full"),
         std::max(0.0, it.end - it.there)});
  }
}

void add_waits(const Material& material, Facts& facts) {
  for (std::size_t r = 0; r < material.run->roles.size(); ++r) {
    for (const simulate::Stall& stall : material.run->roles[r].stalls) {
      if (stall.cycles < kSomeWait) break;
      facts.waits.push_back({material.plan->roles[r].name, stall.cycles,
                             simulate::to_text(*material.plan, stall.cause)});
    }
  }
}

}  // namespace

void add_run_chart(const LoopView& loop, const Material& material, Facts& facts) {
  const simulate::Simulation& run = *material.run;
  const double interval =
      run.interval.value_or(run.trips > 0 ? run.total / static_cast<double>(run.trips) : 0);
  if (interval <= 0 || run.spans.empty()) return;
  const Window window = window_of(run, interval);
  Chart chart;
  chart.id = "steady-state";
  chart.title = "Steady state, simulated";
  chart.caption =
      "Two intervals of the plan's run. Units are held, roles compute and issue; hatched, a role "
      "waits. A number behind a name says how many iterations after the first of the chart the op "
      "belongs to. Arrows lead from the arrival that completes a barrier's phase to the wait that "
      "passes for it; red ones came last, so that a role stood and waited.";
  chart.length = window.end - window.begin;
  chart.interval = interval;
  chart.lanes = lanes_of(*material.plan, run);
  add_bars(loop, material, window, chart);
  add_arrows(material, window, chart);
  facts.charts.push_back(std::move(chart));
  add_waits(material, facts);
}

}  // namespace twill::page
