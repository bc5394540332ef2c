#pragma once

#include "twill/driver/emit_ttgir.h"
#include "twill/driver/verify_module.h"

namespace twill::driver {

/// Reads a printed module back and compares its roles with the steps of the plan. So the proof of
/// the plan is a proof of the text. A difference is a bug of ours. Precondition: there is a text.
/// Cost: some 20 runs without tiles.
PrintedCheck check_translation(const EmittedTtgir& emitted);

}  // namespace twill::driver
