#pragma once

#include <string>
#include <vector>

#include "twill/simulate/simulate.h"

/// Internal to the room: barriers that count arrivals and turn phases.
namespace twill::simulate {

/// Phase of a barrier.
struct Phase {
  ChannelId channel;
  bool empty = false;
  std::int64_t iteration = 0;
};

/// Contribution to a phase of a barrier, at once or later.
struct Arrival {
  std::int64_t count = 0;
  Amount came = 0;      ///< bytes that have landed
  Amount expected = 0;  ///< bytes that are announced
  double time = 0;      ///< time from which waiting roles can see the arrival
  Track source;
  double sent = 0;
};

class Barriers {
 public:
  explicit Barriers(const plan::Plan& plan);

  /// Adds the arrival. Returns whether it completed its phase; `completed_at` then has the time.
  bool arrive(const Phase& phase, const Arrival& arrival);
  /// Whether a wait for the phase passes at `now`, by its parity as the hardware would see it.
  bool passes(const Phase& phase, double now);
  /// Whether a wait for the token's phase passes at `now`: tokens count phases, without parity.
  bool token_passes(const Phase& phase, double now) const;
  /// Time of completion; kNever if it is unknown so far, or if no arrival ever comes (first
  /// acquires).
  double completed_at(const Phase& phase) const;
  /// Arrival that completed the phase of a passed wait; null if the wait needed none.
  const Arrival* completed_by(const Phase& phase) const;

  /// Misuse of a barrier, such as more arrivals than it counts; empty if there was none.
  const std::string& misuse() const { return misuse_; }

 private:
  struct Barrier {
    std::int64_t count = 0;
    std::int64_t pending = 0;
    Amount bytes = 0;
    Arrival last;                    ///< of the open phase
    std::vector<Arrival> completed;  ///< by phase: its last arrival
  };
  const Barrier& at(const Phase& phase) const;
  Barrier& at(const Phase& phase) { return const_cast<Barrier&>(std::as_const(*this).at(phase)); }
  std::int64_t lap(const Phase& phase) const;
  void note_misuse(const Phase& phase, const std::string& what);

  const plan::Plan& plan_;
  std::vector<std::size_t> first_;  ///< by ChannelId: its full barriers, then its empty ones
  std::vector<Barrier> barriers_;
  std::string misuse_;
};

}  // namespace twill::simulate
