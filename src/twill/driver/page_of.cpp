#include "twill/driver/page_of.h"

#include <utility>

#include "twill/driver/emit_cuda.h"
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

std::vector<std::vector<int>> printed_for_page(const Request& request, const PlannedLoop& planned) {
  if (!planned.plan || !planned.reading) return {};
  const auto kernel = kernel_text(planned, request.input.name);
  if (!kernel) return {};
  return emit::printed_lines(*kernel, planned.plan->plan().problem);
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
