#pragma once

#include "twill/machine/machine.h"

/// Shared by the files of this room; not for others.
namespace twill::machine {

/// Gives the groups of the pool that share registers what the other groups leave of `most`, the
/// setmaxnreg of all warpgroups together. The shares are equal where each share is a single value.
void share_registers(Pool& pool, int most);

}  // namespace twill::machine
