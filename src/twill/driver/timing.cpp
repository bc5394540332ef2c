#include "twill/driver/timing.h"

#include <utility>

#include "twill/driver/arranged.h"

namespace twill::driver {
namespace {

constexpr std::int64_t kTrips = 96;

}  // namespace

Result<simulate::Timing> timing_on(const std::string& machine) {
  simulate::Timing timing;
  timing.load_latency = true;
  if (machine.empty()) return timing;
  TWILL_TRY(const auto found, find_machine(machine));
  timing.mbarrier_signal = found->mbarrier_signal.value;
  timing.named_barrier_signal = found->named_barrier_signal.value;
  return timing;
}

Result<FullRate> at_full_rate(const Request& request, const std::string& pool,
                              const plan::Plan& plan) {
  Request same = request;
  same.pool = pool;
  TWILL_TRY(problem::Problem fastest, posed_at_fastest(same, plan));
  TWILL_TRY(simulate::Timing timing, timing_on(plan.limits.machine));
  timing.shared_pipes = true;
  return FullRate{std::move(fastest), timing};
}

std::optional<double> interval_of(const plan::Plan& plan, const FullRate& full) {
  const auto run = simulate::simulate(plan, {kTrips, full.timing, &full.costs, false});
  return run ? run->interval : std::nullopt;
}

}  // namespace twill::driver
