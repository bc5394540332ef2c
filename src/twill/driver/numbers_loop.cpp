#include "twill/driver/numbers_loop.h"

#include <utility>

#include "twill/driver/arranged.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"

namespace twill::driver {

Result<numerics::Comparison> compare_numbers(const Request& request, const PlannedLoop& planned,
                                             const plan::Plan& plan, const NumbersRequest& wanted) {
  Request same = request;
  same.pool = planned.outcome.pool;
  TWILL_TRY(const Kernel kernel, read_kernel(same));
  TWILL_TRY(const problem::Problem fastest, posed_at_fastest(same, plan));
  simulate::Timing timing;
  timing.load_latency = true;
  timing.shared_pipes = true;
  timing.mbarrier_signal = kernel.machine->mbarrier_signal.value;
  timing.named_barrier_signal = kernel.machine->named_barrier_signal.value;
  timing.jitter = wanted.jitter;
  timing.largest_jitter = kLargestDelay;
  timing.jitter_all = true;
  numerics::Setting setting{wanted.launch, wanted.programs, {0, timing, &fastest, false, nullptr}};
  return numerics::compare({kernel.program, kernel.choice.loop, plan, planned.outcome.origins},
                           setting);
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
  TWILL_TRY(loop.comparison,
            compare_numbers(request, loop.planned, loop.planned.plan->plan(), wanted));
  return loop;
}

}  // namespace twill::driver
