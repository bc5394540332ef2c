#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/plan/proof/run.h"

namespace twill::plan::proof {

/// Lays out the steps of all strands.
class RunBuilder {
 public:
  RunBuilder(Run& run, Findings& findings) : run_(run), findings_(findings) {}

  void build() {
    const Plan& plan = run_.plan();
    const std::size_t size = plan.problem.ops().size() * run_.width_;
    ctas_ = static_cast<std::size_t>(cluster_size(plan));
    run_.executions_.assign(size * ctas_, {});
    run_.stagings_.assign(size * ctas_, {});
    const std::size_t per_tile_ops = plan.kernel ? plan.kernel->per_tile_ops.size() : 0;
    run_.per_tile_op_.assign(per_tile_ops * plan.roles.size() * run_.tiles_.size() * ctas_, {});
    run_.per_tile_stagings_.assign(run_.per_tile_op_.size(), {});
    run_.barriers_.clear(plan, ctas_, run_.iterations(), run_.tiles());
    for (cta_ = 0; cta_ < ctas_; ++cta_) {
      for (std::size_t r = 0; r < plan.roles.size(); ++r) add_role(RoleId(r));
    }
    part_ways();
    check_ownership();
  }

 private:
  struct Queue {
    std::int32_t track = -1;
    std::vector<EventId> done;
  };
  static constexpr std::size_t kMechanisms = static_cast<std::size_t>(Mechanism::bulk_store) + 1;

  Queue& queue_of(Mechanism how) { return queues_[static_cast<std::size_t>(how)]; }

  void add_role(RoleId role) {
    role_ = role;
    const Role& what = run_.plan()[role];
    strands_ = std::min<std::size_t>(kStrands, static_cast<std::size_t>(what.warps));
    last_.fill(kNone);
    for (std::size_t s = 0; s < strands_; ++s) {
      track_[s] = static_cast<std::int32_t>(run_.tracks_++);
      next_[s] = 0;
    }
    for (Queue& queue : queues_) {
      queue.track = -1;
      queue.done.clear();
    }
    for (tile_ = 0; tile_ < run_.tiles() && !findings_.full(); ++tile_) {
      first_ = run_.first_of(tile_);
      trips_ = run_.first_of(tile_ + 1) - first_;
      add_per_tile(what.before);
      unroll(what.sections, trips_, run_.steps_);
      for (PlacedStep& placed : run_.steps_) {
        placed.iteration += first_;
        placed_ = &placed;
        add_step(*placed.step);
        if (findings_.full()) return;
      }
      add_per_tile(what.after);
    }
    add_tail(what.tail);
  }

  /// Adds the tail: the other CTA waits for the exit of a role that does not leave with the others.
  /// What is done once counts as tile 0.
  void add_tail(const std::vector<Step>& steps) {
    bool leaves = false;
    tile_ = 0;
    for (const Step& step : steps) {
      const bool of_tile = step.instance.from == Instance::From::tile;
      const PlacedStep placed{&step, of_tile ? tile_ + step.instance.offset : run_.iterations()};
      placed_ = &placed;
      leaves = leaves || step.kind == StepKind::leave;
      add_step(step);
    }
    for (std::size_t s = 0; s < strands_; ++s) {
      if (last_[s] == kNone) continue;
      if (!leaves) come_.push_back(last_[s]);
      if (cta_ == 0) run_.exits_.push_back(last_[s]);
    }
  }

  /// Makes all leaving strands arrive before one of them goes on.
  void part_ways() {
    for (const EventId left : left_) {
      for (const EventId come : come_) run_.edges_.emplace_back(come, left);
    }
  }

  void add_per_tile(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const PlacedStep placed{&step, tile_ + step.instance.offset};
      placed_ = &placed;
      add_step(step);
      if (findings_.full()) return;
    }
  }

  /// Number of warps of a strand.
  std::int64_t weight(std::size_t strand) const {
    const std::int64_t warps = run_.plan()[role_].warps;
    return strand + 1 < kStrands ? 1 : warps - static_cast<std::int64_t>(kStrands) + 1;
  }

  EventId add_event(std::size_t strand, Moment moment, bool in_strand) {
    Event event;
    event.step = placed_->step;
    event.iteration = placed_->iteration;
    event.role = role_;
    event.strand = static_cast<std::uint8_t>(strand);
    event.cta = static_cast<std::uint8_t>(cta_);
    event.moment = moment;
    const auto id = static_cast<EventId>(run_.events_.size());
    Place place;
    if (in_strand) {
      place = {track_[strand], next_[strand]++};
      if (last_[strand] != kNone) run_.edges_.emplace_back(last_[strand], id);
      last_[strand] = id;
    }
    run_.events_.push_back(event);
    run_.places_.push_back(place);
    return id;
  }

