#include "twill/driver/numbers_loop.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/timing.h"
#include "twill/execute/bounds.h"

namespace twill::driver {

namespace {

/// Fills the arrays that decide how long a while loop runs. Takes the first numbers with which the
/// loop makes several iterations and ends.
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

/// Takes other CTAs, and then longer sequences, where the usual CTAs make no trip. Bounds may lie
/// in arrays indexed by a program id, and CTAs may end early.
void find_busy(const numerics::Kernel& kernel, numerics::Setting& setting,
               const execute::Launch& given) {
  using Programs = std::vector<std::array<std::int64_t, 3>>;
  if (setting.programs != NumbersRequest().programs) return;
  const auto makes_trips = [&](const numerics::Setting& tried) {
    const auto trips = numerics::trips(kernel, tried);
    // Loops whose trips cannot be counted fail later, with their own message.
    return !trips || *trips > 0;
  };
  if (makes_trips(setting)) return;
  for (const std::int64_t times : {1, 4}) {
    for (const Programs& programs :
         {Programs{{0, 0, 0}, {3, 1, 2}}, Programs{{0, 1, 0}, {1, 2, 0}},
          Programs{{0, 0, 1}, {1, 0, 2}}, Programs{{0, 1, 1}, {1, 2, 2}}}) {
      numerics::Setting further = setting;
      further.programs = programs;
      further.launch = given;
      execute::fill_bounds(kernel.program, kernel.loop, times, further.launch);
      execute::fill_conditions(kernel.program, kernel.loop, 3, further.launch);
      further.launch.programs = {4, 3, 3};
      if (!makes_trips(further)) continue;
      setting = further;
      return;
    }
  }
}

constexpr std::int64_t kOuterTrips = 4;  ///< trips of loops around the planned loop, where they can
                                         ///< be chosen

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
  if (launch.size == execute::Launch().size) {
    execute::fill_outer(kernel.program, kernel.choice.loop, kOuterTrips, launch);
  }
  execute::fill_bounds(kernel.program, kernel.choice.loop, 1, launch);
  numerics::Setting setting{launch, wanted.programs, {0, timing, &*full.costs, false, nullptr}};
  const numerics::Kernel posed{kernel.program, kernel.choice.loop, plan, planned.outcome.origins};
  if (kernel.program.op(kernel.choice.loop).kind == ir::OpKind::while_loop) {
    fill_while(posed, setting);
  } else {
    execute::fill_conditions(kernel.program, kernel.choice.loop, 3, setting.launch);
    find_busy(posed, setting, wanted.launch);
  }
  return numerics::compare(posed, setting);
}

Result<NumberedLoop> compare_numbers(const Request& request, const NumbersRequest& wanted) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form != Form::ttgir) {
    return fail(
        {request.input.name},
        "says how long ops take, and not what they compute: there are no numbers to run with",
        "give the TTGIR of the kernel");
  }
  TWILL_TRY(PlannedLoop planned, plan_loop(request));
  NumberedLoop loop{std::move(planned), std::nullopt};
  if (!loop.planned.plan) return loop;
  auto compared = compare_numbers(request, loop.planned, loop.planned.plan->plan(), wanted);
  if (!compared) return refused_in_source(request, std::move(compared).error());
  const numerics::Comparison& found = *compared;
  if (found.trips == 0 && !found.fault) {
    const Kernel& kernel = *loop.planned.reading->kernel;
    return fail(
        ir::text_location(kernel.program, kernel.choice.loop),
        "with these arguments the loop makes no trip, so there is nothing to compare",
        "choose other values: --size N, --arg NAME=VALUE; also for arrays that hold bounds");
  }
  loop.comparison = found;
  return loop;
}

}  // namespace twill::driver
