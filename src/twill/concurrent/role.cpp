#include "twill/concurrent/role.h"

namespace twill::concurrent {
namespace {

/// Iterations of the loops around, the outermost first.
std::vector<std::int64_t> iterations_of(const Role& role) {
  std::vector<std::int64_t> iterations;
  for (const Frame& frame : role.frames) {
    const bool loops = frame.kind == Frame::Kind::loop || frame.kind == Frame::Kind::after;
    if (loops) iterations.push_back(frame.iteration);
  }
  return iterations;
}

}  // namespace

std::string Role::where() const {
  std::string text;
  for (const std::int64_t iteration : iterations_of(*this)) {
    text += (text.empty() ? " in iteration " : ".") + std::to_string(iteration);
  }
  return name + text;
}

Whereabouts Role::whereabouts() const {
  std::vector<std::int64_t> iterations = iterations_of(*this);
  if (last_whereabouts_ == nullptr || iterations != last_iterations_) {
    last_iterations_ = std::move(iterations);
    last_whereabouts_ = std::make_shared<const std::string>(where());
  }
  return last_whereabouts_;
}

}  // namespace twill::concurrent
