#include "twill/schedule/corun.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "twill/problem/pipe_sharing.h"
#include "twill/problem/problem.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Op;
using problem::Problem;

constexpr int kRounds = 96;         ///< simulated rounds
constexpr int kFirstMeasured = 32;  ///< first round that is measured: the start has no more
                                    ///< influence
constexpr int kMostAhead = 4;       ///< most rounds between the first and the last group
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-6;  ///< tolerance, in cycles

/// Facts of an op that are the same in every iteration.
struct Task {
  bool asynchronous = false;
  std::optional<std::size_t> unit;
  double work = 0;  ///< cycles at full speed during which its unit or its pipes are busy
  double tail = 0;  ///< cycles from the end of the work to the result
  double issue = 0;
  double latency = 0;
  problem::PipeLoad load;
  std::vector<const Dependence*> operands;
};

struct Instance {
  OpId op;
  int iteration = 0;
  friend bool operator==(const Instance&, const Instance&) = default;
};

/// Ops of a group or unit in sequence; a round runs through the sequence once.
struct Lane {
  std::span<const OpId> sequence;
  std::size_t position = 0;
  int round = 0;
  double free_at = 0;           ///< kNever while its op is at work
  std::vector<Instance> asked;  ///< for a unit: ops issued by their groups and not begun, oldest
                                ///< first
};

/// Work in progress on a unit or on pipes.
struct Running {
  Instance instance;
  double left = 0;
  std::optional<std::size_t> unit;   ///< lane to free when the work is done
  std::optional<std::size_t> group;  ///< lane to free when the work is done
};

struct Times {
  double start = kNever;
  double done = kNever;
};

class CoRunner {
 public:
  CoRunner(const Problem& problem, const Order& order, Turns turns)
      : problem_(problem), order_(order), turns_(turns) {
    for (std::size_t i = 0; i < problem.ops().size(); ++i) tasks_.push_back(task_of(OpId(i)));
    for (const Dependence& dependence : problem.dependences()) {
      tasks_[dependence.to.index()].operands.push_back(&dependence);
    }
    for (const auto& sequence : order.groups) groups_.push_back({sequence, 0, 0, 0, {}});
    for (const auto& sequence : order.units) units_.push_back({sequence, 0, 0, 0, {}});
    times_.resize(problem.ops().size(), std::vector<Times>(kRounds));
  }

  Result<CoRun> run() {
    while (true) {
      while (step_groups() || step_units()) {
      }
      if (all_issued() && running_.empty() && nobody_asks()) return measured();
      if (!advance()) break;
    }
    return fail({}, fmt::format("the order of loop '{}' comes to a standstill: every group waits "
                                "for an op that comes later",
                                problem_.name()));
  }

 private:
  Task task_of(OpId id) const {
    const Op& op = problem_[id];
    const Alternative& alternative =
        op.alternatives[static_cast<std::size_t>(order_.ops[id.index()].alternative)];
    Task task;
    task.asynchronous = op.asynchronous;
    if (alternative.unit && alternative.occupancy > 0) task.unit = alternative.unit->index();
    task.issue = static_cast<double>(alternative.issue);
    task.latency = static_cast<double>(alternative.latency);
    double busiest = 0;
    for (const auto& use : alternative.pipes)
      busiest = std::max(busiest, static_cast<double>(use.demand));
    task.work = std::max(task.unit ? static_cast<double>(alternative.occupancy) : 0, busiest);
    task.tail = std::max(0.0, task.latency - task.work);
    task.load = {op.asynchronous, std::vector<double>(problem_.pipes().size(), 0)};
    for (const auto& use : alternative.pipes) {
      if (task.work > 0)
        task.load.share[use.pipe.index()] = static_cast<double>(use.demand) / task.work;
    }
    return task;
  }

  bool all_issued() const {
    return std::all_of(groups_.begin(), groups_.end(), [](const Lane& lane) {
      return lane.sequence.empty() || lane.round >= kRounds;
    });
  }

  bool nobody_asks() const {
    return std::all_of(units_.begin(), units_.end(),
                       [](const Lane& lane) { return lane.asked.empty(); });
  }

  Instance instance_at(const Lane& lane) const {
    const OpId op = lane.sequence[lane.position];
    return {op, lane.round - order_.ops[op.index()].stage};
  }

  void next(Lane& lane) {
    if (++lane.position < lane.sequence.size()) return;
    lane.position = 0;
    ++lane.round;
  }

  /// Skips ops of the first rounds whose iteration number would be negative.
  void skip_prologue(Lane& lane) {
    while (lane.round < kRounds && instance_at(lane).iteration < 0) next(lane);
  }

  /// Time at which the operands of the op are ready; kNever if unknown so far.
  double ready_at(Instance instance) const {
    double ready = 0;
    for (const Dependence* dependence : tasks_[instance.op.index()].operands) {
      const int producing = instance.iteration - dependence->distance;
      if (producing < 0) continue;
      ready = std::max(ready, arrival(*dependence, producing));
    }
    return ready;
  }

  double arrival(const Dependence& dependence, int iteration) const {
    const Op& from = problem_[dependence.from];
    const Step& step = order_.ops[dependence.from.index()];
    const Task& task = tasks_[dependence.from.index()];
    const Times& times = times_[dependence.from.index()][static_cast<std::size_t>(iteration)];
    const Alternative& alternative = from.alternatives[static_cast<std::size_t>(step.alternative)];
    const auto delay = static_cast<double>(problem::delay_of(dependence, from, alternative));
    const bool crosses = step.group != order_.ops[dependence.to.index()].group;
    const double transfer = crosses ? static_cast<double>(dependence.transfer) : 0;
    if (delay < task.latency) return times.start + delay + transfer;
    return times.done + (delay - task.latency) + transfer;
  }

