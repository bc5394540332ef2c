#include "twill/driver/arranged.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "twill/driver/answers.h"
#include "twill/driver/checking.h"
#include "twill/driver/stated.h"
#include "twill/ir/source_words.h"
#include "twill/problem/compute_groups.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/corun.h"
#include "twill/schedule/least_interval.h"

namespace twill::driver {
namespace {

using machine::Rate;
using strategy::Strategy;

/// Whether an op of the program computes exponentials of a tile, and not of its rows.
bool makes_exponentials(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  if (op.kind != ir::OpKind::exp && op.kind != ir::OpKind::exp2) return false;
  return ir::type_of(program, op.results[0])->shape.size() > 1;
}

strategy::Known known_of(const ir::Program& program, const PosedPool& pool) {
  strategy::Known known;
  for (const extract::OpOrigin& origin : pool.origins) {
    known.parts.push_back(origin.part);
    known.exponentials.push_back(
        std::any_of(origin.sources.begin(), origin.sources.end(),
                    [&](const auto& source) { return makes_exponentials(program, source.op); }));
  }
  return known;
}

/// The requested depth, by option or by mapping; else the stages that the loop requests from
/// Triton.
strategy::Choice choice_for(const Kernel& kernel, const Request& request) {
  strategy::Choice choice = request.strategy;
  const auto stages = kernel.program.op(kernel.choice.loop).stages;
  const bool of_triton =
      choice.strategy == Strategy::triton || choice.strategy == Strategy::triton_plain;
  const bool has_depth = of_triton || choice.strategy == Strategy::cypress;
  if (has_depth && !choice.depth) choice.depth = stated_depth(kernel);
  if (of_triton && !choice.depth && stages && *stages > 0) {
    choice.depth = static_cast<int>(std::min<std::int64_t>(*stages, schedule::kDeepestRing));
  }
  return choice;
}

/// Warps of a CTA (`num_warps` of Triton's launch); empty if the module does not state them.
std::optional<int> launched_warps(const ir::Program& program) {
  for (const auto& [key, value] : program.op(program.module()).attributes) {
    if (!key.ends_with(".num-warps") || value->kind != ir::AttributeKind::integer) continue;
    return static_cast<int>(value->integer);
  }
  return std::nullopt;
}

Diagnostic located(Diagnostic why, const Request& request) {
  if (why.location.file.empty()) why.location.file = request.input.name;
  return why;
}

/// The arrangement of one pool, with its judgement.
struct Tried {
  const PosedPool* pool;
  strategy::Arranged arranged;
  report::Candidate candidate;
  std::optional<Trial> trial;
};

/// Arranges one kernel for each of its pools.
class Pools {
 public:
  Pools(const Kernel& kernel, const Request& request, PosedKernel fastest, PosedKernel slowest,
        const Judge& judge)
      : request_(request),
        program_(kernel.program),
        loop_(kernel.choice.loop),
        choice_(choice_for(kernel, request)),
        fastest_(std::move(fastest)),
        slowest_(std::move(slowest)),
        judge_(judge) {}

  Result<std::vector<ArrangedKernel>> run() {
    const bool alike = has_pool_as_wide();
    for (const PosedPool& pool : posed().pools) {
      if (alike && !is_as_wide(pool)) continue;
      TWILL_TRY_VOID(add(pool));
    }
    if (tried_.empty()) {
      if (refusal_->location == Location{}) {
        refusal_->location = ir::text_location(program_, loop_);
        refusal_->message += ir::source_words(program_, loop_);
      }
      return tl::unexpected(located(*refusal_, request_));
    }
    std::stable_sort(tried_.begin(), tried_.end(),
                     [](const Tried& a, const Tried& b) { return rank(a) < rank(b); });
    std::vector<ArrangedKernel> out;
    for (std::size_t i = 0; i < tried_.size(); ++i) {
      if (i == 0 || tried_[i].candidate.interval) out.push_back(keep(i));
    }
    return out;
  }

 private:
  bool at_fastest() const { return request_.rate == Rate::fastest; }
  const PosedKernel& posed() const { return at_fastest() ? fastest_ : slowest_; }

