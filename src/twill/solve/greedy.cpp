#include "twill/solve/greedy.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"
#include "twill/solve/place.h"
#include "twill/solve/recheck.h"
#include "twill/support/whole_division.h"

namespace twill::solve {
namespace {

using schedule::Schedule;

/// Growth of II from one try to the next: II is divided by this.
constexpr Cycles kStep = 8;

class Greedy {
 public:
  explicit Greedy(const Instance& instance) : instance_(instance) {}

  std::optional<Schedule> schedule() {
    if (!sort_ops()) return std::nullopt;
    for (const bool by_registers : {false, true}) {
      if (assign_groups(by_registers) && place_somewhere()) return schedule_;
    }
    return std::nullopt;
  }

 private:
  /// Places all ops at the least of growing IIs at which placing succeeds.
  bool place_somewhere() {
    const Cycles least = load_bound(instance_);
    Cycles most = least;
    for (const Task& task : instance_.tasks)
      most += std::max(task.span, task.occupancy) + task.issue;
    for (const Precedence& it : instance_.precedences)
      most = std::max(most, it.delay + it.transfer);
    for (Cycles ii = least; ii <= 2 * most; ii += std::max<Cycles>(1, ii / kStep)) {
      for (const bool in_order : {false, true}) {
        for (const bool late : {true, false}) {
          if (place(ii, in_order, late)) return true;
        }
      }
    }
    return false;
  }

  /// Set of ops that run in one group.
  struct Together {
    std::vector<std::size_t> ops;
    Cycles busy = 0;           ///< cycles of issue and units
    std::int64_t carried = 0;  ///< registers of values that later iterations read
  };

  /// Joins ops that pass values in registers: they share a group where allowed.
  std::vector<Together> sets_of_ops() const {
    const std::size_t count = instance_.op_count();
    std::vector<std::size_t> set(count);
    std::iota(set.begin(), set.end(), std::size_t{0});
    const auto root = [&](std::size_t op) {
      while (set[op] != op) op = set[op] = set[set[op]];
      return op;
    };
    for (const auto& together : instance_.problem->same_group()) {
      for (const problem::OpId op : together) set[root(op.index())] = root(together[0].index());
    }
    for (std::size_t op = 0; op < count; ++op) {
      if (instance_.tasks[op].registers == 0) continue;
      for (const Read& read : instance_.reads[op]) {
        if (instance_.tasks[op].groups == instance_.tasks[read.reader].groups) {
          set[root(op)] = root(read.reader);
        }
      }
    }
    std::vector<Together> sets(count);
    for (std::size_t op = 0; op < count; ++op) {
      const Task& task = instance_.tasks[op];
      const auto& reads = instance_.reads[op];
      Together& it = sets[root(op)];
      it.ops.push_back(op);
      it.busy += task.issue + task.occupancy;
      const bool carried = std::any_of(reads.begin(), reads.end(),
                                       [](const Read& read) { return read.distance > 0; });
      if (carried) it.carried += task.registers;
    }
    std::erase_if(sets, [](const Together& it) { return it.ops.empty(); });
    std::sort(sets.begin(), sets.end(),
              [](const Together& a, const Together& b) { return a.ops[0] < b.ops[0]; });
    return sets;
  }

  /// Gives each set of ops, in the order of the text, the group with the least work. With
  /// `by_registers`, sets that carry most come first and take the group with most registers left.
  bool assign_groups(bool by_registers) {
    std::vector<Together> sets = sets_of_ops();
    if (by_registers) {
      std::stable_sort(sets.begin(), sets.end(),
                       [](const Together& a, const Together& b) { return a.carried > b.carried; });
    }
    std::vector<std::int64_t> taken(instance_.group_count(), 0);
    for (std::size_t group = 0; by_registers && group < taken.size(); ++group) {
      taken[group] = -instance_.problem->groups()[group].registers;
    }
    schedule_.ops.assign(instance_.op_count(), {});
    for (const Together& it : sets) {
      const std::vector<std::size_t>& groups = instance_.tasks[it.ops[0]].groups;
      const auto chosen =
          std::min_element(groups.begin(), groups.end(),
                           [&](std::size_t a, std::size_t b) { return taken[a] < taken[b]; });
      if (chosen == groups.end()) return false;
      taken[*chosen] += by_registers ? it.carried : it.busy;
      for (const std::size_t op : it.ops) schedule_.ops[op].group = problem::GroupId(*chosen);
    }
    return true;
  }

  /// Sorts ops by the dependences within an iteration, and by the text where these leave a choice.
  bool sort_ops() {
    const std::size_t count = instance_.op_count();
    std::vector<std::size_t> waiting(count, 0);
    for (const Precedence& it : instance_.precedences) waiting[it.to] += it.distance == 0 ? 1 : 0;
    std::vector<std::uint8_t> done(count, 0);
    order_.clear();
    while (order_.size() < count) {
      std::size_t next = 0;
      while (next < count && (done[next] != 0 || waiting[next] > 0)) ++next;
      if (next == count) return false;  // a circle of distance 0
      done[next] = 1;
      order_.push_back(next);
      for (const Precedence& it : instance_.precedences) {
        if (it.from == next && it.distance == 0) --waiting[it.to];
      }
    }
    return true;
  }

