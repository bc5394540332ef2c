#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/page/loop_view.h"
#include "twill/report/story.h"
#include "twill/report/summary.h"
#include "twill/schedule/bounds.h"

/// Strip of figures, proven facts, and assumptions.
namespace twill::page {
namespace {

void add_about(const report::Outcome& outcome, Facts& facts) {
  const auto add = [&](const char* what, const std::string& text) {
    if (!text.empty()) facts.about.emplace_back(what, text);
  };
  add("input", outcome.input);
  add("loop", outcome.loop + (outcome.loop_source.empty() ? "" : " (" + outcome.loop_source + ")"));
  add("machine", outcome.machine);
  add("pool", outcome.pool);
  if (outcome.strategy != "twill") add("strategy", outcome.strategy);
  add("schedule", report::interval_line(outcome.problem, *outcome.answer.schedule));
  if (outcome.limiter) {
    const report::Limiter& it = *outcome.limiter;
    add("limited by", fmt::format("{}{}, {} cycles{}", it.alone ? "" : "several rules, most by ",
                                  it.what, it.cycles, it.lines.empty() ? "" : ": " + it.lines));
  }
}

void add_figures(const report::Outcome& outcome, Facts& facts) {
  facts.figures.push_back(
      {"No schedule is faster", static_cast<double>(report::proven_bound(outcome)), Basis::proven,
       outcome.live_only   ? "proven for every schedule at these costs, in iterations that "
                             "take the branches priced"
       : outcome.with_room ? "proven for schedules of this loop at these costs that can be built"
                           : "proven for every schedule of this loop at these costs"});
  const auto simulated = outcome.built ? outcome.built->simulated : std::nullopt;
  const std::string who = outcome.strategy == "twill" ? "Twill" : "Strategy " + outcome.strategy;
  if (simulated) {
    facts.figures.push_back(
        {who, *simulated, Basis::simulated, "the plan, run on a model of the GPU"});
    for (const report::GapPart& part : report::gap_of(outcome)) {
      facts.gap.push_back({part.what, part.cycles});
    }
    return;
  }
  facts.figures.push_back(
      {who, static_cast<double>(outcome.answer.schedule->initiation_interval), Basis::model,
       outcome.built && outcome.built->planned ? "the schedule's II: its plan has no steady state"
                                               : "the schedule's II, which no plan keeps"});
}

void add_claims(const report::Outcome& outcome, const std::string& certificate, Facts& facts) {
  const schedule::Answer& answer = outcome.answer;
  const auto add = [&](const char* what, std::string text) {
    facts.proven.emplace_back(what, std::move(text));
  };
  add("bound", outcome.bracket ? outcome.bracket->fastest_witness : answer.lower_bound.witness);
  add("verdict",
      fmt::format("{}: II {}, proven to be at least {}", schedule::name_of(answer.verdict),
                  answer.schedule->initiation_interval, answer.lower_bound.value));
  add("scope", report::scope_of(outcome));
  add("rules", outcome.violations.empty()
                   ? "every rule is kept, by the checker that shares no code with the solver"
                   : "broken: " + outcome.violations.front());
  if (outcome.built) {
    add("plan", outcome.built->planned
                    ? "proven free of races, deadlocks and phase errors for every trip count"
                    : "none: " + outcome.built->refusal);
    const bool looked = outcome.built->not_printable || outcome.built->no_ttgir;
    if (outcome.built->planned && looked) {
      std::string way = report::way_out(*outcome.built);
      std::erase(way, '`');  // marks of a command in plain text
      add("kernel", std::move(way));
    }
  }
  add("certificate",
      certificate.empty()
          ? "none was asked for: twill schedule --certificate FOLDER writes one that "
            "twill check reads without the solver"
          : certificate + ", accepted by twill check");
  add("problem", "SHA-256 " + outcome.problem_hash);
}

void add_assumptions(const report::Outcome& outcome, Facts& facts) {
  if (!outcome.machine.empty()) {
    facts.assumptions.push_back(outcome.machine_measured
                                    ? "Costs are those of machine " + outcome.machine +
                                          ", measured (twill machines)."
                                    : "Nothing of machine " + outcome.machine +
                                          " was measured: its numbers come from public documents.");
  } else {
    facts.assumptions.emplace_back("Costs are those that the .loop text states.");
  }
  if (outcome.rate == "slowest") {
    facts.assumptions.emplace_back(
        "The schedule was solved for every op at its slowest co-run rate; the run has every op at "
        "its full rate, and shared pipes slow down what runs together.");
  }
  facts.assumptions.emplace_back(
      "One CTA per SM. Clock changes, DRAM bandwidth and L2 misses are not in the model.");
  facts.assumptions.insert(facts.assumptions.end(), outcome.notes.begin(), outcome.notes.end());
  for (const Diagnostic& it : outcome.warnings) facts.warnings.push_back(it.message);
}

/// Fills in the facts of a plan without its kernel, from its own Problem.
void add_plan_alone(const LoopView& loop, const Material& material, Facts& facts) {
  const schedule::Bound bound = schedule::min_ii(loop.problem());
  facts.figures.push_back({"No schedule is faster", static_cast<double>(bound.value), Basis::proven,
                           "proven for every schedule at the plan's costs"});
  if (material.run != nullptr && material.run->interval) {
    facts.figures.push_back({"This plan", *material.run->interval, Basis::simulated,
                             "run on a model of the GPU, at the plan's costs"});
  }
  facts.about.emplace_back("plan", material.plan->name);
  if (!material.plan->limits.machine.empty()) {
    facts.about.emplace_back("machine", material.plan->limits.machine);
  }
  facts.proven.emplace_back("bound", bound.witness);
  facts.proven.emplace_back(
      "plan", "proven free of races, deadlocks and phase errors for every trip count");
  facts.headline = material.plan->name;
}

std::string name_without_loop(const Material& material) {
  if (material.explanation != nullptr) return material.explanation->problem.name();
  return material.comparison != nullptr ? material.comparison->input : std::string();
}

}  // namespace

void add_answer(const LoopView& loop, const Material& material, Facts& facts) {
  if (material.outcome == nullptr) {
    add_plan_alone(loop, material, facts);
  } else {
    const report::Outcome& outcome = *material.outcome;
    facts.headline = report::headline(outcome);
    add_about(outcome, facts);
    add_figures(outcome, facts);
    add_claims(outcome, material.certificate, facts);
    add_assumptions(outcome, facts);
  }
  if (material.plan != nullptr) {
    for (const std::string& note : material.plan->notes) facts.assumptions.push_back(note);
  }
  if (material.triton.cycles) {
    facts.figures.push_back({"Triton", *material.triton.cycles, Basis::model,
                             "the loop as Triton compiles it itself: loads ahead by stages, all "
                             "warps in one order, run on the same model"});
  }
  facts.no_triton = material.triton.why_none;
  if (material.measured) {
    facts.figures.push_back({"Yours", *material.measured, Basis::measured, "as you measured it"});
  }
}

Facts gather(const Material& material) {
  Facts facts;
  facts.command = material.command;
  if (const auto loop = LoopView::of(material)) {
    facts.name = loop->problem().name();
    add_answer(*loop, material, facts);
    add_operations(*loop, material, facts);
    if (material.run != nullptr) add_run_chart(*loop, material, facts);
    add_schedule_chart(*loop, facts);
    add_graph(*loop, facts);
    add_fills(*loop, material, facts);
    add_levels(*loop, material, facts);
  } else if (material.outcome != nullptr) {
    facts.name = material.outcome->problem.name();
    facts.headline = facts.name + ": there is no schedule";
    facts.verdict = material.outcome->answer.argument;
  }
  if (facts.name.empty()) facts.name = name_without_loop(material);
  if (material.explanation != nullptr) add_explanation(material, facts);
  if (material.comparison != nullptr) add_comparison(material, facts);
  return facts;
}

}  // namespace twill::page
