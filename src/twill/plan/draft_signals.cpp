#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "twill/plan/draft_channels.h"
#include "twill/problem/problem.h"

namespace twill::plan {
namespace {

Cluster& cluster_at(Draft& draft, At at) { return draft.order[at.role.index()][at.cluster]; }

DraftStep step_of(StepKind kind, ChannelId channel, Cycles time, By by) {
  DraftStep draft;
  draft.step.kind = kind;
  draft.step.channel = channel;
  draft.step.by = by;
  draft.time = time;
  return draft;
}

/// Makes the name of a channel unique.
std::string unique(const Plan& plan, const std::string& name) {
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(plan.channels.begin(), plan.channels.end(),
                       [&](const Channel& known) { return known.name == candidate; });
  };
  std::string candidate = name;
  for (int i = 2; taken(candidate); ++i) candidate = fmt::format("{}#{}", name, i);
  return candidate;
}

/// Bytes that arrive with one instance.
Amount bytes_of(const Draft& draft, const Signal& signal) {
  Amount bytes = 0;
  for (const OpId op : signal.ops) bytes += bytes_brought(draft.plan, op);
  return bytes;
}

}  // namespace

bool commits_alone(const Draft& draft, const Cluster& cluster) {
  return cluster.retire ? draft.mechanism(cluster.op) != Mechanism::scoreboard
                        : starts_alone(draft, cluster.op);
}

namespace {

class Writer {
 public:
  Writer(Draft& draft, const Ordering& ordering, const Signal& signal)
      : draft_(draft),
        ordering_(ordering),
        signal_(signal),
        id_(draft.plan.channels.size()),
        commit_(commit_of(draft, ordering, signal.op(), !signal.order_only)) {}

  void run() {
    channel_.name = unique(draft_.plan, signal_.name);
    channel_.producer = commit_.at.role;
    channel_.depth = static_cast<int>(signal_.depth);
    for (const OpId op : signal_.ops) add_buffer(op);
    write_commit();
    for (const Consumer& side : signal_.consumers) write_consumer(side);
    channel_.kind = signal_.acquire ? ChannelKind::pipeline : ChannelKind::signal;
    if (signal_.acquire) write_acquire();
    if (signal_.acquire && is_shared()) {
      channel_.scope = Scope::cluster;
      channel_.empty_arrivals *= cluster_size(draft_.plan);
    }
    draft_.plan.channels.push_back(std::move(channel_));
  }

 private:
  /// Whether other CTAs write the guarded buffers, and so must know when the buffers are free.
  bool is_shared() const {
    return std::any_of(signal_.ops.begin(), signal_.ops.end(),
                       [&](OpId op) { return draft_.mechanism(op) == Mechanism::tma_multicast; });
  }

  void add_buffer(OpId op) {
    const Value& value = draft_.plan.values[op.index()];
    const auto buffer = commit_.staged ? value.staged : value.home;
    if (signal_.order_only || !buffer) return;
    if (draft_.plan[*buffer].residence != Residence::registers) channel_.buffers.push_back(*buffer);
  }

  void write_commit() {
    Cluster& cluster = cluster_at(draft_, commit_.at);
    const Mechanism mechanism = draft_.mechanism(signal_.op());
    const int warps = draft_.plan[commit_.at.role].warps;
    if (commit_.asynchronous && mechanism != Mechanism::tcgen05) {
      for (const OpId op : signal_.ops) {
        cluster_at(draft_, ordering_.issue_of(op)).main->step.channel = id_;
      }
      // Each thread of a copy arrives for each of the copies that come together.
      const int copies = static_cast<int>(signal_.ops.size());
      channel_.full_arrivals = is_bulk_load(mechanism) ? 1 : copies * warps * kThreadsPerWarp;
      if (is_bulk_load(mechanism)) write_expect();
      return;
    }
    const bool one = commit_.asynchronous ||
                     (!commit_.staged && cluster.retire && commits_alone(draft_, cluster));
    DraftStep commit =
        step_of(StepKind::commit, id_, commit_.time, one ? By::one_warp : By::every_warp);
    if (commit_.asynchronous) commit.step.arrival = Arrival::asynchronous;
    if (cluster.retire) commit.needs.push_back({signal_.op(), 0});
    channel_.full_arrivals = one ? 1 : warps;
    cluster.after.push_back(std::move(commit));
  }

