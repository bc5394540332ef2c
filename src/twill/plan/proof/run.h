#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "twill/plan/proof/barrier_table.h"
#include "twill/plan/proof/rules.h"

/// Internal to the proof: one run of a plan as a graph of events.
namespace twill::plan::proof {

/// Equivalent warps of a role form one strand: warp 0 (the elected warp), warp 1, and all others.
/// Two of the others relate to each other as warp 1 and one of them do.
inline constexpr std::size_t kStrands = 3;

enum class Moment : std::uint8_t {
  step,     ///< a strand takes a step
  arrived,  ///< first half of `take` and `rendezvous`
  done,     ///< an asynchronous op is done
  signal,   ///< an asynchronous arrival
  landed,   ///< the strand's share of a multicast copy is in the other CTA
};

struct Event {
  const Step* step = nullptr;
  std::int64_t iteration = 0;
  RoleId role;
  std::uint8_t strand = 0;
  std::uint8_t cta = 0;  ///< number in the cluster of the CTA that takes the step
  Moment moment = Moment::step;
};

/// Place of an event in an ordered sequence: a strand or a queue. Ends of copies and signals have
/// no track.
struct Place {
  std::int32_t track = -1;
  std::int32_t index = 0;
};

inline constexpr std::size_t kFences = static_cast<std::size_t>(Fence::pin) + 1;

/// One execution of an op, of a prologue or epilogue op, or of the staging of either's value.
/// Shares of a multicast copy that other CTAs load count as further strands of it.
struct Execution {
  std::array<EventId, kStrands> begin{kNone, kNone, kNone};
  std::array<EventId, kStrands> end{kNone, kNone, kNone};
  bool exists() const { return begin[0] != kNone; }
};

/// A run of a plan as a graph of events. All CTAs of a cluster run the same program, each with
/// barriers and buffers of its own. So results for the first CTA hold for the others: executions,
/// fences and exits are those of the first.
///
/// One Run is laid out repeatedly, since allocation would take most of the time.
class Run {
 public:
  explicit Run(const Tables& tables) : tables_(tables) {}
  /// Discards the previous run, and lays out a run with these trip counts.
  void lay_out(const TileTrips& tiles, Findings& findings);

  const Tables& tables() const { return tables_; }
  const Plan& plan() const { return tables_.plan; }
  std::int64_t tiles() const { return static_cast<std::int64_t>(tiles_.size()); }
  /// The trip counts in words: "3 trips", "3 trips in each of 4 tiles", "tiles of 0, 1, 2 trips".
  std::string trips() const;
  /// Number of iterations of all tiles, numbered consecutively.
  std::int64_t iterations() const { return static_cast<std::int64_t>(width_); }
  std::int64_t tile_of(std::int64_t iteration) const {
    return tile_of_[static_cast<std::size_t>(iteration)];
  }
  /// The first iteration of a tile. For the number of tiles: `iterations`.
  std::int64_t first_of(std::int64_t tile) const { return first_[static_cast<std::size_t>(tile)]; }
  /// The number of an iteration within its tile.
  std::int64_t in_tile(std::int64_t iteration) const {
    return iteration - first_of(tile_of(iteration));
  }
  const std::vector<Event>& events() const { return events_; }
  /// Whether two iterations lie in one tile of a run of many. Then a run of that tile alone has
  /// decided their order: no path leads to an earlier tile (docs/decisions/0006-plan-proof.md).
  bool in_one_tile(std::int64_t a, std::int64_t b) const {
    return tiles() > 1 && tile_of(a) == tile_of(b);
  }
  /// Whether the iterations of two events lie in one tile of a run of many.
  bool of_one_tile(EventId a, EventId b) const {
    return tiles() > 1 && tile_of(events_[a]) == tile_of(events_[b]);
  }
  /// Precondition: settled.
  const BarrierTable& barriers() const { return barriers_; }
  /// The last event of each strand that has one.
  const std::vector<EventId>& exits() const { return exits_; }

  const Execution& execution(OpId op, std::int64_t iteration) const {
    return executions_[op.index() * width_ + static_cast<std::size_t>(iteration)];
  }
  const Execution& staging(OpId op, std::int64_t iteration) const {
    return stagings_[op.index() * width_ + static_cast<std::size_t>(iteration)];
  }

  /// Execution of a prologue or epilogue op, by one of its roles for one tile.
  const Execution& per_tile_op(std::size_t what, RoleId role, std::int64_t tile) const {
    return per_tile_op_[per_tile_index(what, role, tile)];
  }
  const Execution& per_tile_staging(std::size_t what, RoleId role, std::int64_t tile) const {
    return per_tile_stagings_[per_tile_index(what, role, tile)];
  }

