#include "twill/solve/structure.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "twill/solve/recheck.h"
#include "twill/support/check.h"
#include "twill/support/whole_division.h"

namespace twill::solve {
namespace {

using schedule::Schedule;

class Structure {
 public:
  Structure(const Instance& instance, const Schedule& schedule)
      : instance_(instance),
        schedule_(schedule),
        ii_(schedule.initiation_interval),
        waiting_(waiting_in(instance, schedule)) {}

  std::vector<Inequality> build() {
    add_precedences();
    for (std::size_t a = 0; a < instance_.op_count(); ++a) {
      for (std::size_t b = 0; b < instance_.op_count(); ++b) add_pair(a, b);
    }
    for (const Store& memory : instance_.memories) add_storage(memory.values, false);
    add_storage(instance_.register_values, true);
    return in_order_of_issue();
  }

 private:
  /// Sorts inequalities by issue: within an iteration, those that lead to an op come before those
  /// that leave it. So one pass relaxes a whole iteration.
  std::vector<Inequality> in_order_of_issue() const {
    std::vector<std::size_t> ops(instance_.op_count());
    std::iota(ops.begin(), ops.end(), std::size_t{0});
    std::stable_sort(ops.begin(), ops.end(),
                     [&](std::size_t a, std::size_t b) { return issue(a) < issue(b); });
    std::vector<std::size_t> next(ops.size(), 0);  // by op: place of the next inequality that
                                                   // leaves it
    for (const Inequality& it : out_) ++next[it.from];
    std::size_t before = 0;
    for (const std::size_t op : ops) before += std::exchange(next[op], before);
    std::vector<Inequality> sorted(out_.size());
    for (const Inequality& it : out_) sorted[next[it.from]++] = it;
    return sorted;
  }

  Cycles issue(std::size_t op) const { return schedule_.ops[op].issue; }
  bool share_group(std::size_t a, std::size_t b) const {
    return schedule_.ops[a].group == schedule_.ops[b].group;
  }

  void add_precedences() {
    for (const Precedence& it : instance_.precedences) {
      const Cycles transfer = share_group(it.from, it.to) ? 0 : it.transfer;
      out_.push_back({it.from, it.to, it.delay + transfer, -it.distance});
    }
  }

  /// Demands that the next issue of `b` after an issue of `a` (modulo II) comes at least `hold`
  /// later.
  void add_order(std::size_t a, std::size_t b, Cycles hold) {
    out_.push_back({a, b, hold, floor_divide(issue(b) - issue(a), ii_)});
  }

  void add_pair(std::size_t a, std::size_t b) {
    if (a == b) return;
    const Task& task_a = instance_.tasks[a];
    const Task& task_b = instance_.tasks[b];
    if (task_a.unit && task_a.unit == task_b.unit) add_order(a, b, task_a.occupancy);
    if (!share_group(a, b)) return;
    const bool stream = instance_.one_stream && task_a.issue > 0 && task_b.issue > 0;
    if (stream) add_order(a, b, task_a.issue);
    if (task_a.issue == 0 || waiting_[b] == 0) return;
    add_order(a, b, task_a.issue);
    const Cycles round = floor_divide(issue(b) - issue(a), ii_);
    out_.push_back({b, a, 1, -(round + 1)});  // before the next issue of a
  }

  void add_storage(const std::vector<Occupant>& values, bool by_group) {
    for (const Occupant& event : values) {
      for (const Occupant& value : values) {
        if (!by_group || share_group(event.op, value.op)) keep_copies(event.op, value.op);
      }
    }
  }

  /// Keeps the set of live copies at M(event): copies first..last of the value are alive, and no
  /// others begin.
  void keep_copies(std::size_t event, std::size_t value) {
    const Cycles first = ceil_divide(issue(value) - issue(event), ii_);
    if (event != value) out_.push_back({event, value, 1, first - 1});
    Cycles last = first - 1;
    const auto last_of = [&](const Read& read) {
      return ceil_divide(issue(read.reader) + read.hold - issue(event), ii_) + read.distance - 1;
    };
    for (const Read& read : instance_.reads[value]) last = std::max(last, last_of(read));
    for (const Read& read : instance_.reads[value]) {
      out_.push_back({read.reader, event, read.hold, read.distance - last - 1});
    }
  }

