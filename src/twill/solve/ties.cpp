#include "twill/solve/ties.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "twill/solve/recheck.h"
#include "twill/solve/structure.h"
#include "twill/support/check.h"
#include "twill/support/whole_division.h"

namespace twill::solve {
namespace {

using schedule::Schedule;

/// Closure of a system of differences x(to) - x(from) >= w: the longest distance between any two of
/// its nodes. Every node is within [0, latest] of an additional node, the origin.
class Closure {
 public:
  /// `latest` is by node. Precondition: it leaves a solution with the inequalities to come.
  explicit Closure(const std::vector<Cycles>& latest)
      : count_(latest.size() + 1), distance_(count_ * count_, 0) {
    for (std::size_t from = 0; from < latest.size(); ++from) {
      for (std::size_t to = 0; to < count_; ++to) at(from, to) = from == to ? 0 : -latest[from];
    }
  }

  std::size_t origin() const { return count_ - 1; }
  Cycles operator()(std::size_t from, std::size_t to) const {
    return distance_[from * count_ + to];
  }

  /// Adds a difference. Call `close` before anything is read.
  void put(std::size_t from, std::size_t to, Cycles weight) {
    at(from, to) = std::max(at(from, to), weight);
  }

  void close() {
    for (std::size_t by = 0; by < count_; ++by) add_paths(by, by, 0);
  }

  /// Adds a difference to a closure that is up to date, and keeps it so.
  void add(std::size_t from, std::size_t to, Cycles weight) {
    if (weight > (*this)(from, to)) add_paths(from, to, weight);
  }

  bool solvable() const {
    for (std::size_t i = 0; i < count_; ++i) {
      if ((*this)(i, i) > 0) return false;
    }
    return true;
  }

 private:
  Cycles& at(std::size_t from, std::size_t to) { return distance_[from * count_ + to]; }

  /// Adds the paths through an edge from `a` to `b`.
  void add_paths(std::size_t a, std::size_t b, Cycles weight) {
    const auto begin = distance_.begin();
    const std::vector<Cycles> tail(begin + static_cast<std::ptrdiff_t>(b * count_),
                                   begin + static_cast<std::ptrdiff_t>((b + 1) * count_));
    for (std::size_t from = 0; from < count_; ++from) {
      const Cycles head = (*this)(from, a) + weight;
      Cycles* const row = &distance_[from * count_];
      for (std::size_t to = 0; to < count_; ++to) row[to] = std::max(row[to], head + tail[to]);
    }
  }

  std::size_t count_;
  std::vector<Cycles> distance_;  ///< by from, then to
};

/// Raises the slacks of waits in a closure.
class Slacks {
 public:
  Slacks(Closure& closure, std::vector<Wait> waits) : closure_(closure), open_(std::move(waits)) {}

  void raise_all() {
    while (!open_.empty()) {
      Circuit tight = tightest_alone();
      Cycles slack = room(tight);
      while (auto circuit = circuit_above(slack)) {
        tight = *std::move(circuit);
        slack = room(tight);
      }
      settle(std::move(tight), slack);
    }
  }

 private:
  /// Open waits by index, each followed by the longest path to the next wait, the last one by the
  /// path to the first.
  using Circuit = std::vector<std::size_t>;

  Cycles weight(std::size_t before, std::size_t wait) const {
    return closure_(open_[before].to, open_[wait].from) + open_[wait].least;
  }

  /// Largest slack that all waits of a circuit can have at once.
  Cycles room(const Circuit& circuit) const {
    Cycles sum = 0;
    for (std::size_t i = 0; i < circuit.size(); ++i) {
      sum += weight(circuit[i], circuit[(i + 1) % circuit.size()]);
    }
    return floor_divide(-sum, static_cast<Cycles>(circuit.size()));
  }

  Circuit tightest_alone() const {
    std::size_t tightest = 0;
    for (std::size_t i = 1; i < open_.size(); ++i) {
      if (weight(i, i) > weight(tightest, tightest)) tightest = i;
    }
    return {tightest};
  }

