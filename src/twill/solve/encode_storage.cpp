#include <algorithm>

#include "twill/solve/encode.h"

/// The part of the Encoding that counts live copies.
namespace twill::solve {
namespace {

Cycles ceil_divide(Cycles a, Cycles b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace

/// A literal that is true at least if `copy` or more copies of the value are alive when `event` is
/// issued (and `shared` is true).
Literal Encoding::copy_alive(std::size_t value, std::size_t event, std::int64_t copy,
                             Literal shared) {
  const Literal alive = engine_.add_literal();
  for (const Read& read : instance_.reads[value]) {
    count_read(value, read, event, copy, shared, alive);
  }
  return alive;
}

/// Copies alive at M(event) because of one read, with D the distance of the read:
///
///     s(reader) - s(value) + D + ceil((r(reader) + hold - r(event)) / II) - [r(value) > r(event)]
///
/// The ceiling is at least p iff r(reader) - r(event) >= (p - 1) * II - hold + 1. The slots differ
/// by less than II, so p takes few values; those that are certainly reached make smaller ones
/// superfluous.
void Encoding::count_read(std::size_t value, const Read& read, std::size_t event,
                          std::int64_t copy, Literal shared, Literal alive) {
  const Literal started = slot_apart(event, value, 0);  // the copy of this very round has begun
  const Cycles most = ceil_divide(read.hold + ii_ - 1, ii_);
  const Cycles least = ceil_divide(read.hold - ii_ + 1, ii_);
  for (Cycles p = most; p >= least; --p) {
    const Literal reading = slot_apart(read.reader, event, (p - 1) * ii_ - read.hold + 1);
    if (reading == kFalse) continue;
    const Literal enough = stage_apart(read.reader, value, copy - read.distance - p);
    add_clause({~shared, ~reading, alive}, {~started, ~enough});
    if (started != kTrue) {
      const Literal enough_anyway = stage_apart(read.reader, value, copy - read.distance - p + 1);
      add_clause({~shared, ~reading, alive}, {~enough_anyway});
    }
    if (reading == kTrue) return;
  }
}

void Encoding::add_memories() {
  for (const Store& memory : instance_.memories) {
    for (const Occupant& event : memory.values) {
      std::vector<Term> terms;
      for (const Occupant& value : memory.values) {
        const std::int64_t fitting = memory.capacity / value.amount + 1;
        for (std::int64_t copy = 1; copy <= std::min(fitting, most_copies_); ++copy) {
          terms.push_back({value.amount, copy_alive(value.op, event.op, copy, kTrue)});
        }
      }
      engine_.add_at_most(terms, memory.capacity);
      if (!fits()) return;
    }
  }
}

/// Registers are counted in the group of the event; the smaller the group, the larger a constant.
void Encoding::add_registers() {
  const auto groups = instance_.problem->groups();
  for (const Occupant& event : instance_.register_values) {
    std::int64_t largest = 0;
    for (const std::size_t group : instance_.tasks[event.op].groups) {
      largest = std::max<std::int64_t>(largest, groups[group].registers);
    }
    std::vector<Term> terms;
    for (const std::size_t group : instance_.tasks[event.op].groups) {
      const std::int64_t missing = largest - groups[group].registers;
      if (missing > 0) terms.push_back({missing, in_group_[event.op][group]});
    }
    for (const Occupant& value : instance_.register_values) {
      const Literal shared = same_group(value.op, event.op);
      if (shared == kFalse) continue;
      const std::int64_t fitting = largest / value.amount + 1;
      for (std::int64_t copy = 1; copy <= std::min(fitting, most_copies_); ++copy) {
        terms.push_back({value.amount, copy_alive(value.op, event.op, copy, shared)});
      }
    }
    engine_.add_at_most(terms, largest);
    if (!fits()) return;
  }
}

}  // namespace twill::solve
