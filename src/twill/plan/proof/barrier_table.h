#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "twill/plan/plan.h"

/// Internal to the proof: the barriers of one run.
namespace twill::plan::proof {

using EventId = std::uint32_t;
inline constexpr EventId kNone = 0xffffffffU;

struct Arriving {
  EventId event = kNone;
  std::int64_t weight = 0;  ///< number of arrivals it counts as
  Amount bytes = 0;         ///< bytes of data that arrive
  Amount expected = 0;      ///< bytes that it announces
};

struct Wait {
  EventId event = kNone;   ///< event at which the wait passes
  EventId before = kNone;  ///< last event of the strand before the wait; kNone at the strand's
                           ///< beginning
  std::int64_t phase = 0;  ///< phase that has to be complete; -1: none
  int parity = -1;         ///< parity that it asks for; -1: it knows the phase
};

enum class Side : std::uint8_t { full, empty };

/// One barrier: of a channel, a side, a slot and a CTA.
struct Barrier {
  ChannelId channel;
  Side side = Side::full;
  std::int64_t slot = 0;
  std::size_t cta = 0;
  std::size_t first_phase = 0;  ///< index in the table of all phases
  std::int64_t phases = 0;      ///< phases that can have arrivals: 0 .. phases - 1
  std::span<const Wait> waits;  ///< in the order of their strands
};

/// Arrivals and waits of all barriers. First all are noted, then `sort` makes tables of them.
class BarrierTable {
 public:
  /// Clears the tables. `iterations` and `tiles`: numbers of instances for channels that count
  /// them.
  void clear(const Plan& plan, std::size_t ctas, std::int64_t iterations, std::int64_t tiles);
  /// Precondition: the channel has `instance`.
  void arrive(ChannelId channel, Side side, std::size_t cta, std::int64_t instance,
              const Arriving& arriving);
  void wait(ChannelId channel, Side side, std::size_t cta, std::int64_t instance, const Wait& wait);
  void sort();

  /// Barriers by channel, side, slot and CTA. Precondition of this and `arrivals`: sorted.
  const std::vector<Barrier>& all() const { return barriers_; }
  /// Arrivals of a phase; empty for a phase that the barrier does not have.
  std::span<const Arriving> arrivals(const Barrier& barrier, std::int64_t phase) const {
    if (phase < 0 || phase >= barrier.phases) return {};
    const std::size_t cell = barrier.first_phase + static_cast<std::size_t>(phase);
    return std::span(arrivals_).subspan(first_arrival_[cell],
                                        first_arrival_[cell + 1] - first_arrival_[cell]);
  }

 private:
  std::size_t index(ChannelId channel, Side side, std::size_t cta, std::int64_t instance) const;

  std::vector<std::int64_t> depths_;  // by ChannelId
  std::size_t ctas_ = 1;
  std::vector<std::size_t> first_slot_;  // by ChannelId and side: in `barriers_`
  std::vector<Barrier> barriers_;
  std::size_t phases_ = 0;                                          // phases of all barriers
  std::vector<std::pair<std::uint32_t, Arriving>> noted_arrivals_;  // by phase
  std::vector<std::pair<std::uint32_t, Wait>> noted_waits_;         // by barrier
  std::vector<std::uint32_t> first_arrival_, first_wait_;
  std::vector<Arriving> arrivals_;
  std::vector<Wait> waits_;
};

}  // namespace twill::plan::proof
