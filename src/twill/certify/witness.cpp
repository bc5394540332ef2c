#include "twill/certify/witness.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "twill/certify/facts.h"
#include "twill/certify/never.h"
#include "twill/problem/transfer.h"

namespace twill::certify {
namespace {

/// Limit on sums of a certificate's numbers: below it no sum can overflow.
constexpr std::int64_t kFar = std::int64_t{1} << 61U;

using problem::Alternative;
using problem::Dependence;
using problem::Op;
using problem::Problem;
using problem::Rule;

using Weight = tl::expected<std::int64_t, std::string>;

/// Least cost over the alternatives of the op.
template <class Cost>
std::int64_t least(const Op& op, Cost cost) {
  std::int64_t value = std::numeric_limits<std::int64_t>::max();
  for (const Alternative& alternative : op.alternatives)
    value = std::min<std::int64_t>(value, cost(alternative));
  return value;
}

Cycles on_pipe(const Alternative& alternative, std::size_t pipe) {
  for (const problem::PipeUse& use : alternative.pipes) {
    if (use.pipe.index() == pipe) return use.demand;
  }
  return 0;
}

std::set<std::size_t> groups_of(const Problem& problem, std::size_t op) {
  std::set<std::size_t> groups;
  for (std::size_t i = 0; i < problem.groups().size(); ++i) {
    if (may_run(problem, problem.ops()[op], problem.groups()[i])) groups.insert(i);
  }
  return groups;
}

Weight relaxed(Rule rule) {
  return tl::unexpected(fmt::format("the rule {} is not in force", problem::name_of(rule)));
}

Weight sum_on_unit(const Problem& problem, std::size_t unit) {
  if (!problem.in_force(Rule::unit)) return relaxed(Rule::unit);
  std::int64_t sum = 0;
  for (const Op& op : problem.ops()) {
    sum += least(op, [&](const Alternative& alternative) {
      return alternative.unit && alternative.unit->index() == unit ? alternative.occupancy
                                                                   : Cycles{0};
    });
  }
  return sum;
}

Weight sum_on_pipe(const Problem& problem, std::size_t pipe) {
  if (!problem.in_force(Rule::pipe)) return relaxed(Rule::pipe);
  std::int64_t sum = 0;
  for (const Op& op : problem.ops()) {
    sum += least(op, [&](const Alternative& alternative) { return on_pipe(alternative, pipe); });
  }
  return sum;
}

Weight alone(const Problem& problem, std::size_t op) {
  return least(problem.ops()[op], [&](const Alternative& alternative) {
    Cycles cycles = 0;
    if (problem.in_force(Rule::unit)) cycles = std::max(cycles, alternative.occupancy);
    if (problem.in_force(Rule::one_stream)) cycles = std::max(cycles, alternative.issue);
    if (!problem.in_force(Rule::pipe)) return cycles;
    for (const problem::PipeUse& use : alternative.pipes) cycles = std::max(cycles, use.demand);
    return cycles;
  });
}

Weight spread_issue(const Problem& problem, const std::vector<std::size_t>& ops) {
  if (!problem.in_force(Rule::one_stream)) return relaxed(Rule::one_stream);
  std::set<std::size_t> groups;
  std::set<std::size_t> seen;
  std::int64_t sum = 0;
  for (const std::size_t op : ops) {
    if (!seen.insert(op).second) return tl::unexpected(std::string("an op stands twice"));
    groups.merge(groups_of(problem, op));
    sum +=
        least(problem.ops()[op], [](const Alternative& alternative) { return alternative.issue; });
  }
  if (groups.empty()) return tl::unexpected(std::string("no group may run these ops"));
  const auto count = static_cast<std::int64_t>(groups.size());
  return (sum + count - 1) / count;
}

/// Objection to a link; empty if it is right.
std::string objection_to(const Problem& problem, const Link& link) {
  for (const Dependence& it : problem.dependences()) {
    if (it.from.index() != link.from || it.to.index() != link.to) continue;
    const Op& from = problem[it.from];
    const std::int64_t delay = least(from, [&](const Alternative& alternative) {
      return problem::delay_of(it, from, alternative);
    });
    if (delay >= link.delay && it.distance <= link.distance) return {};
  }
  return fmt::format("there is no dependence {} -> {} of delay {} at distance {}",
                     problem.ops()[link.from].name, problem.ops()[link.to].name, link.delay,
                     link.distance);
}

/// Objection to links that are not connected, or no dependences; empty if they are right.
std::string objection_to(const Problem& problem, const std::vector<Link>& links,
                         std::size_t start) {
  if (!problem.in_force(Rule::dependence)) return "the rule dependence is not in force";
  std::size_t at = start;
  for (const Link& link : links) {
    if (link.from != at) {
      return fmt::format("the path is at {}, but goes on from {}", problem.ops()[at].name,
                         problem.ops()[link.from].name);
    }
    if (std::string wrong = objection_to(problem, link); !wrong.empty()) return wrong;
    at = link.to;
  }
  return {};
}

Weight around(const Problem& problem, const std::vector<Link>& links) {
  if (links.empty()) return tl::unexpected(std::string("the circuit has no dependences"));
  const std::size_t start = links.front().from;
  if (std::string wrong = objection_to(problem, links, start); !wrong.empty()) {
    return tl::unexpected(std::move(wrong));
  }
  if (links.back().to != start)
    return tl::unexpected(std::string("the circuit does not lead back"));
  std::int64_t delay = 0;
  std::int64_t distance = 0;
  for (const Link& link : links) {
    delay += link.delay;
    distance += link.distance;
    if (delay > kFar) return tl::unexpected(std::string("the circuit is too long"));
  }
  if (distance < 1) return tl::unexpected(std::string("the circuit has no distance"));
  return (delay + distance - 1) / distance;
}

Weight along(const Problem& problem, const Reason& reason, Cycles interval) {
  if (!reason.links.empty()) {
    std::string wrong = objection_to(problem, reason.links, reason.index);
    if (!wrong.empty()) return tl::unexpected(std::move(wrong));
  }
  std::int64_t cycles = 0;
  std::size_t last = reason.index;
  for (const Link& link : reason.links) {
    cycles += link.delay - link.distance * interval;  // at most 2^60 each (claims_text.cpp)
    if (cycles < -kFar || cycles > kFar) return tl::unexpected(std::string("the path is too long"));
    last = link.to;
  }
  return cycles + least(problem.ops()[last], problem::span_of);
}

Weight pairwise_apart(const Problem& problem, const std::vector<std::size_t>& ops) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::set<std::size_t> of_first = groups_of(problem, ops[i]);
    for (std::size_t j = 0; j < i; ++j) {
      for (const std::size_t group : groups_of(problem, ops[j])) {
        if (!of_first.contains(group)) continue;
        return tl::unexpected(fmt::format("{} and {} may share group {}",
                                          problem.ops()[ops[j]].name, problem.ops()[ops[i]].name,
                                          problem.groups()[group].name));
      }
    }
  }
  return static_cast<std::int64_t>(ops.size());
}