  /// Whether the pool has the compute groups of Triton's launch: one for each sub-tile, at most as
  /// many as its warps allow. By itself, Triton spreads the rows of a tile over all warps.
  bool is_as_wide(const PosedPool& pool) const {
    const problem::Parts& parts = pool.problem.parts();
    int groups = 0;
    for (const extract::OpOrigin& origin : pool.origins) groups = std::max(groups, origin.part + 1);
    const auto warps = launched_warps(program_);
    const int width = problem::compute_width(parts);
    if (warps && width > 0) groups = std::min(groups, std::max(*warps / width, 1));
    return groups == problem::compute_groups(parts);
  }

  bool has_pool_as_wide() const {
    const std::vector<PosedPool>& pools = posed().pools;
    return choice_.strategy == Strategy::triton_plain &&
           std::any_of(pools.begin(), pools.end(),
                       [&](const PosedPool& pool) { return is_as_wide(pool); });
  }

  static std::tuple<bool, double, Cycles, Cycles> rank(const Tried& tried) {
    const report::Candidate& it = tried.candidate;
    const Cycles interval = it.interval.value_or(std::numeric_limits<Cycles>::max());
    return {!it.simulated, it.simulated.value_or(0), it.expected.value_or(interval), interval};
  }

  Result<void> add(const PosedPool& pool) {
    solve::Options limits = request_.limits;
    limits.work_limit /= posed().pools.size();
    auto arranged = strategy::arrange(pool.problem, choice_, known_of(program_, pool), limits);
    if (arranged) {
      Tried tried{&pool, *std::move(arranged), {}, {}};
      tried.candidate = judged(pool, tried.arranged);
      ArrangedKernel whole = arranged_kernel(tried);
      TWILL_TRY_VOID(judge_candidate(judge_, whole, tried.candidate));
      tried.trial = std::move(whole.best.trial);
      tried_.push_back(std::move(tried));
      return {};
    }
    report::Candidate refused;
    refused.pool = pool.pool;
    refused.note = arranged.error().message;
    refused_.push_back(std::move(refused));
    if (!refusal_) refusal_ = std::move(arranged).error();
    return {};
  }

  report::Candidate judged(const PosedPool& pool, const strategy::Arranged& arranged) const {
    report::Candidate out;
    out.rate = report::name_of(at_fastest() ? Rate::fastest : Rate::slowest);
    out.pool = pool.pool;
    out.verdict = arranged.answer.verdict;
    out.note = arranged.answer.argument;
    if (!arranged.answer.schedule) return out;
    out.interval = arranged.answer.schedule->initiation_interval;
    const auto order = schedule::order_of(arranged.terms.problem, *arranged.answer.schedule);
    out.expected = expected(pool.pool, order);
    out.slowest = at_fastest() ? kept_at_slowest(pool.pool, order) : out.interval;
    return out;
  }

  /// The loop of that pool at other costs, on the strategy's terms.
  Result<strategy::Terms> terms_in(const PosedKernel& posed, const std::string& name) const {
    const PosedPool* pool = pool_named(posed, name);
    if (pool == nullptr) return fail({}, "not posed");
    return strategy::terms_of(pool->problem, choice_, known_of(program_, *pool));
  }

  std::optional<Cycles> expected(const std::string& pool, const schedule::Order& order) const {
    const auto terms = terms_in(fastest_, pool);
    if (!terms) return std::nullopt;
    const auto run = schedule::co_run(terms->problem, order, schedule::Turns::first_come);
    if (!run) return std::nullopt;
    return static_cast<Cycles>(std::llround(run->interval));
  }

  std::optional<Cycles> kept_at_slowest(const std::string& pool,
                                        const schedule::Order& order) const {
    const auto terms = terms_in(slowest_, pool);
    if (!terms) return std::nullopt;
    const auto timed = schedule::least_interval(terms->problem, order);
    if (!timed || !violations_of(terms->problem, timed->schedule).empty()) return std::nullopt;
    return timed->initiation_interval;
  }

