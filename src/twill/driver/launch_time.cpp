#include "twill/driver/launch_time.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/driver/kernel.h"
#include "twill/driver/timing.h"
#include "twill/driver/trip_counts.h"
#include "twill/report/story.h"
#include "twill/simulate/print.h"

namespace twill::driver {
namespace {

constexpr std::int64_t kMostSimulated = 2000;  ///< trips of the run that measures start and end

/// Cycles of the plan on one SM.
struct Costs {
  double bound = 0;  ///< proven lower bound of an iteration
  simulate::Account account;
  double interval = 0;  ///< cycles of an iteration
  double ends = 0;      ///< cycles of a CTA beside its iterations
};

Result<Costs> costs_of(const Request& request, const PlannedLoop& answer, double mean_trips) {
  const plan::Plan& plan = answer.plan->plan();
  TWILL_TRY(const FullRate full, full_rate_of(request, *answer.reading, answer.outcome, plan));
  const auto trips =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(mean_trips), 1, kMostSimulated);
  const simulate::Setting setting{trips, full.timing, full.costs ? &*full.costs : nullptr, false,
                                  nullptr};
  const auto account = simulate::account_for(plan, setting);
  const auto run = simulate::simulate(plan, setting);
  if (!account || !run || !account->loads) {
    return fail({request.input.name}, "its plan comes to no steady state, so no launch is timed");
  }
  Costs costs{static_cast<double>(report::proven_bound(answer.outcome)), *account, *account->loads,
              0};
  costs.ends = std::max(0.0, run->total - costs.interval * static_cast<double>(trips));
  return costs;
}

/// Number of CTAs of a grid. More than kMostCtas fail, with `input` in the message.
Result<std::int64_t> ctas_of(const std::array<std::int64_t, 3>& grid, const std::string& input) {
  std::int64_t ctas = 1;
  for (const std::int64_t extent : grid) {
    if (extent < 1 || extent > kMostCtas / ctas) {
      return fail({input}, fmt::format("a grid of {} x {} x {} CTAs is empty, or more than the "
                                       "{} that are counted",
                                       grid[0], grid[1], grid[2], kMostCtas));
    }
    ctas *= extent;
  }
  return ctas;
}

/// End of the last SM, if each CTA goes to the SM that is free first.
double makespan(const std::vector<std::int64_t>& trips, std::int64_t sms, const Costs& costs) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free(
      std::greater<>(), std::vector<double>(static_cast<std::size_t>(sms), 0.0));
  double last = 0;
  for (const std::int64_t count : trips) {
    const double begin = free.top();
    free.pop();
    const double end =
        begin + (count > 0 ? static_cast<double>(count) * costs.interval + costs.ends : 0);
    last = std::max(last, end);
    free.push(end);
  }
  return last;
}

/// Adds the parts from the bound to the plan's cycles, in cycles of all SMs.
void add_parts(report::LaunchTime& out, const Costs& costs, double span, std::int64_t busy) {
  const auto sms = static_cast<double>(out.sms);
  const auto microseconds = [&](double cycles) { return cycles / out.clock_mhz; };
  const double share = static_cast<double>(out.iterations) / sms;
  double level = costs.bound;
  double sum = share * level;
  out.bound = microseconds(sum);
  const auto add = [&](const char* what, double cycles) {
    out.parts.push_back({what, microseconds(cycles)});
    sum += cycles;
  };
  const auto add_level = [&](const char* what, std::optional<double> to) {
    const double more = std::max(0.0, to.value_or(level) - level);
    add(what, share * more);
    level += more;
  };
  add_level("schedule", costs.account.order);
  add_level("shared pipes", costs.account.pipes);
  add_level("signals", costs.account.barriers);
  add_level("loads", costs.account.loads);
  add("prologue", costs.ends * static_cast<double>(busy) / sms);
  // The order of waits may give less than the bound, which counts them all. Then waves are less.
  add("waves", span - sum);
  out.reached = microseconds(span);
}

}  // namespace

Result<report::LaunchTime> launch_time(const Request& request, const PlannedLoop& answer,
                                       const TimedLaunch& timed) {
  const Kernel* kernel = kernel_of(*answer.reading, answer.outcome);
  if (kernel == nullptr) {
    return fail({request.input.name}, "says nothing of a clock or a grid, so no launch is timed",
                "give the TTGIR of the kernel, or cycles with --measured");
  }
  if (!answer.plan) {
    return fail({request.input.name}, "has no plan that a launch could be compared with");
  }
  report::LaunchTime out;
  out.measured = timed.microseconds;
  out.grid = timed.launch.programs;
  TWILL_TRY(out.tiles, ctas_of(out.grid, request.input.name));
  std::vector<std::int64_t> trips(static_cast<std::size_t>(out.tiles), timed.trips.value_or(0));
  if (!timed.trips) {
    TWILL_TRY(trips, trip_counts(*kernel, timed.launch));
  }
  const auto [least, most] = std::minmax_element(trips.begin(), trips.end());
  out.least_trips = *least;
  out.most_trips = *most;
  out.iterations = std::accumulate(trips.begin(), trips.end(), std::int64_t{0});
  out.sms = static_cast<std::int64_t>(kernel->machine->sm_count.value);
  out.clock_mhz = timed.clock_mhz.value_or(kernel->machine->clock_mhz.value);
  const auto busy = static_cast<std::int64_t>(trips.size()) -
                    static_cast<std::int64_t>(std::count(trips.begin(), trips.end(), 0));
  const double mean =
      static_cast<double>(out.iterations) / static_cast<double>(std::max<std::int64_t>(busy, 1));
  TWILL_TRY(const Costs costs, costs_of(request, answer, mean));
  add_parts(out, costs, makespan(trips, out.sms, costs), busy);
  return out;
}

}  // namespace twill::driver
