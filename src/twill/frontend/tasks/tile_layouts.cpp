#include "twill/frontend/tasks/tile_layouts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace twill::frontend::from_tasks {
namespace {

constexpr std::int64_t kRowsOfWarp = 16;
constexpr std::int64_t kColumns = 8;
constexpr std::int64_t kMostColumns = 256;
constexpr std::int64_t kThreads = 32;
constexpr std::int64_t kBytesOfThread = 16;

/// The largest power of two up to `number`. Precondition: `number` is at least 1.
std::int64_t power_within(std::int64_t number) {
  std::int64_t power = 1;
  while (2 * power <= number) power *= 2;
  return power;
}

/// Whether integer wgmma has an instruction with that many columns, a multiple of 8. Triton has
/// none above 224.
bool is_for_integers(std::int64_t columns) {
  constexpr std::int64_t kMost = 224, kPair = 2 * kColumns, kOdd = 3 * kColumns;
  return columns <= kMost && (columns % kPair == 0 || columns == kColumns || columns == kOdd);
}

/// Columns of an instruction for a product with `columns`.
std::int64_t columns_of_instruction(std::int64_t columns, bool is_whole) {
  std::int64_t most = std::min(columns, kMostColumns);
  while (columns % most != 0 || (is_whole && !is_for_integers(most))) most -= kColumns;
  return most;
}

/// Bases of a linear layout: for each bit of the register, lane or warp number, the coordinates of
/// an element.
using Bases = std::vector<Extents>;

std::string text_of(const Bases& bases) {
  std::vector<std::string> texts;
  for (const Extents& basis : bases) texts.push_back(fmt::format("[{}]", fmt::join(basis, ", ")));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// The same elements in a tile of another shape.
Bases reshaped(Bases bases, const Extents& from, const Extents& to) {
  for (Extents& basis : bases) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < from.size(); ++d) element = element * from[d] + basis[d];
    basis.assign(to.size(), 0);
    for (std::size_t d = to.size(); d-- > 0; element /= to[d]) basis[d] = element % to[d];
  }
  return bases;
}

}  // namespace

bool TileLayouts::is_of_products(std::int64_t rows, std::int64_t columns) const {
  const bool has_rows = rows == 1 || rows % (kRowsOfWarp * products_.warps) == 0;
  return has_rows && columns % kColumns == 0;
}

std::string TileLayouts::home(const Extents& shape) {
  constexpr int kOrdinary = 4;  // bytes of the most frequent number type
  if (shape.size() == 1) return without(1, column(shape[0]));
  if (shape.size() != 2) return loaded(shape, kOrdinary);
  const std::int64_t columns = shape[1] == 1 ? products_.columns : shape[1];
  return is_of_products(shape[0], columns) ? product(columns) : loaded(shape, kOrdinary);
}

std::string TileLayouts::loaded(const Extents& shape, int bytes) {
  return blocked(shape, bytes, false);
}

std::string TileLayouts::turned(const Extents& shape, int bytes) {
  return blocked(shape, bytes, true);
}

std::string TileLayouts::blocked(const Extents& shape, int bytes, bool turned) {
  const std::size_t rank = shape.size();
  Extents elements(rank, 1), threads(rank, 1), warps(rank, 1);
  std::vector<std::size_t> order;
  for (std::size_t d = rank; d-- > 0;) order.push_back(d);
  const std::int64_t columns = power_within(shape.back());
  elements.back() = std::min(columns, kBytesOfThread / bytes);
  threads.back() = std::min(kThreads, columns / elements.back());
  const std::size_t rows = rank > 1 ? rank - 2 : 0;
  if (rank > 1) threads[rows] = kThreads / threads.back();
  if (rank == 1) threads[0] = kThreads;
  warps[rows] = products_.warps;
  std::string name = fmt::format("#blocked{}_{}x{}", rank, elements.back(), threads.back());
  if (turned) {
    for (Extents* it : {&elements, &threads, &warps}) std::reverse(it->begin(), it->end());
    std::reverse(order.begin(), order.end());
    name += "t";
  }
  definitions_.insert(fmt::format(
      "{} = #ttg.blocked<{{sizePerThread = [{}], threadsPerWarp = [{}], warpsPerCTA = [{}], order "
      "= [{}]}}>",
      name, fmt::join(elements, ", "), fmt::join(threads, ", "), fmt::join(warps, ", "),
      fmt::join(order, ", ")));
  return name;
}

std::string TileLayouts::product(std::int64_t columns, std::int64_t depth, bool is_whole) {
  const std::int64_t of_instruction = columns_of_instruction(columns, is_whole);
  std::string name = fmt::format("#mma{}", of_instruction);
  if (depth != products_.depth) name += fmt::format("_{}", depth);
  definitions_.insert(fmt::format(
      "{} = #ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = [{}, 1], "
      "instrShape = [{}, {}, {}]}}>",
      name, products_.warps, kRowsOfWarp, of_instruction, depth));
  return name;
}

std::string TileLayouts::left_operand(const std::string& product) {
  return fmt::format("#ttg.dot_op<{{opIdx = 0, parent = {}, kWidth = 2}}>", product);
}

std::string TileLayouts::without(int dimension, const std::string& parent) {
  return fmt::format("#ttg.slice<{{dim = {}, parent = {}}}>", dimension, parent);
}

std::optional<std::string> TileLayouts::reshaped(const std::string& layout, const Extents& from,
                                                 const Extents& to) {
  const auto is_power = [](std::int64_t extent) { return extent == power_within(extent); };
  if (from.size() != 2 || !std::all_of(from.begin(), from.end(), is_power)) return std::nullopt;
  if (!std::all_of(to.begin(), to.end(), is_power) || !is_power(products_.warps)) {
    return std::nullopt;
  }
  if (!is_of_products(from[0], from[1]) || layout != product(from[1])) return std::nullopt;
  // A thread has two neighbours of a row and the two eight rows below, then more columns and rows.
  // PTX ISA, "Matrix fragments for wgmma".
  Bases registers = {{0, 1}, {8, 0}}, lanes = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, warps;
  const std::int64_t rows_of_warps = kRowsOfWarp * products_.warps;
  for (std::int64_t c = kColumns; c < from[1]; c *= 2) registers.push_back({0, c});
  for (std::int64_t r = rows_of_warps; r < from[0]; r *= 2) registers.push_back({r, 0});
  for (std::int64_t r = kRowsOfWarp; r < rows_of_warps; r *= 2) warps.push_back({r, 0});
  std::string name = fmt::format("#linear{}_{}", fmt::join(from, "x"), fmt::join(to, "x"));
  const auto text = [&](Bases& bases) {
    return text_of(from_tasks::reshaped(std::move(bases), from, to));
  };
  definitions_.insert(
      fmt::format("{} = #ttg.linear<{{register = {}, lane = {}, warp = {}, block = []}}>", name,
                  text(registers), text(lanes), text(warps)));
  return name;
}

}  // namespace twill::frontend::from_tasks
