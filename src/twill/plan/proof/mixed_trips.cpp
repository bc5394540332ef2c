#include "twill/plan/proof/mixed_trips.h"

#include <algorithm>

namespace twill::plan::proof {
namespace {

bool counts_iterations(const Channel& channel) {
  return channel.counts == Channel::Counts::iterations;
}

/// Whether the argument applies to the plan. It has no CTAs of a cluster, no places that several
/// buffers share, and no rings that count tiles.
bool is_simple(const Plan& plan) {
  if (cluster_size(plan) > 1) return false;
  for (std::size_t a = 0; a < plan.buffers.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (share_addresses(plan.buffers[a], plan.buffers[b])) return false;
    }
  }
  return std::all_of(plan.channels.begin(), plan.channels.end(), [](const Channel& channel) {
    return counts_iterations(channel) || channel.depth == 1;
  });
}

/// Whether prologue or epilogue ops access the buffer. Then it is accessed in every tile, and rules
/// that hold for neighbours hold for all (`check_tensor`).
bool is_accessed_around(const Plan& plan, BufferId buffer) {
  const auto accesses = [&](const PerTileOp& per_tile_op) {
    return std::any_of(per_tile_op.tensor.begin(), per_tile_op.tensor.end(),
                       [&](const TensorAccess& access) { return access.buffer == buffer; });
  };
  return plan.kernel &&
         std::any_of(plan.kernel->per_tile_ops.begin(), plan.kernel->per_tile_ops.end(), accesses);
}

}  // namespace

MixedTrips::MixedTrips(const Plan& plan) : plan_(plan), strands_(plan.roles.size() * kStrands) {
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    of_buffer_.push_back({buffer.depth, {}});
    if (buffer.residence != Residence::tensor || is_accessed_around(plan, BufferId(b))) continue;
    of_tensor_[BufferId(b)].depth = buffer.depth;
  }
  for (const Channel& channel : plan.channels) of_full_.push_back({channel.depth, {}});
  of_empty_ = of_full_;
  decided_ = is_simple(plan) && strands_ + plan.channels.size() <= 64;
}

void MixedTrips::look_at(const Run& run) {
  if (!decided_ || run.iterations() == 0) return;
  find_ends(run);
  find_channels(run);
  look_at_buffers(run);
  look_at_tensor_memory(run);
  for (const Barrier& barrier : run.barriers().all()) look_at_channel(run, barrier);
  for (const auto& [who, times] : waits_) {
    decided_ = decided_ && times == run.iterations() && (fresh_ || waiters_.contains(who));
    waiters_.insert(who);
  }
  decided_ = decided_ && waits_.size() == waiters_.size();
  fresh_ = false;
}

bool MixedTrips::decided() const {
  const auto led = [](const Relation& relation) {
    return std::all_of(relation.from.begin(), relation.from.end(),
                       [&](Ways from) { return (from & relation.to) != 0; });
  };
  const auto leads = [](const auto& entry) { return entry.second.leads(); };
  return decided_ && std::all_of(of_tensor_.begin(), of_tensor_.end(), leads) &&
         std::all_of(of_buffer_.begin(), of_buffer_.end(), led) &&
         std::all_of(of_full_.begin(), of_full_.end(), led) &&
         std::all_of(of_empty_.begin(), of_empty_.end(), led);
}

bool MixedTrips::TensorRelation::leads() const {
  for (const auto& [who, ends] : from) {
    const bool in_order = who.second == Mechanism::threads || who.second == Mechanism::tcgen05;
    for (const auto& [next, begins] : to) {
      if (who == next && in_order) continue;
      const auto meets = [begins = begins](Ways ways) { return (ways & begins) != 0; };
      if (!std::all_of(ends.begin(), ends.end(), meets)) return false;
    }
  }
  return true;
}

/// Finds the first and the last step of each strand in the tile, without the steps after the last
/// tile.
void MixedTrips::find_ends(const Run& run) {
  const auto is_tail = [&](const Event& event) {
    const std::vector<Step>& tail = plan_[event.role].tail;
    return std::any_of(tail.begin(), tail.end(),
                       [&](const Step& step) { return &step == event.step; });
  };
  first_.assign(strands_, kNone);
  last_.assign(strands_, kNone);
  for (EventId e = 0; e < run.events().size(); ++e) {
    const Event& event = run.events()[e];
    const bool taken = event.moment == Moment::step || event.moment == Moment::arrived;
    if (!taken || is_tail(event)) continue;
    const std::size_t strand = strand_of(event);
    if (first_[strand] == kNone) first_[strand] = e;
    last_[strand] = e;
  }
}

