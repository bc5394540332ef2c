#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "twill/certify/pools.h"
#include "twill/driver/driver.h"
#include "twill/driver/posed_anew.h"
#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"
#include "twill/prove/prove.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"
#include "twill/support/check.h"

/// Certificates of outcomes. The answer comes first, from the same search as without a certificate;
/// missing proofs are then searched for.
namespace twill::driver {
namespace {

using certify::PoolClaim;
using schedule::Answer;
using schedule::Verdict;

/// Completes the outcome's schedule, which belongs to the residual problem, for the whole Problem.
schedule::Schedule completed(const problem::Problem& whole, const report::Outcome& outcome) {
  const schedule::Schedule& found = *outcome.answer.schedule;
  std::map<std::string_view, std::size_t> ops;
  for (std::size_t i = 0; i < found.ops.size(); ++i) ops.emplace(outcome.problem.ops()[i].name, i);
  schedule::Schedule out{found.initiation_interval, {}};
  for (const problem::Op& op : whole.ops()) {
    const auto at = ops.find(op.name);
    schedule::Placement placement;
    if (at != ops.end()) placement = found.ops[at->second];
    placement.exists = at != ops.end();
    out.ops.push_back(placement);
  }
  for (schedule::Address address : found.addresses) {
    const std::string& name = outcome.problem[address.value].name;
    const auto op = std::find_if(whole.ops().begin(), whole.ops().end(),
                                 [&](const problem::Op& it) { return it.name == name; });
    address.value = problem::OpId(static_cast<std::size_t>(op - whole.ops().begin()));
    out.addresses.push_back(address);
  }
  return schedule::at_home(whole, std::move(out));
}

int compute_groups(const problem::Problem& problem, const schedule::Schedule& schedule) {
  int count = 0;
  for (const problem::GroupId group : schedule::used_groups(problem, schedule)) {
    count += problem::is_compute_group(problem.parts(), problem[group]) ? 1 : 0;
  }
  return count;
}

/// Writes the certificate of one outcome.
class Certificates {
 public:
  Certificates(const Request& request, const report::Outcome& outcome, const AllPosed& posed)
      : outcome_(outcome), posed_(posed), limits_(request.limits) {
    limits_.work_limit = std::max(limits_.work_limit, solve::Options().work_limit);
    limits_.hurry_after = limits_.work_limit;
    limits_.most_interval.reset();
    limits_.start.reset();
  }

  /// Certificate of a `.loop`, which is its own Problem.
  certify::Files of_loop() {
    prove::Written written = of_answer(posed_.slowest.front().problem);
    if (outcome_.with_room) {
      written = accepted(prove::with_room(std::move(written), outcome_.with_room->value, limits_));
    }
    complete_ = written.complete;
    return certify::print_certificate(written.certificate);
  }

  /// One certificate per pool, and the claims that follow from all of them.
  certify::Files of_pools() {
    claims_.from = posed_.from;
    claims_.verdict = outcome_.answer.verdict;
    claims_.rate = outcome_.rate.empty() ? "slowest" : outcome_.rate;
    const std::vector<PosedPool>& pools =
        claims_.rate == "fastest" ? posed_.fastest : posed_.slowest;
    const std::size_t chosen = index_of(outcome_.pool, pools);
    const bool of_all = claims_.rate == "fastest" && outcome_.pools.size() == pools.size();
    if (outcome_.answer.schedule) claims_.chosen = pools[chosen].pool;
    for (std::size_t i = 0; i < pools.size(); ++i) {
      if (!of_all && i != chosen) continue;
      add("pool", pools[i], i == chosen ? of_answer(pools[i].problem) : of_other(pools, i, chosen));
    }
    if (!posed_.fastest.empty()) claims_.fastest = fastest_bound();
    for (std::size_t i = 0; i < posed_.fastest.size() && !of_all; ++i) {
      add("fastest", posed_.fastest[i], of_bound(posed_.fastest[i].problem, *claims_.fastest));
    }
    settle();
    files_.emplace(certify::kPoolsFile, certify::print_pools(claims_));
    return std::move(files_);
  }

  bool complete() const { return complete_; }