  /// Finds a circuit on which not all waits can have this slack (Bellman-Ford).
  std::optional<Circuit> circuit_above(Cycles slack) const {
    std::vector<Cycles> label(open_.size(), 0);
    std::vector<std::size_t> parent(open_.size(), kNone);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < open_.size(); ++i) {
        for (std::size_t j = 0; j < open_.size(); ++j) {
          const Cycles least = label[i] + weight(i, j) + slack;
          if (i == j || least <= label[j]) continue;  // a wait alone always has room
          label[j] = least;
          parent[j] = i;
          changed = true;
        }
      }
      if (auto circuit = circuit_of(parent)) return circuit;
    }
    return std::nullopt;
  }

  static std::optional<Circuit> circuit_of(const std::vector<std::size_t>& parent) {
    std::vector<std::size_t> walk(parent.size(), kNone);  // start of the walk that passed by
    for (std::size_t start = 0; start < parent.size(); ++start) {
      std::size_t at = start;
      while (at != kNone && walk[at] == kNone) {
        walk[at] = start;
        at = parent[at];
      }
      if (at == kNone || walk[at] != start) continue;
      Circuit circuit;
      const std::size_t first = at;
      do {
        circuit.push_back(at);
        at = parent[at];
      } while (at != first);
      std::reverse(circuit.begin(), circuit.end());
      return circuit;
    }
    return std::nullopt;
  }

  void settle(Circuit circuit, Cycles slack) {
    std::sort(circuit.begin(), circuit.end(), std::greater<>());
    for (const std::size_t i : circuit) {
      const Wait wait = open_[i];
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      closure_.add(wait.from, wait.to, wait.least + slack);
    }
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Closure& closure_;
  std::vector<Wait> open_;
};

/// Assigns a column to each row, with maximum total gain: the Hungarian method (Kuhn 1955), cubic.
template <class Gain>
std::vector<std::size_t> assignment(std::size_t count, const Gain& gain) {
  constexpr Cycles kFar = std::numeric_limits<Cycles>::max();
  const std::size_t none = count;
  std::vector<Cycles> row_price(count + 1, 0);
  std::vector<Cycles> column_price(count + 1, 0);
  std::vector<std::size_t> row_of(count + 1, none);  // by column; the last column is a start
  for (std::size_t row = 0; row < count; ++row) {
    std::vector<Cycles> least(count, kFar);
    std::vector<std::size_t> before(count, none);
    std::vector<bool> reached(count + 1, false);
    row_of[none] = row;
    std::size_t column = none;
    do {
      reached[column] = true;
      const std::size_t from = row_of[column];
      std::size_t nearest = none;
      for (std::size_t j = 0; j < count; ++j) {
        if (reached[j]) continue;
        const Cycles cost = -gain(from, j) - row_price[from] - column_price[j];
        if (cost < least[j]) {
          least[j] = cost;
          before[j] = column;
        }
        if (nearest == none || least[j] < least[nearest]) nearest = j;
      }
      const Cycles step = least[nearest];
      for (std::size_t j = 0; j <= count; ++j) {
        if (reached[j]) {
          row_price[row_of[j]] += step;
          column_price[j] -= step;
        } else if (j < count) {
          least[j] -= step;
        }
      }
      column = nearest;
    } while (row_of[column] != none);
    for (; column != none; column = before[column]) row_of[column] = row_of[before[column]];
  }
  std::vector<std::size_t> column_of(count);
  for (std::size_t column = 0; column < count; ++column) column_of[row_of[column]] = column;
  return column_of;
}

/// Lists values that take registers or memory while they live.
std::vector<std::size_t> values_of(const Instance& instance) {
  std::vector<std::size_t> values;
  for (std::size_t op = 0; op < instance.op_count(); ++op) {
    const auto& footprint = instance.problem->ops()[op].footprint;
    const bool takes = instance.tasks[op].registers > 0 || !footprint.empty();
    if (takes && !instance.reads[op].empty()) values.push_back(op);
  }
  return values;
}

/// Leaves only the solutions with the least sum of lifetimes.
///
/// Let E(v) be the end of value v. The sum of E(v) - M(v) is minimized, where E(v) - M(u) is at
/// least a distance d(u, v) for all values u and v. The dual assigns ends to issues so that the sum
/// of the d is largest. A solution is best iff its differences equal d for these pairs.
void shorten_lifetimes(const Instance& instance, Cycles ii, Closure& closure) {
  const std::vector<std::size_t> values = values_of(instance);
  const auto end_after = [&](const Read& read) { return read.distance * ii + read.hold; };
  const auto least = [&](std::size_t u, std::size_t v) {
    Cycles distance = std::numeric_limits<Cycles>::min();
    for (const Read& read : instance.reads[values[v]]) {
      distance = std::max(distance, closure(values[u], read.reader) + end_after(read));
    }
    return distance;
  };
  std::vector<Cycles> distances;
  for (std::size_t u = 0; u < values.size(); ++u) {
    for (std::size_t v = 0; v < values.size(); ++v) distances.push_back(least(u, v));
  }
  const auto distance = [&](std::size_t u, std::size_t v) {
    return distances[u * values.size() + v];
  };
  const std::vector<std::size_t> end_of = assignment(values.size(), distance);
  for (std::size_t u = 0; u < values.size(); ++u) {
    for (const Read& read : instance.reads[values[end_of[u]]]) {
      closure.add(read.reader, values[u], end_after(read) - distance(u, end_of[u]));
    }
  }
}

Closure closure_of(const Instance& instance, const Schedule& schedule) {
  const Cycles ii = schedule.initiation_interval;
  Cycles length = 0;
  for (std::size_t op = 0; op < instance.op_count(); ++op) {
    length = std::max(length, schedule.ops[op].issue + instance.tasks[op].span);
  }
  std::vector<Cycles> latest;
  for (const Task& task : instance.tasks) latest.push_back(length - task.span);
  Closure closure(latest);
  for (const Inequality& it : structure_of(instance, schedule)) {
    closure.put(it.from, it.to, it.alpha + it.beta * ii);
  }
  closure.close();
  return closure;
}

}  // namespace

