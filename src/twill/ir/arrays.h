#pragma once

#include <optional>

#include "twill/ir/program.h"

/// Arrays in global memory that kernels access.
namespace twill::ir {

/// The argument of the function whose array `address` points into: a pointer, a tile of pointers or
/// a descriptor. nullopt for addresses that are loaded, or chosen between arrays.
/// Cost: linear in the ops that make the address.
std::optional<ValueId> array_of(const Program& program, ValueId address);

/// Whether two accesses may touch one element. All of Twill uses this rule: accesses through one
/// argument may meet, accesses through different arguments never meet. An access through an address
/// of unknown origin may meet any other access.
bool may_meet(const Program& program, ValueId address, ValueId other);

/// Whether `load` reads one number from an array that its function does not write.
bool reads_what_stays(const Program& program, OpId load);

}  // namespace twill::ir
