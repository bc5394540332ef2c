#pragma once

#include <string>

#include "twill/emit/description.h"

namespace twill::run {

/// A C++ program that calls the launch function of kernel.cu, which it includes, by the executor
/// (runtime/host/run.h): `program CALL RESULT`. CALL is what `call_text` makes. RESULT gets, in
/// lines, what the launch function returned, what the executor found, and the buffers' bytes behind
/// that
/// (`read_result`). It ends with 0 whatever was found.
std::string host_main(const emit::Description& description);

}  // namespace twill::run
