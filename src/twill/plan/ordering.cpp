#include "twill/plan/ordering.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace twill::plan {

Ordering::Ordering(const Draft& draft) {
  const std::size_t ops = draft.role.size();
  issue_.resize(ops);
  retire_.resize(ops);
  std::size_t clusters = 0;
  for (std::size_t r = 0; r < draft.order.size(); ++r) {
    first_.push_back(clusters);
    for (std::size_t k = 0; k < draft.order[r].size(); ++k) {
      const Cluster& cluster = draft.order[r][k];
      (cluster.retire ? retire_ : issue_)[cluster.op.index()] = {RoleId(r), k};
    }
    clusters += draft.order[r].size();
  }
  links_.resize(2 * clusters);
  for (std::size_t r = 0; r < draft.order.size(); ++r) {
    const std::size_t count = draft.order[r].size();
    for (std::size_t k = 0; k < count; ++k) {
      const At at{RoleId(r), k};
      add_order(enter(at), exit(at), 0);
      add_order(exit(at), enter({RoleId(r), (k + 1) % count}), k + 1 == count ? 1 : 0);
    }
  }
  for (std::size_t v = 0; v < ops; ++v) {
    const std::size_t end = exit(issue_of(OpId(v)));
    if (!is_asynchronous(draft.mechanism(OpId(v)))) {
      done_.push_back(end);
      continue;
    }
    done_.push_back(links_.size());
    links_.emplace_back();
    // An op that one warp starts comes after the other warps' work only if a rendezvous precedes
    // it.
    const Cluster& cluster = draft.order[issue_of(OpId(v)).role.index()][issue_of(OpId(v)).cluster];
    const bool all = cluster.main->step.by == By::every_warp || cluster.meets ||
                     draft.role_at(OpId(v)).warps == 1;
    if (all) add(end, done_.back(), 0, window_of(draft, draft.issue(OpId(v))));
  }
  for (std::size_t r = 0; r < draft.order.size(); ++r) {
    for (const Mechanism m : {Mechanism::wgmma, Mechanism::tcgen05, Mechanism::bulk_store}) {
      add_queue(draft, RoleId(r), m);
    }
  }
}

void Ordering::add_queue(const Draft& draft, RoleId role, Mechanism mechanism) {
  std::vector<OpId> queue;
  for (const Cluster& cluster : draft.order[role.index()]) {
    if (!cluster.retire && draft.mechanism(cluster.op) == mechanism) queue.push_back(cluster.op);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::size_t next = (i + 1) % queue.size();
    const Cycles wraps = next == 0 ? 1 : 0;
    add(done(queue[i]), done(queue[next]), wraps,
        window_of(draft, draft.issue(queue[next])) - wraps);
  }
}

std::size_t Ordering::done(OpId op) const { return done_[op.index()]; }

void Ordering::add(std::size_t from, std::size_t to, Cycles weight, Cycles shift, Cycles span) {
  links_[from].push_back({to, weight, shift, span});
}

void Ordering::add_order(std::size_t from, std::size_t to, Cycles weight) {
  links_[from].push_back({to, weight, std::nullopt, 0});
}

bool Ordering::implies(std::size_t from, std::size_t to, Cycles window, Cycles weight,
                       Cycles lead) const {
  constexpr Cycles kFar = std::numeric_limits<Cycles>::max();
  const Cycles low = std::min<Cycles>(0, lead);
  const Cycles high = std::max<Cycles>(0, lead);
  // Earliest window; later windows of a role follow.
  std::vector<Cycles> earliest(links_.size(), kFar);
  std::vector<std::size_t> visits(links_.size(), 0);
  std::deque<std::size_t> todo = {from};
  earliest[from] = window;
  while (!todo.empty()) {
    const std::size_t at = todo.front();
    todo.pop_front();
    // A circuit of barriers; the proof will report it.
    if (++visits[at] > links_.size()) return false;
    for (const Link& link : links_[at]) {
      Cycles usable = earliest[at];
      if (link.shift) {
        usable = std::max(usable, low + *link.shift);
        if (usable - *link.shift + link.span > high) continue;
      }
      const Cycles next = usable + link.weight;
      if (next >= earliest[link.to] || next > window + weight) continue;
      earliest[link.to] = next;
      todo.push_back(link.to);
    }
  }
  return earliest[to] != kFar && earliest[to] <= window + weight;
}

}  // namespace twill::plan
