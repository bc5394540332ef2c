#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/plan/plan.h"

/// Simulation of a plan on the machine, as a run of events. Roles take the steps of their sections
/// in order. Units serve first come, first served. All work that runs at one moment shares the
/// pipes (problem/pipe_sharing.h). Barriers count arrivals and turn phases. The simulator decides
/// nothing and knows no solver: its results follow from the plan's steps and the ops' costs. Costs
/// of each step: docs/reference/simulation.md.
namespace twill::simulate {

/// Factor within which simulated intervals count as equal: the root mean square error on kernels
/// whose iterations were timed on an H200. All strategies are included (docs/hardware-log.md,
/// cycles of an iteration). Main cause: ptxas moves work across the borders of steps.
inline constexpr double kError = 1.11;

using plan::ChannelId;
using plan::OpId;
using plan::RoleId;
using problem::PipeId;
using problem::UnitId;

/// Delays beside the ops' own costs. Without them, as by default, only the order of the plan and
/// the costs of its ops count.
struct Timing {
  bool shared_pipes = false;     ///< ops that run together slow each other, and a synchronous op
                                 ///< holds its role until its pipes are done; else every op runs at
                                 ///< full speed and holds its role for its issue cycles
  bool scheduled_units = false;  ///< units serve in the order of the schedule; else first come,
                                 ///< first served, as hardware does
  bool load_latency = false;     ///< streaming ops take their latency; else their value is there as
                                 ///< soon as their unit begins, as in the schedule
  double least_load_latency = 0;  ///< least latency of streaming ops, if they take any: traffic of
                                  ///< the whole GPU
  double mbarrier_signal = 0;     ///< cycles from the arrival of threads to the end of a wait
  double named_barrier_signal = 0;      ///< the same for tokens and rendezvous
  std::optional<std::uint64_t> jitter;  ///< seed: latencies of variable-latency ops are 1 to
                                        ///< `largest_jitter` times their own, evenly spread
  double largest_jitter = 4;
  bool jitter_all = false;  ///< latencies of all asynchronous ops vary, so that only the plan's
                            ///< waits keep an order
};

/// Listener for the events of a run, in the order of their times.
class Listener {
 public:
  virtual ~Listener() = default;
  /// An op begins to read its operands.
  virtual void begins(OpId op, std::int64_t iteration, double now) = 0;
  /// An op ends: its operands are free from `read` on, and its result is there at `done`. Both
  /// times may lie ahead.
  virtual void ends(OpId op, std::int64_t iteration, double read, double done) = 0;
  /// A copy of the op's value to its staging buffer begins, and is complete at `done`.
  virtual void stages(OpId op, std::int64_t iteration, double now, double done) = 0;
  /// A role takes a step of a prologue or epilogue op.
  virtual void around(const plan::Step& step, double now) = 0;
};

struct Setting {
  std::int64_t trips = 0;  ///< 0 to kMostTrips
  Timing timing;
  const problem::Problem* costs = nullptr;  ///< the plan's Problem with the alternatives of another
                                            ///< rate; null: the plan's own
  bool record = false;                      ///< keep the timeline
  Listener* listener = nullptr;  ///< with a listener, an op waits for operands of other roles or
                                 ///< asynchronous work only where a step of the plan does
};
inline constexpr std::int64_t kMostTrips = 100'000;

/// Cause of a stall. `step`: a step that waits, or a compute or issue that lacks an operand
/// (`operand`) or its unit (`unit`).
struct Cause {
  const plan::Step* step = nullptr;
  std::optional<OpId> operand;
  std::optional<UnitId> unit;
};

struct Stall {
  Cause cause;
  double cycles = 0;  ///< per window of the role's steady state; without one, of the whole run
};

struct RoleTimes {
  double prologue = 0;  ///< cycles spent in the section, or in the whole short path
  double steady = 0;
  double drain = 0;
  std::int64_t windows = 0;   ///< of the steady state
  double busy = 0;            ///< cycles of computing or issuing, per window as in Stall
  std::vector<Stall> stalls;  ///< the longest first
};

/// Channel of slots that are filled and emptied.
struct Ring {
  ChannelId channel;
  double taken = 0;  ///< slots on average between acquire and release
  double full = 0;   ///< slots on average that are filled and not released yet
  int most = 0;      ///< slots taken at once
  /// Times at which a slot was taken for an iteration, was full, and was empty again.
  struct Use {
    double taken = 0;
    double full = 0;
    double empty = 0;
  };
  std::vector<Use> uses = {};  ///< by iteration, if recorded
};

/// A row of the timeline.
struct Track {
  enum class Kind { role, unit } kind = Kind::role;
  std::size_t index = 0;
  friend bool operator==(const Track&, const Track&) = default;
};
struct Span {
  Track track;
  double begin = 0;
  double end = 0;
  bool stalled = false;              ///< whether the role waits
  const plan::Step* step = nullptr;  ///< step of the plan; null for a unit's spans
  std::optional<OpId> op;
  std::int64_t iteration = 0;
};
/// Arrow from the arrival that completed a phase to a wait that passed because of it.
struct Arrow {
  Track from;
  double begin = 0;
  double there = 0;  ///< time from which waits may pass because of the arrival
  Track to;
  double end = 0;
  ChannelId channel;
  bool empty = false;  ///< for the empty barrier
  std::int64_t iteration = 0;
};

/// One run. Times are cycles since the roles began. Pointers lead into the plan that was run.
struct Simulation {
  std::int64_t trips = 0;
  double total = 0;                ///< time until all work is done
  double first = 0;                ///< time until iteration 0 is done
  std::optional<double> interval;  ///< per iteration in the steady state; empty if the run is too
                                   ///< short for one
  std::vector<RoleTimes> roles;    ///< by RoleId
  std::vector<double> units;       ///< by UnitId: busy share of an iteration
  std::vector<double> pipes;       ///< by PipeId: demand as a share of an iteration
  std::vector<Ring> rings;
  std::vector<Span> spans;  ///< if recorded, by begin
  std::vector<Arrow> arrows;
};

/// Standstill of a run, or misuse of a barrier. A proven plan has neither.
struct Fault {
  std::string message;
  std::vector<std::string> roles;  ///< place of each role
};

/// Runs the plan. Deterministic. Preconditions: the plan is well-formed, and its ops belong to
/// iterations that exist (`plan::prove` finds nothing under "well-formed" or "ownership"). `costs`
/// has the plan's ops, units and pipes. Cost: about steps times roles.
tl::expected<Simulation, Fault> simulate(const plan::Plan& plan, const Setting& setting);

}  // namespace twill::simulate
