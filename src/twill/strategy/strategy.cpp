#include "twill/strategy/strategy.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/least_interval.h"
#include "twill/strategy/groups.h"
#include "twill/strategy/modulo.h"
#include "twill/strategy/ping_pong.h"
#include "twill/strategy/plain.h"
#include "twill/strategy/program.h"
#include "twill/strategy/sub_tiles.h"
#include "twill/strategy/waits.h"
#include "twill/support/check.h"

namespace twill::strategy {
namespace {

using problem::Dependence;
using problem::Parts;
using problem::Rule;

constexpr std::array kAll = {Strategy::twill,        Strategy::modulo,  Strategy::triton,
                             Strategy::triton_plain, Strategy::cypress, Strategy::sequential};

constexpr int kAttentionDepth = 2;  // one tile read, one on its way: K and V leave room for no more
constexpr int kProductDepth = 3;    // Triton's default number of stages
constexpr int kCypressDepth = 2;

/// Lists the ops of each group, in source order. Groups that only start work for others do so for
/// each sub-tile separately: the rows of one sub-tile do not wait for those of another.
std::vector<std::vector<OpId>> in_source_order(const Problem& problem, const SubTiles& tiles,
                                               const std::vector<GroupId>& groups) {
  const std::vector<GroupId> compute = compute_groups(problem);
  std::map<std::pair<GroupId, int>, std::vector<OpId>> streams;
  for (const OpId op : source_order(problem)) {
    const GroupId group = groups[op.index()];
    const bool computes = std::find(compute.begin(), compute.end(), group) != compute.end();
    streams[{group, computes ? 0 : std::max(tiles.part[op.index()], 0)}].push_back(op);
  }
  std::vector<std::vector<OpId>> out;
  for (auto& [key, stream] : streams) out.push_back(std::move(stream));
  return out;
}

/// Makes these streams wait for asynchronous work before the next op is issued.
void wait_in_streams(Parts& parts, const std::vector<std::vector<OpId>>& streams,
                     const std::vector<GroupId>& waiting, const std::vector<GroupId>& groups) {
  for (const std::vector<OpId>& stream : streams) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const GroupId group = groups[stream[i].index()];
      const bool waits = std::find(waiting.begin(), waiting.end(), group) != waiting.end();
      if (!waits || !parts.ops[stream[i].index()].asynchronous) continue;
      const bool last = i + 1 == stream.size();
      wait_at_once(parts, stream[i], last ? stream.front() : stream[i + 1], last ? 1 : 0);
    }
  }
}

/// Lowers the least number of compute groups to the number in use, since the groups are given.
void set_minimum_groups(Parts& parts, const std::vector<GroupId>& groups) {
  std::vector<GroupId> used;
  for (const GroupId group : groups) {
    const bool known = std::find(used.begin(), used.end(), group) != used.end();
    const bool computes = problem::is_compute_group(parts, parts.groups[group.index()]);
    if (!known && computes) used.push_back(group);
  }
  parts.minimum_compute_groups =
      std::min(parts.minimum_compute_groups, static_cast<int>(used.size()));
}

/// Whether a product reads another product, perhaps through other ops, as in attention.
bool chains_products(const Problem& problem) {
  std::vector<bool> behind(problem.ops().size(), false);
  for (const OpId op : source_order(problem)) {
    for (const Dependence& it : problem.dependences()) {
      if (it.to != op || it.distance > 0 || !it.carries_value) continue;
      const bool product = is_product(problem[it.from]);
      if (product && is_product(problem[op])) return true;
      if (!product && behind[it.from.index()] && is_product(problem[op])) return true;
      if (product || behind[it.from.index()]) behind[op.index()] = true;
    }
  }
  return false;
}

Result<Terms> posed(Parts parts, std::vector<GroupId> groups,
                    std::vector<std::vector<OpId>> streams) {
  set_minimum_groups(parts, groups);
  TWILL_TRY(Problem problem, problem::pose(std::move(parts)));
  Terms terms(std::move(problem));
  terms.groups = std::move(groups);
  terms.streams = std::move(streams);
  return terms;
}

