#include "twill/schedule/least_interval.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Problem;
using problem::Rule;

/// Difference constraint: issue(to) >= issue(from) + delay - iterations * II.
struct Constraint {
  OpId from;
  OpId to;
  Cycles delay = 0;
  Cycles iterations = 0;
  std::string reason;  // words for the circuit: "dependence", "unit TC", ...
};

constexpr std::size_t kMostConstraints = 1'000'000;
constexpr Cycles kFar = std::numeric_limits<Cycles>::max() / 4;

/// Collects the constraints of a completed order.
class Constraints {
 public:
  Constraints(const Problem& problem, const Order& order) : problem_(problem), order_(order) {}

  Result<std::vector<Constraint>> all() {
    if (problem_.in_force(Rule::dependence)) add_dependences();
    if (problem_.in_force(Rule::unit)) add_units();
    for (std::size_t g = 0; g < order_.groups.size(); ++g) add_group(GroupId(g));
    if (problem_.in_force(Rule::blocking)) add_blocking();
    if (constraints_.size() > kMostConstraints) {
      return fail(
          {}, fmt::format("the order is too large: more than {} constraints", kMostConstraints));
    }
    return std::move(constraints_);
  }

 private:
  const Step& step(OpId op) const { return order_.ops[op.index()]; }
  const Alternative& alternative(OpId op) const {
    return problem_[op].alternatives[static_cast<std::size_t>(step(op).alternative)];
  }

  /// Demands that `later`, in the round `rounds` further on, comes at least `delay` after
  /// `earlier`.
  void add_in_round(OpId earlier, OpId later, Cycles delay, Cycles rounds,
                    const std::string& reason) {
    if (constraints_.size() > kMostConstraints) return;
    const Cycles iterations = rounds + step(earlier).stage - step(later).stage;
    constraints_.push_back({earlier, later, delay, iterations, reason});
  }

  /// Demands that each op of the cyclic sequence comes at least its `duration` before the next.
  template <class Duration>
  void add_sequence(const std::vector<OpId>& sequence, Duration duration,
                    const std::string& reason) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const bool last = i + 1 == sequence.size();
      const OpId next = last ? sequence.front() : sequence[i + 1];
      add_in_round(sequence[i], next, duration(sequence[i]), last ? 1 : 0, reason);
    }
  }

  void add_dependences() {
    for (const problem::Dependence& edge : problem_.dependences()) {
      Cycles delay = problem::delay_of(edge, problem_[edge.from], alternative(edge.from));
      if (step(edge.from).group != step(edge.to).group) delay += edge.transfer;
      constraints_.push_back({edge.from, edge.to, delay, edge.distance, "dependence"});
    }
  }

  void add_units() {
    for (std::size_t u = 0; u < order_.units.size(); ++u) {
      add_sequence(
          order_.units[u], [&](OpId op) { return alternative(op).occupancy; },
          "unit " + problem_.units()[u].name);
    }
  }

  void add_group(GroupId group) {
    const std::vector<OpId>& sequence = order_.groups[group.index()];
    const std::string reason = "group " + problem_[group].name;
    add_sequence(
        sequence, [](OpId) { return Cycles{0}; }, reason);
    if (!problem_.in_force(Rule::one_stream)) return;
    std::vector<OpId> issuing;
    std::copy_if(sequence.begin(), sequence.end(), std::back_inserter(issuing),
                 [&](OpId op) { return alternative(op).issue > 0; });
    add_sequence(
        issuing, [&](OpId op) { return alternative(op).issue; }, reason);
  }

  std::vector<bool> blocking_ops() const {
    std::vector<bool> blocking(order_.ops.size(), false);
    for (const problem::Dependence& edge : problem_.dependences()) {
      const bool crosses = step(edge.from).group != step(edge.to).group;
      const bool receives = crosses && edge.carries_value && problem_[edge.from].registers > 0;
      if (edge.blocking || receives) blocking[edge.to.index()] = true;
    }
    return blocking;
  }

  void add_blocking() {
    const std::vector<bool> blocking = blocking_ops();
    for (const std::vector<OpId>& sequence : order_.groups) {
      for (std::size_t at = 0; at < sequence.size(); ++at) {
        // No constraint where groups issue one op at a time: issue windows are disjoint anyway.
        const bool apart =
            problem_.in_force(Rule::one_stream) && alternative(sequence[at]).issue > 0;
        if (blocking[sequence[at].index()] && !apart) add_blocking_op(sequence, at);
      }
    }
  }

  /// Places the issue of sequence[at] between the windows of each other op in two adjacent rounds.
  void add_blocking_op(const std::vector<OpId>& sequence, std::size_t at) {
    const OpId op = sequence[at];
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const OpId other = sequence[i];
      if (i == at || alternative(other).issue == 0) continue;
      const std::string reason = "blocking in group " + problem_[step(op).group].name;
      add_in_round(other, op, alternative(other).issue, i < at ? 0 : 1, reason);
      add_in_round(op, other, 1, i < at ? 1 : 0, reason);
    }
  }

  const Problem& problem_;
  const Order& order_;
  std::vector<Constraint> constraints_;
};

