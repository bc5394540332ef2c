#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "twill/page/facts.h"
#include "twill/page/gather.h"

/// Internal to the room: the scheduled loop of a page.
namespace twill::page {

/// Problem and schedule that a page shows: those of the plan or, without a plan, those of the
/// outcome.
class LoopView {
 public:
  /// Makes the view; empty without a schedule.
  static std::optional<LoopView> of(const Material& material);

  const problem::Problem& problem() const { return *problem_; }
  const schedule::Schedule& schedule() const { return *schedule_; }
  /// Problem with the costs of the run.
  const problem::Problem& costs() const { return *costs_; }
  double interval() const { return static_cast<double>(schedule_->initiation_interval); }
  const problem::Alternative& alternative(problem::OpId op) const {
    return alternative_of(*problem_, op);
  }
  const problem::Alternative& cost(problem::OpId op) const { return alternative_of(*costs_, op); }
  bool exists(problem::OpId op) const { return schedule_->ops[op.index()].exists; }

  /// Number of the op among the ops that exist, which is its index in Facts::ops.
  std::optional<std::size_t> place(problem::OpId op) const { return places_[op.index()]; }
  /// Names of Facts::resources: units, then pipes.
  std::vector<std::string> resources() const;
  /// Index of the unit that the op holds, else of the pipe of its largest demand. Without either:
  /// the number of resources.
  std::size_t resource_of(problem::OpId op) const;

 private:
  LoopView() = default;
  const problem::Alternative& alternative_of(const problem::Problem& problem,
                                             problem::OpId op) const {
    return problem[op]
        .alternatives[static_cast<std::size_t>(schedule_->ops[op.index()].alternative)];
  }

  const problem::Problem* problem_ = nullptr;
  const schedule::Schedule* schedule_ = nullptr;
  const problem::Problem* costs_ = nullptr;
  std::vector<std::optional<std::size_t>> places_;  ///< by OpId
};

// Functions that add their part to the facts.
void add_operations(const LoopView& loop, const Material& material, Facts& facts);
void add_fills(const LoopView& loop, const Material& material, Facts& facts);
void add_levels(const LoopView& loop, const Material& material, Facts& facts);
void add_graph(const LoopView& loop, Facts& facts);
/// Adds the schedule's own steady state, modulo its II.
void add_schedule_chart(const LoopView& loop, Facts& facts);
/// Adds two intervals of the run's steady state, and the waits of its roles. Precondition: plan and
/// run.
void add_run_chart(const LoopView& loop, const Material& material, Facts& facts);
void add_explanation(const Material& material, Facts& facts);
void add_comparison(const Material& material, Facts& facts);
/// Adds the strip, the gap, proven claims and assumptions.
void add_answer(const LoopView& loop, const Material& material, Facts& facts);

}  // namespace twill::page