/// Whether one warp starts the products, which then have a partition of their own: Blackwell.
bool products_apart(const Problem& problem) {
  const auto ops = problem.ops();
  const auto multiplies = [](const problem::Op& op) {  // loads have no unit, stores no result
    const bool result = op.registers > 0 || !op.footprint.empty();
    return is_product(op) && op.alternatives.front().unit && result;
  };
  return problem.in_force(Rule::width) && std::any_of(ops.begin(), ops.end(), multiplies) &&
         std::none_of(ops.begin(), ops.end(),
                      [&](const problem::Op& op) { return multiplies(op) && op.warps > 1; });
}

Result<Terms> triton(const Problem& problem, const SubTiles& tiles, const Choice& choice,
                     const Known& known) {
  const std::vector<GroupId> compute = compute_groups(problem);
  if (!products_apart(problem)) {
    if (compute.size() < 2) return fail({}, "the pool has no two groups to compute");
    if (tiles.count < 2) return fail({}, "the rows are not cut into sub-tiles for two consumers");
  }
  TWILL_TRY(std::vector<GroupId> groups, specialized(problem, tiles));
  std::vector<std::vector<OpId>> streams = in_source_order(problem, tiles, groups);
  schedule::Regions regions;
  if (choice.ping_pong) regions = ping_pong(problem, tiles, groups, streams, known.exponentials);
  Parts parts = problem.parts();
  wait_in_streams(parts, streams, compute, groups);
  TWILL_TRY(Terms terms, posed(std::move(parts), std::move(groups), std::move(streams)));
  terms.depth = choice.depth.value_or(chains_products(problem) ? kAttentionDepth : kProductDepth);
  terms.notes = {
      fmt::format("strategy triton: loads apart, {} copies of each; sub-tiles spread "
                  "over the consumers, which run in source order and wait for each "
                  "product before they go on",
                  *terms.depth)};
  if (choice.ping_pong) terms.notes.push_back(regions.note);
  terms.regions = std::move(regions);
  return terms;
}

Result<Terms> cypress(const Problem& problem, const SubTiles& tiles, std::optional<int> depth) {
  TWILL_TRY(std::vector<GroupId> groups, specialized(problem, tiles));
  std::vector<std::vector<OpId>> streams = in_source_order(problem, tiles, groups);
  TWILL_TRY(Terms terms, posed(problem.parts(), std::move(groups), std::move(streams)));
  terms.depth = depth.value_or(kCypressDepth);
  terms.notes = {
      fmt::format("strategy cypress: loads apart, {} copies of each; the other groups "
                  "run in source order and wait where a value is used",
                  *terms.depth)};
  return terms;
}

Result<Terms> modulo(const Problem& problem, const SubTiles& tiles) {
  TWILL_TRY(std::vector<GroupId> groups, specialized(problem, tiles));
  TWILL_TRY(Terms terms, posed(problem.parts(), std::move(groups), {}));
  terms.notes = {
      "strategy modulo: loads apart; every sub-tile runs the optimal modulo schedule of "
      "one"};
  return terms;
}

Result<Terms> sequential(const Problem& problem, const SubTiles& tiles) {
  if (compute_groups(problem).empty()) return fail({}, "there is no group to compute");
  std::vector<GroupId> groups = unspecialized(problem, tiles);
  std::vector<std::vector<OpId>> streams = in_source_order(problem, tiles, groups);
  Parts parts = problem.parts();
  for (problem::Op& op : parts.ops) op.streaming = false;
  for (const Rule rule : {Rule::width, Rule::load_group}) {
    if (problem.in_force(rule)) parts.relaxed.push_back(rule);
  }
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  wait_in_streams(parts, streams, compute_groups(problem), groups);
  TWILL_TRY(Terms terms, posed(std::move(parts), std::move(groups), std::move(streams)));
  terms.notes = {
      "strategy sequential: no group is special; each runs its sub-tiles in source order "
      "and waits for each load and product before it goes on (rules width and load-group "
      "relaxed)"};
  return terms;
}