 private:
  static std::size_t index_of(const std::string& name, const std::vector<PosedPool>& pools) {
    const auto found = std::find_if(pools.begin(), pools.end(),
                                    [&](const PosedPool& it) { return it.pool == name; });
    return found == pools.end() ? 0 : static_cast<std::size_t>(found - pools.begin());
  }

  static prove::Written accepted(tl::expected<prove::Written, std::string> written) {
    TWILL_CHECK(written.has_value(), written.error().c_str());
    return *std::move(written);
  }

  /// Certificate that no interval is below the bound, or at least the bound that needs no search.
  prove::Written of_bound(const problem::Problem& problem, Cycles bound) const {
    auto written = prove::certify_interval(problem, bound, limits_);
    if (written) return *std::move(written);
    return accepted(prove::certify_interval(problem, schedule::min_ii(problem).value, limits_));
  }

  /// Certificate of the chosen pool: optimality if the outcome schedules this very Problem; else
  /// feasibility of the schedule (of another strategy, with less memory, or an alternative); else
  /// only the lower bound.
  prove::Written of_answer(const problem::Problem& whole) const {
    const Cycles least = schedule::min_ii(whole).value;
    Answer answer = outcome_.answer;
    if (!answer.schedule) return accepted(prove::certify(whole, answer, limits_));
    answer.schedule = completed(whole, outcome_);
    const auto proven = [](const schedule::ObjectiveValue& it) { return it.proven; };
    const bool all = std::all_of(answer.objectives.begin(), answer.objectives.end(), proven);
    const bool is_posed = schedule::problem_hash(whole) == outcome_.problem_hash;
    answer.verdict = all ? Verdict::optimal : Verdict::feasible;
    const bool is_optimum = outcome_.answer.verdict == Verdict::optimal;
    if (is_posed && (outcome_.alternative == 0 || is_optimum)) {
      return accepted(prove::certify(whole, answer, limits_));
    }
    answer.verdict = Verdict::feasible;
    for (schedule::ObjectiveValue& it : answer.objectives) it.bound = 0;
    answer.objectives.front().bound = is_posed ? outcome_.answer.lower_bound.value : least;
    auto written = prove::certify(whole, answer, limits_);
    if (!written) written = prove::certify_interval(whole, least, limits_);
    written->complete = written->complete && !claims_more();
    return accepted(std::move(written));
  }

  /// Whether the outcome claims to be optimal.
  bool claims_more() const { return outcome_.answer.verdict == Verdict::optimal; }

  /// Certificate of another pool. If the answer is the best of all pools: this pool has no better
  /// schedule. Otherwise: a bound.
  prove::Written of_other(const std::vector<PosedPool>& pools, std::size_t i,
                          std::size_t chosen) const {
    const problem::Problem& problem = pools[i].problem;
    const Answer& best = outcome_.answer;
    if (best.verdict == Verdict::infeasible) {
      return accepted(prove::certify(problem, best, limits_));
    }
    if (best.verdict != Verdict::optimal) {
      return of_bound(problem, best.lower_bound.value);
    }
    int wanted = 0;
    for (const PosedPool& it : pools) {
      wanted = std::max(wanted, it.problem.minimum_compute_groups());
    }
    const int used =
        compute_groups(pools[chosen].problem, completed(pools[chosen].problem, outcome_));
    const int here = std::max(wanted - problem::compute_groups(problem.parts()), 0);
    const int there = std::max(wanted - used, 0);
    if (here < there) return solved(problem);
    std::vector<std::int64_t> values;
    for (const schedule::ObjectiveValue& it : best.objectives) values.push_back(it.value);
    if (here > there) values.resize(1);
    auto beaten = prove::certify_nothing_better(problem, values, limits_);
    return beaten ? *std::move(beaten) : solved(problem);
  }

  /// The best schedule of a pool that needs another number of groups. The rank of the pool then
  /// depends on more than its objectives.
  prove::Written solved(const problem::Problem& problem) const {
    solve::Options within = limits_;
    within.most_interval = outcome_.answer.schedule->initiation_interval;
    return accepted(prove::certify(problem, solve::solve(problem, within), limits_));
  }

