#include "twill/driver/plan_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/alternatives.h"
#include "twill/driver/around.h"
#include "twill/driver/cluster.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/timing.h"
#include "twill/ir/operands.h"
#include "twill/plan/json.h"
#include "twill/plan/make.h"
#include "twill/report/alternatives.h"
#include "twill/schedule/corun.h"
#include "twill/support/stopwatch.h"
#include "twill/verify/verify.h"

namespace twill::driver {
namespace {

/// What the kernel's own operations say about how its loads are done.
std::vector<std::optional<plan::Mechanism>> mechanisms_of(const report::Outcome& outcome,
                                                          const ir::Program& program) {
  std::vector<std::optional<plan::Mechanism>> mechanisms(outcome.problem.ops().size());
  for (std::size_t v = 0; v < outcome.origins.size(); ++v) {
    if (!outcome.problem.ops()[v].variable_latency) continue;
    const auto& sources = outcome.origins[v].sources;
    const bool by_descriptor =
        std::any_of(sources.begin(), sources.end(), [&](const extract::Source& source) {
          const auto access = ir::memory_access(program.op(source.op));
          return access && access->by_descriptor;
        });
    if (by_descriptor) continue;  // what else it loads are its coordinates
    for (const extract::Source& source : sources) {
      const ir::OpKind kind = program.op(source.op).kind;
      if (kind == ir::OpKind::tt_load || kind == ir::OpKind::ttg_async_copy_global_to_local) {
        mechanisms[v] = plan::Mechanism::cp_async;
      }
    }
  }
  return mechanisms;
}

/// A proven plan, or why there is none: a diagnostic if the schedule cannot be carried out,
/// findings if the plan is wrong.
struct Attempt {
  std::optional<plan::ProvenPlan> plan;
  std::optional<Diagnostic> refusal;
  std::vector<plan::Finding> findings;
};

/// A group of several warps with work that one thread starts. Its warps would have to meet before
/// and after, which plans do not do yet everywhere.
std::optional<std::string> starts_alone(const verify::CheckedSchedule& checked,
                                        const plan::Setting& setting) {
  const auto draft = plan::draft_plan(checked, setting);
  if (!draft) return std::nullopt;
  for (const plan::Role& role : draft->roles) {
    if (role.warps == 1) continue;
    for (const plan::Step& step : role.sections.steady) {
      if (step.kind == plan::StepKind::issue && step.by == plan::By::one_warp) return role.name;
    }
  }
  return std::nullopt;
}

Result<Attempt> attempt(const Request& request, const verify::CheckedSchedule& checked,
                        plan::Setting setting, const std::vector<std::string>& notes) {
  Attempt result;
  // The proof may need a barrier that others seem to imply; then it gets all of them.
  for (const bool every_wait : {false, true}) {
    setting.every_wait = every_wait;
    auto draft = plan::draft_plan(checked, setting);
    if (!draft) {
      result.refusal = std::move(draft).error();
      return result;
    }
    draft->notes.insert(draft->notes.end(), notes.begin(), notes.end());
    auto proven = plan::prove(*std::move(draft));
    if (proven) {
      result.plan = *std::move(proven);
      return result;
    }
    result.findings = std::move(proven).error();
    if (result.findings.front().rule != "size") continue;
    return fail({request.input.name}, result.findings.front().message,
                "give it fewer ops, or fewer iterations in flight");
  }
  if (const auto role = starts_alone(checked, setting)) {
    result.refusal = Diagnostic{{},
                                "group " + *role +
                                    " has several warps, of which one starts asynchronous work for "
                                    "all; no safe plan is known for it: " +
                                    result.findings.front().message,
                                "",
                                ""};
  } else if (setting.shrink) {  // groups may wait for each other's copies
    result.refusal = Diagnostic{{}, result.findings.front().message, "", ""};
  }
  return result;
}

bool no_slower(double interval, double other) { return interval <= schedule::kCoRunError * other; }

/// Turns at the tensor core are barriers, and barriers cost time: attention kernels on an H200 lose
/// up to 16 % with turns they do not need (docs/hardware.md). So a plan has them only where, first
/// come, first served, its loop is simulated to be slower by more than the model errs. Drafts are
/// simulated, since only one of them needs its proof.
Result<bool> needs_turns(const Request& request, const report::Outcome& outcome,
                         const verify::CheckedSchedule& checked, plan::Setting setting) {
  setting.tokens = false;
  const auto free = plan::draft_plan(checked, setting);
  if (!free) return false;
  TWILL_TRY(const FullRate full, at_full_rate(request, outcome.pool, *free));
  const auto in_free = interval_of(*free, full);
  if (!in_free) return false;
  const auto expected = outcome.bracket ? outcome.bracket->expected : std::nullopt;
  if (expected && no_slower(*in_free, static_cast<double>(*expected))) return false;
  setting.tokens = true;
  const auto turns = plan::draft_plan(checked, setting);
  const auto in_turns = turns ? interval_of(*turns, full) : std::nullopt;
  return in_turns && !no_slower(*in_free, *in_turns);
}

/// Staging what is stored after the loop takes memory from the loop's rings, and saves time once
/// per tile. Where the loop is simulated to be slower for it, by more than the model errs, the
/// threads store; the note says so.
Result<std::optional<std::string>> drop_staging(const Request& request,
                                                const report::Outcome& outcome,
                                                const verify::CheckedSchedule& checked,
                                                plan::Setting& setting) {
  if (!plan::stages(setting)) return std::nullopt;
  plan::Setting direct = setting;
  direct.staging = false;
  const auto with = plan::draft_plan(checked, setting);
  const auto without = plan::draft_plan(checked, direct);
  if (!with || !without) return std::nullopt;
  TWILL_TRY(const FullRate full, at_full_rate(request, outcome.pool, *with));
  const auto slow = interval_of(*with, full);
  const auto fast = interval_of(*without, full);
  if (!slow || !fast || no_slower(*slow, *fast)) return std::nullopt;
  setting.staging = false;
  return fmt::format(
      "the threads store what is stored after the loop themselves: beside its "
      "staging, an iteration takes {:.0f} cycles, simulated, else {:.0f}",
      *slow, *fast);
}

Result<Attempt> with_turns_if_needed(const Request& request, const report::Outcome& outcome,
                                     const verify::CheckedSchedule& checked, plan::Setting setting,
                                     const std::vector<std::string>& notes) {
  TWILL_TRY(const bool needed, needs_turns(request, outcome, checked, setting));
  const auto attempted = [&](bool tokens) -> Result<Attempt> {
    std::vector<std::string> all = notes;
    if (!tokens) {
      all.emplace_back("no turns at the tensor core: simulated, the loop does not need them");
    }
    setting.tokens = tokens;
    return attempt(request, checked, setting, all);
  };
  TWILL_TRY(Attempt first, attempted(needed));
  return first.plan || needed ? std::move(first) : attempted(true);
}

/// Whether CTAs that were asked to walk tiles do.
Result<void> check_walk(const Request& request, const Kernel& kernel, const plan::Plan& plan) {
  const bool walks = plan.kernel->tiles != plan::Tiles::one_per_cta;
  if (walks || request.tiles != TileWalk::persistent) return {};
  return fail(ir::text_location(kernel.program, kernel.choice.loop),
              fmt::format("CTAs cannot walk the grid: no step of the plan empties or fills {} from "
                          "tile to tile",
                          plan::bound_to_one_tile(plan).value_or("its buffers")));
}

/// `kernel`: whose loop it is; none of a `.loop` text.
Result<Attempt> plan_outcome(const Request& request, const std::optional<Kernel>& kernel,
                             const report::Outcome& outcome, bool shrink,
                             const std::vector<std::string>& notes) {
  const auto checked = verify::verify(outcome.problem, *outcome.answer.schedule);
  if (!checked) return Attempt{};  // the outcome's violations say it
  plan::Setting setting;
  setting.shrink = shrink;
  // No other strategy relies on them.
  const bool may_take_turns = outcome.strategy == "twill" || request.given;
  setting.tokens = may_take_turns;
  setting.pins = request.pins;
  setting.regions = outcome.regions;
  setting.ring_depth = outcome.ring_depth;
  if (!kernel) {
    if (request.tiles == TileWalk::where_possible)
      return attempt(request, *checked, setting, notes);
    return fail({request.input.name}, "a .loop text says nothing of tiles, so none can be walked",
                "leave out --tiles");
  }
  setting.machine = &kernel->machine;
  setting.pool = outcome.pool;
  setting.mechanisms = mechanisms_of(outcome, kernel->program);
  TWILL_TRY_VOID(add_surroundings(setting, *kernel, outcome, request.tiles));
  std::vector<std::string> all = notes;
  if (const auto others = products_elsewhere(*kernel)) all.push_back(*others);
  if (request.cluster > 1) {
    if (const auto why = choose_cluster(setting, *kernel, outcome)) all.push_back(*why);
  }
  TWILL_TRY(const auto dropped, drop_staging(request, outcome, *checked, setting));
  if (dropped) all.push_back(*dropped);
  TWILL_TRY(Attempt made, may_take_turns
                              ? with_turns_if_needed(request, outcome, *checked, setting, all)
                              : attempt(request, *checked, setting, all));
  if (made.plan) {
    TWILL_TRY_VOID(check_walk(request, *kernel, made.plan->plan()));
  }
  return made;
}

/// Structures that are tried in place of one that cannot be carried out.
constexpr int kMostEquallyFast = 4;

bool usable(const report::Outcome& outcome) {
  return outcome.answer.schedule.has_value() && outcome.violations.empty();
}

/// The schedules that may be carried out in place of one that cannot.
class Substitutes {
 public:
  Substitutes(const Request& request, std::vector<std::string> pools, report::Outcome first)
      : request_(request), pools_(std::move(pools)) {
    all_.push_back(std::move(first));
  }

