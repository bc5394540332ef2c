#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "twill/plan/proof/rules.h"

namespace twill::plan::proof {
namespace {

/// Two points of the steady state whose windows are `weight` apart.
struct Link {
  std::size_t from;
  std::size_t to;
  std::int64_t weight;
};

/// The steady state as a graph of points and distances, for one window. Warps of a role are merged,
/// which adds paths and loses none.
class Steady {
 public:
  explicit Steady(const Plan& plan) : plan_(plan) {
    for (const Role& role : plan.roles) add_role(role);
    for (std::size_t c = 0; c < plan.channels.size(); ++c) add_channel(ChannelId(c));
  }

  /// The largest number of windows by which a path leads back; empty if a path leads to its own
  /// past.
  std::optional<std::int64_t> farthest_back() const {
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> next(points_);
    for (const Link& link : links_) next[link.from].emplace_back(link.to, link.weight);
    // A circuit of weight 0 or less becomes negative if each link costs a little.
    const auto scale = static_cast<std::int64_t>(points_) + 1;
    std::vector<std::int64_t> distance(points_, 0);
    std::vector<std::size_t> length(points_, 0);
    std::deque<std::size_t> todo;
    std::vector<bool> queued(points_, true);
    for (std::size_t p = 0; p < points_; ++p) todo.push_back(p);
    while (!todo.empty()) {
      const std::size_t at = todo.front();
      todo.pop_front();
      queued[at] = false;
      for (const auto& [to, weight] : next[at]) {
        const std::int64_t through = distance[at] + weight * scale - 1;
        if (through >= distance[to]) continue;
        distance[to] = through;
        length[to] = length[at] + 1;
        if (length[to] > points_) return std::nullopt;
        if (!queued[to]) todo.push_back(to);
        queued[to] = true;
      }
    }
    std::int64_t back = 0;
    for (const std::int64_t d : distance) back = std::max(back, (-d + scale - 1) / scale);
    return back;
  }

  std::int64_t longest_link() const {
    std::int64_t longest = 1;
    for (const Link& link : links_) longest = std::max(longest, std::abs(link.weight));
    return longest;
  }

 private:
  struct Point {
    std::size_t at;
    std::int64_t offset;  ///< iteration - window
  };

  void link(Point from, Point to, std::int64_t weight) {
    links_.push_back({from.at, to.at, weight});
  }

  void add_role(const Role& role) {
    const std::vector<Step>& steady = role.sections.steady;
    const std::size_t first = points_;
    // Ends of ops, in the order of their starts.
    std::map<Mechanism, std::vector<std::size_t>> queues;
    points_ += steady.size();
    for (std::size_t k = 0; k < steady.size(); ++k) {
      const bool last = k + 1 == steady.size();
      links_.push_back({first + k, last ? first : first + k + 1, last ? 1 : 0});
      add_step(role, steady[k], first + k, queues);
    }
    for (auto& [how, ends] : queues) {
      if (is_copy(how)) continue;
      for (std::size_t i = 0; i < ends.size(); ++i) {
        const bool last = i + 1 == ends.size();
        links_.push_back({ends[i], last ? ends.front() : ends[i + 1], last ? 1 : 0});
      }
    }
    for (std::size_t k = 0; k < steady.size(); ++k) add_ends(role, steady, first, k, queues);
  }

  void add_step(const Role&, const Step& step, std::size_t at,
                std::map<Mechanism, std::vector<std::size_t>>& queues) {
    const Point point{at, step.instance.offset};
    if (step.kind == StepKind::issue) {
      const std::size_t end = points_++;
      links_.push_back({at, end, 0});
      queues[plan_.mechanisms[step.op->index()]].push_back(end);
      if (step.channel) arrivals_[{*step.channel, false}].push_back({end, step.instance.offset});
    }
    if (!step.channel) return;
    switch (step.kind) {
      case StepKind::expect:
      case StepKind::commit:
      case StepKind::pass:
        if (step.arrival == Arrival::threads) arrivals_[{*step.channel, false}].push_back(point);
        return;
      case StepKind::take:
      case StepKind::wait:
        waits_[{*step.channel, false}].push_back(point);
        return;
      case StepKind::release:
        if (step.arrival == Arrival::threads) arrivals_[{*step.channel, true}].push_back(point);
        return;
      case StepKind::acquire:
        waits_[{*step.channel, true}].push_back(point);
        return;
      default:
        return;
    }
  }

