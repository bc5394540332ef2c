#include <cstdint>
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

void add_product(float& sum, float a, float b) { sum += a * b; }

/// Wraps, as sums of unsigned integers do.
void add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                  static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// The elements of one kind.
template <class Vector>
void multiply_add_elements(const Tile& a, const Tile& b, Tile& sums) {
  const std::size_t rank = a.shape.size();
  const auto rows = static_cast<std::size_t>(sums.shape[rank - 2]);
  const auto columns = static_cast<std::size_t>(sums.shape[rank - 1]);
  const auto depth = static_cast<std::size_t>(a.shape[rank - 1]);
  const std::size_t count = rows * columns == 0 ? 0 : sums.size() / (rows * columns);
  for (std::size_t matrix = 0; matrix < count; ++matrix) {
    const auto* left = std::get<Vector>(a.data).data() + matrix * rows * depth;
    const auto* right = std::get<Vector>(b.data).data() + matrix * depth * columns;
    auto* out = std::get<Vector>(sums.data).data() + matrix * rows * columns;
    for (std::size_t m = 0; m < rows; ++m) {
      for (std::size_t k = 0; k < depth; ++k) {
        const auto factor = left[m * depth + k];
        const auto* row = right + k * columns;
        auto* sum = out + m * columns;
        for (std::size_t n = 0; n < columns; ++n) add_product(sum[n], factor, row[n]);
      }
    }
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
