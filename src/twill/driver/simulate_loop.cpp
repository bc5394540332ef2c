#include "twill/driver/simulate_loop.h"

#include <utility>

#include "twill/driver/check_plan.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/input.h"
#include "twill/driver/page_of.h"
#include "twill/driver/timing.h"
#include "twill/support/stopwatch.h"

namespace twill::driver {
namespace {

/// Runs the plan, then runs it again for the account of its cycles.
void run_plan(SimulatedLoop& loop, const simulate::Setting& setting,
              std::optional<std::int64_t> recorded) {
  const plan::Plan& plan = loop.plan->plan();
  Stopwatch watch;
  auto run = simulate::simulate(plan, setting);
  loop.run_seconds = watch.lap();
  auto account = simulate::account_for(plan, setting);
  if (!run || !account) {
    loop.fault = run ? std::move(account).error() : std::move(run).error();
    return;
  }
  loop.run = *std::move(run);
  loop.account = *account;
  if (!recorded) return;
  simulate::Setting recording = setting;
  recording.trips = *recorded;
  recording.record = true;
  auto timeline = simulate::simulate(plan, recording);
  if (timeline) {
    loop.timeline = *std::move(timeline);
  } else {
    loop.fault = std::move(timeline).error();
  }
}

simulate::Setting setting_for(const RunRequest& wanted, simulate::Timing timing) {
  timing.jitter = wanted.jitter;
  return {wanted.trips, timing, nullptr, false};
}

Result<SimulatedLoop> simulate_read_plan(const Request& request, const RunRequest& wanted) {
  SimulatedLoop loop;
  Stopwatch watch;
  TWILL_TRY(CheckedPlan checked, check_plan(request.input, request.machine));
  if (!checked.plan) {
    loop.findings = std::move(checked.findings);
    return loop;
  }
  loop.plan = std::move(checked.plan);
  loop.seconds.plan = watch.lap();
  const std::string& named = loop.plan->plan().limits.machine;
  TWILL_TRY(const simulate::Timing timing,
            timing_on(request.machine.empty() ? named : request.machine));
  run_plan(loop, setting_for(wanted, timing), wanted.recorded);
  if (wanted.for_page) {
    loop.printed.ttgir.notes = {
        "No kernel is printed: a plan's JSON does not say what ops compute."};
  }
  return loop;
}

}  // namespace

Result<SimulatedLoop> simulate_loop(const Request& request, const RunRequest& wanted) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form == Form::schedule_json) return simulate_read_plan(request, wanted);
  TWILL_TRY(PlannedLoop planned, answer_loop(request));
  // The page says which doors print the kernel.
  if (wanted.recorded) look_for_doors(request, planned);
  page::AsTriton triton;
  page::PrintedKernels printed;
  if (wanted.for_page) {
    triton = triton_for_page(request, planned);
    printed = printed_for_page(request, planned);
  }
  TWILL_TRY(SimulatedLoop loop, simulate_planned(request, std::move(planned), wanted));
  loop.triton = std::move(triton);
  loop.printed = std::move(printed);
  return loop;
}

Result<SimulatedLoop> simulate_planned(const Request& request, PlannedLoop planned,
                                       const RunRequest& wanted) {
  SimulatedLoop loop;
  loop.outcome = std::move(planned.outcome);
  loop.plan = std::move(planned.plan);
  loop.findings = std::move(planned.findings);
  loop.refusal = std::move(planned.refusal);
  loop.seconds = planned.seconds;
  if (!loop.plan) return loop;
  TWILL_TRY(const FullRate full,
            full_rate_of(request, *planned.reading, *loop.outcome, loop.plan->plan()));
  simulate::Setting setting = setting_for(wanted, full.timing);
  loop.costs = full.costs;
  if (loop.costs) setting.costs = &*loop.costs;
  run_plan(loop, setting, wanted.recorded);
  return loop;
}

}  // namespace twill::driver
