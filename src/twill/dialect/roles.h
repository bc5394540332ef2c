#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// Operands that TTGIR's ops declare. Ops are stored in MLIR's generic form: one flat operand list
/// in declared order, with `operandSegmentSizes` if several groups are optional.
namespace twill::dialect {

/// Number of operands that a role takes.
enum class Arity { one, optional, variadic };

struct OperandRole {
  std::string_view name;  ///< name of the role in formats.cpp
  Arity arity = Arity::one;
  std::optional<ir::Role> role;  ///< role for later rooms, if they use it
};

/// The roles of an op in operand order, by its name; empty for ops without an entry in the table.
std::span<const OperandRole> roles_of(std::string_view name);

/// True if ops of that name need `operandSegmentSizes`: several of their roles may be absent, each
/// on its own.
bool has_segment_sizes(std::string_view name);

/// Number of operands of `op` for each of its roles: from `operandSegmentSizes` if present, else
/// from the number of operands. nullopt if the number does not fit, as in the generic spelling of a
/// Triton that declares other operands.
std::optional<std::vector<std::size_t>> operand_segments(const ir::Op& op);
/// Segments of an op that is in no Program.
std::optional<std::vector<std::size_t>> operand_segments(
    std::string_view name, std::size_t count, const std::vector<ir::NamedAttribute>& attributes);

}  // namespace twill::dialect
