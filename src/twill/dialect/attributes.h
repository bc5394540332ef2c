#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// Attributes of an op by their names in the text. Rooms after the front end use ir::Traits
/// instead.
namespace twill::dialect {

/// The attribute `name` of an op; null if it has none.
ir::Attribute attribute(const ir::Op& op, std::string_view name);

/// The value of an integer attribute; nullopt if absent or of another kind.
std::optional<std::int64_t> integer_attribute(const ir::Op& op, std::string_view name);
std::optional<std::string_view> string_attribute(const ir::Op& op, std::string_view name);
/// The elements of an array or dense array of integers; nullopt if absent or of another kind.
std::optional<std::vector<std::int64_t>> integers_attribute(const ir::Op& op,
                                                            std::string_view name);

/// The integers of an array, dense array or splat attribute; nullopt for other kinds.
std::optional<std::vector<std::int64_t>> integers_of(ir::Attribute attribute);

}  // namespace twill::dialect
