#include "twill/driver/walk.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/alternatives.h"
#include "twill/driver/candidates.h"
#include "twill/driver/checking.h"
#include "twill/driver/kernel.h"
#include "twill/driver/limiter.h"
#include "twill/driver/narrower.h"
#include "twill/driver/propose.h"
#include "twill/driver/timing.h"
#include "twill/driver/transfers.h"
#include "twill/report/alternatives.h"
#include "twill/report/story.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/corun.h"
#include "twill/support/stopwatch.h"

namespace twill::driver {
namespace {

/// Most structures that are tried in place of a schedule whose plan is refused.
constexpr int kMostEquallyFast = 4;

/// Work for a substitute of a schedule that cannot be built, beyond the request's work.
constexpr std::uint64_t kSubstitute = 60'000'000;

/// Work for a strategy that may happen to be faster than an answer without a proof.
constexpr std::uint64_t kOtherStrategy = 4'000'000;

/// Precision in cycles of runs that do not repeat.
constexpr double kMeasuredTo = 0.01;

/// The request for a substitute of a schedule.
Request limited(const Request& request) {
  Request out = request;
  out.limits.work_limit = std::min(out.limits.work_limit, kSubstitute);
  out.limits.hurry_after = 0;
  return out;
}

/// Shares of the memory that are tried for the loop if its plan needs more than is available.
constexpr std::array kShares = {0.875, 0.75, 0.5};

/// Walks the list of candidates of one input, until a candidate can be built.
class Walk {
 public:
  Walk(const Request& request, std::shared_ptr<const Reading> reading, const AnswerChoice& choice)
      : request_(request),
        reading_(std::move(reading)),
        choice_(choice),
        limited_(limited(request)) {}

  Result<PlannedLoop> run() {
    TWILL_TRY(std::vector<Proposal> proposals, propose(request_, *reading_, true));
    seconds_.schedule += watch_.lap();
    TWILL_TRY_VOID(take_alternative(proposals));
    first_.emplace(proposals.front().outcome);
    if (!usable(*first_)) return without_plan(std::move(proposals.front()));
    notes_ = notes_on(*first_);
    for (Proposal& it : proposals) {
      solved_.emplace(it.outcome.pool, it.outcome.rate);
      steps_.push_back({std::move(it)});
    }
    proposed_ = steps_.size();
    TWILL_TRY_VOID(walk());
    TWILL_TRY_VOID(try_where_unproven());
    return finish();
  }

 private:
  // `--alternative` and `--schedule` name one schedule: never substitute another.
  bool alone() const { return request_.names_schedule(); }

  /// Replaces all proposals by the alternative that the request names.
  Result<void> take_alternative(std::vector<Proposal>& proposals) {
    if (request_.alternatives.take == 0) return {};
    Proposal& it = proposals.front();
    TWILL_TRY_VOID(add_alternatives(request_, *reading_, it.outcome));
    if (usable(it.outcome)) {
      TWILL_TRY(it.trial, try_outcome(request_, *reading_, it.outcome, false));
    }
    proposals.erase(proposals.begin() + 1, proposals.end());
    return {};
  }

  bool is_kernel() const { return kernel_of(*reading_, *first_) != nullptr; }

  /// Largest ratio at which simulated intervals count as equal. A `.loop` is simulated at its own
  /// costs, so only equal intervals count there.
  double tie() const { return is_kernel() ? schedule::kCoRunError : 1; }

  bool found() const { return best_.has_value() && (printable_ || !may_walk_on_); }

  Result<void> walk() {
    TWILL_TRY_VOID(try_steps());
    if (choice_.first_look || (found() && (alone() || !better_was_refused()))) return {};
    if (!alone()) {
      TWILL_TRY_VOID(add_pools());
      TWILL_TRY_VOID(try_steps());
      if (found()) return {};
    }
    if (best_) return try_strategies();
    if (!alone()) {
      TWILL_TRY_VOID(add_equally_fast());
      TWILL_TRY_VOID(try_steps());
      if (best_) return {};
    }
    add_with_fewer_copies();
    if (!alone()) {
      TWILL_TRY_VOID(add_at_home(limited_, *reading_, proposed_, steps_));
      TWILL_TRY_VOID(try_steps());
      TWILL_TRY_VOID(add_with_room(limited_, *reading_, proposed_, best_, steps_));
    }
    TWILL_TRY_VOID(try_steps());
    for (const double share : kShares) {
      if (best_ || alone() || request_.normalize) return {};
      TWILL_TRY_VOID(add_smaller(share));
      TWILL_TRY_VOID(try_steps());
    }
    return {};
  }