  void add_step(const Step& step) {
    const std::size_t takers = step.by == By::one_warp ? 1 : strands_;
    for (std::size_t s = 0; s < takers; ++s) {
      const EventId previous = last_[s];
      const bool halves = step.kind == StepKind::take || step.kind == StepKind::rendezvous ||
                          step.kind == StepKind::leave;
      const EventId event = add_event(s, halves ? Moment::arrived : Moment::step, true);
      take_step(step, s, event, previous);
    }
    if (step.kind == StepKind::rendezvous) meet(takers);
    if (step.kind == StepKind::issue && is_asynchronous(mechanism(step))) finish(step, takers);
  }

  Mechanism mechanism(const Step& step) const {
    return step.op ? run_.plan().mechanisms[step.op->index()]
                   : run_.plan().kernel->per_tile_ops[*step.per_tile_op].mechanism;
  }

  /// The entry for the execution of the step's op.
  Execution& place(const Step& step, bool staging) { return place(step, staging, cta_); }
  Execution& place(const Step& step, bool staging, std::size_t cta) {
    if (step.per_tile_op) {
      auto& table = staging ? run_.per_tile_stagings_ : run_.per_tile_op_;
      return table[cta * (table.size() / ctas_) +
                   run_.per_tile_index(*step.per_tile_op, role_, tile_)];
    }
    auto& table = staging ? run_.stagings_ : run_.executions_;
    return table[cta * (table.size() / ctas_) + step.op->index() * run_.width_ +
                 static_cast<std::size_t>(placed_->iteration)];
  }

  void take_step(const Step& step, std::size_t s, EventId event, EventId previous) {
    switch (step.kind) {
      case StepKind::compute:
      case StepKind::issue:
      case StepKind::stage:
        execute(step, s, event);
        return;
      case StepKind::wait:
      case StepKind::acquire:
        add_wait(step, event, previous);
        return;
      case StepKind::expect:
      case StepKind::commit:
      case StepKind::release:
        add_arrival(step, s, event);
        return;
      case StepKind::pass:
        arrive(*step.channel, Side::full, {event, weight(s), 0, 0});
        return;
      case StepKind::take:
        arrive(*step.channel, Side::full, {event, weight(s), 0, 0});
        add_wait(step, add_event(s, Moment::step, true), previous);
        return;
      case StepKind::drain_groups:
        drain(step, event);
        // After this step, the stored data is visible to others: kept like a fence.
        if (cta_ == 0 && step.queue == Mechanism::bulk_store && !step.reads_only) {
          run_.fences_[Run::fence_index(role_, s, Fence::none)].push_back(event);
        }
        return;
      case StepKind::fence:
        if (cta_ == 0) run_.fences_[Run::fence_index(role_, s, step.fence)].push_back(event);
        return;
      case StepKind::leave:
        come_.push_back(event);
        left_.push_back(add_event(s, Moment::step, true));
        return;
      case StepKind::peek:
      case StepKind::rendezvous:
        return;
    }
  }

  void execute(const Step& step, std::size_t s, EventId event) {
    if (!is_of_tile()) {
      findings_.add("ownership", fmt::format("with {}, {} is not an iteration", run_.trips(),
                                             run_.describe(event)));
      return;
    }
    Execution& at = place(step, step.kind == StepKind::stage);
    if (at.begin[s] != kNone) {
      findings_.add("ownership", fmt::format("with {}, {} was done before: {}", run_.trips(),
                                             run_.describe(event), run_.describe(at.begin[s])));
      return;
    }
    at.begin[s] = event;
    at.end[s] = event;
  }

  std::int64_t lap(ChannelId channel) const {
    return placed_->iteration / run_.plan()[channel].depth;
  }

  bool is_of_tile() const {
    if (placed_->step->instance.from == Instance::From::tile) return placed_->iteration == tile_;
    return placed_->iteration >= first_ && placed_->iteration < first_ + trips_;
  }

  bool in_range() {
    const Step& step = *placed_->step;
    const bool of_next = step.kind == StepKind::acquire &&
                         step.instance.from == Instance::From::tile && step.instance.offset == 1;
    if (is_of_tile() || of_next) return true;
    findings_.add("arrivals", fmt::format("with {}, role {} has a step of iteration {}: {}",
                                          run_.trips(), run_.plan()[role_].name, placed_->iteration,
                                          name_of(placed_->step->kind)));
    return false;
  }

  void add_wait(const Step& step, EventId event, EventId previous) {
    if (!in_range()) return;
    const ChannelId id = *step.channel;
    const Channel& channel = run_.plan()[id];
    Wait wait{event, previous, lap(id), -1};
    if (step.kind == StepKind::take) return note(id, Side::full, wait);
    const bool full = step.kind == StepKind::wait;
    const int first = full ? channel.full_parity : channel.empty_parity;
    wait.parity = static_cast<int>((first + lap(id)) % 2);
    if (!full) --wait.phase;
    note(id, full ? Side::full : Side::empty, wait);
  }

