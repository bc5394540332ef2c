#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::concurrent {

/// Vector clock: the time up to which each agent is known to have come. Agents are roles, queues of
/// work that roles have begun (products, copies, bulk stores), and the bytes that an mbarrier
/// counts. Agents that the clock does not mention have done nothing.
class Clock {
 public:
  std::uint32_t at(std::size_t agent) const { return agent < times_.size() ? times_[agent] : 0; }
  bool covers(std::size_t agent, std::uint32_t time) const { return at(agent) >= time; }

  void advance(std::size_t agent, std::uint32_t time) {
    if (agent >= times_.size()) times_.resize(agent + 1, 0);
    times_[agent] = std::max(times_[agent], time);
  }
  void join(const Clock& other) {
    if (other.times_.size() > times_.size()) times_.resize(other.times_.size(), 0);
    for (std::size_t i = 0; i < other.times_.size(); ++i) {
      times_[i] = std::max(times_[i], other.times_[i]);
    }
  }

 private:
  std::vector<std::uint32_t> times_;
};

/// Events known to lie before a role's next step, or before the end of an mbarrier's phase.
struct Knowledge {
  Clock done;     ///< events that have ended
  Clock visible;  ///< events of `done` whose writes by threads the async proxy also sees
  void join(const Knowledge& other) {
    done.join(other.done);
    visible.join(other.visible);
  }
};

}  // namespace twill::concurrent
