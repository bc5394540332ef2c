#include "twill/driver/trial.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/cluster.h"
#include "twill/driver/kernel_effects.h"
#include "twill/driver/per_tile.h"
#include "twill/driver/stated.h"
#include "twill/extract/memory_order.h"
#include "twill/ir/operands.h"
#include "twill/schedule/corun.h"
#include "twill/verify/verify.h"

namespace twill::driver {
namespace {

/// Mechanisms of loads, as far as the kernel's own operations decide them.
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
    if (by_descriptor) continue;  // the other loads of the op are coordinates
    for (const extract::Source& source : sources) {
      const ir::OpKind kind = program.op(source.op).kind;
      if (kind == ir::OpKind::load || kind == ir::OpKind::copy_async) {
        mechanisms[v] = plan::Mechanism::cp_async;
      }
    }
  }
  return mechanisms;
}

bool no_slower(double interval, double other) { return interval <= schedule::kCoRunError * other; }

/// Makes the drafts of one schedule; simulates each at most once.
class Drafts {
 public:
  Drafts(const Request& request, const Reading& reading, const report::Outcome& outcome,
         const verify::CheckedSchedule& checked, const plan::Setting& setting)
      : request_(request),
        reading_(reading),
        outcome_(outcome),
        checked_(checked),
        setting_(setting) {}

  struct Draft {
    plan::Setting setting;
    Result<plan::Plan> plan;
    std::optional<double> interval;
  };

  Result<const Draft*> with(bool tokens, bool staging) {
    std::optional<Draft>& draft = drafts_[(tokens ? 2U : 0U) + (staging ? 1U : 0U)];
    if (draft) return &*draft;
    plan::Setting setting = setting_;
    setting.tokens = tokens;
    setting.staging = staging;
    auto plan = plan::draft_plan(checked_, setting);
    std::optional<double> interval;
    if (plan) {
      if (!full_) {
        TWILL_TRY(full_, full_rate_of(request_, reading_, outcome_, *plan));
      }
      interval = interval_of(*plan, *full_);
    }
    draft = Draft{std::move(setting), std::move(plan), interval};
    return &*draft;
  }

  const std::optional<FullRate>& full() const { return full_; }

 private:
  const Request& request_;
  const Reading& reading_;
  const report::Outcome& outcome_;
  const verify::CheckedSchedule& checked_;
  const plan::Setting& setting_;
  std::optional<FullRate> full_;
  std::array<std::optional<Draft>, 4> drafts_;
};

/// Whether the plan needs turns at the tensor core. Turns are barriers, and barriers cost time.
/// Attention kernels on an H200 lose up to 16 % with unneeded turns (docs/hardware-log.md). So a
/// plan has turns only if its loop without them is simulated to be slower by more than the model's
/// error.
Result<bool> needs_turns(const report::Outcome& outcome, bool staging, Drafts& drafts) {
  TWILL_TRY(const Drafts::Draft* free, drafts.with(false, staging));
  if (!free->interval) return false;
  const auto expected = outcome.bracket ? outcome.bracket->expected : std::nullopt;
  if (expected && no_slower(*free->interval, static_cast<double>(*expected))) return false;
  TWILL_TRY(const Drafts::Draft* turns, drafts.with(true, staging));
  return turns->interval && !no_slower(*free->interval, *turns->interval);
}

/// Note if the threads store directly instead of staging. Staging values that are stored after the
/// loop takes memory from the loop's rings, and saves time once per tile. If staging makes the
/// simulated loop slower by more than the model's error, the threads store.
Result<std::optional<std::string>> note_without_staging(bool tokens, Drafts& drafts) {
  TWILL_TRY(const Drafts::Draft* with, drafts.with(tokens, true));
  TWILL_TRY(const Drafts::Draft* without, drafts.with(tokens, false));
  if (!with->interval || !without->interval) return std::nullopt;
  if (no_slower(*with->interval, *without->interval)) return std::nullopt;
  return fmt::format(
      "the threads store directly after the loop: with staging, an iteration takes {:.0f} cycles, "
      "simulated, without it {:.0f}",
      *with->interval, *without->interval);
}

constexpr const char* kNoTurns =
    "no ping-pong barriers: simulated, the loop is as fast without them";

/// Note without turns: the loop changes turns more often than there are barriers for them.
constexpr const char* kNoRoomForTurns =
    "no barriers for turns at units, since these roles would need too many: units serve them in "
    "order of arrival";