std::vector<Wait> waits_of(const Instance& instance, const Schedule& schedule) {
  std::vector<Wait> waits;
  const problem::Problem& problem = *instance.problem;
  for (std::size_t i = 0; i < instance.precedences.size(); ++i) {
    const Precedence& it = instance.precedences[i];
    const problem::Dependence& dependence = problem.dependences()[i];
    const bool crosses = schedule.ops[it.from].group != schedule.ops[it.to].group;
    const bool transferred =
        crosses && dependence.carries_value && instance.tasks[it.from].registers > 0;
    const bool awaited =
        dependence.blocking || transferred || problem[dependence.from].variable_latency;
    if (!awaited || it.from == it.to) continue;
    const Cycles least = it.delay + (crosses ? it.transfer : 0);
    waits.push_back({it.from, it.to, least - it.distance * schedule.initiation_interval});
  }
  return waits;
}

Cycles total_lifetime(const Instance& instance, const Schedule& schedule) {
  Cycles sum = 0;
  for (const std::size_t value : values_of(instance)) {
    Cycles end = std::numeric_limits<Cycles>::min();
    for (const Read& read : instance.reads[value]) {
      const Cycles after = read.distance * schedule.initiation_interval + read.hold;
      end = std::max(end, schedule.ops[read.reader].issue + after);
    }
    sum += end - schedule.ops[value].issue;
  }
  return sum;
}

Schedule settle_ties(const Instance& instance, const Schedule& schedule) {
  if (instance.op_count() > kMostOpsToSettle) return schedule;
  Closure closure = closure_of(instance, schedule);
  TWILL_CHECK(closure.solvable(), "a schedule obeys its own structure");
  Slacks(closure, waits_of(instance, schedule)).raise_all();
  shorten_lifetimes(instance, schedule.initiation_interval, closure);
  TWILL_CHECK(closure.solvable(), "what is best among solutions is one");
  Schedule settled = schedule;
  for (std::size_t op = 0; op < instance.op_count(); ++op) {
    settled.ops[op].issue = closure(closure.origin(), op);
  }
  TWILL_CHECK(keeps_order(instance, settled) && fits_storage(instance, settled),
              "what obeys a structure obeys the rules");
  return settled;
}

}  // namespace twill::solve
