#include "twill/concurrent/turned.h"

#include <algorithm>

#include "twill/concurrent/role.h"

namespace twill::concurrent {
namespace {

using Counted = std::pair<std::int64_t, TurnedCounter>;

std::int64_t turned(const Counted& number, std::int64_t times) {
  const auto& [now, counter] = number;
  return counter.least + (now - counter.least + times * counter.by) % counter.period;
}

/// The number of turns after which the counters are smallest, compared in order.
std::int64_t best_of(std::int64_t times, const std::vector<Counted>& numbers) {
  std::int64_t best = 0;
  for (std::int64_t other = 1; other < times; ++other) {
    const auto smaller = std::ranges::find_if(numbers, [&](const Counted& number) {
      return turned(number, other) != turned(number, best);
    });
    if (smaller != numbers.end() && turned(*smaller, other) < turned(*smaller, best)) best = other;
  }
  return best;
}

}  // namespace

Turned::Turned(const Guide& guide, const std::vector<bool>& may, const std::deque<Role>& roles,
               const std::vector<std::vector<ir::ValueId>>& live,
               const std::map<ir::OpId, const execute::Tile*>& storages)
    : guide_(&guide) {
  for (std::size_t turn = 0; turn < guide.turns.size(); ++turn) {
    if (!may[turn]) continue;
    std::vector<Counted> numbers;
    bool known = std::ranges::all_of(guide.turns[turn].rings,
                                     [&](const auto& it) { return storages.contains(it.first); });
    for (std::size_t role = 0; role < roles.size() && known; ++role) {
      known = add_numbers(turn, roles[role], live[role], numbers);
    }
    if (known) apply(turn, best_of(guide.turns[turn].times, numbers), storages);
  }
}

/// Adds the counters of a role; false if one is not known, or too small.
bool Turned::add_numbers(std::size_t turn, const Role& role, const std::vector<ir::ValueId>& live,
                         std::vector<Counted>& numbers) const {
  const Turn& it = guide_->turns[turn];
  for (const ir::ValueId value : live) {
    if (guide_->turn_of[value.index()] != turn + 1) continue;
    const auto root = it.derived.find(value);
    const ir::ValueId counter = root == it.derived.end() ? value : root->second;
    const auto now = role.values.integer(ir::OpId(0), counter);
    const TurnedCounter& how = it.counters.at(counter);
    if (!now || *now < how.least) return false;
    if (root == it.derived.end()) numbers.emplace_back(*now, how);
  }
  return true;
}

void Turned::apply(std::size_t turn, std::int64_t times,
                   const std::map<ir::OpId, const execute::Tile*>& storages) {
  applied_.push_back(turn);
  times_[turn] = times;
  for (const auto& [op, ring] : guide_->turns[turn].rings) {
    const execute::Tile* storage = storages.at(op);
    Slots slots;
    slots.count = ring.slots;
    slots.elements = static_cast<std::int64_t>(storage->size()) / ring.slots;
    slots.by = times * ring.by % ring.slots;
    for (std::int64_t slot = 0; slot < ring.slots; ++slot) {
      bool flip = false;
      for (std::int64_t i = 0; i < times; ++i) {
        flip ^= ring.flips[static_cast<std::size_t>((slot + i * ring.by) % ring.slots)];
      }
      slots.flips.push_back(flip);
    }
    slots_[storage] = std::move(slots);
  }
}

bool Turned::is_applied(ir::ValueId value) const {
  if (guide_ == nullptr) return false;
  const std::size_t turn = guide_->turn_of[value.index()];
  return turn > 0 && times_.contains(turn - 1);
}

std::optional<std::int64_t> Turned::number_of(ir::ValueId value, std::int64_t now) const {
  const std::size_t turn = guide_->turn_of[value.index()] - 1;
  const auto counter = guide_->turns[turn].counters.find(value);
  if (counter == guide_->turns[turn].counters.end()) return std::nullopt;
  return turned({now, counter->second}, times_.at(turn));
}

const Turned::Slots* Turned::slots_of(const execute::Tile* storage) const {
  const auto found = slots_.find(storage);
  return found == slots_.end() ? nullptr : &found->second;
}

std::int64_t Turned::offset_of(const execute::View& view) const {
  return view.shape == view.storage->shape ? view.offset
                                           : offset_of(view.storage.get(), view.offset);
}

std::int64_t Turned::offset_of(const execute::Tile* storage, std::int64_t offset) const {
  const Slots* const slots = slots_of(storage);
  if (slots == nullptr) return offset;
  const std::int64_t slot = (offset / slots->elements + slots->by) % slots->count;
  return slot * slots->elements + offset % slots->elements;
}

bool Turned::flips(const execute::Tile* storage, std::int64_t offset) const {
  const Slots* const slots = slots_of(storage);
  return slots != nullptr && slots->flips[static_cast<std::size_t>(offset / slots->elements)];
}

}  // namespace twill::concurrent
