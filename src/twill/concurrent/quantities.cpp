#include "twill/concurrent/quantities.h"

#include <algorithm>

namespace twill::concurrent {

OpenNumber& Quantities::get(std::size_t form, std::size_t occurrence, const Scope& scope) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const OpenNumber& it) {
    return it.form == form && it.occurrence == occurrence && it.scope == scope;
  });
  if (found != all_.end()) return *found;
  OpenNumber made;
  made.id = next_++;
  made.form = form;
  made.occurrence = occurrence;
  made.scope = scope;
  all_.push_back(made);
  return all_.back();
}

OpenNumber* Quantities::find(std::size_t id) {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const OpenNumber& it) { return it.id == id; });
  return found == all_.end() ? nullptr : &*found;
}

std::optional<bool> is_more(const OpenNumber& quantity, std::int64_t threshold) {
  if (quantity.above && *quantity.above >= threshold) return true;
  if (quantity.at_most && *quantity.at_most <= threshold) return false;
  return std::nullopt;
}

void assume(OpenNumber& quantity, std::int64_t threshold, bool more) {
  auto& bound = more ? quantity.above : quantity.at_most;
  const auto tighter = [&](std::int64_t before) {
    return more ? std::max(before, threshold) : std::min(before, threshold);
  };
  bound = bound ? tighter(*bound) : threshold;
}

}  // namespace twill::concurrent
