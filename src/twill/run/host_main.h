#pragma once

#include <string>

#include "twill/emit/description.h"

namespace twill::run {

/// C++ text that calls the launch function of kernel.cu, which it includes (runtime/host/call.h).
/// With runtime/host/caller.cpp it is a program: `program CALL RESULT`. CALL is what `call_text`
/// makes. RESULT gets, in lines, what the launch function returned, what the executor found, and
/// the buffers' bytes behind that (`read_result`). It ends with 0 whatever was found.
std::string host_main(const emit::Description& description);

}  // namespace twill::run
