#include "twill/driver/emit_ttgir.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/device/fit.h"
#include "twill/device/pressure.h"
#include "twill/driver/candidates.h"
#include "twill/driver/check_translation.h"
#include "twill/driver/kernel.h"
#include "twill/driver/propose.h"
#include "twill/driver/trial.h"
#include "twill/driver/verify_module.h"
#include "twill/emit/ttgir.h"
#include "twill/ir/loop.h"
#include "twill/report/story.h"
#include "twill/schedule/corun.h"
#include "twill/support/text_table.h"

namespace twill::driver {
namespace {

/// Bytes of the 2 KiB that machine files leave for barriers and alignment which a tree may use: it
/// counts its barriers.
constexpr std::int64_t kForBarriers = 1024;

/// Bytes of shared memory that a CTA may use for buffers and barriers.
std::int64_t shared_memory(const machine::Description& machine) {
  for (const machine::Memory& memory : machine.memories) {
    if (memory.capacity.unit != "bytes") continue;
    return static_cast<std::int64_t>(memory.capacity.value) + kForBarriers;
  }
  return std::numeric_limits<std::int64_t>::max();
}

/// Whether the kernel's text has a loop over tiles around the one that is planned.
bool has_own_tiles(const Kernel& kernel) {
  const ir::Program& program = kernel.program;
  for (auto at = ir::parent(program, kernel.choice.loop); at; at = ir::parent(program, *at)) {
    if (ir::is_loop(program.op(*at).kind)) return true;
  }
  return false;
}

/// The tree of the plan, as the module has it.
Result<device::Fitted> tree_of(const PlannedLoop& planned) {
  const Kernel& kernel = *planned.reading->kernel;
  return device::build_within(
      {kernel.program, kernel.choice.loop, planned.outcome.origins, *planned.plan},
      shared_memory(*kernel.machine));
}

/// The same schedule with a tile for each CTA; the answer for such tiles if it has no plan.
Result<PlannedLoop> with_one_tile(const Request& given, const PlannedLoop& planned) {
  Request request = given;
  request.tiles = TileWalk::one;
  PlannedLoop out{planned.outcome, {}, {}, {}, {}, planned.reading};
  TWILL_TRY(auto trial, try_outcome(request, *planned.reading, planned.outcome, false));
  if (!trial || trial->refusal) return answer_reading(request, planned.reading);
  TWILL_TRY(Attempt made, prove_trial(request, *planned.reading, *std::move(trial), {}));
  if (!made.plan) return answer_reading(request, planned.reading);
  out.plan = std::move(made.plan);
  return out;
}

}  // namespace

void look_for_ttgir(const Request& request, PlannedLoop& planned) {
  if (!planned.plan || !planned.outcome.built) return;
  if (kernel_of(*planned.reading, planned.outcome) == nullptr) return;
  const bool walks = planned.plan->plan().kernel->tiles == plan::Tiles::persistent;
  const auto one = walks ? with_one_tile(request, planned) : Result<PlannedLoop>(planned);
  std::optional<std::string>& why = planned.outcome.built->no_ttgir;
  if (!one) {
    why = in_one_line(one.error());
    return;
  }
  if (!one->plan) {
    why = "there is no plan with a tile for each CTA";
    return;
  }
  const auto tree = tree_of(*one);
  why = tree ? "" : in_one_line(tree.error());
  if (!tree) return;
  const auto text = emit::ttgir_kernel(planned.reading->kernel->program, tree->kernel,
                                       dialect::spelling_of(request.input.text));
  if (!text) why = in_one_line(text.error());
}

namespace {

/// Registers to keep free beyond the request's, one after the other.
constexpr int kSpareRegisters[] = {8, 16, 24, 32};

/// A module of one plan, and what is known of it.
struct Module {
  EmittedTtgir emitted;              ///< its text without the story
  std::vector<std::string> reasons;  ///< why its code would not be good
};

/// Registers that a second plan is to have beyond the estimate, which errs near the limit.
constexpr int kMargin = 4;

/// Roles whose tiles need more registers than the role has, less `margin`.
std::vector<std::string> over_registers(const ir::Program& program, const device::Kernel& tree,
                                        int margin) {
  std::vector<std::string> reasons;
  const std::vector<device::Pressure> pressure = device::register_pressure(program, tree);
  for (std::size_t i = 0; i < pressure.size(); ++i) {
    const auto& [needed, available] = pressure[i];
    if (available == 0 || needed + margin <= available) continue;
    reasons.push_back(fmt::format("{} needs about {} registers of each thread and has {}",
                                  tree.roles[i].name, needed, available));
  }
  return reasons;
}

Result<Module> module_of(const Request& given, const TtgirChoice& choice, int margin) {
  TWILL_TRY(Reading read, read_once(given));
  Request request = given;
  // Triton launches the grid of the text: only a loop over tiles of the text's own is walked.
  const bool may_walk = given.tiles == TileWalk::where_possible;
  if (read.kernel && may_walk && !has_own_tiles(*read.kernel)) request.tiles = TileWalk::one;
  const auto reading = std::make_shared<const Reading>(std::move(read));
  TWILL_TRY(PlannedLoop planned, answer_reading(request, reading));
  Module out{{std::move(planned), {}, {}, {}, {}}, {}};
  EmittedTtgir& emitted = out.emitted;
  if (!emitted.planned.plan) return out;
  if (emitted.planned.outcome.machine.empty()) {
    return fail({request.input.name},
                "a .loop text says when, and not what: it has no kernel to print",
                "give the TTGIR of the kernel");
  }
  const ir::Program& program = emitted.planned.reading->kernel->program;
  TWILL_TRY(const device::Fitted fitted, tree_of(emitted.planned));
  if (fitted.plan) emitted.planned.plan = fitted.plan;
  const device::Kernel& tree = fitted.kernel;
  const dialect::Spelling as = choice.spelling.value_or(dialect::spelling_of(request.input.text));
  TWILL_TRY(emitted.text, emit::ttgir_kernel(program, tree, as));
  emitted.notes = tree.notes;
  for (const device::Role& role : tree.roles) emitted.roles.push_back(role.name);
  if (choice.judge) {
    TWILL_TRY(out.reasons, choice.judge(emitted.text));
  } else {
    out.reasons = over_registers(program, tree, margin);
  }
  return out;
}

/// Values that a group hands to another in the loop.
std::ptrdiff_t handed_over(const Module& module) {
  const auto& values = module.emitted.planned.plan->plan().values;
  return std::count_if(values.begin(), values.end(),
                       [](const plan::Value& value) { return value.staged.has_value(); });
}

/// Whether a module is better than one with fewer registers kept free: faster by more than the
/// model errs, or as fast with fewer values handed over, whose barriers Triton makes dearer.
bool is_better(const Module& module, const Module& other) {
  const auto& a = module.emitted.planned.outcome.built;
  const auto& b = other.emitted.planned.outcome.built;
  if (!a || !b || !a->simulated || !b->simulated) return false;
  if (schedule::kCoRunError * *a->simulated < *b->simulated) return true;
  const bool as_fast = *a->simulated <= schedule::kCoRunError * *b->simulated;
  return as_fast && handed_over(module) < handed_over(other);
}

/// The best good module with registers kept free, with a note why; else the one at hand.
Result<Module> with_registers_to_spare(const Request& given, const TtgirChoice& choice,
                                       Module first) {
  std::set<std::string> tried = {first.emitted.text};
  std::optional<Module> best;
  int kept_free = 0;
  for (const int spare : kSpareRegisters) {
    Request request = given;
    request.spare_registers = spare;
    auto next = module_of(request, choice, kMargin);
    if (!next || !next->emitted.planned.plan) break;  // with more there is no schedule either
    if (!tried.insert(next->emitted.text).second || !next->reasons.empty()) continue;
    if (best && !is_better(*next, *best)) continue;
    best = *std::move(next);
    kept_free = spare;
  }
  if (!best) {
    first.emitted.notes.push_back(first.reasons.front() +
                                  ", and no plan with more of them kept free is better");
    return first;
  }
  best->emitted.notes.push_back(
      fmt::format("planned with {} registers of each thread kept free, since else {}", kept_free,
                  first.reasons.front()));
  return *std::move(best);
}

}  // namespace

Result<EmittedTtgir> emit_ttgir(const Request& request, const TtgirChoice& choice) {
  TWILL_TRY(Module module, module_of(request, choice, 0));
  if (!module.emitted.planned.plan) return std::move(module.emitted);
  if (!module.reasons.empty() && request.spare_registers == 0 && !request.names_schedule()) {
    TWILL_TRY(module, with_registers_to_spare(request, choice, std::move(module)));
  } else if (!module.reasons.empty()) {
    module.emitted.notes.push_back(module.reasons.front());
  }
  EmittedTtgir emitted = std::move(module.emitted);
  for (const PrintedCheck& check : {check_printed(emitted.text), check_translation(emitted)}) {
    emitted.broken += check.broken;
    if (!check.unchecked.empty()) emitted.notes.push_back(check.unchecked);
  }
  std::string story = report::story(emitted.planned.outcome);
  for (const std::string& note : emitted.notes) story += "note: " + note + "\n";
  emitted.text = as_comment(story) + emitted.text;
  return emitted;
}

}  // namespace twill::driver
