#pragma once

#include <string>
#include <vector>

#include "twill/simulate/simulate.h"

/// Internal to the room: barriers that count arrivals and turn phases.
namespace twill::simulate {

/// A barrier and one of its phases.
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
  double time = 0;      ///< from when on waiters can see it
  Track source;
  double sent = 0;
};

class Barriers {
 public:
  explicit Barriers(const plan::Plan& plan);

  /// Whether the arrival completed its phase; `completed_at` then has the time.
  bool arrive(const Phase& phase, const Arrival& arrival);
  /// Whether a wait for the phase passes at `now`, by its parity as the hardware would see it.
  bool passes(const Phase& phase, double now);
  /// Whether a wait for the token's phase passes at `now`: a token counts phases and needs no
  /// parity.
  bool token_passes(const Phase& phase, double now) const;
  /// kNever if the time is not known yet, or if no arrival ever comes (the first acquires).
  double completed_at(const Phase& phase) const;
  /// The arrival that completed the phase a wait passed on; null if it needed none.
  const Arrival* completed_by(const Phase& phase) const;

  /// Misuse of a barrier, such as more arrivals than it counts; empty if there was none.
  const std::string& misuse() const { return misuse_; }

 private:
  struct Barrier {
    std::int64_t count = 0;
    std::int64_t pending = 0;
    Amount bytes = 0;
    Arrival last;                    ///< of the open phase
    std::vector<Arrival> completed;  ///< by phase: the arrival that came last
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
