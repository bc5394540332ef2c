#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "twill/plan/make.h"
#include "twill/plan/plan.h"
#include "twill/support/whole_division.h"

/// Internal to the room: a Plan in the making. The construction follows the schedule's own time. A
/// *moment* of iteration n is a cycle T + n * II, and all steps of a role at one moment are a
/// Cluster. Waits only ever point forward in that time, so the result should be free of deadlock;
/// the proof decides whether it is.
namespace twill::plan {

/// `op` of the step's iteration + offset must be done.
struct Need {
  OpId op;
  int offset = 0;
  friend bool operator==(const Need&, const Need&) = default;
};

struct DraftStep {
  Step step;        ///< the step, without its instance
  Cycles time = 0;  ///< moment of iteration 0
  std::vector<Need> needs;
};

/// An op at its issue, or at the end of its asynchronous work (`retire`), with its role's steps
/// before and after it. All steps of a cluster have its slot.
struct Cluster {
  OpId op;
  bool retire = false;
  Cycles time = 0;
  bool meets =
      false;  ///< whether all warps of the role meet before `main`, which one of them takes for all
  std::vector<DraftStep> before;
  std::optional<DraftStep> main;
  std::vector<DraftStep> after;
};

/// `reader` of iteration i uses the result of `value` of iteration i - distance.
struct Read {
  OpId value;
  OpId reader;
  int distance = 0;
  bool in_place = false;
  bool carries_value = true;
  bool through_memory = false;  ///< whether the dependence is an order of accesses to global memory
  Cycles hold = 0;              ///< cycles after its issue during which the reader still reads
  bool early = false;  ///< whether the reader may be issued before the value is ready: then the op
                       ///< itself waits
};

struct Draft {
  Draft(const problem::Problem& problem, const schedule::Schedule& schedule)
      : plan(problem), interval(schedule.initiation_interval) {
    plan.schedule = schedule;
  }

  Plan plan;
  Cycles interval;
  std::vector<RoleId> role;  ///< by OpId
  std::vector<bool> eager;   ///< by RoleId: groups are drained when they end
  std::vector<bool> late;    ///< by OpId: its end is awaited by the next op of its kind
  std::vector<Read> reads;   ///< all dependences
  std::vector<std::vector<Cluster>> order;  ///< by RoleId: one window, in order
  std::vector<std::vector<OpId>> rings;     ///< loads that run ahead; loads of one channel together
  std::vector<std::pair<Cycles, Cycles>> alive;  ///< by BufferId: [begin, end) of the life of copy
                                                 ///< 0
  std::vector<std::pair<BufferId, BufferId>> aliases;
  std::vector<std::pair<BufferId, BufferId>>
      overlays;  ///< staging of a store after the loop, and the buffer of the loop in which it lies

  const problem::Op& op(OpId id) const { return plan.problem[id]; }
  const problem::Alternative& alternative(OpId id) const {
    return op(id).alternatives[static_cast<std::size_t>(plan.schedule.ops[id.index()].alternative)];
  }
  Cycles issue(OpId id) const { return plan.schedule.ops[id.index()].issue; }
  Mechanism mechanism(OpId id) const { return plan.mechanisms[id.index()]; }
  const Role& role_at(OpId id) const { return plan[role[id.index()]]; }
  bool same_role(OpId a, OpId b) const { return role[a.index()] == role[b.index()]; }
  std::optional<BufferId> home(OpId id) const { return plan.values[id.index()].home; }
};

/// Threads of a warp.
inline constexpr int kThreadsPerWarp = 32;

/// Part of its tile's rows on which the op works; -1 if the tile is whole.
int part_of(const Setting& setting, OpId op);

/// Whether a group has registers for tiles, and enough warps for their rows. One warp is enough if
/// all groups have one.
bool can_hold_tiles(std::span<const problem::Group> groups, GroupId group);

/// Whether two ops follow each other in one hardware queue, so that the second may update the
/// first's result without a wait.
bool same_queue(const Draft& draft, OpId first, OpId second);

/// End of an op's accesses to its operands: the end of its issue if threads do it, else of its
/// latency.
Cycles end_of_access(const Draft& draft, OpId op);
/// Copies of a buffer in memory that take turns. Copies that keep initial values until the end of
/// the first lap are left out.
int copies_in_turn(const Buffer& buffer);
/// Whether one warp starts the op, whatever the number of warps in its role.
bool starts_alone(const Draft& draft, OpId op);
/// Whether `op` updates in place the result of `value` from `distance` iterations before, or an
/// in-place update of that result.
bool updates(const Draft& draft, OpId op, OpId value, Cycles distance);
/// Moment from which the value of an op can be transferred.
Cycles ready(const Draft& draft, OpId op);
/// Whether a role waits for a product at the end of the window that issues it. Then the result
/// lives longer than the interval, so the loop moves it to other registers at its back edge. ptxas
/// serializes products whose results move while in flight (C7514). A product that is issued in the
/// last cycle of a window is left alone.
bool ends_with_window(const Draft& draft, OpId op);
/// Moment at which a role waits for the end of asynchronous work: when it should be ready, or with
/// its window; for `late` ops, right after the start of the next op.
Cycles retired(const Draft& draft, OpId op);

// The steps of the construction, in order.

/// Makes roles, warpgroups, mechanisms and reads. Where no group of the loop can hold tiles, the
/// first suitable group of the pool gets a role for prologue and epilogue ops.
Result<void> make_roles(Draft& draft, const Setting& setting);
/// Makes values and buffers, without addresses.
Result<void> make_storage(Draft& draft);
/// Assigns prologue and epilogue ops to roles and creates their buffers, without addresses.
Result<void> make_per_tile(Draft& draft, const Setting& setting);
/// Sets addresses, ring depths, and buffers that share a place.
Result<void> make_addresses(Draft& draft, const Setting& setting);
/// Makes one window of each role, with its ops alone.
void make_order(Draft& draft);
/// Adds all steps that wait.
Result<void> make_channels(Draft& draft, const Setting& setting);
/// Adds fences, asynchronous groups and sections.
Result<void> make_sections(Draft& draft, bool pins);
/// Splits the registers that groups share, by the live registers of their roles in the order of
/// steps.
void split_registers(Draft& draft);
/// Chooses the row sums that are kept in parts: all sums for which that is allowed, and whose ops
/// belong to one role.
void make_partial_sums(Draft& draft, const Setting& setting);
/// Chooses the ops with which branches and effects of the loop are done.
void make_wholes(Draft& draft, const Setting& setting);
/// Chooses the role of the warps with which the kernel is launched.
void choose_launch_role(Plan& plan);
/// Chooses the loads of loops after the planned loop that use its rings. Precondition: the steps of
/// the sections exist.
void continue_rings(Draft& draft, const Setting& setting);
/// Adds the steps of roles before and after the loop, and the channels for them.
Result<void> make_tile_steps(Draft& draft);
/// Adds steps and channels by which roles learn when other roles no longer use a buffer of the loop
/// in which they stage stored values. Precondition: all other steps exist.
void make_overlays(Draft& draft);

}  // namespace twill::plan
