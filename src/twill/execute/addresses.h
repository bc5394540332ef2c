#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Pointers as numbers. A number made of a pointer becomes the same pointer again. Any other number
/// is the address of a separate memory, far from all other memory.
namespace twill::execute {

/// Element types of the pointers that a function makes of addresses, ordered by name. Each type has
/// an array, numbered after the arrays of the arguments.
std::vector<ir::Type> types_at_addresses(const ir::Program& program, ir::OpId function);

/// Result of an op that makes pointers of integers, or integers of pointers.
Result<Tile> change_addresses(const ir::Program& program, ir::OpId op, const Tile& from);

/// Whether elements of the type are kept as bits.
bool has_bits(ir::Type scalar);
/// Bits in memory of each element that a pointer points to; 0 for elements that are no numbers.
/// Truth values take a byte.
int bits_behind(ir::Type pointer);

}  // namespace twill::execute
