#pragma once

namespace twill::frontend::ttgir {

/// Counts the nesting of a reader during its lifetime.
class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace twill::frontend::ttgir

/// At the start of every function that can call itself: fails beyond kDeepest levels. Needs a
/// member `depth_`.
#define TWILL_NEST(cursor)       \
  const Nesting nesting(depth_); \
  if (depth_ > kDeepest) {       \
    return (cursor).too_deep();  \
  }
