#pragma once

#include <optional>

#include "twill/ir/program.h"

/// Arrays in global memory that kernels access.
namespace twill::ir {

/// The argument of the function whose array `address` points into: a pointer, a tile of pointers or
/// a descriptor. nullopt for addresses that are loaded, or chosen between arrays.
/// Cost: linear in the ops that make the address.
std::optional<ValueId> array_of(const Program& program, ValueId address);

/// Whether two accesses may touch one element. One rule for all of Twill: accesses through one
/// argument may, and through different arguments do not. Accesses through addresses of unknown
/// origin may meet all.
bool may_meet(const Program& program, ValueId address, ValueId other);

/// A load of one number from an array that its function does not write.
bool reads_what_stays(const Program& program, OpId load);

}  // namespace twill::ir
