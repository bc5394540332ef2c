#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// The operands that TTGIR's ops declare. Ops are stored in MLIR's generic form: one flat operand
/// list in declared order, with `operandSegmentSizes` where several groups are optional.
namespace twill::dialect {

/// How many operands a role takes.
enum class Arity { one, optional, variadic };

struct OperandRole {
  std::string_view name;  ///< as formats.cpp calls it
  Arity arity = Arity::one;
  std::optional<ir::Role> role;  ///< role that later rooms ask for, if any does
};

/// The roles of an op in operand order, by its name; empty for ops without an entry in the table.
std::span<const OperandRole> roles_of(std::string_view name);

/// True if ops of that name need `operandSegmentSizes`: several of their roles may be absent, each
/// on its own.
bool has_segment_sizes(std::string_view name);

/// How many operands of `op` each of its roles takes: `operandSegmentSizes` if it has one, else by
/// the number of operands. nullopt if the number does not fit, as in the generic spelling of a
/// Triton that declares other operands.
std::optional<std::vector<std::size_t>> operand_segments(const ir::Op& op);
/// The same of an op that no Program has.
std::optional<std::vector<std::size_t>> operand_segments(
    std::string_view name, std::size_t count, const std::vector<ir::NamedAttribute>& attributes);

}  // namespace twill::dialect