  /// Writes the step that announces the bytes, after the slot is free and before the first of the
  /// loads.
  void write_expect() {
    channel_.bytes = bytes_of(draft_, signal_);
    Cluster& cluster = cluster_at(draft_, first_of(draft_, ordering_, signal_));
    cluster.before.push_back(step_of(StepKind::expect, id_, cluster.time, By::one_warp));
  }

  void write_consumer(const Consumer& side) {
    channel_.consumers.push_back(side.role);
    cluster_at(draft_, side.wait)
        .before.push_back(step_of(StepKind::wait, id_, side.wait_time, By::every_warp));
    if (!side.releases) return;
    for (const ReleasePoint& point : releases_of(draft_, ordering_, signal_, side.role)) {
      DraftStep release = step_of(StepKind::release, id_, point.time, point.by);
      if (point.asynchronous) release.step.arrival = Arrival::asynchronous;
      release.needs = point.needs;
      channel_.empty_arrivals += point.by == By::one_warp ? 1 : draft_.plan[side.role].warps;
      cluster_at(draft_, point.at).after.push_back(std::move(release));
    }
  }

  void write_acquire() {
    Cluster& cluster = cluster_at(draft_, *signal_.acquire);
    const bool alone = !commit_.staged && commits_alone(draft_, cluster);
    DraftStep acquire = step_of(StepKind::acquire, id_, signal_.acquire_time,
                                alone ? By::one_warp : By::every_warp);
    (commit_.staged || cluster.retire ? cluster.after : cluster.before)
        .push_back(std::move(acquire));
  }

  Draft& draft_;
  const Ordering& ordering_;
  const Signal& signal_;
  ChannelId id_;
  CommitPoint commit_;
  Channel channel_;
};

/// The ops of `role` that read an instance, with the moment (of instance 0) at which each begins to
/// read.
std::vector<std::pair<Cycles, const Read*>> readers_in(const Draft& draft, const Signal& signal,
                                                       RoleId role) {
  std::vector<std::pair<Cycles, const Read*>> readers;
  if (signal.order_only) return readers;
  for (const Read& read : draft.reads) {
    if (!read.carries_value || draft.role[read.reader.index()] != role) continue;
    if (std::find(signal.ops.begin(), signal.ops.end(), read.value) == signal.ops.end()) continue;
    readers.emplace_back(draft.issue(read.reader) + read.distance * draft.interval, &read);
  }
  return readers;
}

/// Whether a point of a role comes later than a release point.
bool later(At at, Cycles time, const ReleasePoint& than) {
  return time > than.time || (time == than.time && at.cluster > than.at.cluster);
}

}  // namespace

std::vector<ReleasePoint> releases_of(const Draft& draft, const Ordering& ordering,
                                      const Signal& signal, RoleId role) {
  std::optional<ReleasePoint> tensor;
  std::optional<ReleasePoint> threads;
  By by = By::one_warp;
  std::vector<Need> needs;
  for (const auto& [time, read] : readers_in(draft, signal, role)) {
    const OpId reader = read->reader;
    const Mechanism mechanism = draft.mechanism(reader);
    if (mechanism == Mechanism::tcgen05) {
      const At at = ordering.issue_of(reader);
      if (!tensor || later(at, time, *tensor)) tensor = {at, time, true, By::one_warp, {}};
      continue;
    }
    const bool drains = mechanism == Mechanism::wgmma || mechanism == Mechanism::bulk_store;
    const At at = drains ? ordering.retire_of(reader) : ordering.issue_of(reader);
    const Cycles end = drains ? retired(draft, reader) - draft.issue(reader) + time : time;
    if (drains) {
      needs.push_back({reader, read->distance});
    } else if (!is_bulk_load(mechanism)) {
      by = By::every_warp;
    }
    if (!threads || later(at, end, *threads)) threads = {at, end, false, By::one_warp, {}};
  }
  std::vector<ReleasePoint> points;
  if (threads) {
    threads->by = by;
    threads->needs = needs;
    points.push_back(*threads);
  }
  if (tensor) points.push_back(*tensor);
  if (points.empty()) {
    for (const Consumer& side : signal.consumers) {
      if (side.role == role)
        points.push_back({side.wait, side.wait_time, false, By::every_warp, {}});
    }
  }
  return points;
}

