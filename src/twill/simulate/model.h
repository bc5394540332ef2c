#pragma once

#include <utility>
#include <vector>

#include "twill/problem/pipe_sharing.h"
#include "twill/simulate/simulate.h"

/// Internal to the room: facts of a run that stay the same while it runs.
namespace twill::simulate {

inline constexpr double kSlack = 1e-6;  ///< tolerance, in cycles

/// Operand that the role of the op may have to wait for.
struct Operand {
  OpId from;
  int distance = 0;
  double delay = 0;     ///< issue to issue
  double latency = 0;   ///< of `from`
  double transfer = 0;  ///< if the operand comes from another role
  bool own = false;     ///< made by the threads of the same role: no barrier announces it
};

struct Task {
  RoleId role;
  plan::Mechanism mechanism = plan::Mechanism::threads;
  bool asynchronous = false;
  bool at_once = false;  ///< a load whose latency does not count
  bool variable = false;
  std::optional<std::size_t> unit;
  double hold = 0;      ///< cycles at full speed that its unit is held, or its pipes are busy
  double latency = 0;   ///< cycles at full speed from its start to its result
  double issue = 0;     ///< cycles that its role is held
  double window = 0;    ///< issue window, whether it holds the role or not: no blocking op of the
                        ///< role begins inside
  bool blocks = false;  ///< the op waits for a barrier or a counter (the rule `blocking`)
  double staging = 0;   ///< cycles to copy its value to the staging buffer of other roles
  problem::PipeLoad load;
  std::vector<Operand> operands;
  std::vector<RoleId> readers;                     ///< other roles that wait for its result
  std::vector<RoleId> staged_readers;              ///< readers that take the result from its
                                                   ///< staging buffer
  std::vector<std::pair<RoleId, double>> writers;  ///< roles whose values the op reads, and for how
                                                   ///< many cycles after its start
};

struct Model {
  Model(const plan::Plan& plan, const problem::Problem& costs, const Timing& timing);

  const plan::Plan& plan;
  const problem::Problem& costs;
  Timing timing;
  std::vector<Task> tasks;  ///< by OpId

  const Task& operator[](OpId op) const { return tasks[op.index()]; }
  /// Cycles from the start of this execution to its result: more if the latency jitters.
  double latency(OpId op, std::int64_t iteration) const;

 private:
  Task task_of(OpId op) const;
  void add_dependence(const problem::Dependence& dependence);
};

}  // namespace twill::simulate
