#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "twill/execute/interpreter.h"
#include "twill/plan/plan.h"

/// Internal to the room: memory of a module, and the plan's rings and channels that lie there.
namespace twill::run {

/// A slot of a ring, or a buffer without slots.
struct Spot {
  const execute::Tile* storage = nullptr;
  std::int64_t slot = 0;
  std::int64_t depth = 1;  ///< number of slots of the storage
};

/// The module's storages, each with the object of the plan for which the storage was first used.
class Bindings {
 public:
  enum class Kind : unsigned char { buffer, full, empty };

  /// Whether the spot is copy number `instance` of a ring of that depth. Binds a ring or a spot
  /// that is not bound yet.
  bool agree(Kind kind, std::size_t index, int depth, std::int64_t instance, const Spot& spot);
  void arrive(const execute::Tile* barriers, std::int64_t instance, std::int64_t count);
  /// The first mbarriers in `counts` whose number of arrivals differs from the plan's; null: all
  /// numbers agree.
  const execute::Tile* miscounted(const std::map<const execute::Tile*, std::int64_t>& counts) const;
  /// The channel whose full or empty mbarriers lie in the storage.
  std::optional<std::pair<Kind, plan::ChannelId>> channel_of(const execute::Tile* barriers) const;
  /// The plan's buffers that lie in the storage.
  std::vector<plan::BufferId> buffers_at(const execute::Tile* storage) const;

 private:
  std::map<std::pair<Kind, std::size_t>, const execute::Tile*> storages_;
  std::map<const execute::Tile*, std::pair<Kind, std::size_t>> barriers_;
  std::map<std::pair<const execute::Tile*, std::int64_t>, std::int64_t> arrivals_;
};

}  // namespace twill::run
