#pragma once

#include <array>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "twill/simulate/barriers.h"
#include "twill/simulate/model.h"
#include "twill/simulate/program.h"

/// Internal to the room: state of a run. Time advances from one event to the next; at each event,
/// every role and every unit acts as far as it can.
namespace twill::simulate {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct Instance {
  OpId op;
  std::int64_t iteration = 0;
};

struct Times {
  double start = kNever;
  double end = kNever;   ///< end of its hold on unit or pipes
  double done = kNever;  ///< time of the result
};

/// Cycles by cause. Causes are steps of the plan, so there are few.
using Stalls = std::vector<Stall>;

struct RoleState {
  RoleState(const plan::Role& role, std::int64_t trips) : program(role, trips) {}

  Program program;
  double free_at = 0;         ///< kNever while a synchronous op is at work
  bool arrived = false;       ///< whether it arrived at the token that it takes
  bool asked = false;         ///< whether it asked for the unit of its synchronous op
  double windows_end = 0;     ///< end of the last issue window of its ops so far
  double next_window_at = 0;  ///< no issue window begins earlier, since a blocking op has begun
  double blocked = -1;        ///< start of the present wait; -1 without one
  Cause cause;                ///< reason of that wait
  Program::Section section = Program::Section::prologue;
  double section_since = 0;
  RoleTimes times;
  std::array<Stalls, 3> stalls;  ///< by section
  std::array<double, 3> idle{};
  std::vector<double> told;    ///< by RoleId: time from which that role sees all actions of this
                               ///< role
  std::vector<double> stored;  ///< by RoleId: time from which that role sees stores of this role,
                               ///< and of roles whose arrivals this role has waited for
};

/// Asynchronous work of one role and mechanism, in the order of its issue.
struct Queue {
  struct Signal {
    std::size_t needed = 0;
    Phase phase;
    std::int64_t count = 0;
  };
  std::vector<Instance> issued;
  std::vector<double> read;  ///< by ended work: time at which its operands and all earlier ones are
                             ///< free
  std::vector<double> done;  ///< the same for results
  std::deque<Signal> signals;
};

/// Work that holds a unit or pipes.
struct Running {
  Instance instance;
  double left = 0;
  bool on_unit = false;
};

struct UnitState {
  double free_at = 0;  ///< kNever while its op is at work
  std::deque<Instance> asked;
  std::vector<Instance> next;  ///< for each op of the unit: its next instance in the schedule
};

class Run {
 public:
  Run(const plan::Plan& plan, const Setting& setting);

  /// Runs to the end; returns false after a fault.
  bool go();
  Fault fault() const;
  /// Measures the run. Precondition: `go` returned true.
  Simulation result();

 private:
  // Steps of roles (run_steps.cpp).
  bool step_role(std::size_t r);
  void enter_section(RoleState& role) const;
  bool take(std::size_t r);
  bool take_op(std::size_t r);
  bool take_wait(std::size_t r);
  bool take_token(std::size_t r);
  bool take_drain(std::size_t r);
  void stage(std::size_t r);
  void signal(std::size_t r);
  void give_word(std::size_t r, const Phase& phase);
  void take_word(std::size_t r, const Phase& phase);
  void arrive_from(std::size_t r, const Phase& phase, std::int64_t count, Amount expected,
                   double time);
  void tell(std::size_t r, const Task& task, double freed, double done);
  double told_to(std::size_t r, const std::vector<RoleId>& roles) const;
  bool wait_until(std::size_t r, double time, Cause cause);
  double ready_at(Instance instance, Cause& cause) const;
  double apart_at(std::size_t r, const Task& task) const;
  void enter_window(RoleState& role, const Task& task) const;
  Phase phase_of(std::size_t r, bool empty) const;
  void passed(std::size_t r, const Phase& phase);
  void finish_step(std::size_t r);

  // Work on units and pipes (run_work.cpp).
  bool step_unit(std::size_t u);
  std::optional<Instance> take_scheduled(UnitState& unit);
  void begin(Instance instance, bool on_unit);
  void end_held(Instance instance, bool on_unit);
  void finish(Instance instance, double done);
  void close_queue(const Task& task);
  void land(Instance instance, double done);
  void free_role(Instance instance);
  bool advance();
  void finish_running();
  std::span<const double> speeds();
  void wake_at(double time) {
    if (time != kNever && time > now_ + kSlack) alarms_.push(time);
  }
  void arrive(const Phase& phase, const Arrival& arrival);

  // Results (measure.cpp).
  void measure_interval(Simulation& out) const;
  std::int64_t last_undisturbed() const;
  void measure_loads(Simulation& out) const;
  void measure_rings(Simulation& out) const;
  void measure_roles(Simulation& out);
  double completion(std::int64_t iteration) const;

  Times& times(Instance instance) {
    return times_[instance.op.index()][static_cast<std::size_t>(instance.iteration)];
  }
  const Times& times(Instance instance) const {
    return times_[instance.op.index()][static_cast<std::size_t>(instance.iteration)];
  }
  Queue& queue_of(RoleId role, plan::Mechanism mechanism) { return queues_[{role, mechanism}]; }
  void record(Track track, double begin, double end, bool stalled, const plan::Step* step,
              std::optional<OpId> op, std::int64_t iteration);

  const plan::Plan& plan_;
  Setting setting_;
  Model model_;
  Barriers barriers_;
  double now_ = 0;
  std::vector<RoleState> roles_;
  std::vector<UnitState> units_;
  std::vector<Running> running_;
  std::vector<std::vector<Times>> times_;  ///< by OpId and iteration
  std::map<std::pair<RoleId, plan::Mechanism>, Queue> queues_;
  std::map<OpId, ChannelId> landing_;          ///< channel on which a load arrives
  std::vector<std::vector<double>> acquired_;  ///< by ChannelId and iteration
  /// Time from which a role sees all stores before an arrival, by arrival, then RoleId.
  std::map<std::tuple<ChannelId, bool, std::int64_t>, std::vector<double>> words_;
  std::map<std::vector<std::size_t>, std::vector<double>> known_speeds_;
  std::priority_queue<double, std::vector<double>, std::greater<>> alarms_;
  std::vector<Span> spans_;
  std::vector<Arrow> arrows_;
  bool stuck_ = false;
};

}  // namespace twill::simulate
