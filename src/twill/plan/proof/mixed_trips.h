#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "twill/plan/proof/run.h"

/// Internal to the proof: rules that hold for tiles of any trip counts, however many tiles lie in
/// between.
namespace twill::plan::proof {

/// Decides rules that relate an event of one tile to an event of a later tile, for tiles of mixed
/// trip counts. A rule holds if a path leads from one event to the other that is independent of the
/// tiles in between. Such a path is a warp, whose own order goes on from tile to tile. Or it is the
/// barriers of a channel: a release of iteration n lets an acquire of iteration n + depth pass. It
/// remains to check each tile by itself: the first event comes before the warp's last step or that
/// release. The second event comes after the warp's first step or that acquire
/// (docs/decisions/0006-plan-proof.md, "Many tiles").
class MixedTrips {
 public:
  explicit MixedTrips(const Plan& plan);

  /// Adds the paths of a single tile. Precondition: the run is settled, has one tile, and obeys all
  /// rules. Cost: about the events of its first and last `depth` iterations, times warps and
  /// channels.
  void look_at(const Run& run);

  /// Whether every mixture of tiles with the trip counts seen is decided.
  bool decided() const;

 private:
  /// Paths to the next tile, as bits: strands, then channels.
  using Ways = std::uint64_t;
  using StepsOfChannels = std::vector<std::vector<std::vector<EventId>>>;  // and of iterations
  /// Role and mechanism that access tensor memory. Threads of one role are in order, since each
  /// warp has its own lanes. The tcgen05 work of one role is in order, since it is queued.
  using Accessor = std::pair<RoleId, Mechanism>;

  /// Accesses that may come first, and accesses that come `depth` iterations later. Each first
  /// access needs a path to the end of its tile. From the beginning of a later tile, the path must
  /// lead to all later accesses.
  struct Relation {
    int depth = 1;
    std::set<Ways> from;
    Ways to = ~Ways{0};
  };

  /// Relations of a place in tensor memory, by accessor: from one accessor to another with fences
  /// on both sides.
  struct TensorRelation {
    int depth = 1;
    std::map<Accessor, std::set<Ways>> from;
    std::map<Accessor, Ways> to;
    bool leads() const;
  };

  void find_ends(const Run& run);
  void find_channels(const Run& run);
  void look_at_buffers(const Run& run);
  bool writes_alone(OpId op) const;
  void look_at_access(const Run& run, Relation& relation, bool own, std::int64_t iteration,
                      const Execution& access);
  void look_at_tensor_memory(const Run& run);
  Accessor accessor(const Run& run, OpId op) const {
    return {run.tables().role[op.index()], plan_.mechanisms[op.index()]};
  }
  void touched(const Run& run, TensorRelation& relation, std::int64_t iteration, OpId op,
               const Execution& access);
  void written(const Run& run, TensorRelation& relation, std::int64_t iteration, OpId op,
               const Execution& access);
  void look_at_channel(const Run& run, const Barrier& barrier);
  void look_at_waits(const Run& run, const Barrier& barrier);
  template <typename Related>
  Ways ways(const std::vector<EventId>& ends, const StepsOfChannels& steps, int depth,
            std::int64_t iteration, const Related& related) const;
  void comes_first(const Run& run, Relation& relation, std::int64_t iteration, EventId event);
  void comes_then(const Run& run, Relation& relation, std::int64_t iteration, EventId event);
  static std::size_t strand_of(const Event& event) {
    return event.role.index() * kStrands + event.strand;
  }

  /// A barrier's side, and the strand that waits there.
  using Waiter = std::pair<std::size_t, std::size_t>;

  const Plan& plan_;
  bool decided_ = true;
  bool fresh_ = true;                             // whether no run was seen yet
  std::set<Waiter> waiters_;                      // the same in every run
  std::vector<Relation> of_buffer_;               // accesses before a write
  std::map<BufferId, TensorRelation> of_tensor_;  // the same for tensor memory
  std::vector<Relation> of_full_, of_empty_;      // by ChannelId: phases of the barriers
  std::size_t strands_ = 0;
  // Facts of the current run.
  std::vector<EventId> first_, last_;  // by strand
  StepsOfChannels releases_, acquires_;
  std::map<Waiter, std::int64_t> waits_;
};

}  // namespace twill::plan::proof
