#pragma once

#include <cstdint>

#include "twill/ir/op_kind.h"

/// Internal to the room: integers of any width up to 64, held as tiles hold them.
namespace twill::execute {

/// An op of two integers, `bits` wide. Its result is still to be wrapped.
using Integral = std::int64_t (*)(std::int64_t, std::int64_t, int bits);

/// The function of `kind`; null if `kind` is no op on two integers.
Integral integral(ir::OpKind kind);

/// Whether the second operand must not be zero.
bool divides(ir::OpKind kind);

/// The predicates of icmp: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge.
bool compares(std::int64_t predicate, std::int64_t a, std::int64_t b, int bits);

std::uint64_t as_unsigned(std::int64_t value, int bits);

/// `value` as an integer of `bits` bits.
std::int64_t wrapped(std::int64_t value, int bits);

}  // namespace twill::execute
