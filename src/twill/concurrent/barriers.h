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

/// Something that an agent did at an mbarrier.
struct Visit {
  std::size_t agent = 0;
  std::uint32_t time = 0;
  ir::OpId op;
  Whereabouts by;
};

/// An mbarrier: counts arrivals and bytes, phase after phase, and hands on what those who arrive
/// know to those who wait.
struct Barrier {
  std::string name;        ///< "%k_full[1]"
  Visit made;              ///< that initialized it
  std::size_t agent = 0;   ///< stands for the bytes that it counts; its time is their phase, from 1
  std::int64_t count = 0;  ///< arrivals that complete a phase
  std::int64_t pending = 0;     ///< of these, still missing
  std::int64_t bytes = 0;       ///< expected and not yet landed; negative: landed and not expected
  std::uint32_t completed = 0;  ///< phases
  Knowledge gathered;           ///< from the arrivals of this phase
  Knowledge last;               ///< of the phase that completed last, and those before
  std::vector<Visit> arrivals;  ///< of this phase
  std::vector<Visit> previous;  ///< arrivals of the phase before
  std::vector<Visit> earlier;   ///< and of the one before that
  std::vector<Visit> waits;     ///< that passed since the last phase completed
};

/// All mbarriers of a CTA.
class Barriers {
 public:
  Barriers(const ir::Program& program, Findings& findings)
      : program_(program), findings_(findings) {}

  /// A new mbarrier there; `agent` is a new agent's number. An old one there is forgotten.
  void init(const execute::View& view, std::string name, const Visit& visit, std::int64_t count,
            std::size_t agent);
  /// Invalidates it, if there is one: all that was done there must be known to be over.
  void end(const execute::View& view, const Visit& visit, const Knowledge& known);
  /// Null if there is none.
  Barrier* find(const execute::View& view);
  const std::map<std::pair<const execute::Tile*, std::int64_t>, Barrier>& all() const {
    return all_;
  }

  /// `count` arrivals by one visitor, who knows what `known` says.
  void arrive(Barrier& barrier, const Visit& visit, std::int64_t count, const Knowledge& known);
  /// Announces bytes; no arrival.
  void expect(Barrier& barrier, std::int64_t bytes) { barrier.bytes += bytes; }
  /// A copy of that many bytes will land in this phase. Returns the phase, from 1.
  std::uint32_t announce(Barrier& barrier, const Visit& visit, const Knowledge& known);
  /// Bytes of a copy that was announced have landed.
  void land(Barrier& barrier, const Visit& visit, std::int64_t bytes, const Knowledge& known);

  /// Whether a wait for a phase of this parity passes.
  static bool passes(const Barrier& barrier, std::int64_t parity) {
    return (barrier.completed & 1U) != static_cast<std::uint32_t>(parity & 1);
  }
  /// A wait passes: the visitor comes to know what they knew who arrived.
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
