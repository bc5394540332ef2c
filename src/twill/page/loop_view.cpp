#include "twill/page/loop_view.h"

#include <algorithm>
#include <utility>

#include "twill/problem/problem.h"
#include "twill/report/load.h"
#include "twill/schedule/analysis.h"

namespace twill::page {
namespace {

using problem::OpId;

/// Cycles by which an op may be later until a dependence on it is broken; empty without a reader.
std::optional<Cycles> slack_of(const LoopView& loop, OpId op) {
  const schedule::Schedule& schedule = loop.schedule();
  std::optional<Cycles> least;
  for (const problem::Dependence& it : loop.problem().dependences()) {
    if (it.from != op || !loop.exists(it.to)) continue;
    const schedule::Placement& from = schedule.ops[it.from.index()];
    const schedule::Placement& to = schedule.ops[it.to.index()];
    Cycles delay = problem::delay_of(it, loop.problem()[op], loop.alternative(op));
    if (from.group != to.group) delay += it.transfer;
    const Cycles slack = to.issue + it.distance * schedule.initiation_interval - from.issue - delay;
    least = std::min(least.value_or(slack), slack);
  }
  return least;
}

std::vector<int> lines_of(OpId op, const std::vector<std::vector<int>>& lines) {
  return op.index() < lines.size() ? lines[op.index()] : std::vector<int>();
}

}  // namespace

std::optional<LoopView> LoopView::of(const Material& material) {
  LoopView view;
  if (material.plan != nullptr) {
    view.problem_ = &material.plan->problem;
    view.schedule_ = &material.plan->schedule;
  } else if (material.outcome != nullptr && material.outcome->answer.schedule) {
    view.problem_ = &material.outcome->problem;
    view.schedule_ = &*material.outcome->answer.schedule;
  } else {
    return std::nullopt;
  }
  view.costs_ = material.costs != nullptr ? material.costs : view.problem_;
  std::size_t next = 0;
  for (const schedule::Placement& at : view.schedule_->ops) {
    view.places_.push_back(at.exists ? std::optional(next++) : std::nullopt);
  }
  return view;
}

std::vector<std::string> LoopView::resources() const {
  std::vector<std::string> names;
  for (const problem::Unit& unit : problem_->units()) names.push_back(unit.name);
  for (const problem::Pipe& pipe : problem_->pipes()) names.push_back(pipe.name);
  return names;
}

std::size_t LoopView::resource_of(OpId op) const {
  const problem::Alternative& alternative = cost(op);
  if (alternative.unit) return alternative.unit->index();
  const std::size_t units = problem_->units().size();
  std::size_t best = units + problem_->pipes().size();
  Cycles most = 0;
  for (const problem::PipeUse& use : alternative.pipes) {
    if ((*problem_)[use.pipe].port || use.demand <= most) continue;
    most = use.demand;
    best = units + use.pipe.index();
  }
  return best;
}

void add_operations(const LoopView& loop, const Material& material, Facts& facts) {
  facts.resources = loop.resources();
  const std::vector<std::string> none;
  const bool same =
      material.outcome != nullptr && material.outcome->lines.size() == loop.problem().ops().size();
  const std::vector<std::string>& lines = same ? material.outcome->lines : none;
  for (std::size_t i = 0; i < loop.problem().ops().size(); ++i) {
    const OpId id(i);
    if (!loop.exists(id)) continue;
    const schedule::Schedule& schedule = loop.schedule();
    facts.ops.push_back(
        {loop.problem()[id].name, loop.resource_of(id), loop.problem()[schedule.ops[i].group].name,
         schedule::stage_of(schedule, id), schedule::slot_of(schedule, id), slack_of(loop, id),
         loop.problem()[id].source, i < lines.size() ? lines[i] : std::string(),
         lines_of(id, material.printed.cuda), lines_of(id, material.printed.in_ttgir)});
  }
  facts.ttgir = material.printed.ttgir;
}

void add_fills(const LoopView& loop, const Material& material, Facts& facts) {
  const problem::Problem& costs = loop.costs();
  const std::size_t units = costs.units().size();
  facts.interval =
      material.run != nullptr ? material.run->interval.value_or(loop.interval()) : loop.interval();
  std::vector<Fill> fills;
  for (const problem::Unit& unit : costs.units()) fills.push_back({unit.name, true, 0, {}});
  for (const problem::Pipe& pipe : costs.pipes()) fills.push_back({pipe.name, false, 0, {}});
  const auto add = [&](std::size_t resource, std::size_t place, Cycles cycles) {
    if (cycles == 0) return;
    fills[resource].total += static_cast<double>(cycles);
    fills[resource].parts.emplace_back(place, static_cast<double>(cycles));
  };
  for (std::size_t i = 0; i < costs.ops().size(); ++i) {
    const auto place = loop.place(OpId(i));
    if (!place) continue;
    const problem::Alternative& alternative = loop.cost(OpId(i));
    if (alternative.unit) add(alternative.unit->index(), *place, alternative.occupancy);
    for (const problem::PipeUse& use : alternative.pipes)
      add(units + use.pipe.index(), *place, use.demand);
  }
  for (Fill& fill : fills) {
    std::stable_sort(fill.parts.begin(), fill.parts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (fill.total > 0) facts.fills.push_back(std::move(fill));
  }
  std::stable_sort(facts.fills.begin(), facts.fills.end(),
                   [](const Fill& a, const Fill& b) { return a.total > b.total; });
}

}  // namespace twill::page