  ArrangedKernel arranged_kernel(const Tried& tried) const {
    const strategy::Terms& terms = tried.arranged.terms;
    ArrangedKernel out{BestRate(*tried.pool), tried.arranged.circuit, terms.depth, terms.regions};
    out.best.rate = at_fastest() ? Rate::fastest : Rate::slowest;
    out.best.pool.problem = terms.problem;
    out.best.pool.notes.insert(out.best.pool.notes.end(), terms.notes.begin(), terms.notes.end());
    out.best.answer = tried.arranged.answer;
    out.best.pools = {tried.pool->pool};
    out.best.bracket = bracket(tried.candidate);
    out.best.warnings = posed().warnings;
    out.best.live_only = posed().live_only;
    return out;
  }

  ArrangedKernel keep(std::size_t chosen) const {
    ArrangedKernel out = arranged_kernel(tried_[chosen]);
    out.best.trial = tried_[chosen].trial;
    for (const Tried& it : tried_) out.best.candidates.push_back(it.candidate);
    report::Candidate& candidate = out.best.candidates[chosen];
    candidate.chosen = candidate.interval.has_value();
    out.best.candidates.insert(out.best.candidates.end(), refused_.begin(), refused_.end());
    return out;
  }

  /// The bracket; its lower bound holds for all schedules of all pools.
  std::optional<report::Bracket> bracket(const report::Candidate& chosen) const {
    if (!chosen.interval) return std::nullopt;
    return bracket_of(least_bound(fastest_), chosen);
  }

  const Request& request_;
  const ir::Program& program_;
  ir::OpId loop_;
  strategy::Choice choice_;
  PosedKernel fastest_;
  PosedKernel slowest_;
  const Judge& judge_;
  std::vector<Tried> tried_;
  std::vector<report::Candidate> refused_;
  std::optional<Diagnostic> refusal_;
};

}  // namespace

Result<ArrangedProblem> arrange_problem(problem::Problem problem, const Request& request) {
  if (request.strategy.strategy == Strategy::twill) {
    ArrangedProblem out(std::move(problem));
    out.answer = solve_with(request.answers, out.problem, request.limits);
    return out;
  }
  auto arranged = strategy::arrange(problem, request.strategy, {}, request.limits);
  if (!arranged) return tl::unexpected(located(std::move(arranged).error(), request));
  ArrangedProblem out(std::move(arranged->terms.problem));
  out.answer = std::move(arranged->answer);
  out.circuit = std::move(arranged->circuit);
  out.notes = std::move(arranged->terms.notes);
  out.ring_depth = arranged->terms.depth;
  out.regions = std::move(arranged->terms.regions);
  return out;
}

Result<std::vector<ArrangedKernel>> arrange_kernel(const Kernel& kernel, const Request& request,
                                                   const Judge& judge) {
  TWILL_TRY(PosedKernel fastest, pose_kernel(kernel, request, Rate::fastest));
  TWILL_TRY(PosedKernel slowest, pose_kernel(kernel, request, Rate::slowest));
  return Pools(kernel, request, std::move(fastest), std::move(slowest), judge).run();
}

namespace {

/// By op of the problem: its group in the plan. Ops that the plan lacks get a default, which is
/// never used.
std::vector<problem::GroupId> groups_as_in(const plan::Plan& plan,
                                           const problem::Problem& problem) {
  std::map<std::string_view, problem::GroupId> planned;
  for (std::size_t i = 0; i < plan.problem.ops().size(); ++i) {
    planned.emplace(plan.problem.ops()[i].name, plan.schedule.ops[i].group);
  }
  std::vector<problem::GroupId> groups;
  for (const problem::Op& op : problem.ops()) {
    const auto found = planned.find(op.name);
    groups.push_back(found == planned.end() ? problem::GroupId() : found->second);
  }
  return groups;
}

}  // namespace

Result<problem::Problem> posed_at(const Request& request, const Kernel& kernel,
                                  const plan::Plan& plan, Rate rate) {
  TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
  PosedPool& pool = posed.pools.front();
  if (request.strategy.strategy == Strategy::twill) {
    return problem::residual_of(pool.problem, groups_as_in(plan, pool.problem)).problem;
  }
  TWILL_TRY(strategy::Terms terms, strategy::terms_of(pool.problem, choice_for(kernel, request),
                                                      known_of(kernel.program, pool)));
  return std::move(terms.problem);
}

}  // namespace twill::driver
