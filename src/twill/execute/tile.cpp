#include "twill/execute/tile.h"

#include <algorithm>
#include <limits>

namespace twill::execute {
namespace {

constexpr std::int64_t kPoison = 0x5bad5bad5bad5bad;

}  // namespace

Box whole(const Shape& shape) {
  Box box;
  box.reserve(shape.size());
  for (const std::int64_t extent : shape) box.push_back({0, extent});
  return box;
}

Shape shape_of(const Box& box) {
  Shape shape;
  shape.reserve(box.size());
  for (const Range& range : box) shape.push_back(range.size());
  return shape;
}

std::int64_t size_of(const Shape& shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return size;
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * shape[d - 1];
  return strides;
}

Box common(const Box& a, const Box& b) {
  Box box;
  box.reserve(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) {
    const std::int64_t begin = std::max(a[d].begin, b[d].begin);
    box.push_back({begin, std::max(begin, std::min(a[d].end, b[d].end))});
  }
  return box;
}

bool is_empty(const Box& box) {
  return std::any_of(box.begin(), box.end(), [](const Range& range) { return range.size() <= 0; });
}

Tile poison(Shape shape, bool floating) {
  const auto size = static_cast<std::size_t>(size_of(shape));
  if (!floating) return {std::move(shape), Integers(size, kPoison)};
  return {std::move(shape), Numbers(size, std::numeric_limits<float>::quiet_NaN())};
}

Tile crop(const Tile& tile, const Box& box) {
  const Box all = whole(tile.shape);
  if (box == all) return tile;
  Tile part{shape_of(box), {}};
  if (tile.is_floating()) {
    part.data = Numbers(part.size());
  } else {
    part.data = Integers(part.size());
  }
  paste(part, box, tile, all);
  return part;
}

namespace {

template <class Elements>
void paste_elements(Elements& into, const Box& into_box, const Elements& from, const Box& box) {
  for_each_run(common(into_box, box), into_box, box,
               [&](std::size_t to, std::size_t at, std::size_t length) {
                 std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), length,
                             into.begin() + static_cast<std::ptrdiff_t>(to));
               });
}

}  // namespace

void paste(Tile& into, const Box& into_box, const Tile& from, const Box& from_box) {
  if (from.is_floating()) {
    paste_elements(into.numbers(), into_box, from.numbers(), from_box);
  } else {
    paste_elements(into.integers(), into_box, from.integers(), from_box);
  }
}

}  // namespace twill::execute
