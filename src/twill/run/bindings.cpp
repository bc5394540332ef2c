#include "twill/run/bindings.h"

namespace twill::run {

bool Bindings::agree(Kind kind, std::size_t index, int depth, std::int64_t instance,
                     const Spot& spot) {
  if (spot.depth != depth || spot.slot != instance % depth) return false;
  const auto [bound, added] = storages_.try_emplace(std::pair(kind, index), spot.storage);
  if (bound->second != spot.storage) return false;
  if (kind == Kind::buffer) return true;  // parts of a tile may share a buffer
  const auto owner = barriers_.try_emplace(spot.storage, kind, index).first;
  return owner->second == std::pair(kind, index);
}

void Bindings::arrive(const execute::Tile* barriers, std::int64_t instance, std::int64_t count) {
  arrivals_[{barriers, instance}] += count;
}

const execute::Tile* Bindings::miscounted(
    const std::map<const execute::Tile*, std::int64_t>& counts) const {
  for (const auto& [phase, count] : arrivals_) {
    const auto found = counts.find(phase.first);
    if (found == counts.end() || found->second != count) return phase.first;
  }
  return nullptr;
}

std::optional<std::pair<Bindings::Kind, plan::ChannelId>> Bindings::channel_of(
    const execute::Tile* barriers) const {
  const auto found = barriers_.find(barriers);
  if (found == barriers_.end()) return std::nullopt;
  return std::pair(found->second.first, plan::ChannelId(found->second.second));
}

std::vector<plan::BufferId> Bindings::buffers_at(const execute::Tile* storage) const {
  std::vector<plan::BufferId> found;
  for (const auto& [what, where] : storages_) {
    if (what.first == Kind::buffer && where == storage) found.emplace_back(what.second);
  }
  return found;
}

}  // namespace twill::run
