#include "twill/plan/draft_channels.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

namespace twill::plan {
namespace {

/// Accesses of `first` in an iteration to its operands must end before `second`, `lead` iterations
/// later, begins.
struct Hazard {
  OpId first;
  OpId second;
  Cycles lead = 0;
  std::optional<OpId> value;  ///< the value that `first` read, if a channel may also order the way
                              ///< back
};

bool seen_by_barrier(Mechanism mechanism) {
  return is_copy(mechanism) || mechanism == Mechanism::tcgen05;
}

bool ends_by_drain(Mechanism mechanism) {
  return mechanism == Mechanism::wgmma || mechanism == Mechanism::bulk_store;
}

class Synchronizer {
 public:
  Synchronizer(Draft& draft, bool every_wait)
      : draft_(draft), ordering_(draft), every_wait_(every_wait) {}

  void run() {
    find_ring_channels();
    for (const Read& read : draft_.reads) add_need(read);
    add_signals();
    for (const Hazard& hazard : hazards()) settle(hazard);
    for (std::size_t s = 0; s < signals_.size(); ++s) keep_phases(s);
    write_stages(draft_, ordering_);
    write_signals(draft_, ordering_, signals_);
  }
  const Ordering& ordering() const { return ordering_; }

 private:
  void find_ring_channels() {
    for (std::size_t r = 0; r < draft_.rings.size(); ++r) {
      for (const OpId op : draft_.rings[r]) ring_of_.emplace(op, r);
    }
  }

  Cycles window(Cycles time) const { return window_of(draft_, time); }
  Cycles window(OpId op) const { return window(draft_.issue(op)); }

  /// The role's own asynchronous groups: `reader` drains them.
  void add_need(const Read& read) {
    if (!draft_.same_role(read.value, read.reader)) return;
    if (!ends_by_drain(draft_.mechanism(read.value))) return;
    if (read.in_place && same_queue(draft_, read.value, read.reader)) return;
    Cluster& cluster = cluster_at(ordering_.issue_of(read.reader));
    if (read.early) {
      cluster.main->step.drains_first = true;
      return;
    }
    need(cluster, *cluster.main, {read.value, -read.distance});
    tell_others(cluster, read.value);
  }

  /// Adds a rendezvous for bulk stores: the warp that started them drains them, and the other warps
  /// must learn of it.
  void tell_others(Cluster& cluster, OpId drained) {
    if (draft_.mechanism(drained) == Mechanism::bulk_store) gather(cluster);
  }

  void gather(Cluster& cluster) {
    if (cluster.meets || draft_.role_at(cluster.op).warps == 1) return;
    cluster.meets = true;
    if (!starts_alone(draft_, cluster.op)) return;
    ordering_.add(ordering_.exit(ordering_.issue_of(cluster.op)), ordering_.done(cluster.op), 0,
                  window(cluster.op));
  }

  Cluster& cluster_at(At at) { return draft_.order[at.role.index()][at.cluster]; }

  void need(Cluster& cluster, DraftStep& step, Need what) {
    step.needs.push_back(what);
    const Cycles weight = window(step.time) - what.offset - window(what.op);
    ordering_.add(ordering_.done(what.op), ordering_.enter(ordering_.issue_of(cluster.op)), weight,
                  window(what.op) + std::max(what.offset, 0), std::abs(what.offset));
  }

