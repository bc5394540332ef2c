#include "twill/emit/cuda/products.h"

#include <fmt/format.h>

#include "twill/ir/operands.h"

namespace twill::emit::cuda {
namespace {

constexpr std::int64_t kStep = 16;   ///< elements of k in one wgmma of 16-bit operands
constexpr std::int64_t kBlock = 64;  ///< rows of one wgmma
constexpr std::int64_t kMostColumns = 256;

/// Address of an operand: bytes from its start to step k, as an expression over `k`, and the
/// arguments of its descriptor.
struct Operand {
  std::string major;
  std::string offset;
  std::int64_t leading = 0;
  std::int64_t stride = 0;
};

/// `contracted_last`: the contracted dimension is contiguous in memory.
Operand operand_of(const SharedTile& tile, bool contracted_last) {
  Operand operand;
  operand.stride = 8 * tile.swizzle;
  if (contracted_last) {
    const std::int64_t in_panel = panel_elements(tile) / kStep;
    operand.major = "twill::Major::k";
    operand.offset = in_panel == 1
                         ? fmt::format("k * {}", panel_bytes(tile))
                         : fmt::format("k / {0} * {1} + k % {0} * 32", in_panel, panel_bytes(tile));
    return operand;
  }
  operand.major = "twill::Major::mn";
  operand.leading = panel_bytes(tile);
  operand.offset = fmt::format("k * {}", kStep * tile.swizzle);
  return operand;
}

std::string descriptor(const Operand& operand, const SharedTile& tile, const std::string& address) {
  return fmt::format("twill::operand({}, {}, {}, {})", address, operand.leading, operand.stride,
                     tile.swizzle);
}

/// Bytes from the start of A to its rows from `row` on.
std::int64_t row_offset(const SharedTile& a, std::int64_t row) {
  if (!a.transposed) return row * a.swizzle;
  return row / panel_elements(a) * panel_bytes(a);
}

/// Number of steps along k.
std::int64_t steps_of(const View& view, const ir::MmaOperands& operands) {
  const ir::Type b = ir::type_of(view.program(), operands.b);
  return b->shape[b->shape.size() - 2] / kStep;
}

}  // namespace

Result<int> instructions_of(const View& view, ir::OpId product, int part) {
  const ir::MmaOperands operands = *ir::mma_operands(view.program().op(product));
  TWILL_TRY(const Shape shape, view.shape_of(*operands.result, part));
  return static_cast<int>(steps_of(view, operands) * (shape.rows / kBlock));
}

Result<void> print_product(Text& text, const View& view, ir::OpId product, int part,
                           const ProductPlaces& places) {
  const ir::Op& op = view.program().op(product);
  const ir::MmaOperands operands = *ir::mma_operands(op);
  const Shape& shape = places.result->shape;
  if (op.kind != ir::OpKind::wgmma || places.result->type != "float") {
    return view.refuse(product, "is no wgmma with sums in f32");
  }
  if (shape.columns > kMostColumns) return view.refuse(product, "has more than 256 columns");
  TWILL_TRY(const SharedTile b, shared_tile(view, operands.b));
  const std::int64_t steps = steps_of(view, operands);
  // B is k x n: its contracted dimension is contiguous exactly if B is read transposed.
  const Operand b_operand = operand_of(b, b.transposed);
  const std::string accumulate = places.accumulates ? "true" : "k > 0";
  text.line(fmt::format("const uint64_t b = {};", descriptor(b_operand, b, places.b_address)));
  const bool from_registers = places.a_registers != nullptr;
  SharedTile a;
  Operand a_operand;
  std::int64_t first_row = 0;
  if (!from_registers) {
    TWILL_TRY(a, shared_tile(view, operands.a));
    a_operand = operand_of(a, !a.transposed);
    const std::int64_t all = ir::type_of(view.program(), operands.a)->shape[0];
    first_row = view.rows_of(part, all).first;
    if (a.transposed && first_row % panel_elements(a) != 0) {
      return view.refuse(product, "begins in the middle of a panel of its transposed operand");
    }
    text.line(fmt::format("const uint64_t a = {};", descriptor(a_operand, a, places.a_address)));
  }
  const std::int64_t blocks = shape.rows / kBlock;
  text.line("#pragma unroll");
  text.open(fmt::format("for (int k = 0; k < {}; ++k)", steps));
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t offset = block * shape.columns / 2;
    const std::string b_at = fmt::format("twill::advance(b, {})", b_operand.offset);
    const std::string slice = blocks == 1 ? "" : fmt::format(", {}", offset);
    if (from_registers) {
      text.line(
          fmt::format("twill::wgmma_rs<{}, {}, {}{}>({}, {}, {}4 * k, {}, {});", shape.columns,
                      b.type, b_operand.major, slice, places.result->name, places.a_array,
                      block == 0 ? "" : fmt::format("{} + ", block * steps * 4), b_at, accumulate));
    } else {
      const std::int64_t row = row_offset(a, first_row + block * kBlock);
      text.line(fmt::format(
          "twill::wgmma_ss<{}, {}, {}, {}{}>({}, twill::advance(a, {}{}), {}, {});", shape.columns,
          b.type, a_operand.major, b_operand.major, slice, places.result->name,
          row == 0 ? "" : fmt::format("{} + ", row), a_operand.offset, b_at, accumulate));
    }
  }
  text.close();
  text.line("twill::wgmma_commit();");
  return {};
}

}  // namespace twill::emit::cuda
