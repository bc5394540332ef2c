#pragma once

#include <vector>

#include "twill/device/kernel.h"

namespace twill::driver {

/// Registers of each thread of a role that its code needs at its highest point.
struct Pressure {
  int needed = 0;     ///< estimated, see pressure.cpp; 0: not known, for roles that only copy
  int available = 0;  ///< registers that the role has
};

/// Estimates the registers of each role, in the kernel's order, for a compiler that keeps the
/// printed order. Counts tiles that live together, with their element types and layouts, and
/// registers for addresses. Cost: linear in the tree times the values that live together.
std::vector<Pressure> register_pressure(const ir::Program& program, const device::Kernel& kernel);

/// Registers of a thread for the result of one instruction of the product; 0: not known.
int instruction_registers(ir::Type result);

}  // namespace twill::driver