  void note(ChannelId channel, Side side, const Wait& wait) {
    run_.barriers_.wait(channel, side, cta_, placed_->iteration, wait);
  }

  void arrive(ChannelId channel, Side side, const Arriving& arrival) {
    if (!in_range()) return;
    const bool all = side == Side::empty && run_.plan()[channel].scope == Scope::cluster;
    for (std::size_t cta = 0; cta < ctas_; ++cta) {
      if (all || cta == cta_) arrive_in(cta, channel, side, arrival);
    }
  }

  void arrive_in(std::size_t cta, ChannelId channel, Side side, const Arriving& arrival) {
    run_.barriers_.arrive(channel, side, cta, placed_->iteration, arrival);
  }

  void add_arrival(const Step& step, std::size_t s, EventId event) {
    const Side side = step.kind == StepKind::release ? Side::empty : Side::full;
    const std::int64_t counts = step.by == By::one_warp ? 1 : weight(s);
    const bool idle = step.instance.from == Instance::From::tile && trips_ == 0;
    if (step.arrival == Arrival::asynchronous && !idle) {
      const Queue& queue = queue_of(Mechanism::tcgen05);
      if (queue.done.empty()) {
        findings_.add("arrivals", fmt::format("with {}, {} has no tcgen05 work to wait for: "
                                              "it would never arrive",
                                              run_.trips(), run_.describe(event)));
        return;
      }
      const EventId signal = add_event(s, Moment::signal, false);
      run_.edges_.emplace_back(event, signal);
      run_.edges_.emplace_back(queue.done.back(), signal);
      arrive(*step.channel, side, {signal, counts, 0, 0});
      return;
    }
    const Amount expected = step.kind == StepKind::expect ? run_.plan()[*step.channel].bytes : 0;
    arrive(*step.channel, side, {event, counts, 0, expected});
  }

  /// Makes all warps of the role wait for each other.
  void meet(std::size_t takers) {
    std::array<EventId, kStrands> arrived = last_;
    for (std::size_t s = 0; s < takers; ++s) {
      const EventId passed = add_event(s, Moment::step, true);
      for (std::size_t other = 0; other < takers; ++other) {
        if (other != s) run_.edges_.emplace_back(arrived[other], passed);
      }
    }
  }

  void drain(const Step& step, EventId event) {
    const Queue& queue = queue_of(step.queue);
    const auto pending = static_cast<std::size_t>(step.pending);
    if (queue.done.size() > pending) {
      run_.edges_.emplace_back(queue.done[queue.done.size() - pending - 1], event);
    }
  }

  /// Adds the end of an asynchronous op: after all warps have started it, and in the order of its
  /// queue.
  void finish(const Step& step, std::size_t takers) {
    if (!is_of_tile()) return;
    const Mechanism how = mechanism(step);
    if (how == Mechanism::tma_multicast) return finish_shares(step);
    const EventId done = add_event(0, Moment::done, false);
    Execution& at = place(step, false);
    for (std::size_t s = 0; s < takers; ++s) {
      run_.edges_.emplace_back(last_[s], done);
      at.end[s] = done;
    }
    if (how == Mechanism::tma_load || how == Mechanism::cp_async) {
      const Amount bytes = brought_by(step);
      const std::int64_t counts = 32 * run_.plan()[role_].warps;
      if (!step.channel) return;
      arrive(
          *step.channel, Side::full,
          how == Mechanism::tma_load ? Arriving{done, 0, bytes, 0} : Arriving{done, counts, 0, 0});
      return;
    }
    Queue& queue = queue_of(how);
    if (queue.track < 0) queue.track = static_cast<std::int32_t>(run_.tracks_++);
    run_.places_[done] = {queue.track, static_cast<std::int32_t>(queue.done.size())};
    if (!queue.done.empty()) run_.edges_.emplace_back(queue.done.back(), done);
    queue.done.push_back(done);
  }

  /// Adds the end of this CTA's share, in each CTA separately.
  void finish_shares(const Step& step) {
    const Amount bytes = brought_by(step) / static_cast<Amount>(ctas_);
    for (std::size_t to = 0; to < ctas_; ++to) {
      const EventId done = add_event(0, to == cta_ ? Moment::done : Moment::landed, false);
      run_.edges_.emplace_back(last_[0], done);
      Execution& at = place(step, false, to);
      const std::size_t share = (cta_ + ctas_ - to) % ctas_;
      at.begin[share] = last_[0];
      at.end[share] = done;
      if (step.channel) arrive_in(to, *step.channel, Side::full, {done, 0, bytes, 0});
    }
  }