  /// Adds links: drains and asynchronous arrivals come after the ends of work started before them.
  void add_ends(const Role&, const std::vector<Step>& steady, std::size_t first, std::size_t k,
                const std::map<Mechanism, std::vector<std::size_t>>& queues) {
    const Step& step = steady[k];
    const bool drains = step.kind == StepKind::drain_groups;
    const bool signals = step.arrival == Arrival::asynchronous &&
                         (step.kind == StepKind::commit || step.kind == StepKind::release);
    if (!drains && !signals) return;
    const Mechanism how = drains ? step.queue : Mechanism::tcgen05;
    const auto queue = queues.find(how);
    if (queue == queues.end()) return;
    const auto size = static_cast<std::int64_t>(queue->second.size());
    std::int64_t started = 0;  // starts in this window
    for (std::size_t i = 0; i < k; ++i) {
      const bool starts =
          steady[i].kind == StepKind::issue && plan_.mechanisms[steady[i].op->index()] == how;
      started += starts ? 1 : 0;
    }
    const std::int64_t index = started - 1 - (drains ? step.pending : 0);
    const std::int64_t window = index >= 0 ? index / size : -((-index + size - 1) / size);
    const std::size_t end = queue->second[static_cast<std::size_t>(index - window * size)];
    if (drains) {
      links_.push_back({end, first + k, -window});
      return;
    }
    const std::size_t signal = points_++;
    links_.push_back({end, signal, -window});
    links_.push_back({first + k, signal, 0});
    arrivals_[{*step.channel, step.kind == StepKind::release}].push_back(
        {signal, step.instance.offset});
  }

  void add_channel(ChannelId id) {
    for (const bool empty : {false, true}) {
      const std::int64_t depth = empty ? plan_[id].depth : 0;
      for (const Point& arrival : arrivals_[{id, empty}]) {
        for (const Point& wait : waits_[{id, empty}]) {
          // Arrival of m in window m - a; wait for it at n = m + depth in window n - w.
          link(arrival, wait, arrival.offset + depth - wait.offset);
        }
      }
    }
  }

  const Plan& plan_;
  std::size_t points_ = 0;
  std::vector<Link> links_;
  std::map<std::pair<ChannelId, bool>, std::vector<Point>> arrivals_, waits_;
};

/// Iterations after which the slots of buffers that share addresses repeat. A period above
/// `kLongest` makes a plan too large to prove.
std::int64_t period_of(const Plan& plan) {
  constexpr std::int64_t kLongest = 8192;
  std::int64_t period = 1;
  for (const Buffer& a : plan.buffers) {
    for (const Buffer& b : plan.buffers) {
      if (&a == &b || !share_addresses(a, b)) continue;
      period = std::min(std::lcm(period, std::int64_t{a.depth}), kLongest);
    }
  }
  return period;
}

}  // namespace

std::optional<Bounds> trips_to_check(const Tables& tables) {
  const Steady steady(tables.plan);
  const auto back = steady.farthest_back();
  if (!back) return std::nullopt;
  const std::int64_t reach = *back + steady.longest_link();
  const std::int64_t apart = 2 * std::int64_t{tables.deepest} + tables.spread + tables.farthest;
  const std::int64_t ends = 2 * std::int64_t{tables.spread} + tables.deepest + tables.farthest;
  return Bounds{tables.spread + apart + 2 * reach + period_of(tables.plan), ends + *back + 1};
}

}  // namespace twill::plan::proof
