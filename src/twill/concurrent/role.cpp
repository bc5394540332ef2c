#include "twill/concurrent/role.h"

namespace twill::concurrent {

std::string Role::where() const {
  std::string iterations;
  for (const Frame& frame : frames) {
    if (frame.kind != Frame::Kind::loop && frame.kind != Frame::Kind::after) continue;
    iterations += (iterations.empty() ? " in iteration " : ".") + std::to_string(frame.iteration);
  }
  return name + iterations;
}

}  // namespace twill::concurrent
