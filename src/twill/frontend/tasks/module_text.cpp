#include "twill/frontend/tasks/module_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/ir/type.h"

namespace twill::frontend::from_tasks {

std::string tensor_text(const TileType& type) {
  return tensor_text(type, std::string(ir_name_of(type.scalar)));
}

std::string tensor_text(const TileType& type, const std::string& element) {
  if (type.shape.empty()) return element;
  const std::string layout = type.layout.empty() ? "" : ", " + type.layout;
  return fmt::format("tensor<{}x{}{}>", fmt::join(type.shape, "x"), element, layout);
}

int swizzle_of(const TileType& type) {
  constexpr std::int64_t kLargest = 128;
  const std::int64_t bytes = type.shape.empty() ? 0 : type.shape.back() * bytes_of(type.scalar);
  constexpr std::int64_t kUnit = 16;  // bytes that TMA copies as a unit
  if (bytes >= kLargest && bytes % kUnit == 0) return static_cast<int>(kLargest);
  return bytes == 64 || bytes == 32 ? static_cast<int>(bytes) : 0;
}

int operand_swizzle(const TileType& type) {
  const std::int64_t bytes = type.shape.empty() ? 0 : type.shape.back() * bytes_of(type.scalar);
  for (const int swizzle : {128, 64, 32}) {
    if (bytes > 0 && bytes % swizzle == 0) return swizzle;
  }
  return 0;
}

std::string layout_name(int swizzle, bool transposed, int bits, std::size_t rank) {
  const std::string dimensions = rank > 2 ? fmt::format("_{}d", rank) : "";
  return fmt::format("#shared{}_{}{}{}", swizzle, bits, transposed ? "t" : "", dimensions);
}

std::string buffer_text(const TileType& type, int swizzle, bool transposed) {
  std::string shape;
  for (const std::int64_t extent : type.shape) shape += std::to_string(extent) + "x";
  return fmt::format("!ttg.memdesc<{}{}, {}, #smem>", shape, ir_name_of(type.scalar),
                     layout_name(swizzle, transposed, 8 * bytes_of(type.scalar)));
}

std::string descriptor_text(const TileType& type, int swizzle) {
  const int bits = 8 * bytes_of(type.scalar);
  const TileType box{type.shape, type.scalar, layout_name(swizzle, false, bits, type.shape.size())};
  return fmt::format("!tt.tensordesc<{}>", tensor_text(box));
}

std::string number_text(double number, tasks::Scalar scalar) {
  if (scalar == tasks::Scalar::i1) return number != 0 ? "true" : "false";
  if (is_whole(scalar)) {
    const double most = scalar == tasks::Scalar::i8 ? 127 : 2147483647;
    const double within = std::isnan(number) ? 0 : std::min(most, std::max(-most - 1, number));
    return std::to_string(static_cast<std::int64_t>(within));
  }
  if (!std::isinf(number))
    return fmt::format("{:.9e}", static_cast<double>(static_cast<float>(number)));
  const bool negative = number < 0;
  switch (scalar) {
    case tasks::Scalar::f8e4m3:  // f8e4m3 has no infinity
      return negative ? "-4.480000000e+02" : "4.480000000e+02";
    case tasks::Scalar::f8e5m2:
      return negative ? "0xFC" : "0x7C";
    case tasks::Scalar::f16:
      return negative ? "0xFC00" : "0x7C00";
    case tasks::Scalar::bf16:
      return negative ? "0xFF80" : "0x7F80";
    default:
      break;
  }
  return negative ? "0xFF800000" : "0x7F800000";
}

std::string ModuleText::fresh(const std::string& name) {
  std::string made;
  do {
    made = name + "_" + std::to_string(++count_);
  } while (taken_.count(made) > 0);
  return "%" + made;
}

std::string ModuleText::close() {
  std::string text = std::move(scopes_.back().text);
  scopes_.pop_back();
  return text;
}

std::string ModuleText::place_of(const tasks::Where& where) const {
  if (where.at.line <= 0) return "";
  const std::string& file = where.at.file.empty() ? file_ : where.at.file;
  return fmt::format(" loc({}:{}:{})", ir::string_text(file), where.at.line, where.at.column);
}

std::string ModuleText::put(std::size_t scope, const std::string& name, const std::string& text,
                            const tasks::Where& where) {
  const std::string result = fresh(name);
  line(scope, result + " = " + text, where);
  return result;
}

std::string ModuleText::once(std::size_t scope, const std::string& name, const std::string& text,
                             const tasks::Where& where) {
  for (std::size_t s = 0; s <= scope; ++s) {
    const auto found = scopes_[s].known.find(text);
    if (found != scopes_[s].known.end()) return found->second;
  }
  return scopes_[scope].known[text] = put(scope, name, text, where);
}

void ModuleText::line(std::size_t scope, const std::string& text, const tasks::Where& where) {
  const std::string indent(4 + 2 * scope, ' ');
  scopes_[scope].text += indent + text + place_of(where) + "\n";
}

std::string ModuleText::integer(std::int64_t value) {
  return once(0, "c", fmt::format("arith.constant {} : i32", value), {});
}

void ModuleText::use_layout(int swizzle, bool transposed, int bits, std::size_t rank) {
  const std::string dimensions = rank > 2 ? fmt::format(", rank = {}", rank) : "";
  shared_layouts_.insert(fmt::format(
      "{} = #ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = {}, elementBitWidth = "
      "{}{}}}>",
      layout_name(swizzle, transposed, bits, rank), swizzle, transposed, bits, dimensions));
}

std::string ModuleText::module(const std::string& name, const std::string& arguments, int target,
                               const std::string& stated, const tasks::Where& where) const {
  std::string text;
  for (const auto* of : {&layouts_.definitions(), &shared_layouts_}) {
    for (const std::string& layout : *of) text += layout + "\n";
  }
  text += "#smem = #ttg.shared_memory\n";
  text += fmt::format(
      "module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = {} : i32, ttg.target = "
      "\"cuda:{}\", \"ttg.threads-per-warp\" = 32 : i32, twill.any_extents{}}} {{\n",
      warps_, target, stated);
  text += fmt::format("  tt.func public @{}({}) {{\n", name, arguments);
  return text + scopes_[0].text + "    tt.return\n  }" + place_of(where) + "\n}\n";
}

}  // namespace twill::frontend::from_tasks
