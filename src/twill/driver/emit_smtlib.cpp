#include "twill/driver/emit_smtlib.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/emit/smtlib.h"
#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"

namespace twill::driver {
namespace {

using problem::Problem;
using problem::Rule;

/// The part of the problem for plain modulo scheduling. An additional op holds a unit of its own
/// for `ii` cycles, so no smaller interval is possible. Empty if the problem already has the
/// largest size.
std::optional<Problem> modulo_part(const Problem& problem, Cycles ii) {
  problem::Parts parts = problem.parts();
  parts.relaxed = {Rule::memory,     Rule::registers, Rule::width,
                   Rule::load_group, Rule::blocking,  Rule::one_stream};
  for (const Rule rule : problem.relaxed()) {
    if (!std::count(parts.relaxed.begin(), parts.relaxed.end(), rule))
      parts.relaxed.push_back(rule);
  }
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  parts.objectives = {problem::Objective::length};
  parts.minimum_compute_groups = 1;
  parts.groups = {{.name = "all"}};
  parts.register_budgets.clear();
  for (problem::Dependence& it : parts.dependences) it.transfer = 0;
  std::string name = "interval";
  const auto taken = [&](const auto& them) {
    return std::any_of(them.begin(), them.end(), [&](const auto& it) { return it.name == name; });
  };
  while (taken(parts.units) || taken(parts.ops)) name += '_';
  problem::Op pace;
  pace.name = name;
  problem::Alternative alternative;
  alternative.unit = problem::UnitId(parts.units.size());
  alternative.occupancy = ii;
  pace.alternatives = {alternative};
  parts.units.push_back({name});
  parts.ops.push_back(std::move(pace));
  auto posed = problem::pose(std::move(parts));
  if (!posed) return std::nullopt;
  return *std::move(posed);
}

}  // namespace

std::optional<Cycles> modulo_length(const Problem& problem, Cycles ii,
                                    const solve::Options& limits) {
  const std::optional<Problem> part = modulo_part(problem, ii);
  if (!part) return std::nullopt;
  const schedule::Answer answer = solve::solve(*part, limits);
  if (!answer.schedule || answer.schedule->initiation_interval != ii) return std::nullopt;
  Cycles length = 0;
  for (std::size_t v = 0; v < problem.ops().size(); ++v) {
    const schedule::Placement& at = answer.schedule->ops[v];
    const problem::Alternative& alternative =
        problem.ops()[v].alternatives[static_cast<std::size_t>(at.alternative)];
    length = std::max(length, at.issue + problem::span_of(alternative));
  }
  return length;
}

std::optional<Cycles> longest_tried(const Problem& problem, Cycles ii,
                                    const solve::Options& limits) {
  const std::optional<Cycles> length = modulo_length(problem, ii, limits);
  if (!length) return std::nullopt;
  return (*length + ii - 1) / ii * ii;
}

Result<EmittedText> emit_smtlib(const Request& request, machine::Rate rate,
                                const SmtlibRequest& what) {
  TWILL_TRY(PosedLoop posed, pose_loop(request, rate));
  const Cycles ii = what.ii.value_or(schedule::min_ii(posed.problem).value);
  if (!what.literal) {
    std::size_t alternatives = 0;
    for (const problem::Op& op : posed.problem.ops()) alternatives += op.alternatives.size();
    if (alternatives > emit::kMostSmtlibAlternatives) {
      return fail(
          {request.input.name},
          fmt::format("{} alternatives of ops are too many to print every pair", alternatives),
          fmt::format("at most {} can be printed", emit::kMostSmtlibAlternatives));
    }
    return EmittedText{emit::smtlib(posed.problem, ii), std::move(posed.warnings)};
  }
  std::optional<Cycles> length = what.length;
  if (!length) length = longest_tried(posed.problem, ii, request.limits);
  if (!length) {
    return fail({request.input.name}, fmt::format("found no modulo schedule at II {}", ii),
                "choose another --ii, or a --length");
  }
  auto text = emit::smtlib_literal(posed.problem, {ii, *length});
  if (!text) {
    text.error().location.file = request.input.name;  // a Problem has no lines
    return tl::unexpected(std::move(text).error());
  }
  return EmittedText{*std::move(text), std::move(posed.warnings)};
}

}  // namespace twill::driver
