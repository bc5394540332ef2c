#pragma once

#include <vector>

#include "twill/device/kernel.h"

namespace twill::driver {

/// Registers of each thread of a role that its code needs at its highest point.
struct Pressure {
  int needed = 0;     ///< estimated, see pressure.cpp; 0: not known, of roles that only copy
  int available = 0;  ///< that the role has
};

/// The registers of each role, in the kernel's order, as a compiler is taken to need them which
/// keeps the printed order. An estimate: tiles that live together, with their element types and
/// layouts, and what addresses take. Linear in the tree times the values that live together.
std::vector<Pressure> register_pressure(const ir::Program& program, const device::Kernel& kernel);

/// Registers of a thread that an instruction of the product leaves its result in; 0: not known.
int instruction_registers(ir::Type result);

}  // namespace twill::driver
