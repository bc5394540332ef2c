#include <algorithm>

#include "twill/concurrent/machine.h"

/// Iterations that all roles have left behind without open questions, and counters that go on.
namespace twill::concurrent {

/// Whether a role can no longer reach that scope.
bool Machine::is_past(std::size_t index, const Scope& scope) {
  if (scope && scope->first == kDrawn) {
    return !in_use_.contains(static_cast<std::size_t>(scope->second));
  }
  if (!scope) return index < roles_.size() && roles_[index].ended();
  const OpenNumber* quantity = quantities_.find(scope->first);
  if (quantity == nullptr) return true;
  const Guide& guide = *options_.guide;
  const auto has = guide.roles.find({quantity->form, quantity->occurrence});
  if (has == guide.roles.end() || (has->second >> index & 1U) == 0) return true;
  if ((quantity->left >> index & 1U) != 0) return true;
  if (index >= roles_.size()) return false;
  if (roles_[index].ended()) return true;
  for (const Frame& frame : roles_[index].frames) {
    if (frame.quantity == quantity->id) return frame.position > scope->second;
  }
  return quantity->scope && is_past(index, quantity->scope);
}

/// Forgets quantities of iterations that all roles have left.
void Machine::forget_quantities() {
  auto& all = quantities_.all();
  for (bool changed = true; changed;) {
    const auto gone = std::find_if(all.begin(), all.end(), [&](const OpenNumber& quantity) {
      if (!quantity.scope) return false;
      const bool drawn = quantity.scope->first == kDrawn;
      if (drawn && std::ranges::any_of(roles_, [&](const Role& role) {
            return std::ranges::any_of(role.frames,
                                       [&](const Frame& it) { return it.quantity == quantity.id; });
          })) {
        return false;
      }
      for (std::size_t role = 0; role < options_.guide->role_count; ++role) {
        if (!is_past(role, quantity.scope)) return false;
      }
      return true;
    });
    changed = gone != all.end();
    if (changed) all.erase(gone);
  }
}

/// Shifts counters down as far as the continuation stays the same.
void Machine::shift_counters(const std::vector<std::vector<ir::ValueId>>& all_live) {
  std::size_t index = 0;
  for (Role& role : roles_) {
    const auto& live = all_live[index++];
    std::size_t number = 0;
    for (const Shift& shift : options_.guide->shifts) {
      std::int64_t least = INT64_MAX;
      for (const ir::ValueId value : live) {
        const auto by = shift.by.find(value);
        if (by == shift.by.end() || by->second != shift.period) continue;
        const auto now = role.values.integer(ir::OpId(0), value);
        if (now) least = std::min(least, *now);
      }
      ++number;
      if (least == INT64_MAX || least < shift.least + shift.period) continue;
      role.shifted.insert(number - 1);
      const std::int64_t times = (least - shift.least) / shift.period;
      for (const auto& [value, by] : shift.by) {
        const auto now = role.values.integer(ir::OpId(0), value);
        if (!now) continue;
        role.values.set(value, std::make_shared<const execute::Tile>(
                                   execute::Tile{{}, execute::Integers{*now - times * by}}));
      }
    }
  }
}

}  // namespace twill::concurrent