  /// Adds signals for reads that are ordered neither by program order nor by a drain. The order is
  /// by waiting role, moment and awaited role.
  void add_signals() {
    std::vector<std::tuple<RoleId, Cycles, std::size_t, Cycles, std::size_t>> order;
    for (std::size_t i = 0; i < draft_.reads.size(); ++i) {
      const Read& read = draft_.reads[i];
      const bool own = draft_.same_role(read.value, read.reader);
      if (own && !seen_by_barrier(draft_.mechanism(read.value))) continue;
      if (own && same_queue(draft_, read.value, read.reader) &&
          (read.in_place || !read.carries_value)) {
        continue;
      }
      if (!own && !read.carries_value && is_bulk_load(draft_.mechanism(read.value)) &&
          draft_.op(read.value).streaming) {
        continue;  // a load that runs ahead needs no order
      }
      const CommitPoint commit = commit_of(draft_, ordering_, read.value, read.carries_value);
      const Cycles used = draft_.issue(read.reader) + read.distance * draft_.interval;
      order.emplace_back(draft_.role[read.reader.index()], used,
                         ordering_.issue_of(read.reader).cluster, -commit.time, i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& entry : order) add_signal(draft_.reads[std::get<4>(entry)]);
  }

  void add_signal(const Read& read) {
    const OpId value = read.value;
    const CommitPoint commit = commit_of(draft_, ordering_, value, read.carries_value);
    const Cycles used = draft_.issue(read.reader) + read.distance * draft_.interval;
    const At at = ordering_.issue_of(read.reader);
    const Cycles from = commit_window(commit, value);
    const bool known = ordering_.implies(commit_node(commit, value), ordering_.enter(at), from,
                                         window(used) - from, read.distance);
    const bool order_only = !read.carries_value && !is_copy(draft_.mechanism(value));
    Signal* signal = signal_of(value, order_only);
    const bool waits = signal != nullptr && consumer(*signal, at.role) != nullptr;
    if (waits || (known && !every_wait_)) return;
    if (signal == nullptr) signal = &new_signal(value, order_only);
    signal->consumers.push_back({at.role, at, used, false});
    for (const OpId op : signal->ops) {
      const CommitPoint its = commit_of(draft_, ordering_, op, read.carries_value);
      const Cycles begin = commit_window(its, op);
      ordering_.add(commit_node(its, op), ordering_.enter(at), window(used) - begin, begin);
    }
  }

  /// Whether the arrival is valid for all warps. It is not if one of several warps arrives for
  /// asynchronous work.
  bool speaks_for_all(const CommitPoint& commit, OpId op) const {
    return commit.asynchronous || (!commit.staged && ends_by_drain(draft_.mechanism(op)));
  }
  std::size_t commit_node(const CommitPoint& commit, OpId op) const {
    return speaks_for_all(commit, op) ? ordering_.done(op) : ordering_.exit(commit.at);
  }
  Cycles commit_window(const CommitPoint& commit, OpId op) const {
    return speaks_for_all(commit, op) ? window(op) : window(commit.time);
  }

  static bool has(const Signal& signal, OpId op) {
    return std::find(signal.ops.begin(), signal.ops.end(), op) != signal.ops.end();
  }

  Signal* signal_of(OpId value, bool order_only) {
    for (Signal& signal : signals_) {
      if (has(signal, value) && (order_only || !signal.order_only)) return &signal;
    }
    return nullptr;
  }

  static Consumer* consumer(Signal& signal, RoleId role) {
    for (Consumer& c : signal.consumers) {
      if (c.role == role) return &c;
    }
    return nullptr;
  }

  Signal& new_signal(OpId value, bool order_only) {
    Signal signal;
    signal.order_only = order_only;
    signal.ops = {value};
    if (const auto ring = ring_of_.find(value); ring != ring_of_.end() && !order_only) {
      signal.ops = draft_.rings[ring->second];
    }
    signal.name = draft_.op(signal.ops.front()).name;
    for (std::size_t i = 1; i < signal.ops.size(); ++i) {
      signal.name += "+" + draft_.op(signal.ops[i]).name;
    }
    if (order_only) signal.name += ".done";
    signals_.push_back(std::move(signal));
    return signals_.back();
  }

  /// Accesses that must end before a slot is written again.
  std::vector<Hazard> hazards() const {
    std::vector<Hazard> found;
    for (const Read& read : draft_.reads) {
      if (!read.carries_value) continue;
      const auto home = draft_.home(read.value);
      const auto staged = draft_.plan.values[read.value.index()].staged;
      const bool crosses = !draft_.same_role(read.value, read.reader);
      if (staged && crosses) {
        const Cycles depth = draft_.plan[*staged].depth;
        found.push_back({read.reader, read.value, depth - read.distance, read.value});
      } else if (home) {
        add_overwriters(read, *home, found);
      }
    }
    for (const Read& read : draft_.reads) add_rivals(read, found);
    for (std::size_t v = 0; v < draft_.role.size(); ++v) add_rewrites(OpId(v), found);
    for (const auto& [a, b] : draft_.aliases) {
      add_alias(a, b, found);
      add_alias(b, a, found);
    }
    return found;
  }

  /// The next write of every member of the buffer after the reader is done.
  void add_overwriters(const Read& read, BufferId home, std::vector<Hazard>& found) const {
    const Cycles depth = draft_.plan[home].depth;
    if (alone(read.value)) {
      if (read.reader == read.value && read.in_place) return;
      found.push_back({read.reader, read.value, depth - read.distance, read.value});
      return;
    }
    const Cycles used = draft_.issue(read.reader) + read.distance * draft_.interval;
    const Cycles end = used + std::max<Cycles>(read.hold, 0);
    for (std::size_t w = 0; w < draft_.role.size(); ++w) {
      const OpId writer(w);
      if (draft_.home(writer) != home) continue;
      if (writer == read.reader && read.in_place) continue;
      // Finds the next write, k iterations later (k a multiple of the depth), that does not come
      // before the read ends.
      Cycles lead = ceil_divide(end - draft_.issue(writer), draft_.interval);
      lead = ceil_divide(lead, depth) * depth;
      // An in-place op takes over the buffer of the last value it updates, without waiting for
      // itself.
      if (read.in_place && updates(draft_, read.reader, writer, read.distance - lead))
        lead += depth;
      found.push_back({read.reader, writer, lead - read.distance, read.value});
    }
  }

  /// Makes a value end before the next value is written, if an op updates both in one place.
  void add_rivals(const Read& read, std::vector<Hazard>& found) const {
    if (!read.in_place || !draft_.home(read.value)) return;
    for (const Read& other : draft_.reads) {
      if (!other.in_place || other.reader != read.reader) continue;
      if (draft_.home(other.value) != draft_.home(read.value)) continue;
      const Cycles lead = read.distance - other.distance;
      const Cycles after = draft_.issue(other.value) + lead * draft_.interval;
      if (after <= draft_.issue(read.value)) continue;
      found.push_back({read.value, other.value, lead, std::nullopt});
    }
  }

  bool is_read(OpId value) const {
    return std::any_of(draft_.reads.begin(), draft_.reads.end(),
                       [&](const Read& read) { return read.carries_value && read.value == value; });
  }

  /// Whether no other op writes the buffer of a value.
  bool alone(OpId value) const {
    std::size_t writers = 0;
    for (const Value& other : draft_.plan.values) {
      if (other.home == draft_.home(value)) ++writers;
    }
    return writers == 1;
  }

  /// Makes asynchronous writes without readers end before the next write.
  void add_rewrites(OpId writer, std::vector<Hazard>& found) const {
    const auto home = draft_.home(writer);
    if (!home || !is_asynchronous(draft_.mechanism(writer)) || is_read(writer)) return;
    found.push_back({writer, writer, draft_.plan[*home].depth, std::nullopt});
  }

  /// Makes all accesses to `a` end before the next write of `b`, which lies in the same place.
  void add_alias(BufferId a, BufferId b, std::vector<Hazard>& found) const {
    std::set<std::pair<OpId, Cycles>> touching;  // op, and the moment at which its accesses end
    for (std::size_t v = 0; v < draft_.role.size(); ++v) {
      // The readers of its value come after it.
      if (draft_.home(OpId(v)) != a || is_read(OpId(v))) continue;
      touching.emplace(OpId(v), end_of_access(draft_, OpId(v)));
    }
    for (const Read& read : draft_.reads) {
      if (!read.carries_value || draft_.home(read.value) != a) continue;
      touching.emplace(read.reader, draft_.issue(read.reader) + read.hold);
    }
    for (const auto& [op, end] : touching) {
      for (std::size_t w = 0; w < draft_.role.size(); ++w) {
        if (draft_.home(OpId(w)) != b) continue;
        const Cycles lead = ceil_divide(end - draft_.issue(OpId(w)), draft_.interval);
        found.push_back({op, OpId(w), lead, std::nullopt});
      }
    }
  }

  /// Orders a hazard: by an existing order, else by a drain in the role, a release of the value's
  /// channel, or a new signal.
  void settle(const Hazard& hazard) {
    const bool own = draft_.same_role(hazard.first, hazard.second);
    if (own && !is_asynchronous(draft_.mechanism(hazard.first))) return;
    if (own && same_queue(draft_, hazard.first, hazard.second)) return;
    const At at = writes_at(hazard.second);
    if (own && ends_by_drain(draft_.mechanism(hazard.first))) {
      Cluster& cluster = cluster_at(ordering_.issue_of(hazard.second));
      need(cluster, *cluster.main, {hazard.first, static_cast<int>(-hazard.lead)});
      tell_others(cluster, hazard.first);
      return;
    }
    const Cycles lead = hazard.lead + window(cluster_at(at).time) - window(hazard.first);
    const bool known = ordering_.implies(ordering_.done(hazard.first), ordering_.enter(at),
                                         window(hazard.first), lead, hazard.lead);
    Signal* way_back = hazard.value ? signal_of(*hazard.value, false) : nullptr;
    if (way_back != nullptr && !can_carry(*way_back, hazard)) way_back = nullptr;
    if (known && !every_wait_) return;
    if (way_back == nullptr) {
      order(hazard, at);
      return;
    }
    release(*way_back, hazard);
  }

  /// Place at which an op writes its buffer: at its issue, or where its value is staged.
  At writes_at(OpId op) const {
    const bool staged = draft_.plan.values[op.index()].staged.has_value();
    return staged ? commit_of(draft_, ordering_, op, true).at : ordering_.issue_of(op);
  }

  bool can_carry(Signal& signal, const Hazard& hazard) {
    // The copy completes its own channel.
    if (is_copy(draft_.mechanism(hazard.first))) return false;
    if (consumer(signal, draft_.role[hazard.first.index()]) == nullptr) return false;
    if (draft_.role[signal.op().index()] != draft_.role[hazard.second.index()]) return false;
    // The first lap has no waits, not even for readers of initial values. So initial values need a
    // slot of their own.
    const auto home = draft_.home(*hazard.value);
    const bool staged = draft_.plan.values[hazard.value->index()].staged.has_value();
    if (home && !staged && draft_.plan[*home].depth <= draft_.plan[*home].initial) return false;
    return has(signal, hazard.second);
  }

  void release(Signal& signal, const Hazard& hazard) {
    Consumer& side = *consumer(signal, draft_.role[hazard.first.index()]);
    if (side.releases) return;
    set_depth(signal);
    side.releases = true;
    set_acquire(signal);
    link_release(signal, side);
  }

  void set_acquire(Signal& signal) {
    if (signal.acquire) return;
    const CommitPoint commit = commit_of(draft_, ordering_, signal.op(), !signal.order_only);
    // A signal without data acquires its slot when it commits.
    const bool late = commit.staged || signal.order_only;
    const At at = late ? commit.at : first_of(draft_, ordering_, signal);
    signal.acquire = at;
    signal.acquire_time = cluster_at(at).time;
  }

  void link_release(const Signal& signal, const Consumer& side) {
    const Cluster& acquirer = cluster_at(*signal.acquire);
    const CommitPoint commit = commit_of(draft_, ordering_, signal.op(), !signal.order_only);
    const bool alone = !commit.staged && commits_alone(draft_, acquirer) && !acquirer.meets;
    // The other warps do not wait.
    if (alone && draft_.plan[signal.acquire->role].warps > 1) return;
    for (const ReleasePoint& point : releases_of(draft_, ordering_, signal, side.role)) {
      const Cycles to = window(signal.acquire_time) + signal.depth;
      if (point.asynchronous) {
        ordering_.add(ordering_.done(cluster_at(point.at).op), ordering_.enter(*signal.acquire),
                      to - window(point.time), window(point.time), signal.depth);
        continue;
      }
      if (point.by == By::every_warp || draft_.plan[side.role].warps == 1) {
        ordering_.add(ordering_.exit(point.at), ordering_.enter(*signal.acquire),
                      to - window(point.time), window(point.time), signal.depth);
      }
      // Instance n ends when op what.op of iteration n + offset ends.
      for (const Need& what : point.needs) {
        const Cycles begin = window(what.op) + what.offset;
        ordering_.add(ordering_.done(what.op), ordering_.enter(*signal.acquire), to - begin, begin,
                      std::max<Cycles>(signal.depth, what.offset));
      }
    }
  }

  /// Sets the number of instances in flight: the copies of the buffer, or as many as the schedule
  /// makes.
  void set_depth(Signal& signal) {
    const Value& value = draft_.plan.values[signal.op().index()];
    if (!signal.order_only && value.staged) {
      signal.depth = draft_.plan[*value.staged].depth;
      return;
    }
    if (!signal.order_only && value.home &&
        draft_.plan[*value.home].residence != Residence::registers) {
      signal.depth = copies_in_turn(draft_.plan[*value.home]);
      return;
    }
    const Cycles time = commit_of(draft_, ordering_, signal.op(), !signal.order_only).time;
    Cycles depth = 1;
    for (const Consumer& side : signal.consumers) {
      depth = std::max(depth, floor_divide(side.wait_time - time, draft_.interval) + 1);
      for (const ReleasePoint& point : releases_of(draft_, ordering_, signal, side.role)) {
        const Cycles end = point.asynchronous
                               ? end_of_access(draft_, cluster_at(point.at).op) -
                                     draft_.issue(cluster_at(point.at).op) + point.time
                               : point.time;
        depth = std::max(depth, floor_divide(end - time, draft_.interval) + 1);
      }
    }
    signal.depth = depth;
  }

  /// Adds a signal that `first` is done; for a load, also that its data has arrived.
  void order(const Hazard& hazard, At at) {
    const bool order_only = !is_copy(draft_.mechanism(hazard.first));
    Signal* signal = nullptr;
    for (Signal& known : signals_) {
      if (known.order_only == order_only && has(known, hazard.first)) signal = &known;
    }
    Cluster& waiting = cluster_at(at);
    if (starts_alone(draft_, waiting.op) && !waiting.retire) gather(waiting);
    const Cycles used = waiting.time + hazard.lead * draft_.interval;
    Consumer* side = signal != nullptr ? consumer(*signal, at.role) : nullptr;
    if (side != nullptr && order_only) side = nullptr, signal = nullptr;
    if (signal == nullptr) signal = &new_signal(hazard.first, order_only);
    if (side == nullptr) {
      signal->consumers.push_back({at.role, at, used, false});
    } else if (std::tuple(used, at.cluster) < std::tuple(side->wait_time, side->wait.cluster)) {
      side->wait = at;  // a load arrives at one barrier, for which a role waits once
      side->wait_time = used;
    }
    const CommitPoint commit = commit_of(draft_, ordering_, hazard.first, false);
    const Cycles begin = commit_window(commit, hazard.first);
    ordering_.add(commit_node(commit, hazard.first), ordering_.enter(at), window(used) - begin,
                  begin);
  }

  /// Makes every wait come before its barrier completes the next time.
  void keep_phases(std::size_t index) {
    Signal& signal = signals_[index];
    set_depth(signal);
    for (Consumer& side : signal.consumers) {
      if (side.releases) continue;
      const CommitPoint commit = commit_of(draft_, ordering_, signal.op(), !signal.order_only);
      const Cycles lead = signal.depth + window(commit.time) - window(side.wait_time);
      const bool own = side.role == commit.at.role;
      const bool several = draft_.plan[side.role].warps > 1 && !cluster_at(side.wait).meets &&
                           !cluster_at(commit.at).meets;
      const bool known = ordering_.implies(ordering_.enter(side.wait), ordering_.exit(commit.at),
                                           window(side.wait_time), lead, signal.depth);
      if (known && !(own && several)) continue;
      side.releases = true;
      set_acquire(signal);
      link_release(signal, side);
    }
  }

  Draft& draft_;
  Ordering ordering_;
  bool every_wait_;
  std::map<OpId, std::size_t> ring_of_;
  std::vector<Signal> signals_;
};

}  // namespace

CommitPoint commit_of(const Draft& draft, const Ordering& ordering, OpId op, bool value) {
  const Mechanism mechanism = draft.mechanism(op);
  const bool staged = value && draft.plan.values[op.index()].staged.has_value();
  if (seen_by_barrier(mechanism) && !staged) {
    return {ordering.issue_of(op), draft.issue(op), false, true};
  }
  if (mechanism == Mechanism::threads) {
    return {ordering.issue_of(op), draft.issue(op), staged, false};
  }
  return {ordering.retire_of(op), retired(draft, op), staged, false};
}

At first_of(const Draft& draft, const Ordering& ordering, const Signal& signal) {
  const auto order = [&](OpId op) {
    return std::tuple(window_of(draft, draft.issue(op)), ordering.issue_of(op).cluster);
  };
  const auto first = std::min_element(signal.ops.begin(), signal.ops.end(),
                                      [&](OpId a, OpId b) { return order(a) < order(b); });
  return ordering.issue_of(*first);
}

Result<void> make_channels(Draft& draft, const Setting& setting) {
  Synchronizer synchronizer(draft, setting.every_wait);
  synchronizer.run();
  if (setting.tokens) write_tokens(draft, synchronizer.ordering());
  write_regions(draft, synchronizer.ordering(), setting.regions);
  write_rendezvous(draft, synchronizer.ordering());
  return number_named_barriers(draft);
}

}  // namespace twill::plan
