#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
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
    place_[variable] = static_cast<std::uint32_t>(heap_.size());
    heap_.push_back(variable);
    rise(heap_.size() - 1);
  }

  bool empty() const { return heap_.empty(); }

  std::uint32_t take_first() {
    const std::uint32_t first = heap_.front();
    swap(0, heap_.size() - 1);
    heap_.pop_back();
    place_[first] = kAbsent;
    if (!heap_.empty()) sink(0);
    return first;
  }

  void bump(std::uint32_t variable) {
    activity_[variable] += increment_;
    if (activity_[variable] > 1e100) rescale();
    if (place_[variable] < kNever) rise(place_[variable]);
  }

  /// Makes all activities so far weigh less; called once per conflict.
  void decay() { increment_ *= 1.0 / 0.95; }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  static constexpr std::uint32_t kNever = kAbsent - 1;

  bool before(std::uint32_t a, std::uint32_t b) const {
    return activity_[a] != activity_[b] ? activity_[a] > activity_[b] : a < b;
  }

  void swap(std::size_t i, std::size_t j) {
    std::swap(heap_[i], heap_[j]);
    place_[heap_[i]] = static_cast<std::uint32_t>(i);
    place_[heap_[j]] = static_cast<std::uint32_t>(j);
  }

  void rise(std::size_t at) {
    while (at > 0 && before(heap_[at], heap_[(at - 1) / 2])) {
      swap(at, (at - 1) / 2);
      at = (at - 1) / 2;
    }
  }

  void sink(std::size_t at) {
    while (true) {
      std::size_t best = at;
      for (std::size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap_.size(); ++child) {
        if (before(heap_[child], heap_[best])) best = child;
      }
      if (best == at) return;
      swap(at, best);
      at = best;
    }
  }

  void rescale() {
    for (double& activity : activity_) activity *= 1e-100;
    increment_ *= 1e-100;
  }

  std::vector<double> activity_;
  std::vector<std::uint32_t> place_;
  std::vector<std::uint32_t> heap_;
  double increment_ = 1.0;
};

}  // namespace twill::solve
