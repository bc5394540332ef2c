#include "twill/driver/timing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "twill/driver/arranged.h"

namespace twill::driver {
namespace {

constexpr std::int64_t kTrips = 96;
constexpr std::int64_t kMostRun = 10'000;  ///< trips of a run that counts a total
constexpr std::int64_t kManyTrips = 1000;  ///< trips for figures that are shown, as in `twill
                                           ///< simulate`

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

Result<FullRate> full_rate_of(const Request& request, const Reading& reading,
                              const report::Outcome& outcome, const plan::Plan& plan) {
  simulate::Timing timing;
  timing.load_latency = true;
  const Kernel* of = kernel_of(reading, outcome);
  if (of == nullptr) return FullRate{std::nullopt, timing};
  const Kernel& kernel = *of;
  timing.shared_pipes = true;
  timing.mbarrier_signal = kernel.machine->mbarrier_signal.value;
  timing.named_barrier_signal = kernel.machine->named_barrier_signal.value;
  TWILL_TRY(problem::Problem fastest,
            posed_at(request, with_pool(kernel, outcome.pool), plan, machine::Rate::fastest));
  return FullRate{std::move(fastest), timing};
}

namespace {

std::optional<double> interval_of(const plan::Plan& plan, const FullRate& full,
                                  std::int64_t trips) {
  const problem::Problem* costs = full.costs ? &*full.costs : nullptr;
  const auto run = simulate::simulate(plan, {trips, full.timing, costs, false});
  return run ? run->interval : std::nullopt;
}

}  // namespace

std::optional<double> interval_of(const plan::Plan& plan, const FullRate& full) {
  return interval_of(plan, full, kTrips);
}

std::optional<double> sm_interval_of(const plan::Plan& plan, FullRate full, double load_latency,
                                     double bound, int ctas) {
  full.timing.least_load_latency = load_latency;
  const std::optional<double> alone = interval_of(plan, full, kTrips);
  if (!alone) return std::nullopt;
  return std::max(bound, *alone / ctas);
}

std::optional<double> total_of(const plan::Plan& plan, const FullRate& full, std::int64_t trips) {
  const problem::Problem* costs = full.costs ? &*full.costs : nullptr;
  const std::int64_t run_of = std::min(trips, kMostRun);
  const auto run = simulate::simulate(plan, {run_of, full.timing, costs, false});
  if (!run || (run_of < trips && !run->interval)) return std::nullopt;
  return run->total + static_cast<double>(trips - run_of) * run->interval.value_or(0);
}

Result<std::optional<double>> at_slowest(const Request& request, const Reading& reading,
                                         const report::Outcome& outcome, const plan::Plan& plan) {
  const Kernel* kernel = kernel_of(reading, outcome);
  if (kernel == nullptr) return std::nullopt;
  simulate::Timing timing;
  timing.load_latency = true;
  timing.mbarrier_signal = kernel->machine->mbarrier_signal.value;
  timing.named_barrier_signal = kernel->machine->named_barrier_signal.value;
  FullRate costs{std::nullopt, timing};
  if (outcome.rate != report::name_of(machine::Rate::slowest)) {
    TWILL_TRY(costs.costs,
              posed_at(request, with_pool(*kernel, outcome.pool), plan, machine::Rate::slowest));
  }
  return interval_of(plan, costs);
}

Steady steady_of(const plan::Plan& plan, const FullRate& full) {
  FullRate less = full;
  Steady steady;
  steady.loads = interval_of(plan, less, kManyTrips);
  less.timing.load_latency = false;
  steady.signals = interval_of(plan, less);
  less.timing.mbarrier_signal = 0;
  less.timing.named_barrier_signal = 0;
  steady.order = interval_of(plan, less);
  return steady;
}

std::optional<double> signals_of(const plan::Plan& plan, FullRate full) {
  full.timing.load_latency = false;
  return interval_of(plan, full);
}

Cycles late_loads(std::optional<double> loads, std::optional<double> signals) {
  if (!loads || !signals) return 0;
  return std::max<Cycles>(std::llround(*loads - *signals), 0);
}

}  // namespace twill::driver
