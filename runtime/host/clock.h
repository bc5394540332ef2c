#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

/// Vector clocks (Mattern 1989): the events that a thread knows to have happened, by agent. Agents
/// are the threads of a cluster, and its mbarriers, whose phases complete copies. Also the products
/// of its warpgroups (batches), and the bulk stores of threads (groups).
namespace twill::run {

using Agent = std::uint16_t;
using Epoch = std::int32_t;
inline constexpr Agent kNobody = 0xffff;

struct Tag {
  Agent agent = kNobody;
  Epoch epoch = 0;
};

/// Largest number of agents.
inline constexpr std::size_t kMostAgents = 2048 + 1024;

class Clock {
 public:
  explicit Clock(std::size_t agents = 0) : at_((agents + 3) / 4) {}

  Epoch operator[](std::size_t agent) const { return at_[agent / 4][agent % 4]; }
  void set(std::size_t agent, Epoch epoch) { at_[agent / 4][agent % 4] = epoch; }
  bool covers(Tag tag) const { return (*this)[tag.agent] >= tag.epoch; }
  bool empty() const { return at_.empty(); }

  void join(const Clock& other) {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      at_[i] = at_[i] > other.at_[i] ? at_[i] : other.at_[i];
    }
  }
  void meet(const Clock& other) {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      at_[i] = at_[i] < other.at_[i] ? at_[i] : other.at_[i];
    }
  }

 private:
  using Four = Epoch __attribute__((vector_size(16)));
  std::vector<Four> at_;
};

/// Knowledge of a thread: `seen` orders everything; `fenced` is the part of `seen` that a proxy
/// fence has made known to the async proxy, too.
struct Knowledge {
  Clock seen, fenced;
  explicit Knowledge(std::size_t agents = 0) : seen(agents), fenced(agents) {}
  void join(const Knowledge& other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
  }
  void meet(const Knowledge& other) {
    seen.meet(other.seen);
    fenced.meet(other.fenced);
  }
};

}  // namespace twill::run
