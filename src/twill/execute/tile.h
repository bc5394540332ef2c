#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

/// Tiles of numbers, as ops of a Program make them, and boxes: parts of tiles.
namespace twill::execute {

/// A part of a tile: [begin, end) of each dimension. A scalar has no dimension.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 1;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};
using Box = std::vector<Range>;
using Shape = std::vector<std::int64_t>;

Box whole(const Shape& shape);
Shape shape_of(const Box& box);
std::int64_t size_of(const Shape& shape);

/// Distance between elements at neighbouring indices, by dimension, for a tile in row-major order.
Shape strides_of(const Shape& shape);
/// Intersection of two boxes of one tile; disjoint boxes give an empty range.
Box common(const Box& a, const Box& b);
bool is_empty(const Box& box);

using Numbers = std::vector<float>;
using Integers = std::vector<std::int64_t>;

/// Elements in row-major order. Numbers of every floating type are kept as f32, which holds them
/// all. Integers are sign-extended, but i1 is 0 or 1; pointers are packed by `Pointer`.
struct Tile {
  Shape shape;  ///< empty: a scalar
  std::variant<Numbers, Integers> data;

  bool is_floating() const { return data.index() == 0; }
  std::size_t size() const { return static_cast<std::size_t>(size_of(shape)); }
  const Numbers& numbers() const { return std::get<Numbers>(data); }
  const Integers& integers() const { return std::get<Integers>(data); }
  Numbers& numbers() { return std::get<Numbers>(data); }
  Integers& integers() { return std::get<Integers>(data); }
};
using TilePtr = std::shared_ptr<const Tile>;

/// Poison: all elements are NaN, or an integer that no computation makes.
Tile poison(Shape shape, bool floating);

/// Copy of the part `box` of a tile.
Tile crop(const Tile& tile, const Box& box);

/// Copies the common elements of two parts of one tile: `from` is the part `from_box`, `into` the
/// part `into_box`. Precondition: both are numbers, or both integers.
void paste(Tile& into, const Box& into_box, const Tile& from, const Box& from_box);

/// Calls `visit(a, b, length)` for every run of elements of `part` along the last dimension. `a`
/// and `b` are the begins of the run, in row-major order, in two boxes of the same tile. Both boxes
/// contain `part`.
template <class Visit>
void for_each_run(const Box& part, const Box& a, const Box& b, Visit visit) {
  if (is_empty(part)) return;
  const std::size_t rows = part.empty() ? 0 : part.size() - 1;
  Shape at;
  for (const Range& range : part) at.push_back(range.begin);
  while (true) {
    std::int64_t in_a = 0, in_b = 0;
    for (std::size_t d = 0; d < part.size(); ++d) {
      in_a = in_a * a[d].size() + at[d] - a[d].begin;
      in_b = in_b * b[d].size() + at[d] - b[d].begin;
    }
    const std::int64_t length = part.empty() ? 1 : part.back().size();
    visit(static_cast<std::size_t>(in_a), static_cast<std::size_t>(in_b),
          static_cast<std::size_t>(length));
    std::size_t d = rows;
    while (d > 0 && ++at[d - 1] == part[d - 1].end) {
      at[d - 1] = part[d - 1].begin;
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace twill::execute