Result<Terms> triton_plain(const Problem& problem, const SubTiles& tiles,
                           std::optional<int> depth) {
  if (compute_groups(problem).empty()) return fail({}, "there is no group to compute");
  const int copies = depth.value_or(kProductDepth);
  std::vector<GroupId> groups = unspecialized(problem, tiles);
  std::vector<std::vector<OpId>> streams = in_source_order(problem, tiles, groups);
  std::vector<Cycles> stages;
  for (const problem::Op& op : problem.ops()) stages.push_back(op.streaming ? 0 : copies - 1);
  for (std::vector<OpId>& stream : streams) {
    std::stable_partition(stream.begin(), stream.end(),
                          [&](OpId op) { return !problem[op].streaming; });
  }
  Parts parts = problem.parts();
  for (const Rule rule : {Rule::width, Rule::load_group}) {
    if (problem.in_force(rule)) parts.relaxed.push_back(rule);
  }
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  order_as_plain(parts, problem, streams, stages);
  TWILL_TRY(Terms terms, posed(std::move(parts), std::move(groups), std::move(streams)));
  terms.stages = std::move(stages);
  terms.depth = copies;
  terms.notes = {
      fmt::format("strategy triton-plain: no group is special; each issues its part of the loads "
                  "{} iterations ahead, at the end of its round, and runs its sub-tiles in source "
                  "order; a product that the iteration reads is waited for at once (rules width "
                  "and load-group relaxed)",
                  copies - 1)};
  return terms;
}

Result<Terms> terms_for(const Problem& problem, const Choice& choice, const Known& known,
                        const SubTiles& tiles) {
  switch (choice.strategy) {
    case Strategy::modulo:
      return modulo(problem, tiles);
    case Strategy::triton:
      return triton(problem, tiles, choice, known);
    case Strategy::triton_plain:
      return triton_plain(problem, tiles, choice.depth);
    case Strategy::cypress:
      return cypress(problem, tiles, choice.depth);
    case Strategy::sequential:
      return sequential(problem, tiles);
    case Strategy::twill:
      break;
  }
  TWILL_CHECK(false, "the optimum has no terms");
}

Result<Terms> named_terms(const Problem& problem, const Choice& choice, const Known& known,
                          const SubTiles& tiles) {
  TWILL_TRY_VOID(check(choice));
  auto terms = terms_for(problem, choice, known, tiles);
  if (terms) return terms;
  Diagnostic why = std::move(terms).error();
  why.message = fmt::format("strategy {}: {}", name_of(choice.strategy), why.message);
  return tl::unexpected(std::move(why));
}

/// Lists the dependences by which a load into a copy waits for the readers of the copy's last
/// value.
std::vector<Dependence> copies_reused(const Problem& problem, std::optional<int> depth) {
  std::vector<Dependence> out;
  if (!depth) return out;
  for (const Dependence& it : problem.dependences()) {
    if (!problem[it.from].streaming || !it.carries_value || it.from == it.to) continue;
    Dependence back;
    back.from = it.to;
    back.to = it.from;
    back.distance = std::max(*depth - it.distance, 1);
    back.delay = problem::read_hold_of(it, problem[it.to], problem[it.to].alternatives[0]);
    back.carries_value = false;
    out.push_back(back);
  }
  return out;
}

Program program_of(const Terms& terms) {
  Program program{terms.groups, terms.stages, terms.streams,
                  copies_reused(terms.problem, terms.depth)};
  if (program.stages.empty()) program.stages.assign(terms.groups.size(), 0);
  for (const Dependence& turn : order_of_turns(terms.problem, terms.regions.all)) {
    program.also.push_back(turn);
  }
  return program;
}

Result<schedule::Answer> fill_in(Terms& terms, const Choice& choice, const SubTiles& tiles,
                                 const solve::Options& limits) {
  if (choice.strategy == Strategy::modulo) return arrange_alike(terms, tiles, limits);
  return run_program(terms.problem, program_of(terms), limits);
}

bool fits_without_register_limits(const Terms& terms, const Choice& choice, const SubTiles& tiles,
                                  const solve::Options& limits) {
  if (!terms.problem.in_force(Rule::registers)) return false;
  Parts parts = terms.problem.parts();
  parts.relaxed.push_back(Rule::registers);
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  auto relaxed = posed(std::move(parts), terms.groups, terms.streams);
  if (!relaxed) return false;
  relaxed->stages = terms.stages;
  relaxed->depth = terms.depth;
  relaxed->regions = terms.regions;
  const auto answer = fill_in(*relaxed, choice, tiles, limits);
  return answer && answer->schedule;
}

