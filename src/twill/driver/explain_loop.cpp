#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/explain.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/plan_loop.h"
#include "twill/problem/transfer.h"
#include "twill/report/schedule_json.h"
#include "twill/report/story.h"
#include "twill/schedule/least_interval.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

using explain::Variant;
using problem::Problem;

Explained explained(const Request& request, const Problem& problem, std::optional<Cycles> ii,
                    const explain::Limits& limits) {
  Explained out{{}, explain::explain(problem, ii, {}, limits), {}};
  out.heading.input = request.input.name;
  return out;
}

std::string rows_text(std::int64_t rows) {
  return rows == 0 ? "none" : fmt::format("{} rows", rows);
}

/// Adds the kernel cut into other sub-tiles, for the same pool; impossible cuts are left out.
void add_sub_tiles(const Kernel& kernel, const Request& request, machine::Rate rate,
                   const PosedPool& chosen, std::vector<Variant>& out) {
  std::vector<Problem> known = {chosen.problem};
  for (const std::int64_t rows : {0, 32, 64, 128}) {
    Request other = request;
    other.subtile = rows;
    const auto posed = pose_kernel(kernel, other, rate);
    if (!posed) continue;
    for (const PosedPool& pool : posed->pools) {
      if (pool.pool != chosen.pool) continue;
      bool is_known = false;
      for (const Problem& it : known) is_known = is_known || it == pool.problem;
      if (is_known) continue;
      known.push_back(pool.problem);
      out.push_back({"sub-tiles", "", "of " + rows_text(rows), pool.problem});
    }
  }
}

std::vector<Variant> variants_of(const Kernel& kernel, const Request& request, machine::Rate rate,
                                 const PosedKernel& posed, std::size_t chosen) {
  std::vector<Variant> variants;
  for (std::size_t i = 0; i < posed.pools.size(); ++i) {
    if (i == chosen) continue;
    variants.push_back({"pool", "", posed.pools[i].pool, posed.pools[i].problem});
  }
  add_sub_tiles(kernel, request, rate, posed.pools[chosen], variants);
  return variants;
}

/// Applies the order of a schedule to another Problem with the same ops and groups, at the least II
/// there.
std::optional<schedule::Schedule> retimed(const Problem& from, const schedule::Schedule& schedule,
                                          const Problem& to) {
  const std::vector<schedule::GroupId> groups = schedule::groups_of(schedule);
  const problem::Residual there = problem::residual_of(from, groups);
  const problem::Residual here = problem::residual_of(to, groups);
  const auto order = schedule::order_of(there.problem, schedule::in_residual(there, schedule));
  const auto timed = schedule::least_interval(here.problem, order);
  if (!timed) return std::nullopt;
  return schedule::completed(to, here, timed->schedule);
}

/// Facts from the kernel's answer about the explained Problem. Empty if the answer's Problem has
/// other ops, as a residual problem does.
std::optional<explain::Known> known_of(const report::Outcome& answer, machine::Rate rate,
                                       const Problem& problem) {
  if (!answer.answer.schedule) return std::nullopt;
  if (answer.rate == report::name_of(rate) && answer.problem == problem) {
    return explain::Known{*answer.answer.schedule, answer.answer.lower_bound};
  }
  if (answer.problem.ops().size() != problem.ops().size()) return std::nullopt;
  auto schedule = retimed(answer.problem, *answer.answer.schedule, problem);
  if (!schedule) return std::nullopt;
  return explain::Known{*std::move(schedule), {}};
}

/// Adds warnings that are not in the list yet, such as warnings about values that a mapping states
/// without effect.
void add_warnings(const std::vector<Diagnostic>& from, std::vector<Diagnostic>& to) {
  for (const Diagnostic& it : from) {
    const auto says_so = [&](const Diagnostic& other) { return other.message == it.message; };
    if (std::none_of(to.begin(), to.end(), says_so)) to.push_back(it);
  }
}

Result<Explained> explain_kernel(const Request& request, const std::shared_ptr<const Reading>& read,
                                 machine::Rate rate, std::optional<Cycles> ii,
                                 const explain::Limits& limits) {
  TWILL_TRY(PlannedLoop answer, answer_reading(request, read));
  const Kernel& kernel = *answer.reading->kernel;
  TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
  std::size_t at = 0;
  for (std::size_t i = 0; i < posed.pools.size(); ++i) {
    if (posed.pools[i].pool == answer.outcome.pool) at = i;
  }
  const std::vector<Variant> variants = variants_of(kernel, request, rate, posed, at);
  const PosedPool& chosen = posed.pools[at];
  Explained out{{},
                explain::explain(chosen.problem, ii, variants, limits,
                                 known_of(answer.outcome, rate, chosen.problem)),
                posed.warnings};
  out.heading = {
      request.input.name,    loop_in_words(kernel),    kernel.machine->name,         chosen.pool,
      report::name_of(rate), kernel.machine->measured, report::story(answer.outcome)};
  add_warnings(answer.outcome.warnings, out.warnings);
  out.answer = std::move(answer);
  return out;
}

}  // namespace

Result<Explained> explain_loop(const Request& request, machine::Rate rate, std::optional<Cycles> ii,
                               const explain::Limits& limits) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form == Form::schedule_json) {
    TWILL_TRY(const report::ScheduleFile file,
              report::read_schedule_json(request.input.text, request.input.name));
    return explained(request, file.problem, ii, limits);
  }
  TWILL_TRY(Reading read, read_once(request));
  const auto reading = std::make_shared<const Reading>(std::move(read));
  if (reading->kernel) return explain_kernel(request, reading, rate, ii, limits);
  TWILL_TRY(PlannedLoop answer, answer_reading(request, reading));
  Explained out = explained(request, reading->loop->problem, ii, limits);
  out.heading.story = report::story(answer.outcome);
  out.warnings.insert(out.warnings.end(), answer.outcome.warnings.begin(),
                      answer.outcome.warnings.end());
  out.answer = std::move(answer);
  return out;
}

}  // namespace twill::driver