/// Finds the releases and acquires of pipelines, by iteration.
void MixedTrips::find_channels(const Run& run) {
  const auto width = static_cast<std::size_t>(run.iterations());
  const std::vector<std::vector<EventId>> none(width);
  releases_.assign(plan_.channels.size(), none);
  acquires_.assign(plan_.channels.size(), none);
  waits_.clear();
  for (const Barrier& barrier : run.barriers().all()) {
    const Channel& channel = plan_[barrier.channel];
    if (!counts_iterations(channel)) continue;
    if (barrier.side == Side::full || channel.kind != ChannelKind::pipeline) continue;
    const std::size_t c = barrier.channel.index();
    const auto iteration = [&](std::int64_t phase) {
      return static_cast<std::size_t>(phase * channel.depth + barrier.slot);
    };
    for (std::int64_t phase = 0; phase < barrier.phases; ++phase) {
      for (const Arriving& arrival : run.barriers().arrivals(barrier, phase)) {
        releases_[c][iteration(phase)].push_back(arrival.event);
      }
    }
    for (const Wait& wait : barrier.waits) {
      acquires_[c][iteration(wait.phase + 1)].push_back(wait.event);
    }
  }
}

/// Paths to the next tile that are `related` to an event: in `ends`, by strand, and in `steps`, by
/// channel of that depth and iteration.
template <typename Related>
MixedTrips::Ways MixedTrips::ways(const std::vector<EventId>& ends, const StepsOfChannels& steps,
                                  int depth, std::int64_t iteration, const Related& related) const {
  Ways ways = 0;
  for (std::size_t s = 0; s < strands_; ++s) {
    if (ends[s] != kNone && related(ends[s])) ways |= Ways{1} << s;
  }
  for (std::size_t c = 0; c < steps.size(); ++c) {
    if (plan_.channels[c].depth != depth) continue;
    const std::vector<EventId>& of_iteration = steps[c][static_cast<std::size_t>(iteration)];
    if (std::any_of(of_iteration.begin(), of_iteration.end(), related)) {
      ways |= Ways{1} << (strands_ + c);
    }
  }
  return ways;
}

/// Notes an event without later accesses to its place in the same tile.
void MixedTrips::comes_first(const Run& run, Relation& relation, std::int64_t iteration,
                             EventId event) {
  if (event == kNone || iteration + relation.depth < run.iterations()) return;
  relation.from.insert(ways(last_, releases_, relation.depth, iteration,
                            [&](EventId later) { return run.before_or_same(event, later); }));
}

/// Notes an event without earlier accesses to its place in the same tile.
void MixedTrips::comes_then(const Run& run, Relation& relation, std::int64_t iteration,
                            EventId event) {
  if (event == kNone || iteration >= relation.depth) return;
  relation.to &= ways(first_, acquires_, relation.depth, iteration,
                      [&](EventId earlier) { return run.before_or_same(earlier, event); });
}

/// Notes an access of a strand. `own`: the strand alone accesses the place now and next, so all its
/// work is done when it ends.
void MixedTrips::look_at_access(const Run& run, Relation& relation, bool own,
                                std::int64_t iteration, const Execution& access) {
  for (std::size_t s = 0; s < kStrands; ++s) {
    if (access.end[s] == kNone) continue;
    if (!own) {
      comes_first(run, relation, iteration, access.end[s]);
      continue;
    }
    const std::size_t strand = strand_of(run.events()[access.begin[s]]);
    if (iteration + relation.depth < run.iterations()) continue;
    decided_ = decided_ && run.before_or_same(access.end[s], last_[strand]);
  }
}

/// Whether this op of threads is the only writer of the place. Each warp then writes its own part
/// again, and the readers have paths of their own.
bool MixedTrips::writes_alone(OpId op) const {
  const auto home = plan_.values[op.index()].home;
  const auto writers = std::count_if(plan_.values.begin(), plan_.values.end(),
                                     [&](const Value& value) { return value.home == home; });
  return plan_.mechanisms[op.index()] == Mechanism::threads && writers == 1;
}

void MixedTrips::look_at_buffers(const Run& run) {
  for (std::size_t v = 0; v < plan_.values.size(); ++v) {
    const Value& value = plan_.values[v];
    for (std::int64_t n = 0; n < run.iterations(); ++n) {
      if (value.home && plan_[*value.home].residence != Residence::tensor) {
        Relation& relation = of_buffer_[value.home->index()];
        const bool held = plan_[*value.home].residence == Residence::registers;
        look_at_access(run, relation, held || writes_alone(OpId(v)), n, run.execution(OpId(v), n));
        for (std::size_t s = 0; s < kStrands && !held; ++s) {
          comes_then(run, relation, n, run.execution(OpId(v), n).begin[s]);
        }
        if (run.staging(OpId(v), n).exists()) {
          look_at_access(run, relation, held, n, run.staging(OpId(v), n));
        }
      }
      if (value.staged && run.staging(OpId(v), n).exists()) {
        Relation& relation = of_buffer_[value.staged->index()];
        look_at_access(run, relation, false, n, run.staging(OpId(v), n));
        for (std::size_t s = 0; s < kStrands; ++s) {
          comes_then(run, relation, n, run.staging(OpId(v), n).begin[s]);
        }
      }
    }
  }
  for (const problem::Dependence& d : plan_.problem.dependences()) {
    if (!d.carries_value) continue;
    const Value& value = plan_.values[d.from.index()];
    const bool crosses = run.tables().role[d.from.index()] != run.tables().role[d.to.index()];
    const bool held = value.home && plan_[*value.home].residence == Residence::registers;
    const auto& buffer = held && crosses ? value.staged : value.home;
    if (!buffer || plan_[*buffer].residence == Residence::tensor) continue;
    for (std::int64_t n = 0; n + d.distance < run.iterations(); ++n) {
      look_at_access(run, of_buffer_[buffer->index()], held && !crosses, n,
                     run.execution(d.to, n + d.distance));
    }
  }
}

