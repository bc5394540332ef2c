#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Variables by activity: those in recent conflicts first (VSIDS), ties by number.
///
/// Those with activity are in a binary heap with the place of each. Most never take part in a
/// conflict. They come last, so a bit for each is enough.
class VariableOrder {
 public:
  /// Variables must be added in order, from 0. One that is never decided is never in the order.
  void add_variable(bool decided) {
    activity_.push_back(0.0);
    place_.push_back(decided ? kIdle : kNever);
    if (idle_.size() * kBits < place_.size()) idle_.push_back(0);
  }

  void insert(std::uint32_t variable) {
    if (place_[variable] == kIdle) {
      add_idle(variable);
    } else if (place_[variable] == kAbsent) {
      add_active(variable);
    }
  }

  /// The first variable, which is taken out; none if the order is empty.
  std::optional<std::uint32_t> take_first() {
    if (heap_.empty()) return take_idle();
    const std::uint32_t first = heap_.front().variable;
    place_[first] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

  void bump(std::uint32_t variable) {
    activity_[variable] += increment_;
    if (activity_[variable] > 1e100) rescale();
    const std::uint32_t at = place_[variable];
    if (at < kIdle) {
      heap_[at].activity = activity_[variable];
      rise(at);
    } else if (at == kIdle) {
      place_[variable] = kAbsent;
      if (remove_idle(variable)) add_active(variable);
    }
  }

  /// Makes all activities so far weigh less; called once per conflict.
  void decay() { increment_ *= 1.0 / 0.95; }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  static constexpr std::uint32_t kNever = kAbsent - 1;
  static constexpr std::uint32_t kIdle = kAbsent - 2;  ///< without activity; smaller: in the heap
  static constexpr std::uint32_t kBits = std::numeric_limits<std::uint64_t>::digits;

  struct Entry {
    double activity;  ///< of the variable; beside it, since the heap is read far more often
    std::uint32_t variable;
  };

  static bool before(const Entry& a, const Entry& b) {
    return a.activity != b.activity ? a.activity > b.activity : a.variable < b.variable;
  }

  static std::uint64_t bit_of(std::uint32_t variable) {
    return std::uint64_t{1} << (variable % kBits);
  }

  void add_idle(std::uint32_t variable) {
    idle_[variable / kBits] |= bit_of(variable);
    if (variable / kBits < first_idle_) first_idle_ = variable / kBits;
  }

  /// Whether the variable was in the order.
  bool remove_idle(std::uint32_t variable) {
    const bool was_there = (idle_[variable / kBits] & bit_of(variable)) != 0;
    idle_[variable / kBits] &= ~bit_of(variable);
    return was_there;
  }

  std::optional<std::uint32_t> take_idle() {
    while (first_idle_ < idle_.size() && idle_[first_idle_] == 0) ++first_idle_;
    if (first_idle_ == idle_.size()) return std::nullopt;
    std::uint64_t& word = idle_[first_idle_];
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
    word &= word - 1;
    return static_cast<std::uint32_t>(first_idle_) * kBits + bit;
  }

  void add_active(std::uint32_t variable) {
    heap_.push_back({activity_[variable], variable});
    rise(heap_.size() - 1);
  }

  void put(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    place_[entry.variable] = static_cast<std::uint32_t>(at);
  }

  void rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0 && before(entry, heap_[(at - 1) / 2])) {
      put(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    put(at, entry);
  }

  /// Puts the entry in the place of the first, or further down.
  void sink(const Entry& entry) {
    std::size_t at = 0;
    while (2 * at + 1 < heap_.size()) {
      std::size_t child = 2 * at + 1;
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], entry)) break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, entry);
  }

  /// Scales all activities down. Those that vanish make their variables idle again.
  void rescale() {
    for (double& activity : activity_) activity *= 1e-100;
    increment_ *= 1e-100;
    std::vector<Entry> entries;
    entries.swap(heap_);
    for (std::uint32_t variable = 0; variable < place_.size(); ++variable) {
      if (place_[variable] == kAbsent && activity_[variable] == 0.0) place_[variable] = kIdle;
    }
    for (const Entry& entry : entries) {
      place_[entry.variable] = activity_[entry.variable] == 0.0 ? kIdle : kAbsent;
      insert(entry.variable);
    }
  }

  std::vector<double> activity_;
  std::vector<std::uint32_t> place_;  ///< in the heap, or one of the constants
  std::vector<Entry> heap_;
  std::vector<std::uint64_t> idle_;  ///< bit by variable: it is in the order and has no activity
  std::size_t first_idle_ = 0;       ///< no word before has a bit
  double increment_ = 1.0;
};

}  // namespace twill::solve
