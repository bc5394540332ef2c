#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/checking.h"
#include "twill/driver/driver.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/notary.h"
#include "twill/driver/pools.h"
#include "twill/schedule/corun.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

/// Seconds since it was made or last read; they are printed only if asked for.
class Stopwatch {
 public:
  double lap() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

void check(report::Outcome& outcome) {
  if (!outcome.answer.schedule) return;
  outcome.violations = violations_of(outcome.problem, *outcome.answer.schedule);
}

/// What stands in the input, with normalized costs.
Result<Certified> schedule_normalized(const Request& request, Notary notary) {
  Stopwatch watch;
  TWILL_TRY(PosedLoop posed, pose_loop(request, machine::Rate::slowest));
  const double read = watch.lap();
  schedule::Answer answer = notary.solve(posed.problem, request.limits);
  const double solve = watch.lap();
  report::Outcome outcome = described(request.input, std::move(posed.problem), std::move(answer));
  outcome.notes.push_back(std::move(posed.warnings.back().message));  // what became of the costs
  posed.warnings.pop_back();
  outcome.warnings = std::move(posed.warnings);
  check(outcome);
  outcome.timings = {read, 0, solve, watch.lap()};
  return Certified{std::move(outcome), notary.files()};
}

Result<Certified> schedule_hand_written(const Request& request, Notary notary) {
  Stopwatch watch;
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(request.input.text, request.input.name));
  const double read = watch.lap();
  schedule::Answer answer = notary.solve(loop.problem, request.limits);
  const double solve = watch.lap();
  report::Outcome outcome = described(request.input, std::move(loop.problem), std::move(answer));
  check(outcome);
  outcome.timings = {read, 0, solve, watch.lap()};
  if (!request.machine.empty() || !request.pool.empty() || request.subtile) {
    outcome.warnings.push_back({{request.input.name},
                                "a .loop text brings its own costs and groups: --machine, --pool "
                                "and --subtile change nothing",
                                "",
                                ""});
  }
  return Certified{std::move(outcome), notary.files()};
}

/// What the schedule's order takes when its groups really share the pipes; nothing if the machine's
/// pipes say nothing about it. `fastest` poses the same ops in the same order as `posed`.
std::optional<Cycles> expected_interval(const problem::Problem& posed,
                                        const schedule::Schedule& schedule,
                                        const problem::Problem& fastest) {
  const schedule::Order order = schedule::order_of(posed, schedule);
  const auto run = schedule::co_run(fastest, order, schedule::Turns::enforced);
  if (!run) return std::nullopt;
  return static_cast<Cycles>(std::llround(run->interval));
}

/// The lower end is what no schedule can beat with every op at its fastest. `fastest` is the loop
/// as it is posed then.
report::Bracket bracket_of(const PosedKernel& fastest, const solve::Options& limits,
                           const PosedPool& chosen, const schedule::Schedule& schedule,
                           Notary& notary) {
  const schedule::Bound bound = bound_over_pools(fastest.pools, limits, notary);
  report::Bracket bracket;
  bracket.fastest = bound.value;
  bracket.fastest_limit = report::limit_of(bound);
  bracket.fastest_witness = bound.witness;
  bracket.slowest = schedule.initiation_interval;
  for (const PosedPool& pool : fastest.pools) {
    if (pool.pool != chosen.pool) continue;
    bracket.expected = expected_interval(chosen.problem, schedule, pool.problem);
  }
  return bracket;
}

std::vector<certify::PoolClaim> claims_of(const std::vector<PosedPool>& pools,
                                          std::string_view folder) {
  std::vector<certify::PoolClaim> claims;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    claims.push_back({pools[i].pool, fmt::format("{}-{}", folder, i + 1)});
  }
  return claims;
}

Result<Certified> schedule_kernel(const Request& request, Notary notary) {
  Stopwatch watch;
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  const double read = watch.lap();
  TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, machine::Rate::slowest));
  const double extract = watch.lap();
  BestPool best = solve_pools(posed.pools, request.limits, notary);
  certify::PoolClaims claims{best.answer.verdict, "", claims_of(posed.pools, "pool"), {}, {}};
  certify::Files certificate;
  notary.add_files(claims.pools, certificate);
  std::optional<report::Bracket> bracket;
  if (best.answer.schedule) {
    const PosedPool& chosen = posed.pools[best.index];
    TWILL_TRY(const PosedKernel fastest, pose_kernel(kernel, request, machine::Rate::fastest));
    Notary at_fastest(notary.certifies());
    bracket = bracket_of(fastest, request.limits, chosen, *best.answer.schedule, at_fastest);
    claims.chosen = chosen.pool;
    claims.fastest = bracket->fastest;
    claims.at_fastest = claims_of(fastest.pools, "fastest");
    at_fastest.add_files(claims.at_fastest, certificate);
  }
  if (notary.certifies()) certificate.emplace(certify::kPoolsFile, certify::print_pools(claims));
  const double solve = watch.lap();
  PosedPool& chosen = posed.pools[best.index];
  report::Outcome outcome =
      described(request.input, std::move(chosen.problem), std::move(best.answer));
  outcome.loop = loop_in_words(kernel);
  outcome.machine = kernel.machine->name;
  outcome.machine_measured = kernel.machine->measured;
  outcome.pool = std::move(chosen.pool);
  outcome.pools = std::move(best.tried);
  outcome.pools.insert(outcome.pools.end(), posed.left_out.begin(), posed.left_out.end());
  outcome.origins = std::move(chosen.origins);
  outcome.notes = std::move(chosen.notes);
  outcome.reserved = std::move(chosen.reserved);
  outcome.bracket = std::move(bracket);
  outcome.warnings = std::move(posed.warnings);
  check(outcome);
  outcome.timings = {read, extract, solve, watch.lap()};
  return Certified{std::move(outcome), std::move(certificate)};
}

Result<PosedLoop> pose_as_it_is(const Request& request, machine::Rate rate) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form == Form::loop) {
    TWILL_TRY(schedule::LoopText loop,
              schedule::parse_loop(request.input.text, request.input.name));
    return PosedLoop{std::move(loop.problem), {}};
  }
  if (form == Form::schedule_json) return fail({request.input.name}, "a schedule is not a loop");
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
  return PosedLoop{std::move(posed.pools.front().problem), std::move(posed.warnings)};
}

Result<Certified> schedule_by(const Request& request, Notary notary) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form == Form::schedule_json) {
    return fail({request.input.name}, "a schedule is not scheduled again",
                "`twill verify` checks it");
  }
  if (request.normalize) return schedule_normalized(request, std::move(notary));
  if (form == Form::loop) return schedule_hand_written(request, std::move(notary));
  return schedule_kernel(request, std::move(notary));
}

}  // namespace

Result<report::Outcome> schedule_loop(const Request& request) {
  TWILL_TRY(Certified done, schedule_by(request, Notary(false)));
  return std::move(done.outcome);
}

Result<Certified> certify_loop(const Request& request) {
  return schedule_by(request, Notary(true));
}

Result<PosedLoop> pose_loop(const Request& request, machine::Rate rate) {
  TWILL_TRY(PosedLoop posed, pose_as_it_is(request, rate));
  if (!request.normalize) return posed;
  auto normalized = problem::normalize(posed.problem, *request.normalize);
  if (!normalized) return fail({request.input.name}, normalized.error().message);
  const std::string what = problem::in_words(*request.normalize, normalized->costs);
  posed.warnings.push_back({{request.input.name}, what, "", ""});
  return PosedLoop{std::move(normalized->problem), std::move(posed.warnings)};
}

}  // namespace twill::driver
