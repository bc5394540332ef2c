#include "twill/driver/narrower.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "twill/driver/alternatives.h"
#include "twill/driver/transfers.h"

namespace twill::driver {
namespace {

/// Number of sizes of reserved memory that are tried for one step.
constexpr int kMostRooms = 3;

/// Adds the best schedule of a Problem narrower than the step's. Returns whether there is one.
Result<bool> add_best_of(const Request& request, const Reading& reading, std::size_t of,
                         const std::optional<problem::Problem>& narrower, const char* among,
                         std::vector<Step>& steps) {
  if (!narrower) return false;
  TWILL_TRY(BestOfNarrower found,
            best_of_narrower(request, reading, steps[of].proposal.outcome, *narrower));
  if (!found.claim.empty()) steps[of].claim = std::move(found.claim);
  if (!found.outcome || !usable(*found.outcome)) return false;
  Step step{{*std::move(found.outcome), {}}};
  step.among = among;
  steps.push_back(std::move(step));
  return true;
}

/// The first refused steps.
std::vector<std::size_t> refused(const Request& request, std::size_t proposed,
                                 const std::vector<Step>& steps) {
  std::vector<std::size_t> out;
  if (request.strategy.strategy != strategy::Strategy::twill) return out;
  for (std::size_t i = 0; i < proposed; ++i) {
    if (steps[i].refused.starts_with("plan: ")) out.push_back(i);
  }
  return out;
}

const schedule::Schedule& schedule_of(const Step& step) {
  return *step.proposal.outcome.answer.schedule;
}

}  // namespace

Result<void> add_at_home(const Request& request, const Reading& reading, std::size_t proposed,
                         std::vector<Step>& steps) {
  for (const std::size_t i : refused(request, proposed, steps)) {
    const problem::Problem problem = steps[i].proposal.outcome.problem;
    if (!transfers_values(problem, schedule_of(steps[i]))) continue;
    TWILL_TRY_VOID(
        add_best_of(request, reading, i, without_transfers(problem), "without transfers", steps));
  }
  return {};
}

Result<void> add_with_room(const Request& request_of_all, const Reading& reading,
                           std::size_t proposed, std::optional<std::size_t> best,
                           std::vector<Step>& steps) {
  constexpr const char* kAmong = "with room for transfers";
  Request request = request_of_all;
  if (best) request.limits.most_interval = schedule_of(steps[*best]).initiation_interval;
  for (const std::size_t i : refused(request, proposed, steps)) {
    const problem::Problem problem = steps[i].proposal.outcome.problem;
    bool enough = false;
    Amount room = transferred_bytes(problem, schedule_of(steps[i]));
    for (int tries = 0; tries < kMostRooms; ++tries) {
      TWILL_TRY(const bool added,
                add_best_of(request, reading, i, with_room(problem, room), kAmong, steps));
      if (!added) break;
      const Amount needed = transferred_bytes(problem, schedule_of(steps.back()));
      enough = needed <= room;
      if (enough) break;
      room = needed;
    }
    if (enough || room == 0) continue;
    Request by_sums = request;
    by_sums.limits.room_for_staging = true;
    TWILL_TRY_VOID(
        add_best_of(by_sums, reading, i, with_room(problem, 0).value_or(problem), kAmong, steps));
  }
  return {};
}

bool has_room_beside(const std::vector<Step>& steps, const std::string& pool, double share) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    const report::Outcome& it = step.proposal.outcome;
    return it.pool == pool && leave_share(it.problem, *it.answer.schedule, share);
  });
}

}  // namespace twill::driver