/// Notes a last access to a slot in the tile: accesses of threads are fenced before a path leads to
/// the next tile.
void MixedTrips::touched(const Run& run, TensorRelation& relation, std::int64_t iteration, OpId op,
                         const Execution& access) {
  if (iteration + relation.depth < run.iterations()) return;
  const Accessor who = accessor(run, op);
  const bool threads = who.second == Mechanism::threads;
  std::set<Ways>& from = relation.from[who];
  for (std::size_t s = 0; s < kStrands; ++s) {
    if (access.end[s] == kNone) continue;
    from.insert(ways(last_, releases_, relation.depth, iteration, [&](EventId later) {
      return run.before_or_same(access.end[s], later) &&
             (!threads || run.fenced_after(access.begin[s], Fence::tensor_before, later));
    }));
  }
}

/// Notes a first access to a slot in the tile: a fence comes after the path that leads here.
void MixedTrips::written(const Run& run, TensorRelation& relation, std::int64_t iteration, OpId op,
                         const Execution& access) {
  if (iteration >= relation.depth) return;
  const auto [at, fresh] = relation.to.emplace(accessor(run, op), ~Ways{0});
  for (std::size_t s = 0; s < kStrands; ++s) {
    if (access.begin[s] == kNone) continue;
    at->second &= ways(first_, acquires_, relation.depth, iteration, [&](EventId earlier) {
      return run.before_or_same(earlier, access.begin[s]) &&
             run.fenced_before(earlier, Fence::tensor_after, access.begin[s]);
    });
  }
}

void MixedTrips::look_at_tensor_memory(const Run& run) {
  for (std::size_t v = 0; v < plan_.values.size(); ++v) {
    const auto home = plan_.values[v].home;
    const auto place = home ? of_tensor_.find(*home) : of_tensor_.end();
    if (place == of_tensor_.end()) continue;
    for (std::int64_t n = 0; n < run.iterations(); ++n) {
      touched(run, place->second, n, OpId(v), run.execution(OpId(v), n));
      written(run, place->second, n, OpId(v), run.execution(OpId(v), n));
    }
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (!d.carries_value || d.from != OpId(v)) continue;
      for (std::int64_t n = 0; n + d.distance < run.iterations(); ++n) {
        touched(run, place->second, n, d.to, run.execution(d.to, n + d.distance));
      }
    }
  }
}

/// Checks that a barrier's phases follow each other: arrivals of a phase come after arrivals and
/// waits of the previous phase.
void MixedTrips::look_at_channel(const Run& run, const Barrier& barrier) {
  const Channel& channel = plan_[barrier.channel];
  if (!counts_iterations(channel)) return;
  const bool full = barrier.side == Side::full;
  Relation& relation = (full ? of_full_ : of_empty_)[barrier.channel.index()];
  for (std::int64_t phase = 0; phase < barrier.phases; ++phase) {
    const std::int64_t iteration = phase * channel.depth + barrier.slot;
    for (const Arriving& arrival : run.barriers().arrivals(barrier, phase)) {
      comes_first(run, relation, iteration, arrival.event);
      comes_then(run, relation, iteration, arrival.event);
    }
  }
  look_at_waits(run, barrier);
}

/// Checks that a wait for a full barrier comes before the barrier is filled again. No wait comes
/// too early: each waiting strand has, in each iteration, its own wait for the previous phase.
void MixedTrips::look_at_waits(const Run& run, const Barrier& barrier) {
  const Channel& channel = plan_[barrier.channel];
  const bool full = barrier.side == Side::full;
  for (const Wait& wait : barrier.waits) {
    const std::size_t side = 2 * barrier.channel.index() + (full ? 1 : 0);
    ++waits_[{side, strand_of(run.events()[wait.event])}];
    if (!full) continue;
    comes_first(run, of_full_[barrier.channel.index()], wait.phase * channel.depth + barrier.slot,
                wait.event);
  }
}

}  // namespace twill::plan::proof
