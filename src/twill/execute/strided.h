#pragma once

#include <cstdint>

#include "twill/execute/tile.h"

/// Elements at regular strides, row by row.
namespace twill::execute {

/// Calls visit(i, place, stride, count) for each row of a tile: its elements i, i + 1, .. are at
/// place, place + stride, .. `first` is the place of the tile's first element.
template <class Visit>
void for_each_row(const Shape& shape, const Shape& strides, std::int64_t first, Visit visit) {
  if (size_of(shape) == 0) return;
  const std::size_t rows = shape.empty() ? 0 : shape.size() - 1;
  const std::int64_t count = shape.empty() ? 1 : shape.back();
  const std::int64_t stride = shape.empty() ? 1 : strides.back();
  Shape at(rows, 0);
  for (std::int64_t i = 0;; i += count) {
    std::int64_t place = first;
    for (std::size_t d = 0; d < rows; ++d) place += at[d] * strides[d];
    visit(i, place, stride, count);
    std::size_t d = rows;
    while (d > 0 && ++at[d - 1] == shape[d - 1]) {
      at[d - 1] = 0;
      --d;
    }
    if (d == 0) return;
  }
}

/// Reads the strided elements of `from`, in row-major order.
template <class Elements>
void gather(Elements& to, const Elements& from, const Shape& shape, const Shape& strides,
            std::int64_t first) {
  for_each_row(shape, strides, first,
               [&](std::int64_t i, std::int64_t place, std::int64_t stride, std::int64_t count) {
                 const auto* source = from.data() + place;
                 auto* out = to.data() + i;
                 for (std::int64_t k = 0; k < count; ++k) out[k] = source[k * stride];
               });
}

/// Writes the elements of `from`, in row-major order, to their strided places in `to`.
template <class Elements>
void scatter(Elements& to, const Elements& from, const Shape& shape, const Shape& strides,
             std::int64_t first) {
  for_each_row(shape, strides, first,
               [&](std::int64_t i, std::int64_t place, std::int64_t stride, std::int64_t count) {
                 const auto* source = from.data() + i;
                 auto* out = to.data() + place;
                 for (std::int64_t k = 0; k < count; ++k) out[k * stride] = source[k];
               });
}

}  // namespace twill::execute