  bool step_groups() {
    bool moved = false;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      while (step_group(g)) moved = true;
    }
    return moved;
  }

  bool step_group(std::size_t g) {
    Lane& lane = groups_[g];
    if (lane.sequence.empty()) return false;
    skip_prologue(lane);
    if (lane.round >= kRounds || lane.free_at > now_ + kSlack || is_ahead(lane)) return false;
    const Instance instance = instance_at(lane);
    if (ready_at(instance) > now_ + kSlack || is_queue_full(instance)) return false;
    const OpId op = instance.op;
    const Task& task = tasks_[op.index()];
    lane.free_at = task.asynchronous ? now_ + task.issue : kNever;
    if (task.unit) {
      units_[*task.unit].asked.push_back(instance);
    } else {
      begin({instance, task.work, {}, task.asynchronous ? std::nullopt : std::optional(g)});
    }
    next(lane);
    return true;
  }

  bool is_ahead(const Lane& lane) const {
    for (const Lane& other : groups_) {
      if (!other.sequence.empty() && lane.round - other.round > kMostAhead) return true;
    }
    return false;
  }

  /// Whether kMostAhead issues of this op wait for the unit already.
  bool is_queue_full(Instance instance) const {
    const int earlier = instance.iteration - kMostAhead;
    if (earlier < 0 || !tasks_[instance.op.index()].unit) return false;
    return times_[instance.op.index()][static_cast<std::size_t>(earlier)].start == kNever;
  }

  bool step_units() {
    bool moved = false;
    for (std::size_t u = 0; u < units_.size(); ++u) moved = step_unit(u) || moved;
    return moved;
  }

  bool step_unit(std::size_t u) {
    Lane& lane = units_[u];
    if (lane.free_at > now_ + kSlack || lane.asked.empty()) return false;
    auto chosen = lane.asked.begin();
    if (turns_ == Turns::enforced) {
      skip_prologue(lane);
      chosen = std::find(lane.asked.begin(), lane.asked.end(), instance_at(lane));
      if (chosen == lane.asked.end()) return false;
      next(lane);
    }
    const Instance instance = *chosen;
    lane.asked.erase(chosen);
    lane.free_at = kNever;
    const Task& task = tasks_[instance.op.index()];
    const std::size_t group = order_.ops[instance.op.index()].group.index();
    begin({instance, task.work, u, task.asynchronous ? std::nullopt : std::optional(group)});
    return true;
  }

  Times& times_of(Instance instance) {
    return times_[instance.op.index()][static_cast<std::size_t>(instance.iteration)];
  }

  void begin(Running running) {
    times_of(running.instance).start = now_;
    running_.push_back(running);
    finish_done();
  }

  /// Removes work that is done, and notes when its result is ready.
  void finish_done() {
    std::erase_if(running_, [&](const Running& running) {
      if (running.left > kSlack) return false;
      const Task& task = tasks_[running.instance.op.index()];
      const double done = now_ + task.tail;
      const double issued = times_of(running.instance).start + task.issue;
      times_of(running.instance).done = done;
      if (running.unit) units_[*running.unit].free_at = now_;
      if (running.group) groups_[*running.group].free_at = std::max(now_, issued);
      return true;
    });
  }

  /// The next known event of a waiting lane.
  double next_event() const {
    double event = kNever;
    const auto consider = [&](double time) {
      if (time > now_ + kSlack) event = std::min(event, time);
    };
    for (const Lane& lane : groups_) {
      if (lane.sequence.empty() || lane.round >= kRounds) continue;
      consider(lane.free_at);
      const Instance instance = instance_at(lane);
      if (instance.iteration >= 0) consider(ready_at(instance));
    }
    return event;
  }

  bool advance() {
    std::vector<const problem::PipeLoad*> loads;
    for (const Running& running : running_) {
      loads.push_back(&tasks_[running.instance.op.index()].load);
    }
    const std::vector<double> speeds = problem::speeds_of(loads, problem_.pipes());
    double span = next_event() - now_;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (speeds[i] > 0) span = std::min(span, running_[i].left / speeds[i]);
    }
    if (span == kNever) return false;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      running_[i].left -= span * speeds[i];
    }
    now_ += span;
    finish_done();
    return true;
  }

  /// Computes the interval from result to result, by the slowest op.
  CoRun measured() const {
    CoRun result;
    std::vector<double> occupied(units_.size(), 0);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const int last = kRounds - 1 - order_.ops[i].stage;
      if (tasks_[i].unit) occupied[*tasks_[i].unit] += tasks_[i].work;
      if (last <= kFirstMeasured) continue;
      const double span =
          times_[i][static_cast<std::size_t>(last)].done - times_[i][kFirstMeasured].done;
      result.interval = std::max(result.interval, span / (last - kFirstMeasured));
    }
    for (const double cycles : occupied) {
      result.unit_busy.push_back(result.interval > 0 ? cycles / result.interval : 0);
    }
    return result;
  }

  const Problem& problem_;
  const Order& order_;
  Turns turns_;
  std::vector<Task> tasks_;
  std::vector<Lane> groups_;
  std::vector<Lane> units_;
  std::vector<std::vector<Times>> times_;  ///< by OpId and iteration
  std::vector<Running> running_;
  double now_ = 0;
};

}  // namespace

Result<CoRun> co_run(const Problem& problem, const Order& order, Turns turns) {
  TWILL_TRY(const Order whole, completed(problem, order));
  return CoRunner(problem, whole, turns).run();
}

}  // namespace twill::schedule
