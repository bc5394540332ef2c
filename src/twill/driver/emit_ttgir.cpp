#include "twill/driver/emit_ttgir.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/answers.h"
#include "twill/driver/candidates.h"
#include "twill/driver/check_translation.h"
#include "twill/driver/emit_cuda.h"
#include "twill/driver/kernel.h"
#include "twill/driver/statements.h"
#include "twill/driver/timing.h"
#include "twill/driver/ttgir_of_plan.h"
#include "twill/driver/verify_module.h"
#include "twill/report/story.h"
#include "twill/schedule/corun.h"
#include "twill/support/in_order.h"
#include "twill/support/text_table.h"

namespace twill::driver {
namespace {

/// Registers to keep free beyond the request's, tried in turn.
constexpr std::array kSpareRegisters = {8, 16, 24, 32};
/// Number of good plans from which the best is taken.
constexpr int kEnough = 2;
/// Work for all further plans: twice the first plan's work, and at least this number, which takes
/// some tenths of a second. With half of it, three bundled kernels were 6 to 21 % slower (one H100,
/// two runs).
constexpr std::uint64_t kLeastWork = 20'000'000;

/// Margin of a second plan above the estimate of registers, which is inaccurate near the limit.
constexpr int kMargin = 4;

struct Module {
  PlannedLoop planned;
  PrintedTtgir printed;
};

/// Whether the kernel's text has a loop over tiles around the planned loop. Triton launches the
/// grid of the text, so a module walks no other tiles.
bool has_own_tiles(const Kernel& kernel) {
  const ir::Program& program = kernel.program;
  for (auto at = ir::parent(program, kernel.choice.loop); at; at = ir::parent(program, *at)) {
    if (ir::is_loop(program.op(*at).kind)) return true;
  }
  return false;
}

/// Reads the input with the only walks of tiles that a module can have. Triton launches the grid of
/// the text, so only the text's own loop over tiles is walked.
Result<std::shared_ptr<const Reading>> read_for_ttgir(Request& request) {
  TWILL_TRY(Reading read, read_once(request));
  const bool may_walk = request.tiles == TileWalk::where_possible;
  if (read.kernel && may_walk && !has_own_tiles(*read.kernel)) request.tiles = TileWalk::one;
  return std::make_shared<const Reading>(std::move(read));
}

/// The module of the request's answer; without a text if the answer has no plan.
Result<Module> module_of(Request request, const TtgirChoice& choice, int margin,
                         const AnswerChoice& among = {true, &ttgir_door()}) {
  TWILL_TRY(const auto reading, read_for_ttgir(request));
  TWILL_TRY(PlannedLoop planned, answer_reading(request, reading, among));
  if (!planned.plan) return Module{std::move(planned), {}};
  if (planned.outcome.machine.empty()) {
    return fail(
        {request.input.name},
        "a .loop text says how long ops take, and not what they compute: it has no kernel to print",
        "give the TTGIR of the kernel");
  }
  TWILL_TRY(PrintedTtgir printed,
            print_ttgir(*reading, planned.outcome, *planned.plan, choice, margin));
  return Module{std::move(planned), std::move(printed)};
}

/// The best good module among the schedules from which the first answer was chosen.
Result<Module> solved_module(const Request& request, const TtgirChoice& choice) {
  const Door good = {[&](const Reading& reading, const report::Outcome& outcome,
                         const plan::ProvenPlan& plan) -> std::optional<Diagnostic> {
                       const auto printed = print_ttgir(reading, outcome, plan, choice, kMargin);
                       if (!printed) return printed.error();
                       if (printed->is_good()) return std::nullopt;
                       return Diagnostic{{}, printed->reasons.front(), "", ""};
                     },
                     ttgir_door().may_differ};
  return module_of(request, choice, kMargin, {false, &good, true});
}

/// Number of values that cross groups in the loop.
std::ptrdiff_t transfers_of(const Module& module) {
  const auto& values = module.planned.plan->plan().values;
  return std::count_if(values.begin(), values.end(),
                       [](const plan::Value& value) { return value.staged.has_value(); });
}

/// Whether a module is better than another with fewer registers kept free: faster by more than the
/// model's error, or as fast with fewer transfers. Barriers of transfers cost more in Triton.
bool is_better(const Module& module, const Module& other) {
  const auto& a = module.planned.outcome.built;
  const auto& b = other.planned.outcome.built;
  if (!a || !b || !a->simulated || !b->simulated) return false;
  if (schedule::kCoRunError * *a->simulated < *b->simulated) return true;
  const bool as_fast = *a->simulated <= schedule::kCoRunError * *b->simulated;
  return as_fast && transfers_of(module) < transfers_of(other);
}

/// Numbers of registers to keep free, the most promising first: the missing number, then more, then
/// fewer. If a compiler does not say how many are missing, the fewest come first.
std::vector<int> spares_for(const Module& first) {
  const auto enough =
      std::find_if(kSpareRegisters.begin(), kSpareRegisters.end() - 1,
                   [&](int spare) { return spare >= first.printed.missing + kMargin; });
  std::vector<int> spares(enough, kSpareRegisters.end());
  spares.insert(spares.end(), std::make_reverse_iterator(enough), kSpareRegisters.rend());
  return spares;
}

/// The request for a plan in the same pool with `spare` registers kept free and at most `work`.
Request with_spare(const Request& given, const Module& first, int spare, std::uint64_t work) {
  Request request = given;
  request.spare_registers = spare;
  if (request.pool.empty()) request.pool = first.planned.outcome.pool;
  request.limits.work_limit = std::min(request.limits.work_limit, work);
  return request;
}

/// The best good module of another plan, with a note of the reason. Tries schedules that are
/// already solved, then schedules with registers kept free. Without a good module: the best that
/// meets the estimate without margin, else the given module.
Result<Module> within_registers(const Request& given, const TtgirChoice& choice, Module first) {
  std::set<std::string> tried = {first.printed.text};
  std::optional<Module> best;
  int kept_free = 0;
  const auto take = [&](Result<Module> next, int spare) {
    if (!next || !next->planned.plan) return false;
    const bool good = next->printed.is_good();
    const bool fits = !choice.judge && next->printed.missing == 0;
    if ((!good && !fits) || !tried.insert(next->printed.text).second) return false;
    const bool alike = best && best->printed.is_good() == good;
    if (best && (alike ? !is_better(*next, *best) : !good)) return good;
    best = *std::move(next);
    kept_free = spare;
    return good;
  };
  take(solved_module(given, choice), 0);
  std::uint64_t left = std::max(2 * first.planned.outcome.work, kLeastWork);
  int good = 0;
  // Number kept free with which registers were still missing: smaller numbers will not do.
  int too_few = 0;
  for (const int spare : spares_for(first)) {
    if (left == 0 || good == kEnough) break;
    if (spare < too_few) continue;
    std::uint64_t work = 0;
    Request request = with_spare(given, first, spare, left);
    request.limits.tally = &work;
    auto next = module_of(request, choice, kMargin);
    const bool is_short = next && next->planned.plan && next->printed.missing > 0;
    if (is_short) too_few = std::max(too_few, spare);
    if (take(std::move(next), spare)) ++good;
    left -= std::min(left, work);
  }
  if (!best) {
    first.printed.notes.push_back(first.printed.reasons.front() +
                                  ", and plans with more registers kept free are no better");
    return first;
  }
  const report::Outcome& other = best->planned.outcome;
  const std::string how =
      kept_free > 0 ? fmt::format("planned with {} registers of each thread kept free", kept_free)
                    : fmt::format("this is the plan of pool {} for every op at its {}", other.pool,
                                  other.rate);
  best->printed.notes.push_back(how + ", since else " + first.printed.reasons.front());
  return *std::move(best);
}

/// The module of the request, or the best module of another plan if the request's code would not be
/// good.
Result<Module> best_module(const Request& request, const TtgirChoice& choice) {
  TWILL_TRY(Module module, module_of(request, choice, 0));
  if (!module.planned.plan || module.printed.is_good()) return module;
  if (request.spare_registers == 0 && !request.names_schedule()) {
    return within_registers(request, choice, std::move(module));
  }
  module.printed.notes.push_back(module.printed.reasons.front());
  return module;
}

/// The module of the request. If no plan of cut tiles can be printed, changes the request to whole
/// tiles and puts the reason into `why`.
Result<Module> printable_module(Request& request, const TtgirChoice& choice, std::string& why) {
  auto cut = best_module(request, choice);
  if (cut || request.subtile || request.names_schedule()) return cut;
  Request whole = request;
  whole.subtile = 0;
  auto module = best_module(whole, choice);
  if (!module || !module->planned.plan) return cut;
  why = "tiles are not cut, since else " + in_one_line(cut.error());
  request.subtile = 0;
  return module;
}

/// Number of CTAs to try on one SM, after a plan for a single CTA. With three or more, no pool has
/// the registers.
constexpr int kCtasTogether = 2;

/// Whether one group alone computes in the loop and starts its products. Each scheduler of the SM
/// then has one warp to issue from, whose instructions wait for each other.
bool has_lone_group(const plan::Plan& plan) {
  const auto is_at_work = [&](const plan::Role& role) {
    const auto& steps = role.sections.steady;
    return std::any_of(steps.begin(), steps.end(), [&](const plan::Step& step) {
      if (!step.op) return false;
      const plan::Mechanism mechanism = plan.mechanisms[step.op->index()];
      return mechanism == plan::Mechanism::threads || mechanism == plan::Mechanism::wgmma;
    });
  };
  return std::count_if(plan.roles.begin(), plan.roles.end(), is_at_work) == 1;
}

/// Cycles that an SM takes for an iteration of one of its CTAs, by estimate.
Result<std::optional<double>> sm_interval(const Request& request, const Module& module) {
  const PlannedLoop& planned = module.planned;
  const plan::Plan& plan = (module.printed.plan ? *module.printed.plan : *planned.plan).plan();
  TWILL_TRY(FullRate full, full_rate_of(request, *planned.reading, planned.outcome, plan));
  const machine::Description& machine = *planned.reading->kernel->machine;
  const auto& bracket = planned.outcome.bracket;
  return sm_interval_of(plan, std::move(full), machine.load_latency.value,
                        bracket ? static_cast<double>(bracket->fastest) : 0, machine.ctas_per_sm);
}

/// Factor on the estimate of a lone group. A choice: in docs/hardware-ttgir.md two CTAs were faster
/// than a lone group wherever they did not spill, with up to 1.62 times its estimate.
constexpr double kLoneGroup = 2;
/// Registers by which the estimate may err. A choice: docs/hardware-ttgir.md has six plans for two
/// CTAs to which the estimate objects. The three plans with at most 25 registers missing did not
/// spill. Attention d64, where two groups compute, spilled 120 bytes with 7 missing.
constexpr int kUncertainRegisters = 32;

/// Whether the only objection to a module is the estimate of registers, within its error.
bool is_uncertain(const PrintedTtgir& printed) {
  return printed.short_roles == printed.reasons.size() && printed.missing <= kUncertainRegisters;
}

/// The module for two CTAs an SM, if by estimate an SM is no slower with it in the steady state.
/// One CTA begins while the other ends, and uses idle units. Otherwise the given module.
Result<Module> with_company(const Request& request, const TtgirChoice& choice, Module alone) {
  Request shared = request;
  shared.ctas_per_sm = kCtasTogether;
  shared.limits.work_limit =
      std::min(shared.limits.work_limit, std::max(alone.planned.outcome.work, kLeastWork));
  auto together = best_module(shared, choice);
  if (!together || !together->planned.plan) return alone;
  const bool lone = has_lone_group(alone.planned.plan->plan());
  if (!together->printed.is_good() && !(lone && is_uncertain(together->printed))) return alone;
  TWILL_TRY(const auto one, sm_interval(request, alone));
  TWILL_TRY(const auto two, sm_interval(shared, *together));
  if (!one || !two || *two > *one * (lone ? kLoneGroup : 1)) return alone;
  together->printed.notes.push_back(fmt::format(
      "two CTAs share an SM, which takes {:.1f} cycles for an iteration of one, by "
      "estimate; with a CTA alone on it {:.1f}{}",
      *two, *one, lone ? ", and more where its one group waits for its own instructions" : ""));
  return *std::move(together);
}

/// The same schedule with a tile for each CTA. If it has no such plan: the answer for such tiles.
Result<PlannedLoop> answer_with_one_tile(const Request& given, const PlannedLoop& planned) {
  TWILL_TRY(auto same, with_one_tile(given, planned));
  if (same) return *std::move(same);
  Request request = given;
  request.tiles = TileWalk::one;
  return answer_reading(request, planned.reading);
}

/// Reason in one line why the door does not print the plan of the answer; empty if it prints the
/// plan.
std::string words_of(const Door& door, const PlannedLoop& planned) {
  const auto why = door.why_not(*planned.reading, planned.outcome, *planned.plan);
  return why ? in_one_line(*why) : "";
}

/// The module below comments that say what the plan is, and all notes.
std::string with_story(const EmittedTtgir& emitted) {
  std::string story = report::story(emitted.planned.outcome);
  for (const auto& notes : {emitted.planned.plan->plan().notes, emitted.notes}) {
    for (const std::string& note : notes) story += "note: " + note + "\n";
  }
  return as_comment(story) + emitted.text;
}

}  // namespace

Diagnostic with_page(Diagnostic why) {
  if (why.hint.empty()) why.hint = "what can be printed: docs/howto/what-can-be-printed.md";
  return why;
}

Result<EmittedTtgir> emit_ttgir(const Request& given, const TtgirChoice& wanted) {
  Answers answers;
  Request request = given;
  if (request.answers == nullptr) request.answers = &answers;
  TtgirChoice choice = wanted;
  if (!choice.spelling) choice.spelling = dialect::spelling_of(request.input.text);
  std::string whole;
  auto made = printable_module(request, choice, whole);
  if (!made) {
    const auto is_made = [&](const Request& smaller) {
      const auto other = module_of(smaller, choice, 0);
      return other && other->planned.plan.has_value();
    };
    return tl::unexpected(in_words_of_mapping(given, made.error(), is_made));
  }
  Module module = *std::move(made);
  if (!module.planned.plan) return EmittedTtgir{std::move(module.planned), {}, {}, {}, {}, {}};
  if (may_share_an_sm(request, module.planned)) {
    TWILL_TRY(module, with_company(request, choice, std::move(module)));
  }
  if (!whole.empty()) module.printed.notes.push_back(std::move(whole));
  EmittedTtgir emitted{std::move(module.planned),        std::move(module.printed.text),
                       std::move(module.printed.notes),  std::move(module.printed.roles),
                       std::move(module.printed.stored), {}};
  if (module.printed.plan) emitted.planned.plan = *std::move(module.printed.plan);
  if (choice.take_unchecked) {
    TWILL_TRY_VOID(choice.take_unchecked(with_story(emitted)));
  }
  // The two checks are independent, and may take longer than all steps before.
  PrintedCheck proof, compared;
  const auto check = [&](std::size_t which) {
    return which == 0 ? check_printed(emitted.text) : check_translation(emitted);
  };
  in_order(2, 2, check, [&](std::size_t which, PrintedCheck found) {
    (which == 0 ? proof : compared) = std::move(found);
    return true;
  });
  for (const PrintedCheck& found : {proof, compared}) {
    emitted.broken += found.broken;
    if (!found.unchecked.empty()) emitted.notes.push_back(found.unchecked);
  }
  const bool is_checked = proof.unchecked.empty() || proof.has_run || compared.unchecked.empty();
  if (!is_checked && emitted.broken.empty()) {
    return fail({request.input.name},
                "the printed text can be neither executed nor compared with its plan, and is "
                "not written: " +
                    proof.unchecked + "; " + compared.unchecked,
                "what can be followed: docs/reference/warp-roles.md");
  }
  emitted.text = with_story(emitted);
  return emitted;
}

void look_for_doors(const Request& request, PlannedLoop& planned) {
  if (!planned.plan || !planned.outcome.built) return;
  if (kernel_of(*planned.reading, planned.outcome) == nullptr) return;
  report::Built& built = *planned.outcome.built;
  built.not_printable = words_of(cuda_door(), planned);
  const bool walks = planned.plan->plan().kernel->tiles == plan::Tiles::persistent;
  const auto one = walks ? answer_with_one_tile(request, planned) : Result<PlannedLoop>(planned);
  if (!one) {
    built.no_ttgir = in_one_line(one.error());
  } else if (!one->plan) {
    built.no_ttgir = "there is no plan with a tile for each CTA";
  } else {
    built.no_ttgir = words_of(ttgir_door(), *one);
  }
}

}  // namespace twill::driver
