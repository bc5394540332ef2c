#include "twill/execute/accesses.h"

#include <algorithm>
#include <bit>

namespace twill::execute {
namespace {

std::int64_t page_of(std::int64_t index, std::int64_t size) {
  return index >= 0 ? index / size : -((size - 1 - index) / size);
}

}  // namespace

Accesses::Marks& Accesses::marks(Pointer at) {
  ++count_;
  Array& array = arrays_[at.array];
  const std::int64_t number = page_of(at.index, kPage);
  if (array.last == nullptr || array.last_number != number) {
    array.last = &array.pages.try_emplace(number, Page(kPage)).first->second;
    array.last_number = number;
  }
  return (*array.last)[static_cast<std::size_t>(at.index - number * kPage)];
}

const Accesses::Marks* Accesses::find(const std::map<std::int64_t, Array>& arrays, Pointer at) {
  const auto array = arrays.find(at.array);
  if (array == arrays.end()) return nullptr;
  const std::int64_t number = page_of(at.index, kPage);
  const auto page = array->second.pages.find(number);
  if (page == array->second.pages.end()) return nullptr;
  return &page->second[static_cast<std::size_t>(at.index - number * kPage)];
}

void Accesses::read(Pointer at) {
  Marks& it = marks(at);
  const auto others = [&](std::int64_t who) { return who != kNobody && who != program_; };
  if (others(it.writer) || others(it.combiner)) disagree(at);
  if (it.writer == kNobody) it.initial = true;
  it.reader = others(it.reader) ? kSeveral : program_;
}

void Accesses::write(Pointer at, double value) {
  Marks& it = marks(at);
  const auto others = [&](std::int64_t who) { return who != kNobody && who != program_; };
  const bool same = std::bit_cast<std::uint64_t>(it.value) == std::bit_cast<std::uint64_t>(value);
  const bool clashes = it.writer == program_ && it.op == op_ && !same;
  if (others(it.writer) || others(it.reader) || others(it.combiner) || clashes) disagree(at);
  it.writer = program_;
  it.op = op_;
  it.value = value;
}

void Accesses::combine(Pointer at) {
  Marks& it = marks(at);
  const auto others = [&](std::int64_t who) { return who != kNobody && who != program_; };
  if (others(it.writer) || others(it.reader)) disagree(at);
  if (it.writer == kNobody) it.initial = true;
  it.combiner = others(it.combiner) ? kSeveral : program_;
}

void Accesses::reach(std::int64_t array, std::span<const std::int64_t> coordinates,
                     std::span<const std::int64_t> shape, std::span<const std::int64_t> tensor) {
  uses_empty_ = uses_empty_ || std::any_of(tensor.begin(), tensor.end(),
                                           [](std::int64_t size) { return size <= 0; });
  Reach& reach = arrays_[array].reach;
  reach.resize(std::max(reach.size(), coordinates.size()), 0);
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    reach[d] = std::max(reach[d], coordinates[d] + shape[d]);
  }
}

Accesses::Extent Accesses::extent(std::int64_t array) const {
  const auto found = arrays_.find(array);
  if (found == arrays_.end() || found->second.pages.empty()) return {};
  const auto touched = [](const Marks& it) {
    return it.writer != kNobody || it.reader != kNobody || it.combiner != kNobody;
  };
  const auto& [low, first] = *found->second.pages.begin();
  const auto& [high, last] = *found->second.pages.rbegin();
  const auto begin = std::find_if(first.begin(), first.end(), touched);
  const auto end = std::find_if(last.rbegin(), last.rend(), touched);
  return {low * kPage + (begin - first.begin()), (high + 1) * kPage - (end - last.rbegin())};
}

Accesses::Reach Accesses::reach(std::int64_t array) const {
  const auto found = arrays_.find(array);
  return found == arrays_.end() ? Reach() : found->second.reach;
}

bool Accesses::needs_initial(Pointer at) const {
  const Marks* it = find(arrays_, at);
  return it != nullptr && it->initial;
}

}  // namespace twill::execute
