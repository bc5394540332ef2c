#include <cstdint>
#include <cstring>
#include <type_traits>
#include <variant>

#include "twill/execute/evaluate.h"

namespace twill::execute {

Result<void> check_product(const ir::Program& program, ir::OpId id, const Tile& a, const Tile& b,
                           const Tile& sums) {
  const std::size_t rank = a.shape.size();
  bool fits = rank >= 2 && b.shape.size() == rank && sums.shape.size() == rank &&
              a.is_floating() == b.is_floating() && a.is_floating() == sums.is_floating();
  for (std::size_t d = 0; fits && d + 2 < rank; ++d) {
    fits = a.shape[d] == b.shape[d] && a.shape[d] == sums.shape[d];
  }
  fits = fits && a.shape[rank - 1] == b.shape[rank - 2] &&
         a.shape[rank - 2] == sums.shape[rank - 2] && b.shape[rank - 1] == sums.shape[rank - 1];
  if (!fits) return cannot(program, id, "is no product of tiles of numbers that fit");
  return {};
}

namespace {

/// Adds a product; sums wrap as unsigned integers do.
void add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                  static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
void add_product(float& sum, float a, float b) { sum += a * b; }

/// Vector of neighbouring columns, whose sums are independent.
using Lanes [[gnu::vector_size(16)]] = float;
constexpr std::size_t kLanes = 4;

Lanes load(const float* at) {
  Lanes lanes;
  std::memcpy(&lanes, at, sizeof lanes);
  return lanes;
}

/// A matrix times another, added to a third.
template <class Element>
struct Product {
  const Element* left;
  const Element* right;
  Element* out;
  std::size_t rows, columns, depth;

  /// Computes columns from `first` on, one by one.
  void add_columns(std::size_t first) const {
    for (std::size_t m = 0; m < rows; ++m) {
      for (std::size_t k = 0; k < depth; ++k) {
        const Element factor = left[m * depth + k];
        const Element* row = right + k * columns;
        Element* sum = out + m * columns;
        for (std::size_t n = first; n < columns; ++n) add_product(sum[n], factor, row[n]);
      }
    }
  }

  /// Computes four vectors of columns at a time, with all sums of a row in registers.
  void add_lanes(std::size_t first) const {
    for (std::size_t m = 0; m < rows; ++m) {
      float* to = out + m * columns + first;
      Lanes a = load(to), b = load(to + kLanes), c = load(to + 2 * kLanes),
            d = load(to + 3 * kLanes);
      for (std::size_t k = 0; k < depth; ++k) {
        const float factor = left[m * depth + k];
        const float* row = right + k * columns + first;
        a += factor * load(row);
        b += factor * load(row + kLanes);
        c += factor * load(row + 2 * kLanes);
        d += factor * load(row + 3 * kLanes);
      }
      for (const Lanes& lanes : {a, b, c, d}) {
        std::memcpy(to, &lanes, sizeof lanes);
        to += kLanes;
      }
    }
  }
};

/// Multiplies matrices with elements of one type.
template <class Vector>
void multiply_add_elements(const Tile& a, const Tile& b, Tile& sums) {
  using Element = typename Vector::value_type;
  const std::size_t rank = a.shape.size();
  const auto rows = static_cast<std::size_t>(sums.shape[rank - 2]);
  const auto columns = static_cast<std::size_t>(sums.shape[rank - 1]);
  const auto depth = static_cast<std::size_t>(a.shape[rank - 1]);
  const std::size_t count = rows * columns == 0 ? 0 : sums.size() / (rows * columns);
  for (std::size_t matrix = 0; matrix < count; ++matrix) {
    const Product<Element> product{std::get<Vector>(a.data).data() + matrix * rows * depth,
                                   std::get<Vector>(b.data).data() + matrix * depth * columns,
                                   std::get<Vector>(sums.data).data() + matrix * rows * columns,
                                   rows,
                                   columns,
                                   depth};
    std::size_t first = 0;
    if constexpr (std::is_same_v<Element, float>) {
      for (; first + 4 * kLanes <= columns; first += 4 * kLanes) product.add_lanes(first);
    }
    product.add_columns(first);
  }
}

}  // namespace

void multiply_add(const Tile& a, const Tile& b, Tile& sums) {
  if (a.is_floating()) {
    multiply_add_elements<Numbers>(a, b, sums);
  } else {
    multiply_add_elements<Integers>(a, b, sums);
  }
}

}  // namespace twill::execute