  const Instance& instance_;
  const Schedule& schedule_;
  const Cycles ii_;
  const std::vector<std::uint8_t> waiting_;
  std::vector<Inequality> out_;
};

/// Longest paths from cycle 0 at one II (Bellman-Ford).
class BellmanFord {
 public:
  BellmanFord(const std::vector<Inequality>& structure, std::size_t op_count, Cycles ii)
      : structure_(structure), ii_(ii), issue_(op_count, 0), parent_(op_count, kNone) {}

  /// Finds a circuit of positive weight, as the sums of its alphas and betas. Empty: `issue` is a
  /// solution.
  std::optional<std::pair<Cycles, Cycles>> find_circuit() {
    for (std::size_t i = 0; i < structure_.size(); ++i) {
      const Inequality& it = structure_[i];
      if (it.from == it.to && it.alpha + it.beta * ii_ > 0) return std::pair(it.alpha, it.beta);
    }
    while (relax()) {
      if (auto circuit = circuit_of_parents()) return circuit;
    }
    return std::nullopt;
  }

  std::vector<Cycles> take_issue() { return std::move(issue_); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  bool relax() {
    bool changed = false;
    for (std::size_t i = 0; i < structure_.size(); ++i) {
      const Inequality& it = structure_[i];
      const Cycles at = issue_[it.from] + it.alpha + it.beta * ii_;
      if (at <= issue_[it.to]) continue;
      issue_[it.to] = at;
      parent_[it.to] = i;
      changed = true;
    }
    return changed;
  }

  std::optional<std::pair<Cycles, Cycles>> circuit_of_parents() const {
    std::vector<std::size_t> walk(issue_.size(), kNone);  // start of the walk that passed by
    for (std::size_t start = 0; start < issue_.size(); ++start) {
      std::size_t op = start;
      while (walk[op] == kNone && parent_[op] != kNone) {
        walk[op] = start;
        op = structure_[parent_[op]].from;
      }
      if (parent_[op] == kNone || walk[op] != start) continue;
      std::pair<Cycles, Cycles> sums{0, 0};
      const std::size_t first = op;
      do {
        const Inequality& it = structure_[parent_[op]];
        sums.first += it.alpha;
        sums.second += it.beta;
        op = it.from;
      } while (op != first);
      return sums;
    }
    return std::nullopt;
  }

  const std::vector<Inequality>& structure_;
  const Cycles ii_;
  std::vector<Cycles> issue_;
  std::vector<std::size_t> parent_;
};

}  // namespace

std::vector<Inequality> structure_of(const Instance& instance, const Schedule& schedule) {
  return Structure(instance, schedule).build();
}

bool has_solution(const std::vector<Inequality>& structure, std::size_t op_count, Cycles ii) {
  return !BellmanFord(structure, op_count, ii).find_circuit();
}

std::optional<Cycles> least_interval(const std::vector<Inequality>& structure, std::size_t op_count,
                                     Cycles least) {
  Cycles ii = least;
  while (const auto circuit = BellmanFord(structure, op_count, ii).find_circuit()) {
    const auto [alpha, beta] = *circuit;
    if (beta >= 0) return std::nullopt;
    ii = ceil_divide(alpha, -beta);
  }
  return ii;
}

std::vector<Cycles> earliest_issue(const std::vector<Inequality>& structure, std::size_t op_count,
                                   Cycles ii) {
  BellmanFord search(structure, op_count, ii);
  const bool solvable = !search.find_circuit();
  TWILL_CHECK(solvable, "a structure has a solution at the II it was taken from");
  return search.take_issue();
}

Schedule tightened(const Schedule& schedule, const std::vector<Inequality>& structure, Cycles ii) {
  Schedule out = schedule;
  out.initiation_interval = ii;
  const std::vector<Cycles> issue = earliest_issue(structure, schedule.ops.size(), ii);
  for (std::size_t i = 0; i < issue.size(); ++i) out.ops[i].issue = issue[i];
  return out;
}

}  // namespace twill::solve
