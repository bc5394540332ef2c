#include <algorithm>

#include "twill/concurrent/machine.h"

/// Iterations that all roles have left behind, and will not ask about.
namespace twill::concurrent {

/// Whether a role cannot come to that scope any more.
bool Machine::is_past(std::size_t index, const Scope& scope) {
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

/// Forgets quantities of iterations that all roles are past.
void Machine::forget_quantities() {
  auto& all = quantities_.all();
  for (bool changed = true; changed;) {
    const auto gone = std::find_if(all.begin(), all.end(), [&](const OpenNumber& quantity) {
      if (!quantity.scope) return false;
      for (std::size_t role = 0; role < options_.guide->role_count; ++role) {
        if (!is_past(role, quantity.scope)) return false;
      }
      return true;
    });
    changed = gone != all.end();
    if (changed) all.erase(gone);
  }
}

}  // namespace twill::concurrent
