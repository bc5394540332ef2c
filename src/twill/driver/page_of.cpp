#include "twill/driver/page_of.h"

#include <utility>

#include "twill/driver/candidates.h"
#include "twill/driver/emit_cuda.h"
#include "twill/driver/ttgir_of_plan.h"
#include "twill/emit/printed_lines.h"
#include "twill/page/gather.h"
#include "twill/page/graph.h"
#include "twill/page/page.h"
#include "twill/strategy/strategy.h"

namespace twill::driver {
namespace {

void add_parts(const PageParts& parts, page::Material& material) {
  material.command = parts.command;
  material.measured = parts.measured;
  material.triton = parts.triton;
  material.printed = parts.printed;
  material.certificate = parts.certificate;
  if (parts.explained != nullptr) material.explanation = &parts.explained->explanation;
  if (parts.compared != nullptr) material.comparison = &parts.compared->comparison;
}

/// The module of the plan itself, with notes on any other plan that `emit_ttgir` prints.
/// Precondition: the answer has a plan, and belongs to a kernel.
Result<page::PrintedModule> module_for_page(const Request& request, const PlannedLoop& planned) {
  const bool walks = planned.plan->plan().kernel->tiles == plan::Tiles::persistent;
  std::optional<PlannedLoop> one;
  if (walks) {
    TWILL_TRY(one, with_one_tile(request, planned));
    if (!one) return fail({}, "it needs a tile for each CTA, for which the schedule has no plan");
  }
  const PlannedLoop& used = one ? *one : planned;
  const TtgirChoice choice{dialect::spelling_of(request.input.text), {}};
  TWILL_TRY(const PrintedTtgir printed,
            print_ttgir(*used.reading, used.outcome, *used.plan, choice, 0));
  page::PrintedModule module{printed.text, {}};
  for (const std::string& note : printed.notes) module.notes.push_back("TTGIR: " + note + ".");
  if (request.names_schedule()) return module;
  std::string other;
  if (!printed.is_good()) {
    other = "may print another plan, since " + printed.reasons.front();
  } else if (may_share_an_sm(request, used)) {
    other = "prints a plan for two CTAs of an SM where its estimate says that this is no slower";
  }
  if (!other.empty()) {
    module.notes.push_back("twill emit ttgir " + other +
                           ". With --schedule and the JSON of this schedule, it prints this plan.");
  }
  return module;
}

}  // namespace

Result<SimulatedLoop> run_for_page(const Request& request, PlannedLoop planned) {
  return simulate_planned(request, std::move(planned), {kPageTrips, std::nullopt, kPageTrips});
}

std::string roles_of(const report::Outcome& outcome, const std::string& file) {
  page::Material material;
  material.outcome = &outcome;
  const page::Facts facts = page::gather(material);
  return file.ends_with(".svg") ? page::roles_svg(facts) : page::roles_dot(facts);
}

page::AsTriton triton_for_page(const Request& request, const PlannedLoop& planned) {
  if (request.strategy.strategy != strategy::Strategy::twill || !planned.reading) return {};
  Request as_triton = request;
  as_triton.strategy = {strategy::Strategy::triton_plain, std::nullopt, false};
  as_triton.alternatives = {};
  as_triton.imported.reset();
  as_triton.transfers = false;
  const auto answer = answer_reading(as_triton, planned.reading, {.other_strategies = false});
  if (!answer) return {std::nullopt, answer.error().message};
  const report::Outcome& outcome = answer->outcome;
  if (!outcome.built) return {std::nullopt, outcome.answer.argument};
  if (!outcome.built->simulated) return {std::nullopt, outcome.built->refusal};
  return {outcome.built->simulated, ""};
}

page::PrintedKernels printed_for_page(const Request& request, const PlannedLoop& planned) {
  page::PrintedKernels printed;
  if (!planned.plan || !planned.reading) return printed;
  if (kernel_of(*planned.reading, planned.outcome) == nullptr) {
    printed.ttgir.notes = {
        "No kernel is printed: a .loop text says how long ops take, and not what they compute."};
    return printed;
  }
  const problem::Problem& problem = planned.plan->plan().problem;
  if (const auto kernel = kernel_text(planned, request.input.name)) {
    printed.cuda = emit::printed_lines(*kernel, problem);
  }
  auto module = module_for_page(request, planned);
  if (module) {
    printed.ttgir = *std::move(module);
    printed.in_ttgir = emit::ttgir_lines(printed.ttgir.text, problem);
  } else {
    printed.ttgir.notes = {"No TTGIR is printed of this plan: " + in_one_line(module.error()) +
                           "."};
    if (!request.names_schedule() && ttgir_door().may_differ(planned.plan->plan())) {
      printed.ttgir.notes.push_back("twill emit ttgir looks for another plan that can be printed.");
    }
  }
  return printed;
}

std::string page_of(const SimulatedLoop& loop, const PageParts& parts) {
  page::Material material;
  add_parts(parts, material);
  if (loop.outcome) material.outcome = &*loop.outcome;
  if (loop.plan) material.plan = &loop.plan->plan();
  if (loop.timeline) {
    material.run = &*loop.timeline;
  } else if (loop.run) {
    material.run = &*loop.run;
  }
  if (loop.costs) material.costs = &*loop.costs;
  return page::html(page::gather(material));
}

}  // namespace twill::driver