  /// The first is the one that they stand for.
  const std::vector<report::Outcome>& all() const { return all_; }

  /// Those of the other pools, the one expected to be fastest first.
  void add_pools() {
    std::vector<report::Outcome> found;
    for (const std::string& pool : pools_) {
      if (pool != all_.front().pool) add(pool, request_.rate, found);
    }
    append(std::move(found));
  }

  /// For each pool the optimum at the other end of the costs.
  void add_other_ends() {
    const bool has_ends = request_.strategy.strategy == strategy::Strategy::twill &&
                          !all_.front().candidates.empty() && !request_.rate;
    if (!has_ends) return;
    std::vector<report::Outcome> found;
    for (const report::Outcome& it : std::vector<report::Outcome>(all_)) {
      const bool slowest = it.rate == report::name_of(machine::Rate::slowest);
      add(it.pool, slowest ? machine::Rate::fastest : machine::Rate::slowest, found);
    }
    append(std::move(found));
  }

  /// Other structures of the same pool and costs that are as fast.
  Result<void> add_equally_fast() {
    TWILL_TRY(std::vector<report::Outcome> found,
              equally_fast(request_, all_.front(), kMostEquallyFast));
    std::move(found.begin(), found.end(), std::back_inserter(all_));
    return {};
  }

  /// For each pool the optimum with that share of the memory: in fewer copies at once, which a plan
  /// places where more do not fit. The plan has all of the memory again.
  void add_smaller(double share) {
    std::vector<report::Outcome> found;
    for (const std::string& pool : pools_) add(pool, request_.rate, found, share);
    for (report::Outcome& it : found) {
      problem::Parts parts = it.problem.parts();
      const auto memories = all_.front().problem.memories();
      parts.memories.assign(memories.begin(), memories.end());
      it.problem = problem::pose(std::move(parts)).value();  // only with more memory
    }
    append(std::move(found));
  }

