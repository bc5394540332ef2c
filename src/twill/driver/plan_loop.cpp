#include "twill/driver/plan_loop.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/answers.h"
#include "twill/driver/kernel.h"
#include "twill/driver/rates.h"
#include "twill/driver/stated.h"
#include "twill/driver/statements.h"
#include "twill/driver/timing.h"
#include "twill/driver/walk.h"
#include "twill/support/stopwatch.h"

namespace twill::driver {
namespace {

/// Load latency counts as exposed if it stretches the simulated interval by more than this factor.
constexpr double kLatencyShows = 1.01;

/// Whether loads that run ahead arrive too late, in a problem that assumes them to be in time.
bool loads_come_late(const Request& request, const PlannedLoop& answer) {
  const Kernel* kernel = kernel_of(*answer.reading, answer.outcome);
  if (kernel == nullptr || kernel->load_latency || request.names_schedule()) return false;
  if (request.strategy.strategy != strategy::Strategy::twill || !answer.outcome.built) return false;
  const report::Built& built = *answer.outcome.built;
  return built.simulated && built.with_signals &&
         *built.simulated > kLatencyShows * *built.with_signals;
}

/// The candidate that became the answer, with the figures of its plan.
std::optional<report::Candidate> chosen_of(const PlannedLoop& answer) {
  const report::Outcome& outcome = answer.outcome;
  const auto chosen = std::find_if(outcome.candidates.begin(), outcome.candidates.end(),
                                   [](const report::Candidate& it) { return it.chosen; });
  if (chosen == outcome.candidates.end() || !outcome.built || !outcome.built->simulated) return {};
  report::Candidate out = *chosen;
  const report::Built& built = *outcome.built;
  out.simulated = built.simulated;
  out.late_loads = outcome.load_latency ? 0 : late_loads(built.simulated, built.with_signals);
  return out;
}

/// Whether `answer` is better than `other`, by the rule for candidates of one walk. With a door, an
/// answer that it prints is better than an answer that it does not print.
bool is_better(const Request& request, const PlannedLoop& answer, const PlannedLoop& other) {
  const auto a = chosen_of(answer);
  const auto b = chosen_of(other);
  if (!a || !b) return false;
  const bool printed = !answer.unprinted;
  if (printed != !other.unprinted) return printed;
  return best_first({*b, *a}, request.rate).front() == 1;
}

/// The answer, with the seconds of another walk added to its own.
PlannedLoop counting(PlannedLoop answer, const PlannedLoop::Seconds& other) {
  answer.seconds.schedule += other.schedule;
  answer.seconds.plan += other.plan;
  return answer;
}

/// Walks the candidates. Where loads arrive too late, walks again with their latency in the
/// problem.
Result<PlannedLoop> better_walk(const Request& request, std::shared_ptr<const Reading> reading,
                                const AnswerChoice& choice) {
  TWILL_TRY(PlannedLoop answer, walk(request, reading, choice));
  if (!loads_come_late(request, answer)) return answer;
  auto with_latency = std::make_shared<Reading>(*reading);
  with_latency->kernel = with_load_latency(*reading->kernel);
  auto other = walk(request, std::move(with_latency), choice);
  if (!other) return answer;
  if (!is_better(request, *other, answer)) return counting(std::move(answer), other->seconds);
  other->outcome.notes.push_back(
      "readers wait for the latency of loads, since rings cannot hide all of it (--load-latency)");
  return counting(*std::move(other), answer.seconds);
}

/// Warning: the printed kernel is not the answer's kernel, which the door does not print.
Diagnostic printed_instead(Diagnostic why, const report::Outcome& answer,
                           const report::Outcome& printed) {
  const bool other = answer.strategy != printed.strategy;
  const std::string instead =
      printed.pool == answer.pool ? "another of that pool" : "one of pool " + printed.pool;
  why.message = fmt::format("the answer (pool {}) is not printed: {}; printed instead is {}{}",
                            answer.pool, why.message, instead,
                            other ? ", by strategy " + printed.strategy : std::string());
  return why;
}

/// The answer, found without regard to doors. If the door does not print it: the best plan that the
/// door prints, with a warning.
Result<PlannedLoop> answer_for(const Request& request,
                               const std::shared_ptr<const Reading>& reading,
                               const AnswerChoice& choice) {
  AnswerChoice without_door = choice;
  without_door.door = nullptr;
  TWILL_TRY(PlannedLoop answer, better_walk(request, reading, without_door));
  if (choice.door == nullptr || !answer.plan) return answer;
  if (kernel_of(*answer.reading, answer.outcome) == nullptr) return answer;
  auto why = choice.door->why_not(*answer.reading, answer.outcome, *answer.plan);
  if (!why) return answer;
  Request again = request;
  again.on_step = {};
  TWILL_TRY(PlannedLoop printed, better_walk(again, reading, choice));
  if (printed.plan && !printed.unprinted) {
    printed.outcome.warnings.push_back(
        printed_instead(*std::move(why), answer.outcome, printed.outcome));
    return counting(std::move(printed), answer.seconds);
  }
  answer.unprinted = std::move(why);
  return counting(std::move(answer), printed.seconds);
}

/// The answer for the pools of last resort, if no other pool has a plan; else nullopt. The order of
/// Triton's own kernel has exactly the warps of its launch.
std::optional<PlannedLoop> last_resort(const Request& request, const Reading& reading,
                                       const AnswerChoice& choice,
                                       const Result<PlannedLoop>& usual) {
  if ((usual && usual->plan) || !reading.kernel) return std::nullopt;
  if (!request.pool.empty() || request.names_schedule()) return std::nullopt;
  if (request.strategy.strategy == strategy::Strategy::triton_plain) return std::nullopt;
  auto spare = with_last_resort(*reading.kernel);
  if (!spare) return std::nullopt;
  auto other = std::make_shared<Reading>(reading);
  other->kernel = *std::move(spare);
  Request again = request;
  again.on_step = {};
  auto answer = answer_for(again, std::move(other), choice);
  if (!answer || !answer->plan) return std::nullopt;
  answer->outcome.notes.push_back(fmt::format(
      "this is the answer of a pool that is the last resort: no plan was found for pools {}",
      fmt::join(reading.kernel->pools, ", ")));
  return *std::move(answer);
}

}  // namespace

Result<PlannedLoop> answer_reading(const Request& request, std::shared_ptr<const Reading> reading,
                                   const AnswerChoice& choice) {
  std::uint64_t work = 0;
  Request counted = request;
  counted.limits.tally = &work;
  Answers answers;  // walks of one input request many schedules repeatedly
  if (counted.answers == nullptr) counted.answers = &answers;
  Stopwatch watch;
  auto walked = answer_for(counted, reading, choice);
  if (auto other = last_resort(counted, *reading, choice, walked)) {
    if (walked) *other = counting(*std::move(other), walked->seconds);
    walked = *std::move(other);
  }
  if (request.limits.tally != nullptr) *request.limits.tally += work;
  TWILL_TRY(PlannedLoop answer, std::move(walked));
  if (reading->kernel) {
    auto why = limit_too_small(counted, *reading, answer.outcome);
    if (!why) why = statements_without_schedule(counted, answer.outcome);
    if (why) answer.outcome.warnings.push_back(*std::move(why));
  }
  answer.outcome.work = work;
  report::Timings& timings = answer.outcome.timings;  // of all walks, like `work`
  timings.solve = watch.lap() - timings.verify;
  return answer;
}

Result<PlannedLoop> answer_loop(const Request& request, const AnswerChoice& choice) {
  Stopwatch watch;
  TWILL_TRY(Reading reading, read_once(request));
  const double read = watch.lap();
  TWILL_TRY(PlannedLoop answer,
            answer_reading(request, std::make_shared<const Reading>(std::move(reading)), choice));
  answer.outcome.timings.read = read;
  answer.seconds.schedule += read;
  return answer;
}

Result<PlannedLoop> plan_loop(const Request& request) {
  TWILL_TRY(PlannedLoop planned, answer_loop(request));
  if (planned.refusal) return tl::unexpected(*std::move(planned.refusal));
  return planned;
}

Result<report::Outcome> schedule_loop(const Request& request) {
  TWILL_TRY(PlannedLoop answer, answer_loop(request));
  return std::move(answer.outcome);
}

Result<PosedLoop> pose_loop(const Request& request, machine::Rate rate) {
  TWILL_TRY(const Reading reading, read_once(request));
  return pose_reading(request, reading, rate);
}

}  // namespace twill::driver
