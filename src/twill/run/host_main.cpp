#include "twill/run/host_main.h"

namespace twill::run {

std::string host_main(const emit::Description& description) {
  return R"(// Calls an emitted kernel on the host. Written by `twill run`.
#include <call.h>

#include <kernel.cu>

const char* twill::run::call_kernel(const Call& call) {
  return call_launch()" +
         description.launch + R"(, call);
}
)";
}

}  // namespace twill::run