/// Adds the settings that the schedule, the kernel and the request decide.
Result<void> add_kernel(const Request& request, const Kernel& kernel,
                        const report::Outcome& outcome, Trial& trial) {
  plan::Setting& setting = trial.setting;
  setting.machine = &kernel.machine;
  if (const auto depth = stated_depth(kernel)) setting.ring_depth = depth;
  setting.pool = outcome.pool;
  setting.mechanisms = mechanisms_of(outcome, kernel.program);
  TWILL_TRY_VOID(add_per_tile_ops(setting, kernel, outcome, request.tiles));
  add_effects(setting, kernel, outcome);
  if (const auto others = products_elsewhere(kernel)) trial.notes.push_back(*others);
  if (const auto apart = extract::assumed_apart(kernel.program, kernel.choice.loop)) {
    trial.notes.push_back(*apart);
  }
  if (const auto strides = extract::assumed_strides(kernel.program, kernel.choice.loop)) {
    trial.notes.push_back(*strides);
  }
  if (request.cluster > 1) {
    if (const auto why = choose_cluster(setting, kernel, outcome)) trial.notes.push_back(*why);
  }
  return {};
}

/// Reason why a draft has another depth than the mapping states.
std::optional<Diagnostic> depth_refusal(const Kernel* kernel, const Drafts::Draft& draft) {
  if (kernel == nullptr || !draft.plan) return std::nullopt;
  return other_depth(*kernel, *draft.plan);
}

/// Decides on staging, then on turns, and keeps the chosen draft.
Result<void> choose_draft(const Request& request, const Reading& reading,
                          const report::Outcome& outcome, Trial& trial) {
  Drafts drafts(request, reading, outcome, trial.checked, trial.setting);
  const bool may_take_turns = trial.setting.tokens;
  bool tokens = may_take_turns;
  bool staging = true;
  const Kernel* kernel = kernel_of(reading, outcome);
  const bool is_kernel = kernel != nullptr;
  if (is_kernel && plan::stages(trial.setting)) {
    TWILL_TRY(const auto note, note_without_staging(tokens, drafts));
    if (note) trial.notes.push_back(*note);
    staging = !note.has_value();
  }
  if (is_kernel && may_take_turns) {
    TWILL_TRY(tokens, needs_turns(outcome, staging, drafts));
  }
  TWILL_TRY(const Drafts::Draft* chosen, drafts.with(tokens, staging));
  if (!chosen->plan && may_take_turns) {
    TWILL_TRY(const Drafts::Draft* otherwise, drafts.with(!tokens, staging));
    if (otherwise->plan && tokens) trial.notes.push_back(kNoRoomForTurns);
    if (otherwise->plan || is_kernel) chosen = otherwise;
  }
  auto other = depth_refusal(kernel, *chosen);
  if (other && staging) {  // staging may take the memory of a copy
    TWILL_TRY(const Drafts::Draft* unstaged, drafts.with(chosen->setting.tokens, false));
    if (unstaged->plan) {
      chosen = unstaged;
      other = depth_refusal(kernel, *unstaged);
    }
  }
  if (!other && is_kernel && chosen->plan) other = order_refusal(*kernel, outcome, *chosen->plan);
  if (!other && is_kernel && chosen->plan) {
    other = objection_to_effects(*kernel, *chosen->plan, request.already_pipelined);
  }
  trial.setting = chosen->setting;
  trial.without_turns = is_kernel && may_take_turns && !trial.setting.tokens;
  trial.interval = chosen->interval;
  trial.full = drafts.full();
  if (other) {
    trial.refusal = other;
  } else if (chosen->plan) {
    trial.draft = *chosen->plan;
  } else {
    trial.refusal = chosen->plan.error();
  }
  return {};
}

/// Finds a group of several warps with work that one thread starts. Its warps would have to meet
/// before and after that work, which plans cannot always express yet.
std::optional<std::string> starts_alone(const plan::Plan& draft) {
  for (const plan::Role& role : draft.roles) {
    if (role.warps == 1) continue;
    for (const plan::Step& step : role.sections.steady) {
      if (step.kind == plan::StepKind::issue && step.by == plan::By::one_warp) return role.name;
    }
  }
  return std::nullopt;
}

