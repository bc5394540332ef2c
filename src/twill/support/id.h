#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace twill {

/// Hardware clock cycles: durations, issue times relative to the start of an iteration, and
/// initiation intervals. Always raw cycles of one SM; Twill normalizes nothing by default.
using Cycles = std::int64_t;

/// Bytes of shared memory, or columns of tensor memory: whatever unit the memory states.
using Amount = std::int64_t;

/// A strong index. `Id<OpTag>` and `Id<UnitTag>` do not mix, and neither converts to an integer
/// by accident. Ids are dense: the value with id k is element k of its table.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}

  constexpr std::size_t index() const { return index_; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint32_t index_ = 0;
};

}  // namespace twill

template <class Tag>
struct std::hash<twill::Id<Tag>> {
  std::size_t operator()(twill::Id<Tag> id) const noexcept { return id.index(); }
};
