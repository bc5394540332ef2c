#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "twill/concurrent/guide.h"
#include "twill/execute/interpreter.h"

namespace twill::concurrent {

struct Role;

/// Turns of one state into its standard position: the position with the smallest counters.
class Turned {
 public:
  Turned() = default;

  /// `live`: the values that each role may still read. Applies the turns with `may[i]`, where all
  /// counters are known and large enough. `storages`: the memory of each allocation.
  Turned(const Guide& guide, const std::vector<bool>& may, const std::deque<Role>& roles,
         const std::vector<std::vector<ir::ValueId>>& live,
         const std::map<ir::OpId, const execute::Tile*>& storages);

  /// Numbers of the turns that are applied.
  const std::vector<std::size_t>& applied() const { return applied_; }
  bool is_applied(ir::ValueId value) const;
  /// The number of a counter in the standard position; nullopt for a value that follows from a
  /// counter. Precondition: `is_applied`.
  std::optional<std::int64_t> number_of(ir::ValueId value, std::int64_t now) const;

  /// Slots of a ring that is turned; null for other memory.
  struct Slots {
    std::int64_t count = 1;
    std::int64_t elements = 1;  ///< elements of one slot
    std::int64_t by = 0;
    std::vector<bool> flips;  ///< by slot of the state
  };
  const Slots* slots_of(const execute::Tile* storage) const;
  /// Offset of a view in the standard position.
  std::int64_t offset_of(const execute::View& view) const;
  /// Offset, in the standard position, of an element of a slot.
  std::int64_t offset_of(const execute::Tile* storage, std::int64_t offset) const;
  bool flips(const execute::Tile* storage, std::int64_t offset) const;

 private:
  bool add_numbers(std::size_t turn, const Role& role, const std::vector<ir::ValueId>& live,
                   std::vector<std::pair<std::int64_t, TurnedCounter>>& numbers) const;
  void apply(std::size_t turn, std::int64_t times,
             const std::map<ir::OpId, const execute::Tile*>& storages);

  const Guide* guide_ = nullptr;
  std::vector<std::size_t> applied_;
  std::map<std::size_t, std::int64_t> times_;  ///< by turn
  std::map<const execute::Tile*, Slots> slots_;
};

}  // namespace twill::concurrent