void write_stages(Draft& draft, const Ordering& ordering) {
  for (std::size_t v = 0; v < draft.role.size(); ++v) {
    if (!draft.plan.values[v].staged) continue;
    const CommitPoint point = commit_of(draft, ordering, OpId(v), true);
    Cluster& cluster = cluster_at(draft, point.at);
    DraftStep stage;
    stage.step.kind = StepKind::stage;
    stage.step.op = OpId(v);
    stage.time = point.time;
    if (cluster.retire) stage.needs.push_back({OpId(v), 0});
    cluster.after.push_back(std::move(stage));
  }
}

void write_signals(Draft& draft, const Ordering& ordering, const std::vector<Signal>& signals) {
  for (const Signal& signal : signals) Writer(draft, ordering, signal).run();
}

namespace {

/// Whether the threads of a role do more than start asynchronous work.
bool works(const Draft& draft, RoleId role) {
  return std::any_of(draft.order[role.index()].begin(), draft.order[role.index()].end(),
                     [&](const Cluster& cluster) {
                       return !cluster.retire &&
                              draft.mechanism(cluster.op) == Mechanism::threads &&
                              draft.alternative(cluster.op).issue > 0;
                     });
}

/// The wgmma ops on one unit in the order of their slots, split where the role changes.
std::vector<std::vector<OpId>> turns_of(const Draft& draft, problem::UnitId unit) {
  std::vector<std::tuple<Cycles, OpId>> sequence;
  for (std::size_t v = 0; v < draft.role.size(); ++v) {
    const OpId op(v);
    if (draft.alternative(op).unit != unit || draft.mechanism(op) != Mechanism::wgmma) continue;
    sequence.emplace_back(schedule::slot_of(draft.plan.schedule, op), op);
  }
  std::sort(sequence.begin(), sequence.end());
  std::vector<std::vector<OpId>> turns;
  for (const auto& [slot, op] : sequence) {
    if (turns.empty() || !draft.same_role(turns.back().back(), op)) turns.emplace_back();
    turns.back().push_back(op);
  }
  if (turns.size() > 1 && draft.same_role(turns.front().front(), turns.back().back())) {
    // The end of the window cuts a turn in two: its second half belongs to the next window.
    std::vector<OpId>& last = turns.back();
    last.insert(last.end(), turns.front().begin(), turns.front().end());
    turns.erase(turns.begin());
  }
  return turns;
}

/// Adds a named barrier from the end of turn `last` to the beginning of turn `first`. `passed` and
/// `taken`: the moments of instance 0; `passed` comes before `taken`.
void write_token(Draft& draft, const Ordering& ordering, OpId last, Cycles passed, OpId first,
                 Cycles taken) {
  Channel channel;
  channel.name = unique(
      draft.plan, fmt::format("turn.{}.{}", draft.role_at(last).name, draft.role_at(first).name));
  channel.kind = ChannelKind::token;
  channel.producer = draft.role[last.index()];
  channel.consumers = {draft.role[first.index()]};
  channel.full_arrivals = draft.role_at(last).warps + draft.role_at(first).warps;
  const ChannelId id(draft.plan.channels.size());
  cluster_at(draft, ordering.issue_of(last))
      .after.push_back(step_of(StepKind::pass, id, passed, By::every_warp));
  cluster_at(draft, ordering.issue_of(first))
      .before.push_back(step_of(StepKind::take, id, taken, By::every_warp));
  draft.plan.channels.push_back(std::move(channel));
}

/// Writes a token for turns of any iterations, in every round from moment `stage` * II on. So a
/// role takes the token between two passes.
void write_token(Draft& draft, const Ordering& ordering, const std::vector<OpId>& from,
                 const std::vector<OpId>& to, Cycles stage) {
  const auto slot = [&](OpId op) { return schedule::slot_of(draft.plan.schedule, op); };
  const OpId last = from.back();
  const OpId first = to.front();
  const Cycles wraps = slot(first) < slot(last) ? 1 : 0;
  write_token(draft, ordering, last, stage * draft.interval + slot(last), first,
              (stage + wraps) * draft.interval + slot(first));
}

/// Writes tokens for turns of one iteration, before the turns of the next iteration. The very first
/// turn waits for no pass.
void write_region(Draft& draft, const Ordering& ordering, const schedule::Region& region) {
  for (std::size_t t = 0; t < region.turns.size(); ++t) {
    const bool wraps = t + 1 == region.turns.size();
    const OpId last = region.turns[t].last;
    const OpId first = region.turns[wraps ? 0 : t + 1].first;
    write_token(draft, ordering, last, draft.issue(last), first,
                draft.issue(first) + (wraps ? draft.interval : 0));
  }
}

}  // namespace

