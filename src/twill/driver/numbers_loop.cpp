#include "twill/driver/numbers_loop.h"

#include <utility>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/timing.h"
#include "twill/execute/bounds.h"

namespace twill::driver {

namespace {

/// Numbers in the arrays that decide how a while loop goes on: the first with which it makes
/// several iterations, and ends.
void fill_while(const numerics::Kernel& kernel, numerics::Setting& setting) {
  std::optional<execute::Launch> least;
  for (const std::int64_t count : {3, 4, 5, 6, 7, 8, 10, 12, 16, 24}) {
    numerics::Setting tried = setting;
    execute::fill_conditions(kernel.program, kernel.loop, count, tried.launch);
    const auto trips = numerics::trips(kernel, tried);
    if (!trips || *trips == 0) continue;
    if (!least || *trips > 2) least = tried.launch;
    if (*trips > 2) break;
  }
  if (least) setting.launch = *least;
}

/// Takes CTAs further along the third axis, where the usual ones make no trip: bounds may lie in
/// arrays of that program id.
void find_busy(const numerics::Kernel& kernel, numerics::Setting& setting) {
  if (setting.programs != NumbersRequest().programs) return;
  const auto trips = numerics::trips(kernel, setting);
  if (!trips || *trips > 0) return;
  numerics::Setting further = setting;
  further.programs = {{0, 0, 0}, {3, 1, 2}};
  further.launch.programs = {4, 2, 3};
  const auto then = numerics::trips(kernel, further);
  if (then && *then > 0) setting = further;
}

}  // namespace

Result<numerics::Comparison> compare_numbers(const Request& request, const PlannedLoop& planned,
                                             const plan::Plan& plan, const NumbersRequest& wanted) {
  const Kernel& kernel = *planned.reading->kernel;
  TWILL_TRY(const FullRate full, full_rate_of(request, *planned.reading, planned.outcome, plan));
  simulate::Timing timing = full.timing;
  timing.jitter = wanted.jitter;
  timing.largest_jitter = kLargestDelay;
  timing.jitter_all = true;
  execute::Launch launch = wanted.launch;
  execute::fill_bounds(kernel.program, kernel.choice.loop, 1, launch);
  numerics::Setting setting{launch, wanted.programs, {0, timing, &*full.costs, false, nullptr}};
  const numerics::Kernel posed{kernel.program, kernel.choice.loop, plan, planned.outcome.origins};
  if (kernel.program.op(kernel.choice.loop).kind == ir::OpKind::while_loop) {
    fill_while(posed, setting);
  } else {
    execute::fill_conditions(kernel.program, kernel.choice.loop, 3, setting.launch);
  }
  find_busy(posed, setting);
  return numerics::compare(posed, setting);
}

Result<NumberedLoop> compare_numbers(const Request& request, const NumbersRequest& wanted) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form != Form::ttgir) {
    return fail({request.input.name}, "says when, and not what: it has no numbers to run with",
                "give the TTGIR of the kernel");
  }
  TWILL_TRY(PlannedLoop planned, plan_loop(request));
  NumberedLoop loop{std::move(planned), std::nullopt};
  if (!loop.planned.plan) return loop;
  TWILL_TRY(const numerics::Comparison found,
            compare_numbers(request, loop.planned, loop.planned.plan->plan(), wanted));
  if (found.trips == 0 && !found.fault) {
    const Kernel& kernel = *loop.planned.reading->kernel;
    return fail(ir::text_location(kernel.program, kernel.choice.loop),
                "with these arguments the loop makes no trip, so there is nothing to compare",
                "others: --size N, --arg NAME=VALUE; of arrays that hold bounds, too");
  }
  loop.comparison = found;
  return loop;
}

}  // namespace twill::driver
