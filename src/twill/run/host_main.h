#pragma once

#include <string>

#include "twill/emit/description.h"

namespace twill::run {

/// C++ text that calls the launch function of kernel.cu, which the text includes
/// (runtime/host/call.h). With runtime/host/caller.cpp the text is a program: `program CALL
/// RESULT`. CALL is a text by `call_text`. RESULT gets, in lines, the return of the launch
/// function, the findings of the executor, and the buffers' bytes (`read_result`). The program ends
/// with 0, with or without findings.
std::string host_main(const emit::Description& description);

}  // namespace twill::run
