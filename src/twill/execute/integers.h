#pragma once

#include <cstdint>

#include "twill/ir/op_kind.h"

/// Internal to the room: integers of any width up to 64, in the form that tiles hold.
namespace twill::execute {

/// An op on two integers of `bits` bits. The caller wraps its result.
using Integral = std::int64_t (*)(std::int64_t, std::int64_t, int bits);

/// Function of `kind`; null if `kind` is no op on two integers.
Integral integral(ir::OpKind kind);

/// Whether the second operand must differ from zero.
bool divides(ir::OpKind kind);

/// Numbers of icmp's predicates, from 0: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge.
bool compares(std::int64_t predicate, std::int64_t a, std::int64_t b, int bits);

std::uint64_t as_unsigned(std::int64_t value, int bits);

/// `value` as an integer of `bits` bits.
std::int64_t wrapped(std::int64_t value, int bits);

}  // namespace twill::execute
