#include "twill/execute/scales.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "twill/execute/evaluate.h"

namespace twill::execute {
namespace {

constexpr std::int64_t kE2m1 = 4;  ///< number of the type in "a_type" and "b_type"
constexpr int kE8m0Bias = 127;
constexpr std::int64_t kE8m0Nan = 255;

float e2m1(std::int64_t bits) {
  constexpr float kMagnitudes[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
  const float magnitude = kMagnitudes[bits & 7];
  return (bits & 8) != 0 ? -magnitude : magnitude;
}

float e8m0(std::int64_t byte) {
  if ((byte & 0xff) == kE8m0Nan) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0F, static_cast<int>(byte & 0xff) - kE8m0Bias);
}

bool has_e2m1(const ir::Op& op, ScaledSide side) {
  const std::string_view name = side == ScaledSide::left ? "a_type" : "b_type";
  for (const auto& [key, value] : op.attributes) {
    const bool is_number = value != nullptr && value->kind == ir::AttributeKind::integer;
    if (key == name && is_number) return value->integer == kE2m1;
  }
  return false;
}

/// Unpacks bytes of two numbers each.
Tile numbers_in(const Tile& bytes, ScaledSide side) {
  const auto width = static_cast<std::size_t>(bytes.shape[1]);
  Tile made{bytes.shape, Numbers(2 * bytes.size())};
  made.shape[side == ScaledSide::left ? 1 : 0] *= 2;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t row = i / width, column = i % width;
    const std::size_t low = side == ScaledSide::left ? 2 * i : 2 * row * width + column;
    made.numbers()[low] = e2m1(bytes.integers()[i]);
    made.numbers()[low + (side == ScaledSide::left ? 1 : width)] = e2m1(bytes.integers()[i] >> 4);
  }
  return made;
}

}  // namespace

Result<TilePtr> scaled_operand(const ir::Program& program, ir::OpId id, const Tile& operand,
                               const Tile& scales, ScaledSide side) {
  const auto misfit = [&] { return cannot(program, id, "has scales that do not fit"); };
  if (operand.shape.size() != 2 || scales.shape.size() != 2) return misfit();
  if (!operand.is_floating() && !has_e2m1(program.op(id), side)) {
    return cannot(program, id, "has packed elements other than e2m1");
  }
  Tile made = operand.is_floating() ? operand : numbers_in(operand, side);
  const bool left = side == ScaledSide::left;
  const std::int64_t depth = made.shape[left ? 1 : 0], blocks = scales.shape[1];
  if (scales.shape[0] != made.shape[left ? 0 : 1] || blocks < 1 || depth % blocks != 0) {
    return misfit();
  }
  const std::int64_t width = made.shape[1], block = depth / blocks;
  for (std::int64_t row = 0; row < made.shape[0]; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      const std::int64_t outer = left ? row : column, inner = left ? column : row;
      const auto at = static_cast<std::size_t>(outer * blocks + inner / block);
      const float scale = scales.is_floating() ? scales.numbers()[at] : e8m0(scales.integers()[at]);
      made.numbers()[static_cast<std::size_t>(row * width + column)] *= scale;
    }
  }
  return std::make_shared<const Tile>(std::move(made));
}

}  // namespace twill::execute
