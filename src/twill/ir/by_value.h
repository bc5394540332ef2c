#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "twill/ir/program.h"

namespace twill::ir {

/// Entries for some values of a Program. Found in constant time; copies cost little more than the
/// entries themselves.
template <class Entry>
class ByValue {
 public:
  explicit ByValue(const Program& program) : places_(program.value_count(), 0) {}

  /// Entry of the value, valid until `keep`; null without an entry.
  const Entry* find(ValueId value) const {
    const std::uint32_t place = places_[value.index()];
    return place == 0 ? nullptr : &entries_[place - 1];
  }

  void set(ValueId value, Entry entry) {
    std::uint32_t& place = places_[value.index()];
    if (place > 0) {
      entries_[place - 1] = std::move(entry);
      return;
    }
    entries_.push_back(std::move(entry));
    place = static_cast<std::uint32_t>(entries_.size());
  }

  /// Removes the entries of all values except `values`.
  void keep(std::span<const ValueId> values) {
    std::vector<std::uint32_t> before(places_.size(), 0);
    before.swap(places_);
    std::deque<Entry> all;
    all.swap(entries_);
    for (const ValueId value : values) {
      const std::uint32_t place = before[value.index()];
      if (place > 0 && places_[value.index()] == 0) set(value, std::move(all[place - 1]));
    }
  }

 private:
  std::vector<std::uint32_t> places_;  ///< by value: number of its entry, from 1; 0: no entry
  std::deque<Entry> entries_;          ///< a deque, so that entries stay where they are
};

}  // namespace twill::ir
