#include "twill/driver/emit_ttgir.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/device/fit.h"
#include "twill/device/pressure.h"
#include "twill/driver/candidates.h"
#include "twill/driver/emit_cuda.h"
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

/// The tree of a plan of the outcome's schedule, as the module has it. Precondition: the outcome is
/// of a kernel.
Result<device::Kernel> tree_of(const Reading& reading, const report::Outcome& outcome,
                               const plan::ProvenPlan& plan) {
  const Kernel& kernel = *reading.kernel;
  return device::build_within({kernel.program, kernel.choice.loop, outcome.origins, plan},
                              shared_memory(*kernel.machine));
}

/// What is printed as TTGIR, in any spelling.
const Door& ttgir_door() {
  static const Door kDoor = {
      [](const Reading& reading, const report::Outcome& outcome,
         const plan::ProvenPlan& plan) -> std::optional<Diagnostic> {
        const auto tree = tree_of(reading, outcome, plan);
        if (!tree) return tree.error();
        const auto text = emit::ttgir_kernel(reading.kernel->program, *tree, dialect::Spelling{});
        return text ? std::nullopt : std::optional(text.error());
      },
      [](const plan::Plan& plan) {
        return std::none_of(
            plan.mechanisms.begin(), plan.mechanisms.end(),
            [](const plan::Mechanism how) { return how == plan::Mechanism::tcgen05; });
      }};
  return kDoor;
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

/// Why the door does not print the plan of the answer, in a line; empty if it does.
std::string words_of(const Door& door, const PlannedLoop& planned) {
  const auto why = door.why_not(*planned.reading, planned.outcome, *planned.plan);
  return why ? in_one_line(*why) : "";
}

}  // namespace

void look_for_doors(const Request& request, PlannedLoop& planned) {
  if (!planned.plan || !planned.outcome.built) return;
  if (kernel_of(*planned.reading, planned.outcome) == nullptr) return;
  report::Built& built = *planned.outcome.built;
  built.not_printable = words_of(cuda_door(), planned);
  const bool walks = planned.plan->plan().kernel->tiles == plan::Tiles::persistent;
  const auto one = walks ? with_one_tile(request, planned) : Result<PlannedLoop>(planned);
  if (!one) {
    built.no_ttgir = in_one_line(one.error());
  } else if (!one->plan) {
    built.no_ttgir = "there is no plan with a tile for each CTA";
  } else {
    built.no_ttgir = words_of(ttgir_door(), *one);
  }
}

namespace {

/// Registers to keep free beyond the request's, one after the other.
constexpr std::array kSpareRegisters = {8, 16, 24, 32};

/// Good plans among which the best is taken.
constexpr int kEnough = 2;

/// Work for all further plans: half of what the first one took, and no less than this, which is
/// some tenths of a second.
constexpr std::uint64_t kLeastWork = 20'000'000;

/// A module of one plan, and what is known of it.
struct Module {
  EmittedTtgir emitted;              ///< its text without the story
  std::vector<std::string> reasons;  ///< why its code would not be good
  int missing = 0;                   ///< registers that its roles need beyond those that they have
};

/// Registers that a second plan is to have beyond the estimate, which errs near the limit.
constexpr int kMargin = 4;

/// Notes the roles whose tiles need more registers than the role has, less `margin`.
void note_missing_registers(const ir::Program& program, const device::Kernel& tree, int margin,
                            Module& module) {
  const std::vector<device::Pressure> pressure = device::register_pressure(program, tree);
  for (std::size_t i = 0; i < pressure.size(); ++i) {
    const auto& [needed, available] = pressure[i];
    if (available == 0 || needed + margin <= available) continue;
    module.missing = std::max(module.missing, needed - available);
    module.reasons.push_back(fmt::format("{} needs about {} registers of each thread and has {}",
                                         tree.roles[i].name, needed, available));
  }
}

Result<Module> module_of(const Request& given, const TtgirChoice& choice, int margin) {
  TWILL_TRY(Reading read, read_once(given));
  Request request = given;
  // Triton launches the grid of the text: only a loop over tiles of the text's own is walked.
  const bool may_walk = given.tiles == TileWalk::where_possible;
  if (read.kernel && may_walk && !has_own_tiles(*read.kernel)) request.tiles = TileWalk::one;
  const auto reading = std::make_shared<const Reading>(std::move(read));
  TWILL_TRY(PlannedLoop planned, answer_reading(request, reading, {true, &ttgir_door()}));
  Module out{{std::move(planned), {}, {}, {}}, {}, 0};
  EmittedTtgir& emitted = out.emitted;
  if (!emitted.planned.plan) return out;
  if (emitted.planned.outcome.machine.empty()) {
    return fail({request.input.name},
                "a .loop text says when, and not what: it has no kernel to print",
                "give the TTGIR of the kernel");
  }
  const ir::Program& program = emitted.planned.reading->kernel->program;
  TWILL_TRY(const device::Kernel tree,
            tree_of(*emitted.planned.reading, emitted.planned.outcome, *emitted.planned.plan));
  const dialect::Spelling as = choice.spelling.value_or(dialect::spelling_of(request.input.text));
  TWILL_TRY(emitted.text, emit::ttgir_kernel(program, tree, as));
  emitted.notes = tree.notes;
  if (choice.judge) {
    TWILL_TRY(out.reasons, choice.judge(emitted.text));
  } else {
    note_missing_registers(program, tree, margin, out);
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

/// Numbers of registers to keep free, the likeliest first: as many as are missing, then more, then
/// fewer. A compiler does not say how many are missing, so it is asked about the fewest first.
std::vector<int> spares_for(const Module& first) {
  const auto enough = std::find_if(kSpareRegisters.begin(), kSpareRegisters.end() - 1,
                                   [&](int spare) { return spare >= first.missing + kMargin; });
  std::vector<int> spares(enough, kSpareRegisters.end());
  spares.insert(spares.end(), std::make_reverse_iterator(enough), kSpareRegisters.rend());
  return spares;
}

/// The request for a plan in the same pool with registers kept free and no more work than that.
Request with_spare(const Request& given, const Module& first, int spare, std::uint64_t work) {
  Request request = given;
  request.spare_registers = spare;
  if (request.pool.empty()) request.pool = first.emitted.planned.outcome.pool;
  request.limits.work_limit = std::min(request.limits.work_limit, work);
  return request;
}

/// The best good module with registers kept free, with a note why; else the one at hand.
Result<Module> with_registers_to_spare(const Request& given, const TtgirChoice& choice,
                                       Module first) {
  std::set<std::string> tried = {first.emitted.text};
  std::optional<Module> best;
  int kept_free = 0, good = 0;
  std::uint64_t left = std::max(first.emitted.planned.outcome.work / 2, kLeastWork);
  for (const int spare : spares_for(first)) {
    if (left == 0 || good == kEnough) break;
    std::uint64_t work = 0;
    Request request = with_spare(given, first, spare, left);
    request.limits.tally = &work;
    auto next = module_of(request, choice, kMargin);
    left -= std::min(left, work);
    if (!next || !next->emitted.planned.plan) continue;
    if (!tried.insert(next->emitted.text).second || !next->reasons.empty()) continue;
    ++good;
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
  const PrintedCheck check = check_printed(emitted.text);
  emitted.broken = check.broken;
  if (!check.unchecked.empty()) emitted.notes.push_back(check.unchecked);
  std::string story = report::story(emitted.planned.outcome);
  for (const std::string& note : emitted.notes) story += "note: " + note + "\n";
  emitted.text = as_comment(story) + emitted.text;
  return emitted;
}

}  // namespace twill::driver