 private:
  void add(const std::string& pool, std::optional<machine::Rate> rate,
           std::vector<report::Outcome>& found, double share = 1) {
    Request other = request_;
    other.pool = pool;
    other.rate = rate;
    other.share_of_memory = share;
    auto outcome = schedule_loop(other);
    if (outcome && usable(*outcome)) found.push_back(*std::move(outcome));
  }

  void append(std::vector<report::Outcome> found) {
    const auto interval = [](const report::Outcome& it) {
      const Cycles posed = it.answer.schedule->initiation_interval;
      return it.bracket ? it.bracket->expected.value_or(posed) : posed;
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto& a, const auto& b) { return interval(a) < interval(b); });
    std::move(found.begin(), found.end(), std::back_inserter(all_));
  }

  const Request& request_;
  std::vector<std::string> pools_;
  std::vector<report::Outcome> all_;
};

/// Which schedule is planned, if it is not the optimum.
std::vector<std::string> notes_on(const report::Outcome& outcome) {
  if (outcome.alternative == 0) return {};
  return {fmt::format("alternative {} to the best found: {}", outcome.alternative,
                      report::in_words(outcome.problem, outcome.differences))};
}

std::string note_on(const report::Outcome& first, const report::Outcome& chosen,
                    const Diagnostic& refusal, double share) {
  std::string note = (first.alternative > 0 ? "the schedule, II " : "the fastest schedule, II ") +
                     std::to_string(first.answer.schedule->initiation_interval) +
                     ", cannot be carried out: " + refusal.message;
  std::string which;
  if (chosen.pool != first.pool) which += " of pool " + chosen.pool;
  if (chosen.rate != first.rate) which += " with every op at its " + chosen.rate;
  if (share < 1) which += fmt::format(" in {:g} % of the memory", 100 * share);
  if (!which.empty()) note += "; this is the optimum" + which;
  if (chosen.alternative > 0 && first.alternative == 0) {
    note += fmt::format("; this is the next best, number {}, of the same II", chosen.alternative);
  }
  return note;
}

}  // namespace

