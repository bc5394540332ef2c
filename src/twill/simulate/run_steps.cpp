#include <algorithm>

#include "twill/simulate/run.h"

/// Steps of roles.
namespace twill::simulate {
namespace {

using plan::Step;
using plan::StepKind;

Track role_track(std::size_t r) { return {Track::Kind::role, r}; }

bool same(const Cause& a, const Cause& b) {
  return a.step == b.step && a.operand == b.operand && a.unit == b.unit;
}

void add(Stalls& stalls, const Cause& cause, double cycles) {
  for (Stall& stall : stalls) {
    if (!same(stall.cause, cause)) continue;
    stall.cycles += cycles;
    return;
  }
  stalls.push_back({cause, cycles});
}

}  // namespace

bool Run::step_role(std::size_t r) {
  RoleState& role = roles_[r];
  if (role.free_at > now_ + kSlack) return false;
  if (role.program.section() != role.section) enter_section(role);
  if (role.program.at_end()) return false;
  if (!take(r)) {
    if (role.blocked < 0) role.blocked = now_;
    return false;
  }
  return true;
}

/// Ends the role's work of the section before.
void Run::enter_section(RoleState& role) const {
  const double cycles = now_ - role.section_since;
  if (role.section == Program::Section::prologue) role.times.prologue += cycles;
  if (role.section == Program::Section::steady) role.times.steady += cycles;
  if (role.section == Program::Section::drain) role.times.drain += cycles;
  role.section_since = now_;
  role.section = role.program.section();
}

/// Takes the present step of the role, if possible.
bool Run::take(std::size_t r) {
  const Step& step = roles_[r].program.step();
  if (step.per_tile_op) {  // no cost here; a copy that fills an invariant buffer completes at once
    if (setting_.listener != nullptr) setting_.listener->around(step, now_);
    if (step.channel) {
      const bool threads =
          plan_.kernel->per_tile_ops[*step.per_tile_op].mechanism == plan::Mechanism::cp_async;
      const std::int64_t count = threads ? std::int64_t{32} * plan_.roles[r].warps : 0;
      arrive(phase_of(r, false), {count, plan_[*step.channel].bytes, 0, now_, role_track(r), now_});
    }
    finish_step(r);
    return true;
  }
  switch (step.kind) {
    case StepKind::compute:
    case StepKind::issue:
      return take_op(r);
    case StepKind::acquire:
    case StepKind::wait:
      return take_wait(r);
    case StepKind::take:
      return take_token(r);
    case StepKind::drain_groups:
      return take_drain(r);
    case StepKind::stage:
      stage(r);
      break;
    case StepKind::expect:
    case StepKind::commit:
    case StepKind::release:
    case StepKind::pass:
      signal(r);
      break;
    case StepKind::rendezvous:
      roles_[r].free_at = now_ + model_.timing.named_barrier_signal;
      wake_at(roles_[r].free_at);
      break;
    case StepKind::peek:
    case StepKind::fence:
    case StepKind::leave:
      break;
  }
  finish_step(r);
  return true;
}

/// Books the wait that is over and goes on to the next step.
void Run::finish_step(std::size_t r) {
  RoleState& role = roles_[r];
  const auto section = static_cast<std::size_t>(role.program.section());
  const Step& step = role.program.step();
  if (role.blocked >= 0 && now_ > role.blocked + kSlack) {
    add(role.stalls[section], role.cause, now_ - role.blocked);
    role.idle[section] += now_ - role.blocked;
    record(role_track(r), role.blocked, now_, true, &step, step.op, role.program.iteration());
  }
  role.blocked = -1;
  role.arrived = false;
  role.asked = false;
  role.program.next();
}

bool Run::wait_until(std::size_t r, double time, Cause cause) {
  if (time <= now_ + kSlack) return true;
  roles_[r].cause = cause;
  wake_at(time);
  return false;
}

/// Time at which the op may start, without operands behind barriers. kNever if the role's own
/// threads have not computed an operand yet.
double Run::ready_at(Instance instance, Cause& cause) const {
  double ready = 0;
  for (const Operand& operand : model_[instance.op].operands) {
    if (setting_.listener != nullptr && !operand.own) continue;
    const std::int64_t producing = instance.iteration - operand.distance;
    if (producing < 0) continue;
    const Times& from = times({operand.from, producing});
    const double arrives = operand.delay < operand.latency
                               ? from.start + operand.delay
                               : from.done + (operand.delay - operand.latency);
    const double time = arrives + operand.transfer;
    if (time == kNever && !operand.own) continue;  // the plan's own waits stand for this operand
    if (time > ready) cause.operand = operand.from;
    ready = std::max(ready, time);
  }
  return ready;
}

/// Earliest time at which the role may begin the op by the rule `blocking`. A waiting role issues
/// nothing, so a blocking op comes before or after the whole issue of another op. Times are whole
/// cycles.
double Run::apart_at(std::size_t r, const Task& task) const {
  const RoleState& role = roles_[r];
  return std::max(task.blocks ? role.windows_end : 0, task.window > 0 ? role.next_window_at : 0);
}

/// Opens the issue window of the op. Precondition: the role begins the op now.
void Run::enter_window(RoleState& role, const Task& task) const {
  role.windows_end = std::max(role.windows_end, now_ + task.window);
  if (task.blocks) role.next_window_at = now_ + 1;
}

bool Run::take_op(std::size_t r) {
  RoleState& role = roles_[r];
  const Step& step = role.program.step();
  const Instance instance{*step.op, role.program.iteration()};
  const Task& task = model_[instance.op];
  Cause cause{&step, std::nullopt, std::nullopt};
  if (!role.asked && !wait_until(r, ready_at(instance, cause), cause)) return false;
  if (!role.asked && !wait_until(r, apart_at(r, task), {&step, std::nullopt, std::nullopt})) {
    return false;
  }
  if (step.channel) landing_.insert({instance.op, *step.channel});
  if (task.asynchronous) {
    enter_window(role, task);
    queue_of(RoleId(r), task.mechanism).issued.push_back(instance);
    role.free_at = now_ + task.issue;
    wake_at(role.free_at);
    record(role_track(r), now_, role.free_at, false, &step, step.op, instance.iteration);
    finish_step(r);
    if (task.unit) {
      units_[*task.unit].asked.push_back(instance);
    } else {
      begin(instance, false);
    }
    return true;
  }
  if (task.unit) {
    if (!role.asked) units_[*task.unit].asked.push_back(instance);
    role.asked = true;
    role.cause = {&step, std::nullopt, UnitId(*task.unit)};
    return false;  // `begin` takes the step
  }
  finish_step(r);
  begin(instance, false);
  return true;
}

Phase Run::phase_of(std::size_t r, bool empty) const {
  const Program& at = roles_[r].program;
  return {*at.step().channel, empty, at.iteration()};
}

void Run::passed(std::size_t r, const Phase& phase) {
  const Arrival* by = setting_.record ? barriers_.completed_by(phase) : nullptr;
  if (by == nullptr) return;
  arrows_.push_back({by->source, by->sent, by->time, role_track(r), now_, phase.channel,
                     phase.empty, phase.iteration});
}

bool Run::take_wait(std::size_t r) {
  const Step& step = roles_[r].program.step();
  const Phase phase = phase_of(r, step.kind == StepKind::acquire);
  if (!barriers_.passes(phase, now_)) {
    roles_[r].cause = {&step, std::nullopt, std::nullopt};
    return false;  // a completed phase wakes the role
  }
  if (phase.empty) acquired_[phase.channel.index()].push_back(now_);
  take_word(r, phase);
  passed(r, phase);
  finish_step(r);
  return true;
}

bool Run::take_token(std::size_t r) {
  RoleState& role = roles_[r];
  const Step& step = role.program.step();
  const Phase phase = phase_of(r, false);
  if (!role.arrived) {
    role.arrived = true;
    const int count = step.by == plan::By::one_warp ? 1 : plan_.roles[r].warps;
    arrive_from(r, phase, count, 0, now_ + model_.timing.named_barrier_signal);
  }
  if (!barriers_.token_passes(phase, now_)) {
    role.cause = {&step, std::nullopt, std::nullopt};
    return false;
  }
  passed(r, phase);
  finish_step(r);
  return true;
}

bool Run::take_drain(std::size_t r) {
  const Step& step = roles_[r].program.step();
  const Queue& queue = queue_of(RoleId(r), step.queue);
  const auto pending = static_cast<std::size_t>(step.pending);
  const Cause cause{&step, std::nullopt, std::nullopt};
  if (queue.issued.size() > pending) {
    const std::size_t needed = queue.issued.size() - pending;
    const std::vector<double>& ends = step.reads_only ? queue.read : queue.done;
    const double time = ends.size() < needed ? kNever : ends[needed - 1];
    if (!wait_until(r, time, cause)) return false;
  }
  finish_step(r);
  return true;
}

/// Starts the copy to the staging buffer; meanwhile the role continues.
void Run::stage(std::size_t r) {
  RoleState& role = roles_[r];
  const OpId op = *role.program.step().op;
  const Task& task = model_[op];
  const double done = std::max(now_, times({op, role.program.iteration()}).done);
  if (setting_.listener != nullptr) {
    setting_.listener->stages(op, role.program.iteration(), now_, done + task.staging);
  }
  for (const RoleId reader : task.staged_readers) {
    double& stored = role.stored[reader.index()];
    stored = std::max(stored, done + task.staging);
  }
}

void Run::arrive_from(std::size_t r, const Phase& phase, std::int64_t count, Amount expected,
                      double time) {
  arrive(phase, {count, 0, expected, time, role_track(r), now_});
}

/// Updates the times from which other roles may rely on the op, once it has started.
void Run::tell(std::size_t r, const Task& task, double start, double done) {
  RoleState& role = roles_[r];
  for (const RoleId reader : task.readers) {
    double& told = role.told[reader.index()];
    told = std::max(told, done);
  }
  for (const auto& [writer, hold] : task.writers) {
    double& told = role.told[writer.index()];
    told = std::max(told, start + hold);
  }
}

double Run::told_to(std::size_t r, const std::vector<RoleId>& roles) const {
  double time = now_;
  for (const RoleId role : roles) {
    time = std::max({time, roles_[r].told[role.index()], roles_[r].stored[role.index()]});
  }
  return time;
}

/// Release: an arrival makes visible all earlier stores of the role, and all stores that the role
/// itself has acquired. So a waiting role may pass them on.
void Run::give_word(std::size_t r, const Phase& phase) {
  const std::vector<double>& stored = roles_[r].stored;
  if (std::all_of(stored.begin(), stored.end(), [&](double time) { return time <= now_; })) return;
  std::vector<double>& word = words_[{phase.channel, phase.empty, phase.iteration}];
  word.resize(stored.size(), 0);
  for (std::size_t i = 0; i < word.size(); ++i) word[i] = std::max(word[i], stored[i]);
  // Forgets old phases: a slot is not filled again before all waits for its last phase have passed.
  const std::int64_t old = phase.iteration - 2 * plan_[phase.channel].depth - 2;
  words_.erase({phase.channel, phase.empty, old});
}

void Run::take_word(std::size_t r, const Phase& phase) {
  const auto word = words_.find({phase.channel, phase.empty, phase.iteration});
  if (word == words_.end()) return;
  std::vector<double>& stored = roles_[r].stored;
  for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = std::max(stored[i], word->second[i]);
}

/// Sends an arrival. By threads: once the role's work for the waiting roles is done, and its stores
/// for them are visible. Asynchronous: once the role's tcgen05 work is done.
void Run::signal(std::size_t r) {
  const Step& step = roles_[r].program.step();
  const plan::Channel& channel = plan_[*step.channel];
  const Phase phase = phase_of(r, step.kind == StepKind::release);
  std::int64_t count = step.by == plan::By::one_warp ? 1 : plan_.roles[r].warps;
  // Arrivals of a cluster's other CTAs come with the role's own: the CTAs are assumed to run in
  // step.
  if (phase.empty && channel.scope == plan::Scope::cluster) count *= plan::cluster_size(plan_);
  if (step.kind == StepKind::pass) {
    arrive_from(r, phase, count, 0, now_ + model_.timing.named_barrier_signal);
    return;
  }
  if (step.kind == StepKind::expect) {
    arrive_from(r, phase, count, channel.bytes, now_);
    return;
  }
  const bool idle = step.instance.from == plan::Instance::From::tile && setting_.trips == 0;
  if (step.arrival == plan::Arrival::asynchronous && !idle) {
    Queue& queue = queue_of(RoleId(r), plan::Mechanism::tcgen05);
    if (queue.issued.empty()) return;  // no work is under way, so no arrival comes
    queue.signals.push_back({queue.issued.size(), phase, count});
    close_queue(model_[queue.issued.back().op]);
    return;
  }
  const double time = phase.empty ? told_to(r, {channel.producer}) : told_to(r, channel.consumers);
  give_word(r, phase);
  arrive_from(r, phase, count, 0, time + model_.timing.mbarrier_signal);
}

}  // namespace twill::simulate