/// Weight of the edge, delay - iterations * interval, kept inside +-kFar.
Cycles weight_of(const Constraint& constraint, Cycles interval) {
  if (constraint.iterations > kFar / interval) return -kFar;
  return constraint.delay - constraint.iterations * interval;
}

using Circuit = std::vector<const Constraint*>;

/// Circuit in the graph of last improvements, if there is one; its weight is positive.
std::optional<Circuit> circuit_of(const std::vector<const Constraint*>& improved_by) {
  std::vector<std::size_t> seen_from(improved_by.size(), improved_by.size());
  for (std::size_t start = 0; start < improved_by.size(); ++start) {
    std::size_t at = start;
    while (seen_from[at] == improved_by.size() && improved_by[at] != nullptr) {
      seen_from[at] = start;
      at = improved_by[at]->from.index();
    }
    if (seen_from[at] != start || improved_by[at] == nullptr) continue;
    Circuit circuit;
    const std::size_t end = at;
    do {
      circuit.push_back(improved_by[at]);
      at = improved_by[at]->from.index();
    } while (at != end);
    std::reverse(circuit.begin(), circuit.end());
    return circuit;
  }
  return std::nullopt;
}

/// Earliest issue cycles at this II, or a circuit that forbids the II (Bellman-Ford).
struct Attempt {
  std::vector<Cycles> issue;
  std::optional<Circuit> circuit;
};

Attempt attempt(const std::vector<Constraint>& constraints, std::size_t ops, Cycles interval) {
  Attempt result{std::vector<Cycles>(ops, 0), std::nullopt};
  std::vector<const Constraint*> improved_by(ops, nullptr);
  const auto improve = [&](const Constraint& constraint) {
    const Cycles from = result.issue[constraint.from.index()];
    const Cycles earliest = from + weight_of(constraint, interval);
    if (earliest <= result.issue[constraint.to.index()]) return false;
    result.issue[constraint.to.index()] = earliest;
    improved_by[constraint.to.index()] = &constraint;
    return true;
  };
  bool changed = true;
  while (changed && !result.circuit) {
    // Passes alternate in direction, so that chains are followed in either order of listing.
    changed = false;
    for (auto it = constraints.begin(); it != constraints.end(); ++it) changed |= improve(*it);
    for (auto it = constraints.rbegin(); it != constraints.rend(); ++it) changed |= improve(*it);
    if (changed) result.circuit = circuit_of(improved_by);
  }
  return result;
}

/// Whether `attempt` stays inside 64 bits: issue cycles grow by the positive weights twice in each
/// of at most ops + 1 rounds.
bool fits(const std::vector<Constraint>& constraints, std::size_t ops, Cycles interval) {
  const Cycles most = kFar / static_cast<Cycles>(2 * ops + 2);
  Cycles sum = 0;
  for (const Constraint& constraint : constraints) {
    if (constraint.iterations < -(most / interval)) return false;
    sum += std::max<Cycles>(0, weight_of(constraint, interval));
    if (sum > most) return false;
  }
  return true;
}

CriticalCircuit described(const Problem& problem, const Circuit& circuit) {
  CriticalCircuit out;
  for (const Constraint* edge : circuit) {
    out.ops.push_back(edge->from);
    std::string line = fmt::format("{} -> {}: {}, {} cycles", problem[edge->from].name,
                                   problem[edge->to].name, edge->reason, edge->delay);
    if (edge->iterations != 0) {
      line +=
          fmt::format(", {} iteration{} on", edge->iterations, edge->iterations == 1 ? "" : "s");
    }
    out.edges.push_back(std::move(line));
    out.delay += edge->delay;
    out.iterations += edge->iterations;
  }
  return out;
}

Schedule schedule_of(const Order& order, Cycles interval, const std::vector<Cycles>& issue) {
  Schedule schedule{interval, {}};
  for (std::size_t i = 0; i < order.ops.size(); ++i) {
    schedule.ops.push_back({issue[i], order.ops[i].group, order.ops[i].alternative});
  }
  return schedule;
}

}  // namespace

Result<LeastInterval> least_interval(const Problem& problem, const Order& given, Cycles at_least) {
  TWILL_TRY(const Order order, completed(problem, given));
  TWILL_TRY(const std::vector<Constraint> constraints, Constraints(problem, order).all());
  LeastInterval least;
  least.initiation_interval = at_least;
  // Newton's method: each circuit found forbids every II below its own ratio, so few steps suffice.
  while (true) {
    if (!fits(constraints, order.ops.size(), least.initiation_interval)) {
      return fail({}, "the order is too large: its issue cycles leave 64 bits");
    }
    Attempt found = attempt(constraints, order.ops.size(), least.initiation_interval);
    if (!found.circuit) {
      least.schedule = schedule_of(order, least.initiation_interval, found.issue);
      return least;
    }
    least.circuit = described(problem, *found.circuit);
    if (least.circuit.iterations <= 0) {
      return fail({},
                  fmt::format("no initiation interval is large enough for this order: {}",
                              fmt::join(least.circuit.edges, "; ")),
                  "one of the ops on this circuit is in too late or too early a stage");
    }
    const Cycles iterations = least.circuit.iterations;
    least.initiation_interval = (least.circuit.delay + iterations - 1) / iterations;
  }
}

}  // namespace twill::schedule
