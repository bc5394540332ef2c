#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "twill/ir/program.h"

/// Symmetries of rings: states that differ only by the slot at which all roles are, count as one
/// state. Why that is sound: docs/decisions/0012-verify-ttgir.md, "Turned rings".
namespace twill::concurrent {

struct Guide;

/// Effect of a turn on one allocation.
struct TurnedRing {
  std::int64_t slots = 1;
  std::int64_t by = 0;      ///< slot s takes the place of slot (s + by) % slots
  std::vector<bool> flips;  ///< by slot, before the turn: the mbarrier there changes its parity

  bool moves() const;
};

/// Counter that turns. Its value at least `least` matters only up to whole periods.
struct TurnedCounter {
  std::int64_t by = 0;
  std::int64_t period = 1;
  std::int64_t least = 0;
};

/// Change of a state that maps each step of each role to the same step, in other slots of rings.
struct Turn {
  std::map<ir::ValueId, TurnedCounter> counters;
  std::map<ir::ValueId, ir::ValueId> derived;  ///< values computed of a counter alone
  std::map<ir::OpId, TurnedRing> rings;        ///< rings that change, by allocation
  /// Ops that tell slots apart, and loops that start a counter anew. A state may be turned when no
  /// role can reach them any more.
  std::vector<ir::OpId> fixed;
  std::int64_t times = 1;  ///< so many turns change nothing
};

/// Fills `Guide::turns` and `turn_of`. Turns of different counters are independent. Precondition:
/// the other members are filled.
void add_turns(const ir::Program& program, ir::OpId function, Guide& guide);

}  // namespace twill::concurrent