  bool share_group(std::size_t a, std::size_t b) const {
    return schedule_.ops[a].group == schedule_.ops[b].group;
  }

  Cycles delay(const Precedence& it) const {
    return it.delay + (share_group(it.from, it.to) ? 0 : it.transfer);
  }

  /// Cycles after the issue of `a` in which `b` may not be issued.
  Cycles held(std::size_t a, std::size_t b) const {
    const Task& first = instance_.tasks[a];
    const Task& second = instance_.tasks[b];
    Cycles held = first.unit && first.unit == second.unit ? first.occupancy : 0;
    const bool stream = instance_.one_stream && second.issue > 0;
    if (share_group(a, b) && (waiting_[b] != 0 || stream)) held = std::max(held, first.issue);
    return held;
  }

  /// Finds the first cycle in [`from`, `until`) at which no other op blocks the op.
  std::optional<Cycles> free_cycle(std::size_t op, Cycles from, Cycles until) const {
    const Cycles ii = schedule_.initiation_interval;
    for (Cycles at = from; at < until;) {
      Cycles wait = 0;
      for (const std::size_t other : placed_) {
        const Cycles before = modulo(at - schedule_.ops[other].issue, ii);
        const Cycles mine = held(op, other), theirs = held(other, op);
        if (before < theirs) wait = std::max(wait, theirs - before);
        // Cycle too soon before the other op: continue behind that op.
        if (before != 0 && ii - before < mine) wait = std::max(wait, ii - before + theirs);
        if (before == 0 && mine > 0) wait = std::max(wait, std::max<Cycles>(1, theirs));
      }
      if (wait == 0) return at;
      at += wait;
    }
    return std::nullopt;
  }

  /// Places all ops at this II. `in_order`: no group issues an op before an earlier op of the text,
  /// which keeps values short. `late`: loads wait.
  bool place(Cycles ii, bool in_order, bool late) {
    schedule_.initiation_interval = ii;
    std::vector<Cycles> last(instance_.group_count(), 0);
    waiting_ = waiting_in(instance_, schedule_);
    placed_.clear();
    std::vector<std::uint8_t> is_placed(instance_.op_count(), 0);
    for (const std::size_t op : order_) {
      Cycles& reached = last[schedule_.ops[op].group.index()];
      Cycles from = in_order ? reached : 0;
      for (const Precedence& it : instance_.precedences) {
        if (it.to != op || is_placed[it.from] == 0) continue;
        from = std::max(from, schedule_.ops[it.from].issue + delay(it) - it.distance * ii);
      }
      const auto at = free_cycle(op, from, from + ii);
      if (!at) return false;
      schedule_.ops[op].issue = *at;
      reached = std::max(reached, *at);
      placed_.push_back(op);
      is_placed[op] = 1;
    }
    if (late) delay_sources();
    const Cycles first =
        std::min_element(schedule_.ops.begin(), schedule_.ops.end(),
                         [](const auto& a, const auto& b) { return a.issue < b.issue; })
            ->issue;
    for (auto& op : schedule_.ops) op.issue -= first;
    const bool obeys =
        has_groups() && keeps_order(instance_, schedule_) && fits_storage(instance_, schedule_);
    const auto placed = obeys ? with_addresses(instance_, schedule_) : std::nullopt;
    if (placed) schedule_ = *placed;
    return placed.has_value();
  }

  /// Whether as many compute groups have ops as the loop demands.
  bool has_groups() const {
    const problem::Parts& parts = instance_.problem->parts();
    std::set<std::size_t> computing;
    for (const schedule::Placement& at : schedule_.ops) {
      const std::size_t group = at.group.index();
      if (problem::is_compute_group(parts, parts.groups[group])) computing.insert(group);
    }
    return static_cast<int>(computing.size()) >= problem::wanted_compute_groups(parts);
  }

  /// Delays ops without waits in their iteration, loads above all, as far as their readers allow.
  void delay_sources() {
    const Cycles ii = schedule_.initiation_interval;
    for (std::size_t k = order_.size(); k-- > 0;) {
      const std::size_t op = order_[k];
      bool source = true;
      std::optional<Cycles> latest;
      for (const Precedence& it : instance_.precedences) {
        if (it.to == op && it.distance == 0) source = false;
        if (it.from != op || it.to == op) continue;
        const Cycles end = schedule_.ops[it.to].issue - delay(it) + it.distance * ii;
        latest = latest ? std::min(*latest, end) : end;
      }
      if (!source || !latest) continue;
      std::erase(placed_, op);
      Cycles& issue = schedule_.ops[op].issue;
      const Cycles earliest = std::max(issue, *latest - ii + 1);
      for (auto at = free_cycle(op, earliest, *latest + 1); at;
           at = free_cycle(op, *at + 1, *latest + 1)) {
        issue = *at;
      }
      placed_.push_back(op);
    }
  }

  const Instance& instance_;
  Schedule schedule_;
  std::vector<std::size_t> order_, placed_;
  std::vector<std::uint8_t> waiting_;
};

}  // namespace

std::optional<Schedule> greedy_schedule(const Instance& instance) {
  if (!instance.problem->transfers().empty()) return std::nullopt;
  return Greedy(instance).schedule();
}

}  // namespace twill::solve
