#include "twill/frontend/ttgir/scope.h"

#include <algorithm>
#include <utility>

#include "twill/support/spelling.h"

namespace twill::frontend::ttgir {

Scope::Scope(const Cursor& cursor, ir::ProgramBuilder& builder)
    : cursor_(cursor), builder_(builder) {}

void Scope::enter(bool isolated) {
  levels_.emplace_back();
  levels_.back().isolated = isolated;
  if (isolated) std::swap(levels_.back().hidden, names_);
}

void Scope::enter_next_block() { levels_.back().several_blocks = true; }

Result<void> Scope::leave() {
  Level level = std::move(levels_.back());
  levels_.pop_back();
  const Pending* first = nullptr;
  for (const auto& [name, pending] : pending_) {
    const bool ours = pending.level > levels_.size();
    if (ours && (first == nullptr || pending.use.offset < first->use.offset)) first = &pending;
  }
  if (first != nullptr) {
    return cursor_.fail(first->use, "'" + std::string(cursor_.text(first->use)) +
                                        "' is used here but never defined in this region");
  }
  if (level.isolated) {
    names_ = std::move(level.hidden);
    return {};
  }
  for (const std::string_view name : level.defined) names_.erase(name);
  return {};
}

std::optional<std::size_t> Scope::level_of_forward_use() const {
  for (std::size_t level = levels_.size(); level > 0; --level) {
    if (levels_[level - 1].several_blocks) return level;
    if (levels_[level - 1].isolated) break;
  }
  return std::nullopt;
}

Result<ir::ValueId> Scope::define(const Token& name, std::size_t count, ir::Type type) {
  const std::string_view text = cursor_.text(name);
  const auto [place, added] = names_.try_emplace(text);
  if (!added) {
    return cursor_.fail(name, "'" + std::string(text) + "' is defined a second time",
                        "every SSA name is defined once");
  }
  levels_.back().defined.push_back(text);
  place->second.count = count;
  place->second.level = levels_.size();
  const auto pending = pending_.find(text);
  if (pending != pending_.end() && pending->second.level == levels_.size() && count == 1) {
    place->second.first = pending->second.value;
    builder_.set_type(pending->second.value, type);
    pending_.erase(pending);
    return place->second.first;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::string numbered(text.substr(1));
    if (count > 1) numbered += "#" + std::to_string(i);
    const ir::ValueId value = builder_.add_value(std::move(numbered), type);
    if (i == 0) place->second.first = value;
  }
  return place->second.first;
}

Result<ir::ValueId> Scope::use(const Token& name, std::size_t index) {
  const std::string_view text = cursor_.text(name);
  const auto found = names_.find(text);
  if (found != names_.end()) {
    const Names& names = found->second;
    if (index < names.count) return ir::ValueId(names.first.index() + index);
    return cursor_.fail(name, "'" + std::string(text) + "' has " + std::to_string(names.count) +
                                  (names.count == 1 ? " value" : " values") + ", not a #" +
                                  std::to_string(index));
  }
  const auto level = level_of_forward_use();
  if (!level || index != 0) {
    return cursor_.fail(name, "'" + std::string(text) + "' is not defined before this use",
                        "a value is visible in its own region and the ones inside, from its "
                        "definition on");
  }
  const auto [pending, added] = pending_.try_emplace(text);
  if (added) {
    const ir::Type unknown = builder_.types().other("!twill.unknown");
    pending->second = {builder_.add_value(std::string(text.substr(1)), unknown), name, *level};
  }
  return pending->second.value;
}

}  // namespace twill::frontend::ttgir