  std::optional<BufferId> filled_by(const Step& step) const {
    if (step.op) return run_.plan().values[step.op->index()].home;
    const std::vector<BufferId>& buffers =
        run_.plan().kernel->per_tile_ops[*step.per_tile_op].buffers;
    return buffers.empty() ? std::nullopt : std::optional(buffers.front());
  }

  Amount brought_by(const Step& step) const {
    if (step.op) return bytes_brought(run_.plan(), *step.op);
    const std::optional<BufferId> invariant_buffer = filled_by(step);
    return invariant_buffer ? run_.plan()[*invariant_buffer].size : 0;
  }

  /// Checks that every op is done once per iteration.
  void check_ownership() {
    if (!findings_.empty()) return;
    const Plan& plan = run_.plan();
    for (std::size_t v = 0; v < plan.problem.ops().size(); ++v) {
      for (std::int64_t i = 0; i < run_.iterations(); ++i) {
        if (run_.execution(OpId(v), i).exists()) continue;
        findings_.add("ownership", fmt::format("with {}, no role does {} of iteration {}",
                                               run_.trips(), plan.problem.ops()[v].name, i));
        break;
      }
      if (findings_.full()) return;
    }
  }

  Run& run_;
  Findings& findings_;
  std::size_t ctas_ = 1;
  std::size_t cta_ = 0;  // the CTA whose steps are laid out
  RoleId role_;
  std::size_t strands_ = 1;
  const PlacedStep* placed_ = nullptr;
  std::int64_t tile_ = 0;
  std::int64_t first_ = 0;  // first iteration of the tile
  std::int64_t trips_ = 0;  // number of its iterations
  std::array<EventId, kStrands> last_{};
  std::array<std::int32_t, kStrands> track_{};
  std::array<std::int32_t, kStrands> next_{};
  std::array<Queue, kMechanisms> queues_;
  // Arrival of each strand at the end, and its departure with the others.
  std::vector<EventId> come_, left_;
};

namespace {

std::string in_words(const TileTrips& tiles) {
  constexpr std::size_t kMostNamed = 12;
  const bool same = std::equal(tiles.begin() + 1, tiles.end(), tiles.begin());
  const std::string trips = fmt::format("{} trip{}", tiles[0], tiles[0] == 1 ? "" : "s");
  if (tiles.size() == 1) return trips;
  if (same) return fmt::format("{} in each of {} tiles", trips, tiles.size());
  const auto end = tiles.begin() + static_cast<std::ptrdiff_t>(std::min(tiles.size(), kMostNamed));
  return fmt::format("tiles of {}{} trips", fmt::join(tiles.begin(), end, ", "),
                     tiles.size() > kMostNamed ? ", ..." : "");
}

}  // namespace

std::string Run::trips() const { return in_words(tiles_); }

void Run::clear(const TileTrips& tiles) {
  tiles_ = tiles;
  first_.clear();
  tile_of_.clear();
  width_ = 0;
  events_.clear();
  places_.clear();
  edges_.clear();
  for (std::vector<EventId>& fences : fences_) fences.clear();
  fences_.resize(plan().roles.size() * kStrands * kFences);
  exits_.clear();
  tracks_ = 0;
  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    first_.push_back(static_cast<std::int64_t>(width_));
    tile_of_.insert(tile_of_.end(), static_cast<std::size_t>(tiles_[t]),
                    static_cast<std::int64_t>(t));
    width_ += static_cast<std::size_t>(tiles_[t]);
  }
  first_.push_back(static_cast<std::int64_t>(width_));
}

void Run::meet_in_loops() {
  const auto& per_tile_ops = plan().kernel->per_tile_ops;
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<EventId>> shares;
  for (EventId id = 0; id < events_.size(); ++id) {
    const Event& event = events_[id];
    if (!event.step->per_tile_op || event.moment != Moment::step) continue;
    if (per_tile_ops[*event.step->per_tile_op].loads.empty()) continue;
    shares[{*event.step->per_tile_op, event.iteration}].push_back(id);
  }
  for (const auto& [loop, begun] : shares) {
    // The next event of a strand waits until all others have begun.
    for (const EventId own : begun) {
      const Place at = places_[own];
      for (EventId next = own + 1; next < events_.size(); ++next) {
        if (places_[next].track != at.track || places_[next].index != at.index + 1) continue;
        for (const EventId other : begun) {
          if (other != own) edges_.emplace_back(other, next);
        }
        break;
      }
    }
  }
}

void Run::lay_out(const TileTrips& tiles, Findings& findings) {
  clear(tiles);
  RunBuilder(*this, findings).build();
}

}  // namespace twill::plan::proof