Result<Attempt> prove_draft(const Request& request, const Trial& trial, plan::Plan draft,
                            const std::vector<std::string>& notes) {
  Attempt result;
  const std::optional<std::string> alone = starts_alone(draft);
  std::vector<std::string> all = notes;
  if (trial.without_turns) all.emplace_back(kNoTurns);
  // The proof may need a barrier that other barriers seem to imply; then the plan gets all
  // barriers.
  for (const bool every_wait : {false, true}) {
    if (every_wait) {
      plan::Setting setting = trial.setting;
      setting.every_wait = true;
      auto again = plan::draft_plan(trial.checked, setting);
      if (!again) break;
      draft = *std::move(again);
    }
    plan::Plan noted = draft;
    noted.notes.insert(noted.notes.end(), all.begin(), all.end());
    auto proven = plan::prove(std::move(noted));
    if (proven) {
      result.plan = *std::move(proven);
      return result;
    }
    result.findings = std::move(proven).error();
    if (result.findings.front().rule != "size") continue;
    result.refusal = Diagnostic{{request.input.name},
                                result.findings.front().message,
                                "",
                                "give it fewer ops, or fewer iterations in flight"};
    return result;
  }
  const std::string& first = result.findings.front().message;
  if (alone) {
    result.refusal = Diagnostic{{},
                                "group " + *alone +
                                    " has several warps, of which one starts asynchronous work for "
                                    "all; no safe plan is known for it: " +
                                    first,
                                "",
                                ""};
  } else if (trial.setting.shrink) {  // groups may wait for each other's copies
    result.refusal = Diagnostic{{}, first, "", ""};
  }
  return result;
}

/// Checks that CTAs walk tiles if the request demands it.
Result<void> check_walk(const Request& request, const Kernel& kernel, const plan::Plan& plan) {
  const bool walks = plan.kernel->tiles != plan::Tiles::one_per_cta;
  if (walks || request.tiles != TileWalk::persistent) return {};
  return fail(ir::text_location(kernel.program, kernel.choice.loop),
              fmt::format("CTAs cannot walk the grid: no step of the plan empties or fills {} from "
                          "tile to tile",
                          plan::bound_to_one_tile(plan).value_or("its buffers")));
}

bool may_take_turns(const Request& request, const report::Outcome& outcome) {
  return outcome.strategy == "twill" || request.imported;  // other strategies do not rely on turns
}

}  // namespace

Result<std::optional<Trial>> try_plan(const Request& request, const Reading& reading,
                                      const report::Outcome& outcome, bool shrink) {
  auto checked = verify::verify(outcome.problem, *outcome.answer.schedule);
  if (!checked) return std::nullopt;  // the outcome's violations say why
  Trial trial{*std::move(checked), {}, {}, {}, {}, false, {}, {}};
  plan::Setting& setting = trial.setting;
  setting.shrink = shrink;
  setting.tokens = may_take_turns(request, outcome);
  setting.pins = request.pins;
  setting.regions = outcome.regions;
  setting.ring_depth = outcome.ring_depth;
  if (const Kernel* kernel = kernel_of(reading, outcome)) {
    auto added = add_kernel(request, *kernel, outcome, trial);
    if (!added && request.tiles != TileWalk::where_possible) {
      return tl::unexpected(std::move(added).error());
    }
    if (!added) {  // the schedule alone is an answer, too
      trial.refusal = std::move(added).error();
      return trial;
    }
  } else if (request.tiles != TileWalk::where_possible) {
    return fail({request.input.name}, "a .loop text has no tiles, so none can be walked",
                "leave out --tiles");
  }
  TWILL_TRY_VOID(choose_draft(request, reading, outcome, trial));
  return trial;
}

Result<Attempt> prove_trial(const Request& request, const Reading& reading, Trial trial,
                            const std::vector<std::string>& notes) {
  if (!trial.draft) return Attempt{{}, trial.refusal, {}};
  std::vector<std::string> all = notes;
  std::move(trial.notes.begin(), trial.notes.end(), std::back_inserter(all));
  TWILL_TRY(Attempt made, prove_draft(request, trial, *trial.draft, all));
  if (!made.plan && trial.without_turns) {
    trial.without_turns = false;
    trial.setting.tokens = true;
    auto turns = plan::draft_plan(trial.checked, trial.setting);
    if (turns) {
      TWILL_TRY(made, prove_draft(request, trial, *std::move(turns), all));
    }
  }
  if (made.plan && made.plan->plan().kernel && reading.kernel) {
    TWILL_TRY_VOID(check_walk(request, *reading.kernel, made.plan->plan()));
  }
  return made;
}

}  // namespace twill::driver
