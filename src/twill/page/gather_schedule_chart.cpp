#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/page/loop_view.h"
#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"

/// Chart of a schedule's steady state, which repeats after its II.
namespace twill::page {
namespace {

using problem::OpId;

/// Adds a bar from `begin` on for some cycles, in two parts where it runs over the end of the
/// interval.
void add_wrapped(std::vector<Bar>& bars, Bar bar, double interval) {
  if (bar.end <= interval) {
    bars.push_back(std::move(bar));
    return;
  }
  Bar tail = bar;
  bar.end = interval;
  bar.beyond = true;
  tail.begin = 0;
  tail.end -= interval;
  tail.before = true;
  tail.beyond = tail.end > interval;
  if (tail.beyond) tail.end = interval;
  bars.push_back(std::move(bar));
  bars.push_back(std::move(tail));
}

Bar slot_bar_of(const LoopView& loop, OpId op, Cycles cycles) {
  const schedule::Schedule& schedule = loop.schedule();
  const auto slot = static_cast<double>(schedule::slot_of(schedule, op));
  Bar bar;
  bar.begin = slot;
  bar.end = slot + static_cast<double>(cycles);
  bar.label = loop.problem()[op].name;
  bar.op = loop.place(op);
  bar.iteration = -static_cast<int>(schedule::stage_of(schedule, op));
  bar.details = {fmt::format("stage {}, cycle {}, {} cycles", schedule::stage_of(schedule, op),
                             schedule::slot_of(schedule, op), cycles)};
  return bar;
}

/// Adds an arrow for each dependence between groups, to the first use of the value.
void add_crossings(const LoopView& loop, const std::vector<std::size_t>& lanes, Chart& chart) {
  const schedule::Schedule& schedule = loop.schedule();
  for (const problem::Dependence& it : loop.problem().dependences()) {
    const schedule::Placement& from = schedule.ops[it.from.index()];
    const schedule::Placement& to = schedule.ops[it.to.index()];
    if (from.group == to.group || !from.exists || !to.exists) continue;
    const Cycles delay =
        problem::delay_of(it, loop.problem()[it.from], loop.alternative(it.from)) + it.transfer;
    const Cycles need = to.issue + it.distance * schedule.initiation_interval;
    const Cycles end = need % schedule.initiation_interval;
    const Cycles begin = end - (need - from.issue - delay);
    if (begin < 0) continue;  // from an interval before the chart
    chart.arrows.push_back(
        {lanes[from.group.index()], static_cast<double>(begin), lanes[to.group.index()],
         static_cast<double>(end),
         fmt::format("{} to {}", loop.problem()[it.from].name, loop.problem()[it.to].name),
         static_cast<double>(end - begin)});
  }
}

}  // namespace

void add_schedule_chart(const LoopView& loop, Facts& facts) {
  const problem::Problem& problem = loop.problem();
  Chart chart;
  chart.id = "schedule";
  chart.title = "The schedule, modulo its initiation interval";
  chart.caption =
      "One interval of the steady state as it was proven: units for as long as an op holds them, "
      "groups for as long as an op keeps them issuing. A number behind a name says how many "
      "iterations before the newest the op belongs to. Arrows lead from a result to its first use "
      "in another group.";
  chart.length = loop.interval();
  chart.interval = loop.interval();
  for (const problem::Unit& unit : problem.units())
    chart.lanes.push_back({unit.name, "", true, {}});
  std::vector<std::size_t> lanes(problem.groups().size(), 0);
  for (const problem::GroupId id : schedule::used_groups(problem, loop.schedule())) {
    const problem::Group& group = problem[id];
    lanes[id.index()] = chart.lanes.size();
    chart.lanes.push_back({group.name,
                           fmt::format("{} warp{}", group.warps, group.warps == 1 ? "" : "s"),
                           false,
                           {}});
  }
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const OpId op(i);
    if (!loop.exists(op)) continue;
    const problem::Alternative& alternative = loop.alternative(op);
    if (alternative.unit) {
      add_wrapped(chart.lanes[alternative.unit->index()].bars,
                  slot_bar_of(loop, op, alternative.occupancy), chart.interval);
    }
    add_wrapped(chart.lanes[lanes[loop.schedule().ops[i].group.index()]].bars,
                slot_bar_of(loop, op, std::max<Cycles>(alternative.issue, 1)), chart.interval);
  }
  add_crossings(loop, lanes, chart);
  facts.charts.push_back(std::move(chart));
}

}  // namespace twill::page