/// Wraps a schedule as an answer, with the claims that hold beyond its strategy.
Arranged described(Terms terms, schedule::Answer found, std::string_view strategy) {
  Arranged out(std::move(terms));
  out.answer.verdict = found.verdict;
  out.answer.lower_bound = schedule::min_ii(out.terms.problem);
  out.answer.work = found.work;
  out.answer.conflicts = found.conflicts;
  if (!found.schedule) {
    out.answer.argument = fmt::format("strategy {}: {}", strategy, found.argument);
    return out;
  }
  out.answer.verdict = schedule::Verdict::feasible;
  const Cycles interval = found.schedule->initiation_interval;
  const Cycles bound = out.answer.lower_bound.value;
  out.answer.objectives = {{"initiation_interval", interval, bound, bound == interval}};
  const auto least = schedule::least_interval(
      out.terms.problem, schedule::order_of(out.terms.problem, *found.schedule));
  if (least && least->initiation_interval == interval) out.circuit = least->circuit.edges;
  out.answer.schedule = std::move(found.schedule);
  return out;
}

}  // namespace

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::twill:
      return "twill";
    case Strategy::modulo:
      return "modulo";
    case Strategy::triton:
      return "triton";
    case Strategy::triton_plain:
      return "triton-plain";
    case Strategy::cypress:
      return "cypress";
    case Strategy::sequential:
      return "sequential";
  }
  TWILL_CHECK(false, "a strategy without a name");
}

std::string_view summary_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::twill:
      return "the best schedule there is";
    case Strategy::modulo:
      return "software pipelining alone, alike for each sub-tile; loads apart";
    case Strategy::triton:
      return "as Triton specializes warps: loads apart, each product waited for at once";
    case Strategy::triton_plain:
      return "as Triton compiles the kernel itself: loads ahead by stages, all warps in one order";
    case Strategy::cypress:
      return "as Cypress does: loads apart, all else in source order";
    case Strategy::sequential:
      return "no pipelining: each load and product waited for at once";
  }
  TWILL_CHECK(false, "a strategy without a summary");
}

std::optional<Strategy> strategy_named(std::string_view name) {
  for (const Strategy strategy : kAll) {
    if (name_of(strategy) == name) return strategy;
  }
  return std::nullopt;
}

std::span<const Strategy> all_strategies() { return kAll; }

Result<void> check(const Choice& choice) {
  const auto refuse = [&](std::string_view what, std::string hint) {
    return fail({}, fmt::format("strategy {}: it has no {}", name_of(choice.strategy), what),
                std::move(hint));
  };
  const bool triton = choice.strategy == Strategy::triton;
  const bool has_depth =
      triton || choice.strategy == Strategy::triton_plain || choice.strategy == Strategy::cypress;
  if (choice.depth && !has_depth) {
    return refuse("depth to choose", "--depth is for triton, triton-plain and cypress");
  }
  if (choice.ping_pong && !triton) return refuse("ping-pong", "--ping-pong is for triton");
  return {};
}

Result<Terms> terms_of(const Problem& problem, const Choice& choice, const Known& known) {
  return named_terms(problem, choice, known, sub_tiles_of(problem, known.parts));
}

Result<Arranged> arrange(const Problem& problem, const Choice& choice, const Known& known,
                         const solve::Options& limits) {
  const SubTiles tiles = sub_tiles_of(problem, known.parts);
  TWILL_TRY(Terms terms, named_terms(problem, choice, known, tiles));
  auto answer = fill_in(terms, choice, tiles, limits);
  if (answer && answer->verdict == schedule::Verdict::infeasible &&
      fits_without_register_limits(terms, choice, tiles, limits)) {
    answer->argument = "its groups would need more registers than they have";
  }
  if (!answer) {
    Diagnostic why = std::move(answer).error();
    why.message = fmt::format("strategy {}: {}", name_of(choice.strategy), why.message);
    return tl::unexpected(std::move(why));
  }
  return described(std::move(terms), *std::move(answer), name_of(choice.strategy));
}

}  // namespace twill::strategy