/// Rewords the reason for the part of a Problem that exists for all choices of groups. Empty if the
/// reason names an op that may not exist.
std::optional<Reason> about(const problem::Residual& part, Reason reason) {
  bool fine = true;
  const auto move = [&](std::size_t& op) {
    const auto now = part.now(problem::OpId(op));
    fine = fine && now.has_value();
    op = now ? now->index() : 0;
  };
  const bool index_is_op = reason.kind == Reason::Kind::op || reason.kind == Reason::Kind::chain ||
                           reason.kind == Reason::Kind::no_group;
  if (index_is_op) move(reason.index);
  for (std::size_t& op : reason.ops) move(op);
  for (Link& link : reason.links) {
    move(link.from);
    move(link.to);
  }
  return fine ? std::optional(std::move(reason)) : std::nullopt;
}

constexpr std::string_view kMayBeMissing = "the reason names a transfer op, which may not exist";

}  // namespace

std::string objection_to_never(const Problem& problem, const Reason& reason) {
  if (problem.transfers().empty()) return objection_to_reason(problem, reason);
  const problem::Residual part = problem::common_part(problem);
  const auto moved = about(part, reason);
  return moved ? objection_to_reason(part.problem, *moved) : std::string(kMayBeMissing);
}

Weight weight_of(const Problem& problem, const std::string& level, const Reason& reason,
                 Cycles interval) {
  if (!problem.transfers().empty()) {
    const problem::Residual part = problem::common_part(problem);
    const auto moved = about(part, reason);
    if (!moved) return tl::unexpected(std::string(kMayBeMissing));
    return weight_of(part.problem, level, *moved, interval);
  }
  const bool of_interval = level == "interval";
  switch (reason.kind) {
    case Reason::Kind::trivial:
      return level == "crossings" ? 0 : 1;
    case Reason::Kind::unit:
      if (of_interval) return sum_on_unit(problem, reason.index);
      break;
    case Reason::Kind::pipe:
      if (of_interval) return sum_on_pipe(problem, reason.index);
      break;
    case Reason::Kind::op:
      if (of_interval) return alone(problem, reason.index);
      break;
    case Reason::Kind::issue:
      if (of_interval) return spread_issue(problem, reason.ops);
      break;
    case Reason::Kind::circuit:
      if (of_interval) return around(problem, reason.links);
      break;
    case Reason::Kind::apart:
      if (level == "groups") return pairwise_apart(problem, reason.ops);
      break;
    case Reason::Kind::chain:
      if (level == "length") return along(problem, reason, interval);
      break;
    default:
      break;
  }
  return tl::unexpected("the reason gives no bound on " + level);
}

}  // namespace twill::certify