  /// Claimed lower bound on II over all pools at full rate.
  Cycles fastest_bound() const {
    if (outcome_.bracket) return outcome_.bracket->fastest;
    if (claims_.rate == "fastest") return outcome_.answer.lower_bound.value;
    Cycles least = std::numeric_limits<Cycles>::max();
    for (const PosedPool& it : posed_.fastest) {
      least = std::min(least, schedule::min_ii(it.problem).value);
    }
    return least;
  }

  void add(std::string_view kind, const PosedPool& pool, const prove::Written& written) {
    const bool of_pool = kind == "pool";
    std::vector<PoolClaim>& claims = of_pool ? claims_.pools : claims_.at_fastest;
    const PoolClaim& claim =
        claims.emplace_back(PoolClaim{pool.pool, fmt::format("{}-{}", kind, claims.size() + 1)});
    for (const auto& [name, text] : certify::print_certificate(written.certificate)) {
      files_.emplace(claim.folder + "/" + name, text);
    }
    complete_ = complete_ && written.complete;
    certify::Checked& checked = (of_pool ? checked_ : fastest_).emplace_back(written.checked);
    checked.loop = certify::loop_of(pool.problem);
  }

  /// Weakens claims to those that follow from the proofs.
  void settle() {
    if (claims_.fastest) {
      for (const certify::Checked& it : fastest_.empty() ? checked_ : fastest_) {
        if (it.verdict == Verdict::infeasible || it.interval_bound >= *claims_.fastest) continue;
        claims_.fastest = it.interval_bound;
        complete_ = false;
      }
    }
    if (!certify::objection_to(claims_, checked_, fastest_).empty()) {
      complete_ = complete_ && !claims_more();
      const bool has_schedule = std::any_of(checked_.begin(), checked_.end(),
                                            [](const auto& it) { return !it.values.empty(); });
      claims_.verdict = has_schedule ? Verdict::feasible : Verdict::undecided;
      if (!has_schedule) claims_.chosen.clear();
    }
    const std::string objection = certify::objection_to(claims_, checked_, fastest_);
    TWILL_CHECK(objection.empty(), objection.c_str());
  }

  const report::Outcome& outcome_;
  const AllPosed& posed_;
  solve::Options limits_;
  certify::PoolClaims claims_;
  std::vector<certify::Checked> checked_;  ///< by pool of `claims_`
  std::vector<certify::Checked> fastest_;
  certify::Files files_;
  bool complete_ = true;
};

}  // namespace

Result<void> check_certifiable(const Request& request) {
  if (request.strategy.strategy != strategy::Strategy::twill) {
    return fail({request.input.name}, "a certificate proves an optimum, and strategy '" +
                                          std::string(name_of(request.strategy.strategy)) +
                                          "' claims none");
  }
  return {};
}

Result<Certified> certify_loop(const Request& request) {
  TWILL_TRY_VOID(check_certifiable(request));
  TWILL_TRY(report::Outcome outcome, schedule_loop(request));
  return certify_outcome(request, std::move(outcome));
}

Result<Certified> certify_outcome(const Request& request, report::Outcome outcome) {
  TWILL_TRY_VOID(check_certifiable(request));
  Certified out{std::move(outcome), {}, {}};
  if (!out.outcome.violations.empty() || request.imported) return out;
  Request as_posed = request;
  as_posed.load_latency = out.outcome.load_latency;
  TWILL_TRY(AllPosed posed, pose_all(as_posed));
  const std::string& pool = out.outcome.pool;
  const bool posed_for = std::any_of(posed.slowest.begin(), posed.slowest.end(),
                                     [&](const PosedPool& it) { return it.pool == pool; });
  if (!pool.empty() && !posed_for) {  // a pool of last resort
    as_posed.pool = pool;
    TWILL_TRY(posed, pose_all(as_posed));
  }
  Certificates certificates(request, out.outcome, posed);
  const bool is_loop = posed.from.machine.empty() && posed.from.options.empty();
  out.certificate = is_loop ? certificates.of_loop() : certificates.of_pools();
  if (!certificates.complete()) {
    out.warnings.push_back({{request.input.name},
                            "the certificate proves less than the answer says: a limit ended the "
                            "search for proofs, or the answer is not about the whole problem",
                            "a larger --work-limit may go on",
                            ""});
  }
  return out;
}

}  // namespace twill::driver
