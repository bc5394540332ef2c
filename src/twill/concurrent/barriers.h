#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "twill/concurrent/clock.h"
#include "twill/concurrent/finding.h"
#include "twill/execute/interpreter.h"

namespace twill::concurrent {

/// Action of an agent at an mbarrier: an arrival, a wait, or the initialization.
struct Visit {
  std::size_t agent = 0;
  std::uint32_t time = 0;
  ir::OpId op;
  Whereabouts by;
};

/// An mbarrier: counts arrivals and bytes, phase after phase. Hands the knowledge of agents that
/// arrive on to agents that wait.
struct Barrier {
  std::string name;             ///< "%k_full[1]"
  Visit made;                   ///< the initialization
  std::size_t agent = 0;        ///< for the counted bytes; time: number of the phase, from 1
  std::int64_t count = 0;       ///< arrivals that complete a phase
  std::int64_t pending = 0;     ///< arrivals of `count` that the phase still misses
  std::int64_t bytes = 0;       ///< expected and not yet landed; negative: landed and not expected
  std::uint32_t completed = 0;  ///< phases that are complete
  Knowledge gathered;           ///< knowledge from the arrivals of this phase
  Knowledge last;               ///< knowledge from the last complete phase, and from earlier phases
  std::vector<Visit> arrivals;  ///< arrivals of this phase
  std::vector<Visit> previous;  ///< arrivals of the phase before
  std::vector<Visit> earlier;   ///< arrivals of the phase before `previous`
  std::vector<Visit> waits;     ///< waits that passed since the last phase completed
};

/// All mbarriers of a CTA.
class Barriers {
 public:
  Barriers(const ir::Program& program, Findings& findings)
      : program_(program), findings_(findings) {}

  /// Initializes an mbarrier at the view; `agent` is the number of a new agent. Forgets an earlier
  /// mbarrier at that place.
  void init(const execute::View& view, std::string name, const Visit& visit, std::int64_t count,
            std::size_t agent);
  /// Invalidates the mbarrier at the view, if there is one. The visitor must know that all earlier
  /// actions at the mbarrier are over.
  void end(const execute::View& view, const Visit& visit, const Knowledge& known);
  /// Finds the mbarrier at the view; null if there is none.
  Barrier* find(const execute::View& view);
  const std::map<std::pair<const execute::Tile*, std::int64_t>, Barrier>& all() const {
    return all_;
  }

  /// Counts `count` arrivals of one visitor, whose knowledge is `known`.
  void arrive(Barrier& barrier, const Visit& visit, std::int64_t count, const Knowledge& known);
  /// Announces bytes, without an arrival.
  void expect(Barrier& barrier, std::int64_t bytes) { barrier.bytes += bytes; }
  /// Announces a copy of so many bytes, which will land in this phase. Returns the phase, from 1.
  std::uint32_t announce(Barrier& barrier, const Visit& visit, const Knowledge& known);
  /// Counts the bytes of an announced copy that has landed.
  void land(Barrier& barrier, const Visit& visit, std::int64_t bytes, const Knowledge& known);

  /// Whether a wait for a phase of this parity passes.
  static bool passes(const Barrier& barrier, std::int64_t parity) {
    return (barrier.completed & 1U) != static_cast<std::uint32_t>(parity & 1);
  }
  /// Lets a wait pass: the visitor gets the knowledge of all agents that arrived.
  void pass(Barrier& barrier, const Visit& visit, Knowledge& known);

 private:
  friend class StateText;
  void check_overrun(const Barrier& barrier, const Visit& visit, const Knowledge& known);
  void complete_if_full(Barrier& barrier);
  std::string at(const Visit& visit) const;

  const ir::Program& program_;
  Findings& findings_;
  std::map<std::pair<const execute::Tile*, std::int64_t>, Barrier> all_;
};

}  // namespace twill::concurrent