  static std::optional<double> simulated(const Step& step) {
    return step.proposal.trial ? step.proposal.trial->interval : std::nullopt;
  }

  /// Simulated interval of the best so far.
  double least() const {
    return best_ ? simulated(steps_[*best_]).value_or(0) : std::numeric_limits<double>::infinity();
  }

  /// Whether a schedule without a plan was expected to be faster than the best. Then the other rate
  /// or another pool may be better, too.
  bool better_was_refused() const {
    return std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
      const auto& bracket = step.proposal.outcome.bracket;
      const bool unplanned = step.refused.starts_with("plan: ");
      return unplanned && bracket && bracket->expected &&
             schedule::kCoRunError * static_cast<double>(*bracket->expected) < least();
    });
  }

  /// Drafts and simulates new steps, and takes the fastest that can be proven. With a door, the
  /// plan must also be printed, if another plan might be printable.
  Result<void> try_steps() {
    for (std::size_t i = tried_; i < steps_.size(); ++i) {
      Step& step = steps_[i];
      if (step.proposal.trial) continue;
      TWILL_TRY(step.proposal.trial,
                try_outcome(request_, *reading_, step.proposal.outcome, step.shrink));
    }
    const auto rank = [](const Step& step) {
      return simulated(step).value_or(std::numeric_limits<double>::infinity());
    };
    // The first steps keep their order, which treats steps within the model's error as equal.
    if (tried_ > 0) {
      std::stable_sort(steps_.begin() + static_cast<std::ptrdiff_t>(tried_), steps_.end(),
                       [&](const Step& a, const Step& b) { return rank(a) < rank(b); });
    }
    for (; tried_ < steps_.size(); ++tried_) {
      const Step& next = steps_[tried_];
      if (again_ && may_walk_on_ && groups_of(next) >= fewest_groups_) continue;
      if (found() && (tried_ < proposed_ || tie() * rank(next) >= least())) break;
      TWILL_TRY_VOID(try_step(tried_));
    }
    // Record the refusal of every drafted candidate, also of those that are never proven.
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto& trial = steps_[i].proposal.trial;
      if (steps_[i].refused.empty() && trial && trial->refusal) {
        steps_[i].refused = "plan: " + trial->refusal->message;
      }
    }
    tried_ = steps_.size();
    return {};
  }

  static std::size_t groups_of(const Step& step) {
    return step.proposal.outcome.problem.groups().size();
  }

  Result<void> try_step(std::size_t at) {
    Step& step = steps_[at];
    if (!step.proposal.trial) return {};
    std::vector<std::string> notes = notes_;
    const bool faster = best_ && simulated(step).value_or(0) < least();
    if (at > 0) {
      notes.push_back(
          note_on(*first_, step, faster ? "is simulated to take more cycles" : why_not_first_));
    } else if (const Step* better = expected_to_be_better(steps_)) {
      notes.push_back(note_on_refused(*better));
    }
    TWILL_TRY(Attempt made, attempt(step, notes));
    if (made.refusal) {
      step.refused = "plan: " + made.refusal->message;
      if (at == 0) why_not_first_ = "cannot be carried out: " + made.refusal->message;
      if (!refusal_) refusal_ = std::move(made.refusal);
      return {};
    }
    if (!made.plan) {  // a bug of Twill, which must be reported
      if (!best_) keep(at, std::move(made));
      return {};
    }
    auto unprintable = why_not_printed(step, *made.plan);
    if (unprintable) {
      step.refused = "print: " + in_one_line(*unprintable);
      fewest_groups_ = std::min(fewest_groups_, groups_of(step));
      again_ = !print_refusals_.insert(step.refused).second;  // then only fewer groups may help
      const auto fewer = [&](const Step& it) { return groups_of(it) < fewest_groups_; };
      may_walk_on_ &= !again_ || std::any_of(&step + 1, steps_.data() + steps_.size(), fewer);
    }
    const bool better = !best_ || simulated(step).value_or(0) < least();
    if (unprintable && !best_) {
      why_not_first_ = "cannot be printed: " + unprintable->message;
      may_walk_on_ =
          !alone() && request_.pool.empty() && choice_.door->may_differ(made.plan->plan());
      print_refusal_ = unprintable;
    }
    const bool same_strategy = step.proposal.outcome.strategy == first_->strategy;
    const bool clearly = tie() * simulated(step).value_or(0) < least();
    const bool as_good = better && (same_strategy || !best_ || clearly);
    if (unprintable ? as_good && !printable_ : better || !printable_) keep(at, std::move(made));
    printable_ = printable_ || !unprintable;
    return {};
  }

  /// The proof of the step's plan; no plan if its groups cannot transfer their values.
  Result<Attempt> attempt(const Step& step, const std::vector<std::string>& notes) {
    if (!step.proposal.trial->refusal) {
      const auto why = why_no_transfer(request_, *reading_, step.proposal.outcome);
      if (why) return Attempt{{}, refused_transfers(*why), {}};
    }
    return prove_trial(request_, *reading_, *step.proposal.trial, notes);
  }

  void keep(std::size_t at, Attempt made) {
    best_ = at;
    made_ = std::move(made);
  }

  /// Reason why the requested door does not print the plan; nullopt if it does, or if no door is
  /// requested.
  std::optional<Diagnostic> why_not_printed(const Step& step, const plan::ProvenPlan& plan) const {
    if (choice_.door == nullptr || kernel_of(*reading_, step.proposal.outcome) == nullptr)
      return {};
    report::Outcome outcome = step.proposal.outcome;
    leave_what_exists(outcome);
    return choice_.door->why_not(*reading_, outcome, plan);
  }

  /// Whether the pool's bound, with every op at its fastest, is no less than the best interval.
  bool cannot_win(const std::string& pool) const {
    if (!found()) return false;
    const auto posed =
        pose_kernel(with_pool(*reading_->kernel, pool), request_, machine::Rate::fastest);
    if (!posed) return true;
    const Cycles bound = schedule::min_ii(posed->pools.front().problem).value;
    return schedule::kCoRunError * static_cast<double>(bound) >= least();
  }

  /// Whether none of the pool's schedules can be built, according to the first look.
  bool is_left_out(const std::string& pool) const {
    return std::any_of(first_->candidates.begin(), first_->candidates.end(),
                       [&](const auto& it) { return it.pool == pool && it.note == kCramped; });
  }

  /// Adds both rates of the pools that were ruled out, and the other rate of the other pools.
  Result<void> add_pools() {
    if (kernel_of(*reading_, *first_) == nullptr) return {};
    for (const std::string& pool : reading_->kernel->pools) {
      const bool both = solved_.contains({pool, "fastest"}) && solved_.contains({pool, "slowest"});
      const bool has_both_rates = request_.strategy.strategy == strategy::Strategy::twill;
      const bool one = solved_.contains({pool, "fastest"}) || solved_.contains({pool, "slowest"});
      if (both || (one && (!has_both_rates || request_.rate))) continue;
      if (one && !has_room_beside(steps_, pool, kShares.back())) continue;
      if (is_left_out(pool) || cannot_win(pool)) continue;
      Reading of_pool = *reading_;
      of_pool.kernel = with_pool(*reading_->kernel, pool);
      Request missing = limited_;
      if (solved_.contains({pool, "slowest"})) missing.rate = machine::Rate::fastest;
      auto more = propose(missing, of_pool, true);
      if (!more) continue;
      for (Proposal& it : *more) {
        if (!usable(it.outcome)) continue;
        if (!solved_.emplace(it.outcome.pool, it.outcome.rate).second) continue;
        steps_.push_back({std::move(it)});
      }
    }
    return {};
  }

  /// Adds structures of the same pool and costs that are as fast. They transfer as many values, so
  /// the search is skipped if these values alone exceed the memory.
  Result<void> add_equally_fast() {
    if (!leave_share(first_->problem, *first_->answer.schedule, 0)) return {};
    Request each = limited_;
    each.limits.work_limit /= kMostEquallyFast;
    TWILL_TRY(std::vector<report::Outcome> found,
              equally_fast(each, *reading_, *first_, kMostEquallyFast));
    for (report::Outcome& it : found) steps_.push_back({{std::move(it), {}}});
    return {};
  }

  /// Adds plans with fewer copies for all schedules so far that do not fit with more copies.
  void add_with_fewer_copies() {
    const std::size_t count = steps_.size();
    for (std::size_t i = 0; i < count; ++i) {
      Step fewer = steps_[i];
      fewer.shrink = true;
      fewer.refused.clear();
      fewer.proposal.trial.reset();
      steps_.push_back(std::move(fewer));
    }
  }

  /// Adds, for each pool with room for its transfers, the optimum with that share of the memory.
  Result<void> add_smaller(double share) {
    for (const Reading& smaller : with_share_of_memory(*reading_, share)) {
      if (smaller.kernel && !has_room_beside(steps_, smaller.kernel->pools.front(), share))
        continue;
      auto found = propose(limited_, smaller, false);
      if (!found || !usable(found->front().outcome)) continue;
      Proposal& it = found->front();
      with_memories_of(*first_, it.outcome);
      steps_.push_back({std::move(it), false, share});
    }
    return {};
  }

  /// Tries other strategies for a kernel that cannot be printed unchanged.
  Result<void> try_strategies() {
    const bool may_be_other = choice_.other_strategies && may_walk_on_ && !printable_ &&
                              request_.strategy.strategy == strategy::Strategy::twill;
    if (!may_be_other) return {};
    for (const strategy::Strategy other : strategy::all_strategies()) {
      if (printable_) break;
      TWILL_TRY_VOID(try_strategy(other, limited_));
    }
    return {};
  }

  /// Tries other strategies if no proof rules out that their orders are faster. The plan of a
  /// `.loop` of least II may take longer; then the plan itself has to meet the bound.
  Result<void> try_where_unproven() {
    if (!choice_.other_strategies || alone() || !found() || request_.normalize) return {};
    if (request_.strategy.strategy != strategy::Strategy::twill) return {};
    const schedule::Answer& answer = steps_[*best_].proposal.outcome.answer;
    if (is_kernel() && answer.verdict == schedule::Verdict::optimal) return {};
    const double proven =
        static_cast<double>(report::proven_bound(steps_[*best_].proposal.outcome));
    if (least() <= tie() * proven + kMeasuredTo) return {};
    Request brief = request_;
    brief.limits.work_limit = std::min(brief.limits.work_limit, kOtherStrategy);
    for (const strategy::Strategy other : strategy::all_strategies()) {
      TWILL_TRY_VOID(try_strategy(other, brief));
    }
    return {};
  }

  /// Adds the schedule by another strategy as one more candidate.
  Result<void> try_strategy(strategy::Strategy other, Request by_other) {
    if (other == strategy::Strategy::twill) return {};
    // The user of a kernel has that schedule already.
    if (other == strategy::Strategy::triton_plain && is_kernel()) return {};
    by_other.strategy.strategy = other;
    auto found = propose(by_other, *reading_, true);
    if (!found || !usable(found->front().outcome)) return {};
    report::Outcome& outcome = found->front().outcome;
    // Limits of a strategy do not bound other schedules.
    if (!outcome.bracket) outcome.answer.lower_bound = first_->answer.lower_bound;
    steps_.push_back({std::move(found->front())});
    return try_steps();
  }

  PlannedLoop without_plan(Proposal proposal) {
    PlannedLoop out{std::move(proposal.outcome), {}, {}, seconds_, {}, reading_};
    leave_what_exists(out.outcome);
    return out;
  }

  Result<PlannedLoop> finish() {
    const std::size_t at = best_.value_or(0);
    std::vector<report::Candidate> all = candidates();
    report::Outcome outcome = std::move(steps_[at].proposal.outcome);
    outcome.candidates = std::move(all);
    if (!best_) add_claims(outcome);
    if (request_.alternatives.take == 0) {
      TWILL_TRY_VOID(add_alternatives(request_, *reading_, outcome));
    }
    if (best_) outcome.with_room = bound_with_room(request_, outcome, simulated(steps_[at]));
    leave_what_exists(outcome);
    outcome.limiter = limiter_of(request_, *reading_, outcome);
    PlannedLoop out{std::move(outcome),
                    std::move(made_.plan),
                    std::move(made_.findings),
                    seconds_,
                    {},
                    reading_};
    TWILL_TRY(out.outcome.built, built(out.outcome, steps_[at].proposal.trial, out.plan));
    for (report::Candidate& it : out.outcome.candidates) {  // a single figure for a plan
      if (it.chosen && out.plan) it.simulated = out.outcome.built->simulated;
    }
    if (!printable_) out.unprinted = print_refusal_;
    if (!best_) out.refusal = refused();
    out.seconds.plan += watch_.lap();
    return out;
  }

  /// Adds the results proven for substitutes of refused schedules.
  void add_claims(report::Outcome& outcome) const {
    for (const Step& it : steps_)
      if (!it.claim.empty()) outcome.notes.push_back(it.claim);
  }

  Diagnostic refused() const {
    Diagnostic why = refusal_.value_or(Diagnostic{});
    why.message = "the schedule cannot be carried out: " + why.message;
    return why.location.file.empty() ? at_loop(request_, *reading_, std::move(why)) : why;
  }

  Result<report::Built> built(const report::Outcome& outcome, const std::optional<Trial>& trial,
                              const std::optional<plan::ProvenPlan>& plan) const {
    report::Built out;
    out.planned = plan.has_value();
    if (refusal_ && !out.planned) out.refusal = refusal_->message;
    if (!plan || !trial || !trial->full) return out;
    const Steady steady = steady_of(plan->plan(), *trial->full);
    out.in_order = steady.order;
    out.with_signals = steady.signals;
    out.simulated = steady.loads;
    if (request_.trips > 0) out.total = total_of(plan->plan(), *trial->full, request_.trips);
    if (kernel_of(*reading_, *first_) == nullptr) return out;
    TWILL_TRY(out.at_slowest, at_slowest(request_, *reading_, outcome, plan->plan()));
    return out;
  }

  /// Fates of the candidates, if there are several: first proposals, and their substitutes.
  std::vector<report::Candidate> candidates() const {
    std::vector<report::Candidate> out = first_->candidates;
    if (out.empty() && steps_.size() == 1) return out;
    const std::size_t chosen = best_.value_or(0);
    for (report::Candidate& it : out) it.chosen = false;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const report::Outcome& outcome = steps_[i].proposal.outcome;
      const auto known = std::find_if(out.begin(), out.end(), [&](const report::Candidate& it) {
        return i < proposed_ && it.interval && it.pool == outcome.pool && it.rate == outcome.rate;
      });
      const bool is_new = known == out.end();
      const std::size_t at = static_cast<std::size_t>(known - out.begin());
      if (is_new) out.push_back(candidate_of(*first_, steps_[i]));
      report::Candidate& it = out[at];
      if (!steps_[i].refused.empty()) it.refused = steps_[i].refused;
      it.chosen = i == chosen;
    }
    return out;
  }

  const Request& request_;
  std::shared_ptr<const Reading> reading_;
  AnswerChoice choice_;
  Request limited_;  ///< for substitutes of the first
  Stopwatch watch_;
  PlannedLoop::Seconds seconds_;
  std::optional<report::Outcome> first_;  ///< the outcome with which substitutes are compared
  std::vector<std::string> notes_;
  std::set<std::pair<std::string, std::string>> solved_;  ///< pool and rate
  std::vector<Step> steps_;
  std::size_t proposed_ = 0;  ///< number of steps from the first look
  std::size_t tried_ = 0;
  std::optional<Diagnostic> refusal_;  ///< the first refusal
  std::string why_not_first_ = "is not the fastest in simulation";
  // The best so far.
  std::optional<std::size_t> best_;
  Attempt made_;
  bool printable_ = false;
  bool may_walk_on_ = false;
  std::set<std::string> print_refusals_;
  std::size_t fewest_groups_ = std::numeric_limits<std::size_t>::max();  ///< groups of plans that
                                                                         ///< cannot be printed
  bool again_ = false;  ///< whether the last plan had the refusal of an earlier plan
  std::optional<Diagnostic> print_refusal_;  ///< refusal of the first planned step
};

}  // namespace

Result<PlannedLoop> walk(const Request& request, std::shared_ptr<const Reading> reading,
                         const AnswerChoice& choice) {
  return Walk(request, std::move(reading), choice).run();
}

}  // namespace twill::driver
