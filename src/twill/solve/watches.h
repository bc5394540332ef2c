#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "twill/solve/clauses.h"
#include "twill/solve/literal.h"

namespace twill::solve {

/// Watch of a literal by a clause. In a clause of two literals `blocker` is the other literal, so
/// that propagation does not touch the clause.
struct Watch {
  std::uint32_t word = 0;  ///< start of the clause times two; plus one if it has two literals
  Literal blocker;         ///< another literal of the clause; if true, the watch needs no work

  Watch() = default;
  Watch(ClauseArena::Reference clause, Literal other, bool is_binary)
      : word(2 * clause + (is_binary ? 1U : 0U)), blocker(other) {}
  ClauseArena::Reference clause() const { return word / 2; }
  bool is_binary() const { return word % 2 != 0; }
};

/// Lists of watches, one for each literal code.
///
/// An engine has tens of thousands of lists and often lives for milliseconds, so the lists share
/// large blocks of memory: arrays of 4, 8, 16 ... watches, which are used again when outgrown.
class WatchLists {
 public:
  /// Adds an empty list; codes count from 0.
  void add_list() { lists_.emplace_back(); }

  /// List of a code; valid until a watch is added to it.
  std::span<Watch> operator[](std::uint32_t code) {
    return std::span(lists_[code].first, lists_[code].size);
  }

  void add(std::uint32_t code, const Watch& watch) {
    List& list = lists_[code];
    if (list.size == list.capacity) grow(list);
    list.first[list.size++] = watch;
  }

  /// Keeps the first `size` watches of a list.
  void shrink(std::uint32_t code, std::size_t size) {
    lists_[code].size = static_cast<std::uint32_t>(size);
  }

  /// Empties all lists.
  void clear() {
    for (List& list : lists_) list.size = 0;
  }

 private:
  static constexpr std::uint32_t kFewest = 4;  ///< most lists are short
  static constexpr std::size_t kBlock = 4096;  ///< watches in a block

  struct List {
    Watch* first = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
  };

  /// Number of an array size: 0 for the smallest, 1 for twice as much.
  static std::size_t number_of(std::uint32_t capacity) {
    std::size_t number = 0;
    for (; capacity > kFewest; capacity /= 2) ++number;
    return number;
  }

  void grow(List& list) {
    const std::uint32_t capacity = std::max(kFewest, 2 * list.capacity);
    Watch* const first = array_of(capacity);
    std::copy_n(list.first, list.size, first);
    if (list.capacity > 0) free_[number_of(list.capacity)].push_back(list.first);
    list = {first, list.size, capacity};
  }

  Watch* array_of(std::uint32_t capacity) {
    std::vector<Watch*>& free = free_[number_of(capacity)];
    if (!free.empty()) {
      Watch* const first = free.back();
      free.pop_back();
      return first;
    }
    if (capacity > left_.size()) {
      const std::size_t count = std::max<std::size_t>(kBlock, capacity);
      left_ = std::span(blocks_.emplace_back(std::make_unique<Watch[]>(count)).get(), count);
    }
    Watch* const first = left_.data();
    left_ = left_.subspan(capacity);
    return first;
  }

  std::vector<List> lists_;  ///< by literal code
  std::array<std::vector<Watch*>, 32> free_;
  std::vector<std::unique_ptr<Watch[]>> blocks_;
  std::span<Watch> left_;  ///< unused rest of the last block
};

}  // namespace twill::solve
