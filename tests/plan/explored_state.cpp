#include "plan/explored_state.h"

namespace twill::plan::testing {

std::string State::key() const {
  std::string text;
  const auto put = [&](std::int64_t value) {
    for (int i = 0; i < 4; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 255));
  };
  for (const std::size_t a : at) put(static_cast<std::int64_t>(a));
  for (const std::int64_t m : met) put(m);
  for (const CountingBarrier& b : barriers) {
    put(b.phase);
    put(b.pending);
    put(b.bytes);
  }
  for (const auto& queue : queues) {
    put(-7);
    for (const Flight& f : queue) put(tag(f.op, f.iteration) * 256 + static_cast<Cell>(f.started));
  }
  put(-8);
  for (const Flight& f : loads) {
    put(tag(f.op, f.iteration) * 256 + static_cast<Cell>(f.started));
    put(static_cast<std::int64_t>(f.from * 256 + f.to));
  }
  for (const auto& role : pending) {
    put(-9);
    for (const Pending& p : role) put(static_cast<std::int64_t>(p.after * 256 + p.barrier));
  }
  for (const auto& cta : cells) {
    for (const Cell cell : cta) put(cell);
  }
  return text;
}

}  // namespace twill::plan::testing
