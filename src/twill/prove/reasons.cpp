#include "twill/prove/reasons.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "twill/certify/witness.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/pool_class.h"
#include "twill/schedule/recurrence.h"

namespace twill::prove {
namespace {

using certify::AtLeast;
using certify::Link;
using certify::Reason;
using problem::Problem;
using schedule::Bound;
using schedule::BoundKind;

std::vector<std::size_t> indices(const std::vector<schedule::OpId>& ops) {
  std::vector<std::size_t> out;
  for (const schedule::OpId op : ops) out.push_back(op.index());
  return out;
}

template <class All>
std::size_t index_named(const All& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& it) { return it.name == name; });
  return static_cast<std::size_t>(found - all.begin());
}

Cycles least_delay(const Problem& problem, const problem::Dependence& it) {
  Cycles least = std::numeric_limits<Cycles>::max();
  for (const problem::Alternative& alternative : problem[it.from].alternatives) {
    least = std::min(least, delay_of(it, problem[it.from], alternative));
  }
  return least;
}

Link link_of(const Problem& problem, const problem::Dependence& it) {
  return {it.from.index(), it.to.index(), least_delay(problem, it), it.distance};
}

Reason reason_of(const Problem& problem, const Bound& bound) {
  Reason reason;
  switch (bound.kind) {
    case BoundKind::unit:
      reason.kind = Reason::Kind::unit;
      reason.index = index_named(problem.units(), bound.resource);
      break;
    case BoundKind::pipe:
      reason.kind = Reason::Kind::pipe;
      reason.index = index_named(problem.pipes(), bound.resource);
      break;
    case BoundKind::op:
      reason.kind = Reason::Kind::op;
      reason.index = bound.ops.front().index();
      break;
    case BoundKind::issue:
      reason.kind = Reason::Kind::issue;
      reason.ops = indices(bound.ops);
      break;
    case BoundKind::circuit: {
      reason.kind = Reason::Kind::circuit;
      const auto recurrence = schedule::critical_recurrence(problem);
      for (const problem::DependenceId id : recurrence->circuit) {
        reason.links.push_back(link_of(problem, problem[id]));
      }
      break;
    }
    default:
      break;
  }
  return reason;
}

/// Longest path of dependences from any op to the end of any op.
AtLeast length_bound(const Problem& problem, Cycles interval) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const std::size_t n = problem.ops().size();
  std::vector<Cycles> at(n, 0);
  std::vector<std::size_t> into(n, kNone);
  bool moved = problem.in_force(problem::Rule::dependence);
  for (std::size_t round = 0; moved && round < n; ++round) {
    moved = false;
    for (std::size_t i = 0; i < problem.dependences().size(); ++i) {
      const problem::Dependence& it = problem.dependences()[i];
      const Cycles issue = at[it.from.index()] + least_delay(problem, it) - it.distance * interval;
      if (issue <= at[it.to.index()]) continue;
      at[it.to.index()] = issue;
      into[it.to.index()] = i;
      moved = true;
    }
  }
  AtLeast bound{"length", 0, {}};
  bound.reason.kind = Reason::Kind::chain;
  std::size_t last = 0;
  for (std::size_t op = 0; op < n; ++op) {
    const Cycles end = at[op] + span_of(problem.ops()[op].alternatives.front());
    if (end <= bound.value) continue;
    bound.value = end;
    last = op;
  }
  std::vector<Link>& links = bound.reason.links;
  for (; into[last] != kNone && links.size() < n; last = links.back().from) {
    links.push_back(link_of(problem, problem.dependences()[into[last]]));
  }
  std::reverse(links.begin(), links.end());
  bound.reason.index = last;
  return bound;
}

/// Rewords a reason about the common part of a Problem for the whole Problem.
Reason about_whole(const problem::Residual& part, Reason reason) {
  using Kind = Reason::Kind;
  const auto move = [&](std::size_t& op) { op = part.ops[op].index(); };
  const bool index_is_op =
      reason.kind == Kind::op || reason.kind == Kind::chain || reason.kind == Kind::no_group;
  if (index_is_op) move(reason.index);
  for (std::size_t& op : reason.ops) move(op);
  for (Link& link : reason.links) {
    move(link.from);
    move(link.to);
  }
  return reason;
}

}  // namespace

AtLeast interval_bound(const Problem& problem) {
  const Bound bound = schedule::min_ii(problem);
  return {"interval", bound.value, reason_of(problem, bound)};
}

AtLeast objective_bound(const Problem& problem, problem::Objective objective, Cycles interval) {
  if (!problem.transfers().empty()) {
    const problem::Residual part = problem::common_part(problem);
    AtLeast bound = objective_bound(part.problem, objective, interval);
    bound.reason = about_whole(part, std::move(bound.reason));
    return bound;
  }
  AtLeast bound{std::string(problem::name_of(objective)), 0, {}};
  if (objective == problem::Objective::length) return length_bound(problem, interval);
  if (objective == problem::Objective::crossings) return bound;
  bound.reason.kind = Reason::Kind::apart;
  for (const schedule::PoolClass& it : schedule::pool_classes(problem)) {
    if (!it.ops.empty()) bound.reason.ops.push_back(it.ops.front().index());
  }
  bound.value = static_cast<std::int64_t>(bound.reason.ops.size());
  return bound;
}

std::optional<Reason> never(const Problem& problem) {
  if (!problem.transfers().empty()) {
    const problem::Residual part = problem::common_part(problem);
    auto reason = never(part.problem);
    if (reason) reason = about_whole(part, *std::move(reason));
    return reason;
  }
  std::vector<Reason> candidates;
  const auto add = [&](Reason::Kind kind, std::size_t index, std::vector<std::size_t> ops) {
    candidates.push_back({kind, index, std::move(ops), {}, ""});
  };
  for (std::size_t i = 0; i < problem.memories().size(); ++i) add(Reason::Kind::too_large, i, {});
  for (const schedule::PoolClass& it : schedule::pool_classes(problem)) {
    if (it.groups.empty() && !it.ops.empty()) {
      add(Reason::Kind::no_group, it.ops.front().index(), {});
    }
    add(Reason::Kind::registers, 0, indices(it.ops));
    for (const schedule::OpId op : it.ops) add(Reason::Kind::registers, 0, {op.index()});
  }
  add(Reason::Kind::too_few_groups, 0, {});
  for (Reason& it : candidates) {
    if (certify::objection_to_never(problem, it).empty()) return std::move(it);
  }
  return std::nullopt;
}

}  // namespace twill::prove