  /// Gives loops after the planned loop many iterations, if they continue to use its rings. Then
  /// their roles and the loader finish only after all others have begun. Used in the search for
  /// circles: without iterations the roles do not wait for each other.
  void meet_in_loops();

  /// Orders the events; false, with a finding, if they wait for each other in a circle.
  bool settle(Findings& findings);
  /// Whether `a` has ended whenever `b` happens. Precondition: settled.
  bool before(EventId a, EventId b) const {
    const Place first = places_[a];
    const Place second = places_[b];
    if (first.track < 0) return some_next_before_or_same(a, b);
    if (first.track == second.track) return first.index < second.index;
    const std::size_t at = clock_[b] * tracks_ + static_cast<std::size_t>(first.track);
    return clocks_[at] >= first.index;
  }
  /// Whether `a` is `b`, or has ended whenever `b` happens; kNone comes before all events.
  bool before_or_same(EventId a, EventId b) const { return a == b || before(a, b); }
  /// The place of an event in some order of execution.
  std::uint32_t position(EventId event) const { return position_[event]; }

  /// Whether the strand of `did` takes such a fence after `did` and before `other`. Precondition of
  /// this and the next: settled.
  bool fenced_after(EventId did, Fence kind, EventId other) const;
  /// Whether the strand of `does` takes such a fence after `other` and before `does`.
  bool fenced_before(EventId other, Fence kind, EventId does) const;

  /// Whether the strand of `began`, which began a bulk store, waits for its end, `done`, before
  /// `other`. A wait for the read of its source is not enough.
  bool stored_before(EventId began, EventId done, EventId other) const;

  /// The event in words: "WG0: wait load0 of iteration 2 (steady)".
  std::string describe(EventId event) const;

 private:
  friend class RunBuilder;
  static std::size_t fence_index(RoleId role, std::size_t strand, Fence kind) {
    return (role.index() * kStrands + strand) * kFences + static_cast<std::size_t>(kind);
  }
  /// The fences of that kind that the strand of an event takes, in order.
  const std::vector<EventId>& fences_of(EventId event, Fence kind) const {
    return fences_[fence_index(events_[event].role, events_[event].strand, kind)];
  }
  std::size_t per_tile_index(std::size_t what, RoleId role, std::int64_t tile) const {
    return (what * plan().roles.size() + role.index()) * tiles_.size() +
           static_cast<std::size_t>(tile);
  }
  std::int64_t tile_of(const Event& event) const {
    if (event.step->instance.from == Instance::From::tile) return event.iteration;
    return event.iteration < iterations() ? tile_of(event.iteration) : tiles();
  }
  void clear(const TileTrips& tiles);
  void close_barriers(Findings& findings);
  void sort_edges();
  void order_events();
  void tell(EventId from, EventId to);
  bool some_next_before_or_same(EventId a, EventId b) const;
  void report_circle(Findings& findings) const;

  const Tables& tables_;
  TileTrips tiles_;
  std::vector<std::int64_t> first_;    // by tile, and the end of the last
  std::vector<std::int64_t> tile_of_;  // by iteration
  std::size_t width_ = 0;
  std::vector<PlacedStep> steps_;  // of one role in one tile, during the layout
  std::vector<Event> events_;
  std::vector<Place> places_;                       // by event
  std::vector<std::pair<EventId, EventId>> edges_;  // from, to
  std::vector<EventId> next_;                       // after `sort_edges`: edges by `from`
  std::vector<std::uint32_t> first_next_;
  std::vector<std::uint32_t> waiting_;  // number of events waited for, by event
  std::vector<EventId> order_;
  std::vector<std::uint32_t> position_;
  BarrierTable barriers_;
  std::vector<Execution> executions_, stagings_;
  std::vector<Execution> per_tile_op_, per_tile_stagings_;
  std::vector<std::vector<EventId>> fences_;  // by role, strand and kind
  std::vector<EventId> exits_;
  std::size_t tracks_ = 0;
  // Events before an event, by track: the index of the last event on that track that comes before,
  // or -1 (a vector clock). An event that follows only its predecessor on its own track shares the
  // predecessor's clock, whose entry for that track is out of date.
  std::vector<std::uint32_t> clock_;  // by event
  std::vector<std::int32_t> clocks_;
};

/// Checks the rules of a settled run, one file each.
void check_barriers(const Run& run, Findings& findings);
/// Checks exits: a CTA exists as long as one of its warps does, and all arrivals and data from
/// other CTAs must come before.
void check_exits(const Run& run, Findings& findings);
void check_per_tile_ops(const Run& run, Findings& findings);
/// Precondition: `check_around` found nothing.
void check_tensor(const Run& run, Findings& findings);

}  // namespace twill::plan::proof
