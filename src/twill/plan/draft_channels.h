#pragma once

#include <map>
#include <optional>
#include <vector>

#include "twill/plan/ordering.h"

/// Internal to the room: the barriers of a plan, before they become steps.
namespace twill::plan {

/// One role's side of a channel.
struct Consumer {
  RoleId role;
  At wait;               ///< the consumer waits before the op of this cluster
  Cycles wait_time = 0;  ///< moment of the wait in instance 0
  bool releases = false;
};

/// A channel in the making: `ops` of iteration n are its instance n.
struct Signal {
  std::vector<OpId> ops;    ///< one op, or the loads that arrive together
  bool order_only = false;  ///< whether the signal guards no buffer and only says that `ops` are
                            ///< done
  std::vector<Consumer> consumers;
  Cycles depth = 1;
  std::optional<At> acquire;  ///< set if a consumer releases
  Cycles acquire_time = 0;
  std::string name;

  OpId op() const { return ops.front(); }
};

/// Place and moment at which the producer of a signal arrives.
struct CommitPoint {
  At at;
  Cycles time = 0;
  bool staged = false;        ///< whether the value is copied to its staging buffer there
  bool asynchronous = false;  ///< whether the arrival comes with the end of the op
};
CommitPoint commit_of(const Draft& draft, const Ordering& ordering, OpId op, bool value);

/// Whether one warp of the role commits for the others at a cluster without staged values.
bool commits_alone(const Draft& draft, const Cluster& cluster);
/// The op of a signal that is issued first.
At first_of(const Draft& draft, const Ordering& ordering, const Signal& signal);

/// Place at which a consumer's threads, or its tensor-core work, arrive at the empty barrier.
struct ReleasePoint {
  At at;
  Cycles time = 0;
  bool asynchronous = false;
  By by = By::one_warp;
  std::vector<Need> needs;
};
/// One or two places: threads and tcgen05 arrive separately for the values that they read.
std::vector<ReleasePoint> releases_of(const Draft& draft, const Ordering& ordering,
                                      const Signal& signal, RoleId role);

/// Adds the copies of values into their staging buffers.
void write_stages(Draft& draft, const Ordering& ordering);
/// Writes signals into the draft as channels and steps.
void write_signals(Draft& draft, const Ordering& ordering, const std::vector<Signal>& signals);
/// Adds named barriers that keep the order of tensor-core work of several roles.
void write_tokens(Draft& draft, const Ordering& ordering);
/// Adds named barriers for regions in which roles take turns. Precondition: the roles take turns in
/// the schedule.
void write_regions(Draft& draft, const Ordering& ordering, const schedule::Regions& regions);
/// Adds rendezvous of the warps of one role that exchange data through shared memory.
void write_rendezvous(Draft& draft, const Ordering& ordering);
/// Numbers the named barriers. Fails if there are too few.
Result<void> number_named_barriers(Draft& draft);

}  // namespace twill::plan
