#include "twill/machine/machine.h"

#include <algorithm>

namespace twill::machine {
namespace {

template <class T>
std::optional<std::size_t> index_named(const std::vector<T>& values, std::string_view name) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace

Description::Description() = default;
Description::Description(const Description&) = default;
Description::Description(Description&&) noexcept = default;
Description& Description::operator=(const Description&) = default;
Description& Description::operator=(Description&&) noexcept = default;
Description::~Description() = default;

std::optional<std::size_t> Machine::unit_named(std::string_view name) const {
  return index_named(description_->units, name);
}

const Pool* Machine::pool_named(std::string_view name) const {
  const auto index = index_named(description_->pools, name);
  return index ? &description_->pools[*index] : nullptr;
}

const CostRule* Machine::rule_for(std::string_view kind) const {
  const auto& rules = description_->operations;
  const auto found = std::lower_bound(
      rules.begin(), rules.end(), kind,
      [](const CostRule& rule, std::string_view name) { return rule.kind < name; });
  return found != rules.end() && found->kind == kind ? &*found : nullptr;
}

}  // namespace twill::machine
