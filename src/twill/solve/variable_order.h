#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::solve {

/// Variables by activity: those in recent conflicts first (VSIDS), ties by number. A binary heap
/// with the place of each variable.
class VariableOrder {
 public:
  /// Variables must be added in order, from 0. One that is never decided is never in the heap.
  void add_variable(bool decided) {
    activity_.push_back(0.0);
    place_.push_back(decided ? kAbsent : kNever);
  }

  void insert(std::uint32_t variable) {
    if (place_[variable] != kAbsent) return;
    heap_.push_back({activity_[variable], variable});
    rise(heap_.size() - 1);
  }

  bool empty() const { return heap_.empty(); }

  std::uint32_t take_first() {
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
    if (at >= kNever) return;
    heap_[at].activity = activity_[variable];
    rise(at);
  }

  /// Makes all activities so far weigh less; called once per conflict.
  void decay() { increment_ *= 1.0 / 0.95; }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  static constexpr std::uint32_t kNever = kAbsent - 1;

  struct Entry {
    double activity;  ///< of the variable; beside it, since the heap is read far more often
    std::uint32_t variable;
  };

  static bool before(const Entry& a, const Entry& b) {
    return a.activity != b.activity ? a.activity > b.activity : a.variable < b.variable;
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

  void rescale() {
    for (double& activity : activity_) activity *= 1e-100;
    for (Entry& entry : heap_) entry.activity *= 1e-100;
    increment_ *= 1e-100;
  }

  std::vector<double> activity_;
  std::vector<std::uint32_t> place_;  ///< in the heap
  std::vector<Entry> heap_;
  double increment_ = 1.0;
};

}  // namespace twill::solve
