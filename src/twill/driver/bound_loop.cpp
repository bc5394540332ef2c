#include <memory>
#include <optional>
#include <utility>

#include "twill/driver/checking.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/limits.h"
#include "twill/driver/plan_loop.h"
#include "twill/report/schedule_json.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/least_interval.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

using problem::Problem;

report::RatedBounds bounds_of(Problem problem) {
  report::RatedBounds end(std::move(problem));
  end.bounds = schedule::all_lower_bounds(end.problem);
  end.infeasible = schedule::never_feasible(end.problem);
  return end;
}

report::ImportedSchedule imported(const Problem& problem, const schedule::Schedule& schedule) {
  return {false, schedule.initiation_interval, {}, violations_of(problem, schedule)};
}

Result<report::ImportedSchedule> imported(const Input& input, const Problem& problem,
                                          const schedule::Order& order) {
  auto least = schedule::least_interval(problem, order);
  if (!least) {
    Diagnostic wrong = std::move(least).error();
    if (wrong.location.file.empty()) wrong.location.file = input.name;
    return tl::unexpected(std::move(wrong));
  }
  return report::ImportedSchedule{true, least->initiation_interval, std::move(least->circuit.edges),
                                  violations_of(problem, least->schedule)};
}

report::Limits limits_of(const Request& request, report::RatedBounds end) {
  report::Limits limits;
  limits.input = request.input.name;
  limits.rates.push_back(std::move(end));
  return limits;
}

Result<report::Limits> bound_hand_written(const Request& request, schedule::LoopText loop) {
  std::optional<report::ImportedSchedule> one;
  if (loop.schedule) one = imported(loop.problem, *loop.schedule);
  if (loop.order) {
    TWILL_TRY(one, imported(request.input, loop.problem, *loop.order));
  }
  report::Limits limits = limits_of(request, bounds_of(std::move(loop.problem)));
  limits.imported = std::move(one);
  return limits;
}

Result<report::Limits> bound_schedule(const Request& request) {
  TWILL_TRY(report::ScheduleFile file,
            report::read_schedule_json(request.input.text, request.input.name));
  report::ImportedSchedule one = imported(file.problem, file.schedule);
  report::Limits limits = limits_of(request, bounds_of(std::move(file.problem)));
  limits.imported = std::move(one);
  return limits;
}

/// The bounds of the pool with the least bound: they hold for all pools.
report::RatedBounds least_over_pools(std::vector<PosedPool> pools) {
  std::optional<report::RatedBounds> least;
  for (PosedPool& pool : pools) {
    report::RatedBounds end = bounds_of(std::move(pool.problem));
    end.pool = std::move(pool.pool);
    const bool better = !least || (least->infeasible && !end.infeasible) ||
                        (least->infeasible.has_value() == end.infeasible.has_value() &&
                         end.bounds.front().value < least->bounds.front().value);
    if (better) least = std::move(end);
  }
  return *std::move(least);
}

Result<report::Limits> bound_kernel(const Request& request, const Kernel& kernel) {
  report::Limits limits;
  limits.input = request.input.name;
  limits.loop = loop_in_words(kernel);
  limits.machine = kernel.machine->name;
  limits.machine_measured = kernel.machine->measured;
  for (const machine::Rate rate : {machine::Rate::fastest, machine::Rate::slowest}) {
    TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
    report::RatedBounds end = least_over_pools(std::move(posed.pools));
    end.rate = report::name_of(rate);
    limits.rates.push_back(std::move(end));
    limits.warnings = std::move(posed.warnings);
  }
  return limits;
}

}  // namespace

Result<report::Limits> bound_loop(const Request& request, const std::optional<TimedLaunch>& timed) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form == Form::schedule_json) {
    if (timed) return fail({request.input.name}, "is the JSON of a schedule, which has no launch");
    return bound_schedule(request);
  }
  TWILL_TRY(Reading read, read_once(request));
  const auto reading = std::make_shared<const Reading>(std::move(read));
  TWILL_TRY(PlannedLoop answer, answer_reading(request, reading));
  const Reading& read_as = *answer.reading;
  TWILL_TRY(report::Limits limits, read_as.kernel ? bound_kernel(request, *read_as.kernel)
                                                  : bound_hand_written(request, *read_as.loop));
  if (timed) {
    TWILL_TRY(limits.launch, launch_time(request, answer, *timed));
  }
  if (answer.outcome.answer.schedule) limits.answer = std::move(answer.outcome);
  return limits;
}

}  // namespace twill::driver