void write_tokens(Draft& draft, const Ordering& ordering) {
  for (std::size_t u = 0; u < draft.plan.problem.units().size(); ++u) {
    const std::vector<std::vector<OpId>> turns = turns_of(draft, problem::UnitId(u));
    if (turns.size() < 2) continue;
    const bool matters = std::any_of(turns.begin(), turns.end(), [&](const auto& turn) {
      return works(draft, draft.role[turn.front().index()]);
    });
    if (!matters) {
      draft.plan.notes.push_back(
          fmt::format("groups that only issue work on {} take it in the order they come: no tokens",
                      draft.plan.problem.units()[u].name));
      continue;
    }
    Cycles stage = schedule::stage_of(draft.plan.schedule, turns.front().front());
    for (const std::vector<OpId>& turn : turns) {
      for (const OpId op : turn) {
        stage = std::min(stage, schedule::stage_of(draft.plan.schedule, op));
      }
    }
    for (std::size_t t = 0; t < turns.size(); ++t) {
      write_token(draft, ordering, turns[t], turns[(t + 1) % turns.size()], stage);
    }
  }
}

void write_regions(Draft& draft, const Ordering& ordering, const schedule::Regions& regions) {
  for (const schedule::Region& region : regions.all) write_region(draft, ordering, region);
  if (!regions.note.empty()) draft.plan.notes.push_back(regions.note);
}

void write_rendezvous(Draft& draft, const Ordering& ordering) {
  const auto rendezvous = [&](OpId op) {
    Cluster& cluster = cluster_at(draft, ordering.issue_of(op));
    const bool known = std::any_of(cluster.before.begin(), cluster.before.end(), [](const auto& s) {
      return s.step.kind == StepKind::rendezvous;
    });
    if (known) return;
    DraftStep step;
    step.step.kind = StepKind::rendezvous;
    step.time = cluster.time;
    cluster.before.push_back(std::move(step));
  };
  for (const auto& clusters : draft.order) {
    for (const Cluster& cluster : clusters) {
      if (cluster.meets) rendezvous(cluster.op);
    }
  }
  for (const Read& read : draft.reads) {
    const auto home = draft.home(read.value);
    // The other warps see one warp's accesses to global memory after a rendezvous.
    const bool meets = read.through_memory && draft.same_role(read.value, read.reader);
    if (meets && draft.role_at(read.reader).warps > 1) rendezvous(read.reader);
    if (!read.carries_value || !home || draft.role_at(read.reader).warps == 1) continue;
    const Residence where = draft.plan[*home].residence;
    const bool apart =
        where == Residence::registers ||  // each warp stages its own part
        (where == Residence::tensor && draft.mechanism(read.reader) == Mechanism::threads);
    if (apart || !draft.same_role(read.value, read.reader)) continue;
    if (draft.mechanism(read.value) == Mechanism::threads) rendezvous(read.reader);
    if (where == Residence::shared) rendezvous(read.value);
  }
  for (const auto& [a, b] : draft.aliases) {
    if (draft.plan[a].residence != Residence::shared) continue;
    for (std::size_t v = 0; v < draft.role.size(); ++v) {
      const auto home = draft.home(OpId(v));
      if ((home == a || home == b) && draft.role_at(OpId(v)).warps > 1) rendezvous(OpId(v));
    }
  }
}

Result<void> number_named_barriers(Draft& draft) {
  int next = 1;  // barrier 0 is __syncthreads
  for (Channel& channel : draft.plan.channels) {
    if (channel.kind == ChannelKind::token) channel.named_barrier = next++;
  }
  for (std::size_t r = 0; r < draft.order.size(); ++r) {
    for (const Cluster& cluster : draft.order[r]) {
      const bool meets =
          std::any_of(cluster.before.begin(), cluster.before.end(),
                      [](const auto& s) { return s.step.kind == StepKind::rendezvous; });
      if (!meets || draft.plan.roles[r].named_barrier >= 0) continue;
      draft.plan.roles[r].named_barrier = next++;
    }
  }
  if (next > draft.plan.limits.named_barriers) {
    return fail({}, fmt::format("the plan needs {} named barriers, but there are only {} beside 0",
                                next - 1, draft.plan.limits.named_barriers - 1));
  }
  return {};
}

}  // namespace twill::plan
