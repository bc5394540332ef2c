#include <algorithm>

#include "twill/certify/constraints.h"
#include "twill/problem/problem.h"

/// Constraints on the addresses of buffers in their memories. Nodes of a memory: address 0 first,
/// then the offsets of all buffers, then their ends.
namespace twill::certify {
namespace {

using Kind = Predicate::Kind;

/// Depth of the deepest buffer in the constraints. A proof that needs more copies is rejected.
constexpr std::int64_t kDeepest = 10'000;

}  // namespace

/// Names a buffer by its first op. Empty for values outside of buffers: undecided.
std::optional<bool> Constraints::decide_address(Predicate& it) const {
  const bool two = it.kind == Kind::above;
  const std::size_t memory = two ? static_cast<std::size_t>(it.number) : it.second;
  const BufferFacts* const buffer = facts_.buffer_of(it.first, memory);
  const BufferFacts* const other = two ? facts_.buffer_of(it.second, memory) : buffer;
  if (buffer == nullptr || other == nullptr) return std::nullopt;
  it.first = buffer->ops.front();
  if (two) it.second = other->ops.front();
  const std::int64_t capacity = problem_.memories()[memory].capacity;
  if (it.kind == Kind::deep && it.number < 1) return true;
  if (it.kind == Kind::deep && it.number > capacity / buffer->size) return false;
  if (it.kind == Kind::shorter && it.number < 1) return false;
  if (it.kind == Kind::shorter && it.number > capacity) return true;
  return std::nullopt;
}

std::size_t Constraints::number_of(const BufferFacts& buffer, std::size_t memory) const {
  return static_cast<std::size_t>(&buffer - facts_.buffers[memory].data());
}

/// Makes the differences of a memory: every buffer begins at 0 or above, and ends within the
/// capacity, no lower than it begins.
const Differences& Constraints::addresses_in(std::size_t memory) {
  const std::size_t count = facts_.buffers[memory].size();
  const auto [found, fresh] = addresses_.try_emplace(memory, 1 + 2 * count);
  if (!fresh) return found->second;
  for (std::size_t i = 1; i <= count; ++i) {
    found->second.require({i, 0, 0});
    found->second.require({i + count, i, 0});
    found->second.require({0, i + count, -problem_.memories()[memory].capacity});
  }
  found->second.close();
  return found->second;
}

/// Literal of a difference of addresses. `shorter A M N`: offset(A) - end(A) >= 1 - N. `above A B
/// M`: offset(A) - end(B) >= 0.
Literal Constraints::address(const Predicate& it) {
  const bool two = it.kind == Kind::above;
  const std::size_t memory = two ? static_cast<std::size_t>(it.number) : it.second;
  const BufferFacts* const buffer = facts_.buffer_of(it.first, memory);
  const BufferFacts* const other = two ? facts_.buffer_of(it.second, memory) : buffer;
  if (buffer == nullptr || other == nullptr || (two && buffer == other)) {
    const auto [found, fresh] = literals_.try_emplace(it, kTrue);
    if (fresh) found->second = add_variable(it);
    return found->second;
  }
  const bool fresh = !literals_.contains(it);
  const std::size_t offset = 1 + number_of(*buffer, memory);
  const std::size_t end = 1 + facts_.buffers[memory].size() + number_of(*other, memory);
  const Literal is = declare(it, addresses_in(memory), {offset, end, two ? 0 : 1 - it.number});
  if (two && fresh) define_above(it, is);
  return is;
}

/// Demands that a buffer is as long as its copies need. Lower depths are defined first: each rests
/// on the depth below.
void Constraints::define_deep(const Predicate& it, Literal is) {
  const BufferFacts* const buffer = facts_.buffer_of(it.first, it.second);
  if (buffer == nullptr || it.number > kDeepest) return;
  const auto below = [&](std::int64_t depth) {
    return Predicate{Kind::deep, it.first, it.second, depth};
  };
  const bool defined = literals_.contains(below(it.number - 1));
  for (std::int64_t depth = 1; !defined && depth + 1 < it.number; ++depth) literal(below(depth));
  clause({}, {negation(is), literal({Kind::deep, it.first, it.second, it.number - 1})});
  const std::int64_t length = it.number * buffer->size;
  clause({}, {negation(is), negation(literal({Kind::shorter, it.first, it.second, length}))});
}

/// Literal "at least one copy of the value is alive when the event is issued".
Literal Constraints::lives(std::size_t value, std::size_t event) {
  const Cycles always = value == event ? 1 : ii_;
  if (facts_.ops[value].always() && lives_[value] >= always) return kTrue;
  return literal({Kind::alive, value, event, 1});
}

/// Separates two buffers that live at once: one is above the other. They live at once if a value of
/// one is alive at the issue of a live value of the other.
void Constraints::define_above(const Predicate& it, Literal is) {
  const Literal below = literal({Kind::above, it.second, it.first, it.number});
  if (it.second < it.first) return;  // defined with the other buffer
  const auto memory = static_cast<std::size_t>(it.number);
  for (const std::size_t a : facts_.buffer_of(it.first, memory)->ops) {
    for (const std::size_t b : facts_.buffer_of(it.second, memory)->ops) {
      for (const auto& [event, value] : {std::pair(a, b), std::pair(b, a)}) {
        clause({}, {negation(lives(event, event)), negation(lives(value, event)), is, below});
      }
    }
  }
}

/// Whether more copies of the buffer certainly live at the issue of one of its values than its
/// depth.
bool Constraints::depth_overflows(std::size_t event, std::size_t memory,
                                  std::vector<Literal>& causes) const {
  const BufferFacts* const buffer = facts_.buffer_of(event, memory);
  if (buffer == nullptr) return false;
  const std::int64_t fitting = problem_.memories()[memory].capacity / buffer->size;
  std::int64_t depth = 0;
  for (; depth < std::min(fitting, kDeepest); ++depth) {
    const std::optional<Literal> more = known({Kind::deep, buffer->ops.front(), memory, depth + 1});
    if (!more || !clauses_.is_false(*more)) continue;
    causes.push_back(negation(*more));
    break;
  }
  if (depth == kDeepest) depth = fitting;
  std::int64_t alive = 0;
  for (const std::size_t value : buffer->ops) alive += copies_of(value, event, false, causes);
  return alive > depth;
}

}  // namespace twill::certify
