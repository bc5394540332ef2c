#include <algorithm>

#include "twill/problem/problem.h"
#include "twill/simulate/run.h"

/// Work on units and pipes, and its consequences when it ends.
namespace twill::simulate {
namespace {

constexpr Cycles kNeverScheduled = Cycles{1} << 60;

}  // namespace

bool Run::step_unit(std::size_t u) {
  UnitState& unit = units_[u];
  if (unit.free_at > now_ + kSlack || unit.asked.empty()) return false;
  if (model_.timing.scheduled_units) {
    const std::optional<Instance> next = take_scheduled(unit);
    if (next) begin(*next, true);
    return next.has_value();
  }
  const Instance instance = unit.asked.front();
  unit.asked.pop_front();
  begin(instance, true);
  return true;
}

/// Takes the op that is next on the unit in the schedule, if it has asked for the unit.
std::optional<Instance> Run::take_scheduled(UnitState& unit) {
  const Cycles interval = plan_.schedule.initiation_interval;
  const auto scheduled = [&](const Instance& it) {
    const Cycles after = it.iteration < setting_.trips ? 0 : kNeverScheduled;
    return plan_.schedule.ops[it.op.index()].issue + it.iteration * interval + after;
  };
  const auto next = std::min_element(
      unit.next.begin(), unit.next.end(),
      [&](const Instance& a, const Instance& b) { return scheduled(a) < scheduled(b); });
  const auto asked = std::find_if(unit.asked.begin(), unit.asked.end(), [&](const Instance& it) {
    return it.op == next->op && it.iteration == next->iteration;
  });
  if (asked == unit.asked.end()) return std::nullopt;
  unit.asked.erase(asked);
  return Instance{next->op, next->iteration++};
}

/// Begins an op. Without shared pipes its end is known now; with them, once its work is done.
void Run::begin(Instance instance, bool on_unit) {
  const Task& task = model_[instance.op];
  Times& at = times(instance);
  at.start = now_;
  if (setting_.listener != nullptr) {
    setting_.listener->begins(instance.op, instance.iteration, now_);
  }
  if (on_unit) units_[*task.unit].free_at = kNever;
  if (!task.asynchronous) {
    enter_window(roles_[task.role.index()], task);
    if (on_unit) finish_step(task.role.index());
    roles_[task.role.index()].free_at = kNever;
  }
  if (task.at_once) finish(instance, now_);
  if (!model_.timing.shared_pipes) {
    at.end = now_ + task.hold;
    end_held(instance, on_unit);
    return;
  }
  running_.push_back({instance, task.hold, on_unit});
  finish_running();
}

/// Ends the hold on unit and pipes at `end`, which is now or known ahead.
void Run::end_held(Instance instance, bool on_unit) {
  const Task& task = model_[instance.op];
  const Times& at = times(instance);
  if (on_unit) {
    units_[*task.unit].free_at = at.end;
    wake_at(at.end);
    record({Track::Kind::unit, *task.unit}, at.start, at.end, false, nullptr, instance.op,
           instance.iteration);
  }
  const double latency = model_.latency(instance.op, instance.iteration);
  const double rest = std::max(0.0, latency - task.hold);
  const bool slowed = model_.timing.shared_pipes;
  if (!task.at_once) finish(instance, slowed ? at.end + rest : at.start + latency);
  if (!task.asynchronous) free_role(instance);
  if (setting_.listener != nullptr) {
    const bool stores = task.mechanism == plan::Mechanism::bulk_store;
    const double read = !task.asynchronous ? roles_[task.role.index()].free_at
                        : stores           ? at.end
                                           : at.done;
    setting_.listener->ends(instance.op, instance.iteration, read, at.done);
  }
}

/// Frees the role of a synchronous op after its issue cycles, and after its work if pipes are
/// shared.
void Run::free_role(Instance instance) {
  const Task& task = model_[instance.op];
  const Times& at = times(instance);
  RoleState& role = roles_[task.role.index()];
  role.free_at = at.start + task.issue;
  if (model_.timing.shared_pipes) role.free_at = std::max(role.free_at, at.end);
  wake_at(role.free_at);
  tell(task.role.index(), task, at.start, at.done);
  record({Track::Kind::role, task.role.index()}, at.start, role.free_at, false, nullptr,
         instance.op, instance.iteration);
}

void Run::finish(Instance instance, double done) {
  const Task& task = model_[instance.op];
  times(instance).done = done;
  wake_at(done);
  if (!task.asynchronous) return;
  land(instance, done);
  close_queue(task);
}

/// Completes the phase of a load's barrier by its bytes, or by the arrivals of its threads.
void Run::land(Instance instance, double done) {
  const Task& task = model_[instance.op];
  const auto channel = landing_.find(instance.op);
  if (channel == landing_.end()) return;
  const bool bulk = plan::is_bulk_load(task.mechanism);
  const Amount bytes = bulk ? plan::bytes_brought(plan_, instance.op) : 0;
  const std::int64_t count = bulk ? 0 : std::int64_t{32} * plan_[task.role].warps;
  const Track from = task.unit ? Track{Track::Kind::unit, *task.unit}
                               : Track{Track::Kind::role, task.role.index()};
  arrive({channel->second, false, instance.iteration},
         {count, bytes, 0, done, from, times(instance).start});
}

/// Ends ops of one queue in order. Signals go out when all work issued before them has ended.
void Run::close_queue(const Task& task) {
  Queue& queue = queue_of(task.role, task.mechanism);
  while (queue.done.size() < queue.issued.size()) {
    const Times& at = times(queue.issued[queue.done.size()]);
    if (at.done == kNever) break;
    const bool first = queue.done.empty();
    queue.read.push_back(first ? at.end : std::max(queue.read.back(), at.end));
    queue.done.push_back(first ? at.done : std::max(queue.done.back(), at.done));
    wake_at(queue.read.back());
    wake_at(queue.done.back());
  }
  while (!queue.signals.empty() && queue.signals.front().needed <= queue.done.size()) {
    const Queue::Signal signal = queue.signals.front();
    queue.signals.pop_front();
    const double done = queue.done[signal.needed - 1];
    const Instance last = queue.issued[signal.needed - 1];
    const Track from = task.unit ? Track{Track::Kind::unit, *task.unit}
                                 : Track{Track::Kind::role, task.role.index()};
    arrive(signal.phase, {signal.count, 0, 0, std::max(now_, done), from, times(last).start});
  }
}

/// Removes the ops without remaining work. The caller then looks again for ops that may begin.
void Run::finish_running() {
  for (std::size_t i = 0; i < running_.size();) {
    if (running_[i].left > kSlack) {
      ++i;
      continue;
    }
    const Running ended = running_[i];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    times(ended.instance).end = now_;
    end_held(ended.instance, ended.on_unit);
  }
}

std::span<const double> Run::speeds() {
  std::vector<std::size_t> who;
  for (const Running& running : running_) who.push_back(running.instance.op.index());
  auto [known, is_new] = known_speeds_.try_emplace(who);
  if (is_new) {
    std::vector<const problem::PipeLoad*> loads;
    for (const std::size_t op : who) loads.push_back(&model_.tasks[op].load);
    known->second = problem::speeds_of(loads, model_.costs.pipes());
  }
  return known->second;
}

/// Advances to the next event; false if there is none.
bool Run::advance() {
  while (!alarms_.empty() && alarms_.top() <= now_ + kSlack) alarms_.pop();
  const std::span<const double> speed = speeds();
  double span = alarms_.empty() ? kNever : alarms_.top() - now_;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    if (speed[i] > 0) span = std::min(span, running_[i].left / speed[i]);
  }
  if (span == kNever) return false;
  for (std::size_t i = 0; i < running_.size(); ++i) running_[i].left -= span * speed[i];
  now_ += span;
  finish_running();
  return true;
}

}  // namespace twill::simulate