Result<PlannedLoop> plan_loop(const Request& request) {
  Stopwatch watch;
  TWILL_TRY(report::Outcome first, schedule_loop(request));
  const double seconds = watch.lap();
  TWILL_TRY(PlannedLoop planned, plan_scheduled(request, std::move(first)));
  planned.seconds.schedule += seconds;
  return planned;
}

Result<PlannedLoop> plan_scheduled(const Request& request, report::Outcome first) {
  if (!usable(first)) return PlannedLoop{std::move(first), std::nullopt, {}};
  Stopwatch watch;
  PlannedLoop::Seconds seconds;
  const std::vector<std::string> notes = notes_on(first);
  std::optional<Kernel> kernel;
  if (!first.machine.empty()) {
    TWILL_TRY(kernel, read_kernel(request));
  }
  TWILL_TRY(Attempt best, plan_outcome(request, kernel, first, false, notes));
  seconds.plan = watch.lap();
  if (!best.refusal) {
    return PlannedLoop{std::move(first), std::move(best.plan), std::move(best.findings), seconds};
  }
  const Diagnostic refusal = *best.refusal;
  // Another pool has other alternatives, and nobody asks for another than the given schedule.
  const bool alone = request.names_schedule();
  // Also those that were never solved, since they cannot have the fastest schedule.
  Substitutes substitutes(request, kernel ? kernel->pools : std::vector<std::string>(),
                          std::move(first));
  const auto& all = substitutes.all();
  /// Plans those from `begin` on, until one can be carried out.
  const auto planned = [&](std::size_t begin, bool shrink,
                           double share = 1) -> Result<std::optional<PlannedLoop>> {
    seconds.schedule += watch.lap();
    for (std::size_t i = begin; i < all.size(); ++i) {
      std::vector<std::string> more = notes;
      more.push_back(note_on(all.front(), all[i], refusal, share));
      TWILL_TRY(Attempt next, plan_outcome(request, kernel, all[i], shrink, more));
      if (next.refusal) continue;
      seconds.plan += watch.lap();
      return PlannedLoop{all[i], std::move(next.plan), std::move(next.findings), seconds};
    }
    seconds.plan += watch.lap();
    return std::nullopt;
  };
  if (!alone) {
    substitutes.add_pools();
    TWILL_TRY(auto of_pool, planned(1, false));
    if (of_pool) return *std::move(of_pool);
    const std::size_t of_pools = all.size();
    substitutes.add_other_ends();
    TWILL_TRY(auto of_end, planned(of_pools, false));
    if (of_end) return *std::move(of_end);
    const std::size_t of_ends = all.size();
    TWILL_TRY_VOID(substitutes.add_equally_fast());
    TWILL_TRY(auto as_fast, planned(of_ends, false));
    if (as_fast) return *std::move(as_fast);
  }
  TWILL_TRY(auto fewer, planned(0, true));
  if (fewer) return *std::move(fewer);
  for (const double share : {0.875, 0.75, 0.5}) {
    const std::size_t tried = all.size();
    if (!alone) substitutes.add_smaller(share);
    TWILL_TRY(auto smaller, planned(tried, false, share));
    if (smaller) return *std::move(smaller);
  }
  Diagnostic why = refusal;
  why.message = "the schedule cannot be carried out: " + refusal.message;
  if (why.location.file.empty()) why.location.file = request.input.name;
  return tl::unexpected(std::move(why));
}

}  // namespace twill::driver
