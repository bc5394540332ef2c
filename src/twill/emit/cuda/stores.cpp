#include <utility>

#include <fmt/format.h>

#include "twill/emit/cuda/pieces.h"
#include "twill/emit/cuda/tiles.h"
#include "twill/ir/operands.h"

// Stores of register tiles to global memory through pointers, outside the loop.
namespace twill::emit::cuda {
namespace {

using ir::OpKind;

}  // namespace

/// Statement that writes one element: `{0}` is its address, `{1}` the value.
Result<std::string> Tiles::writes_by(ir::OpId id) const {
  const ir::Op& op = view_.program().op(id);
  if (op.kind == OpKind::store) return std::string("*({0}) = {1};");
  const auto access = *ir::memory_access(op);
  if (access.result && !view_.program().value(*access.result).uses.empty()) {
    return view_.refuse(id, "returns the old value, and its readers are not printed");
  }
  const std::string type = cpp_type(ir::type_of(view_.program(), *access.source));
  const bool number = type == "float" || type == "__half" || type == "__nv_bfloat16";
  if (op.update == ir::Update::fadd && number) return std::string("atomicAdd({0}, {1});");
  constexpr std::pair<ir::Update, const char*> kOfIntegers[] = {
      {ir::Update::add, "atomicAdd({0}, {1});"},
      {ir::Update::max, "atomicMax({0}, {1});"},
      {ir::Update::min, "atomicMin({0}, {1});"},
      {ir::Update::umax, "atomicMax((unsigned*)({0}), (unsigned)({1}));"},
      {ir::Update::umin, "atomicMin((unsigned*)({0}), (unsigned)({1}));"},
      {ir::Update::bit_and, "atomicAnd({0}, {1});"},
      {ir::Update::bit_or, "atomicOr({0}, {1});"},
      {ir::Update::bit_xor, "atomicXor({0}, {1});"}};
  for (const auto& [update, statement] : kOfIntegers) {
    if (type == "int" && op.update == update) return std::string(statement);
  }
  return view_.refuse(id, "is no atomic operation that can be printed");
}

/// Stores neighbours in one piece, with address and mask of the first element. Fails if these are
/// computed from values that threads hold for their own columns.
Result<void> Tiles::store_together(Text& text, ir::OpId id, const Shape& shape, int together) {
  const auto access = *ir::memory_access(view_.program().op(id));
  const ir::Type type = ir::type_of(view_.program(), *access.source);
  const bool packed = is_packed(type), exchanged = together == 8;
  const Variable mine{"mine", shape, cpp_type(type), packed, 1, std::nullopt};
  // Pieces that a thread has in 64 rows.
  const std::int64_t in_block = shape.columns / 2 / together;
  const bool one_block = shape.rows == 64;
  const std::string slot = one_block ? "k % 2" : fmt::format("k / {} * 2 + k % 2", in_block);
  const std::string number = one_block ? "k / 2" : fmt::format("k % {} / 2", in_block);
  text.line(kUnroll);
  text.open(fmt::format("for (int k = 0; k < {}; ++k)", elements_per_thread(shape) / together));
  text.line(fmt::format("{} mine[{}];", packed ? "uint32_t" : mine.type,
                        packed ? together / 2 : together));
  text.line(kUnroll);
  if (packed) {
    text.open(fmt::format("for (int j = 0; j < {}; ++j)", together / 2));
    text.line(exchanged ? "const int i = (k / 2 * 4 + j) * 2 + k % 2;" : "const int i = k;");
    Frame held{shape, "i", {}, &text, ""};
    TWILL_TRY(const std::string pair, packed_pair(held, {&mine, *access.source}));
    text.line(fmt::format("mine[j] = {};", pair));
  } else {
    text.open("for (int e = 0; e < 2; ++e)");
    Frame held{shape, "(2 * k + e)", {}, &text, ""};
    TWILL_TRY(const std::string value, element(held, *access.source, axes_of(*access.source)));
    text.line(fmt::format("mine[e] = {};", value));
  }
  text.close();
  if (exchanged) text.line("twill::exchange_columns(mine);");
  text.line(fmt::format("const int row = {} + twill::fragment_row() + {}k % 2 * 8;",
                        view_.rows_of(part_, shape.rows).first,
                        one_block ? "" : fmt::format("k / {} * 64 + ", in_block)));
  text.line(exchanged
                ? fmt::format("const int column = 4 * twill::fragment_column() + {} * {};", number,
                              kColumnsOfQuad)
                : fmt::format("const int column = twill::fragment_column() + {} * 8;", number));
  std::vector<ir::ValueId> values = {access.address};
  if (access.mask) values.push_back(*access.mask);
  TWILL_TRY(const auto made, at(text, values, {"row", "column", slot, ""}));
  text.line(fmt::format("{}twill::store_columns({}, mine);",
                        access.mask ? fmt::format("if ({}) ", made[1]) : "", made[0]));
  text.close();
  return {};
}

Result<void> Tiles::store(Text& text, ir::OpId id) {
  const auto access = *ir::memory_access(view_.program().op(id));
  TWILL_TRY(const std::string writes, writes_by(id));
  TWILL_TRY(const Shape shape, view_.shape_of(*access.source, part_));
  if (const int together = stored_at_once(view_, id, shape); together > 1) {
    Text body(text.depth());
    if (store_together(body, id, shape, together)) {
      text.append(body);
      return {};
    }
  }
  // Release: earlier writes of this thread are visible to threads that observe the sum.
  if (view_.program().op(id).publishes) text.line("__threadfence();");
  const bool rows = shape.kind == Shape::Kind::row_vector;
  if (rows)
    text.open("if (twill::thread_here() % 4 == 0)");  // the lanes of a quad hold the same rows
  if (shape.kind == Shape::Kind::column_vector) {
    text.open("if (twill::thread_here() % 128 < 4)");  // all rows of threads hold the same columns
  }
  text.line(kUnroll);
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", elements_per_thread(shape)));
  Frame frame{shape, "i", {}, &text, ""};
  const Axes axes = axes_of(*access.source);
  if (access.mask) {
    TWILL_TRY(const std::string mask, element(frame, *access.mask, axes));
    text.line(fmt::format("if (!({})) continue;", mask));
  }
  TWILL_TRY(const std::string value, element(frame, *access.source, axes));
  TWILL_TRY(const std::string address, element(frame, access.address, axes));
  text.line(fmt::format(fmt::runtime(writes), address, value));
  text.close();
  if (shape.kind != Shape::Kind::matrix) text.close();
  return {};
}

}  // namespace twill::emit::cuda
