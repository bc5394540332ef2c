#include "twill/dialect/register_layouts.h"

#include <algorithm>
#include <utility>

#include "twill/dialect/attributes.h"
#include "twill/dialect/layouts.h"

namespace twill::dialect {
namespace {

using Numbers = std::vector<std::int64_t>;
using Bases = std::vector<Numbers>;
using Laid = tl::expected<ir::Attribute, std::string>;

tl::unexpected<std::string> unfit(const char* why) { return tl::unexpected<std::string>(why); }

std::string_view kind_of_layout(ir::Attribute layout) {
  const std::string_view name = layout->value;
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

Numbers numbers_of(ir::Attribute layout, std::string_view key) {
  const ir::Attribute entry = layout->entry(key);
  return entry == nullptr ? Numbers() : integers_of(entry).value_or(Numbers());
}

ir::Attribute array_of(ir::TypeTable& types, const Numbers& numbers) {
  std::vector<ir::Attribute> elements;
  for (const std::int64_t number : numbers) elements.push_back(types.integer(number));
  return types.array(std::move(elements));
}

/// Copy of a layout with one entry replaced.
ir::Attribute with_entry(ir::TypeTable& types, ir::Attribute layout, std::string_view key,
                         ir::Attribute value) {
  std::vector<ir::NamedAttribute> entries = layout->entries;
  for (auto& [name, entry] : entries) {
    if (name == key) entry = value;
  }
  const bool braces = layout->text.find("<{") != std::string::npos;
  const ir::Encoding meaning = layout_of(layout->value, entries);
  return types.dialect(layout->value, std::move(entries), meaning, braces);
}

std::int64_t product_of(const Numbers& numbers) {
  std::int64_t all = 1;
  for (const std::int64_t number : numbers) all *= number;
  return all;
}

Laid with_warps_along_rows(ir::TypeTable& types, ir::Attribute layout, const Piece& piece) {
  Numbers warps = numbers_of(layout, "warpsPerCTA");
  if (warps.size() != 2) return unfit("is of a product of more than two dimensions");
  warps = {piece.warps, 1};
  return with_entry(types, layout, "warpsPerCTA", array_of(types, warps));
}

Laid with_blocks(ir::TypeTable& types, ir::Attribute layout, const Piece& piece) {
  Numbers warps = numbers_of(layout, "warpsPerCTA");
  if (warps.empty()) return unfit("says nothing of warps");
  while (product_of(warps) > piece.warps) *std::max_element(warps.begin(), warps.end()) /= 2;
  while (product_of(warps) < piece.warps) warps[warps.size() > 1 ? warps.size() - 2 : 0] *= 2;
  return with_entry(types, layout, "warpsPerCTA", array_of(types, warps));
}

Bases bases_of(ir::Attribute layout, std::string_view key) {
  Bases found;
  const ir::Attribute entry = layout->entry(key);
  if (entry == nullptr) return found;
  for (const ir::Attribute basis : entry->elements) {
    found.push_back(integers_of(basis).value_or(Numbers()));
  }
  return found;
}

ir::Attribute array_of(ir::TypeTable& types, const Bases& bases) {
  std::vector<ir::Attribute> elements;
  for (const Numbers& basis : bases) elements.push_back(array_of(types, basis));
  return types.array(std::move(elements));
}

bool is_zero(const Numbers& basis) {
  return std::all_of(basis.begin(), basis.end(), [](std::int64_t n) { return n == 0; });
}

/// Moves bases between warps and registers. Surplus warps become registers: first those warps that
/// hold copies of other warps' elements, which need no registers. Missing warps come from
/// registers.
void share_among_warps(Bases& registers, Bases& warps, const Piece& piece) {
  while ((std::size_t{1} << warps.size()) > static_cast<std::size_t>(piece.warps)) {
    const auto copy = std::find_if(warps.rbegin(), warps.rend(), is_zero);
    if (copy == warps.rend()) registers.push_back(warps.back());
    warps.erase(copy == warps.rend() ? std::prev(warps.end()) : std::next(copy).base());
  }
  while ((std::size_t{1} << warps.size()) < static_cast<std::size_t>(piece.warps)) {
    const auto last = std::find_if(registers.rbegin(), registers.rend(),
                                   [](const Numbers& basis) { return !is_zero(basis); });
    if (last == registers.rend()) {
      warps.emplace_back(piece.shape.size(), 0);
    } else {
      warps.push_back(*last);
      registers.erase(std::next(last).base());
    }
  }
}

Laid with_bases(ir::TypeTable& types, ir::Attribute layout, const Piece& piece) {
  Bases registers = bases_of(layout, "register"), warps = bases_of(layout, "warp");
  for (const Bases& bases : {registers, warps, bases_of(layout, "lane")}) {
    for (const Numbers& basis : bases) {
      if (basis.size() != piece.shape.size()) return unfit("is of another tile");
    }
  }
  if (piece.cut) {
    const auto beyond = [&](const Numbers& basis) {
      return basis[*piece.cut] >= piece.shape[*piece.cut];
    };
    std::erase_if(registers, beyond);
    std::erase_if(warps, beyond);
    const Bases lanes = bases_of(layout, "lane");
    if (std::any_of(lanes.begin(), lanes.end(), beyond)) {
      return unfit("has the rows of one part in the lanes of a warp");
    }
  }
  share_among_warps(registers, warps, piece);
  layout = with_entry(types, layout, "register", array_of(types, registers));
  return with_entry(types, layout, "warp", array_of(types, warps));
}

}  // namespace

Laid for_piece(ir::TypeTable& types, ir::Attribute layout, const Piece& piece) {
  const std::string_view kind = kind_of_layout(layout);
  if (kind == "nvidia_mma") return with_warps_along_rows(types, layout, piece);
  if (kind == "blocked") return with_blocks(types, layout, piece);
  if (kind == "linear") return with_bases(types, layout, piece);
  const ir::Attribute parent = layout->entry("parent");
  if (parent == nullptr || (kind != "slice" && kind != "dot_op")) return layout;
  Piece of_parent = piece;
  const auto slice = slice_of(layout);
  if (slice && kind_of_layout(parent) == "linear") {  // its bases have all dimensions of the tile
    const auto at = static_cast<std::size_t>(slice->dimension);
    if (slice->dimension < 0 || at > piece.shape.size()) return unfit("is of another tile");
    of_parent.shape.insert(of_parent.shape.begin() + slice->dimension, 1);
    if (of_parent.cut && *of_parent.cut >= at) ++*of_parent.cut;
  }
  auto laid = for_piece(types, parent, of_parent);
  if (!laid) return laid;
  return with_entry(types, layout, "parent", *laid);
}

std::optional<Slice> slice_of(ir::Attribute layout) {
  if (layout == nullptr || kind_of_layout(layout) != "slice") return std::nullopt;
  const ir::Attribute dimension = layout->entry("dim"), parent = layout->entry("parent");
  if (dimension == nullptr || parent == nullptr) return std::nullopt;
  return Slice{dimension->integer, parent};
}

ir::Attribute sliced(ir::TypeTable& types, std::int64_t dimension, ir::Attribute parent) {
  return types.dialect("ttg.slice", {{"dim", types.integer(dimension)}, {"parent", parent}});
}

bool is_of_product(ir::Attribute layout) {
  if (layout == nullptr) return false;
  if (const auto slice = slice_of(layout)) return is_of_product(slice->parent);
  return kind_of_layout(layout) == "nvidia_mma";
}

bool is_of_operand(ir::Attribute layout) {
  return layout != nullptr && kind_of_layout(layout) == "dot_op";
}

namespace {

/// Bases of the warps' bits, for a tile with two dimensions whose elements are all held once. Warps
/// must have rows below one another, as products leave them, or as views of a product do. nullopt
/// for other layouts.
std::optional<Bases> rows_of_warps(ir::Attribute layout) {
  constexpr std::int64_t kRowsOfWarp = 16;
  const auto mma = ir::mma_encoding(layout);
  if (mma && mma->version_major == 3 && mma->warps_per_cta.size() == 2) {
    Bases bases;
    if (mma->warps_per_cta.back() != 1) return std::nullopt;
    for (std::int64_t w = 1; w < mma->warps_per_cta.front(); w *= 2) {
      bases.push_back({kRowsOfWarp * w, 0});
    }
    return bases;
  }
  if (layout == nullptr || kind_of_layout(layout) != "linear") return std::nullopt;
  Bases warps = bases_of(layout, "warp");
  const auto is_row = [&](const Numbers& basis) {
    return basis.size() == 2 && basis[1] == 0 && basis[0] >= kRowsOfWarp &&
           (basis[0] & (basis[0] - 1)) == 0;
  };
  for (const Bases& bases : {bases_of(layout, "register"), bases_of(layout, "lane")}) {
    if (std::any_of(bases.begin(), bases.end(), is_zero)) return std::nullopt;
  }
  if (!std::all_of(warps.begin(), warps.end(), is_row)) return std::nullopt;
  return warps;
}

}  // namespace

ir::Attribute in_rows(ir::TypeTable& types, ir::Type tile) {
  const int bits = ir::element_bits(tile);
  const auto warps = rows_of_warps(tile->encoding);
  if (!warps || tile->shape.size() != 2 || (bits != 16 && bits != 32)) return nullptr;
  const std::int64_t rows = tile->shape[0], columns = tile->shape[1], vector = 128 / bits;
  const auto has = [&](std::int64_t row) {
    return std::find(warps->begin(), warps->end(), Numbers{row, 0}) != warps->end();
  };
  const bool are_there = std::all_of(warps->begin(), warps->end(),
                                     [&](const Numbers& basis) { return basis[0] < rows; });
  if (!are_there || rows < 8 || columns < 4 * vector) return nullptr;
  Bases registers;
  for (std::int64_t c = 1; c < columns; c *= 2) {
    if (c != vector && c != 2 * vector) registers.push_back({0, c});
  }
  for (std::int64_t r = 8; r < rows; r *= 2) {
    if (!has(r)) registers.push_back({r, 0});
  }
  const Bases lanes = {{0, vector}, {0, 2 * vector}, {1, 0}, {2, 0}, {4, 0}};
  std::vector<ir::NamedAttribute> entries = {{"register", array_of(types, registers)},
                                             {"lane", array_of(types, lanes)},
                                             {"warp", array_of(types, *warps)},
                                             {"block", types.array({})}};
  const ir::Encoding meaning = layout_of("ttg.linear", entries);
  return types.dialect("ttg.linear", std::move(entries), meaning);
}

namespace {

/// Whether both layouts are of products, with the same rows in each warp. Then each thread has the
/// same elements, whatever columns and depth the instructions have.
bool are_of_alike_products(ir::Attribute from, ir::Attribute to) {
  const auto one = slice_of(from), other = slice_of(to);
  if (one && other && one->dimension == other->dimension) {
    return are_of_alike_products(one->parent, other->parent);
  }
  const auto before = ir::mma_encoding(from), after = ir::mma_encoding(to);
  return before && after && before->version_major == after->version_major &&
         before->warps_per_cta == after->warps_per_cta;
}

}  // namespace

std::optional<std::int64_t> scratch_in_warps(ir::Attribute from, ir::Attribute to) {
  if (from != nullptr && to != nullptr && are_of_alike_products(from, to)) return 0;
  const auto warps = rows_of_warps(from);
  if (!warps || to == nullptr || kind_of_layout(to) != "linear" || rows_of_warps(to) != warps) {
    return std::nullopt;
  }
  return std::int64_t{32 * 16} << warps->size();
}

std::optional<Neighbours> neighbours_of(ir::Attribute layout) {
  if (layout == nullptr || kind_of_layout(layout) != "blocked") return std::nullopt;
  const Numbers order = numbers_of(layout, "order"), counts = numbers_of(layout, "sizePerThread");
  if (order.empty() || order.front() < 0) return std::nullopt;
  const auto dimension = static_cast<std::size_t>(order.front());
  if (dimension >= counts.size()) return std::nullopt;
  return Neighbours{dimension, counts[dimension]};
}

namespace {

/// Elements of one thread, and size, of the block of a tile that all threads cover once; by
/// dimension. Empty: unknown.
struct Cover {
  Numbers of_thread, of_block;
};

Cover cover_of(ir::Attribute layout, std::size_t rank) {
  const std::string_view kind = kind_of_layout(layout);
  if (kind == "blocked") {
    Cover cover{numbers_of(layout, "sizePerThread"), {}};
    const Numbers threads = numbers_of(layout, "threadsPerWarp");
    const Numbers warps = numbers_of(layout, "warpsPerCTA");
    if (cover.of_thread.size() != rank || threads.size() != rank || warps.size() != rank) return {};
    for (std::size_t i = 0; i < rank; ++i) {
      cover.of_block.push_back(cover.of_thread[i] * threads[i] * warps[i]);
    }
    return cover;
  }
  const auto operand = ir::dot_operand_encoding(layout);
  const auto mma = ir::mma_encoding(operand ? operand->parent : layout);
  if (!mma || rank < 2 || mma->warps_per_cta.size() != rank) return {};
  // A warp has 16 rows. A thread has two of these rows and a quarter of each (8 columns at a time).
  Cover cover{Numbers(rank, 1), Numbers(rank, 1)};
  cover.of_thread[rank - 2] = 2, cover.of_block[rank - 2] = 16 * mma->warps_per_cta[rank - 2];
  cover.of_thread[rank - 1] = 2;
  cover.of_block[rank - 1] = 8 * (operand ? 1 : mma->warps_per_cta[rank - 1]);
  return cover;
}

}  // namespace

std::optional<std::int64_t> elements_of_thread(ir::Attribute layout, const Numbers& shape) {
  if (layout == nullptr) return std::nullopt;
  if (const auto slice = slice_of(layout)) {
    Numbers whole = shape;
    const auto at = static_cast<std::size_t>(slice->dimension);
    if (slice->dimension < 0 || at > whole.size()) return std::nullopt;
    whole.insert(whole.begin() + slice->dimension, 1);
    return elements_of_thread(slice->parent, whole);
  }
  if (kind_of_layout(layout) == "linear") {
    const auto bases = bases_of(layout, "register");
    const auto moves = std::count_if(bases.begin(), bases.end(), [](const Numbers& basis) {
      return std::any_of(basis.begin(), basis.end(), [](auto step) { return step != 0; });
    });
    return std::int64_t{1} << std::min<std::int64_t>(moves, 20);
  }
  const Cover cover = cover_of(layout, shape.size());
  if (cover.of_thread.empty()) return std::nullopt;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t block = std::max<std::int64_t>(1, cover.of_block[i]);
    count *= std::max<std::int64_t>(1, (shape[i] + block - 1) / block) *
             std::clamp<std::int64_t>(shape[i], 1, cover.of_thread[i]);
  }
  return count;
}

ir::Attribute shared_memory(ir::TypeTable& types) { return types.dialect("ttg.shared_memory", ""); }

namespace {

ir::Attribute swizzled(ir::TypeTable& types, std::int64_t vector, std::int64_t most_phases,
                       const Numbers& order) {
  std::vector<ir::NamedAttribute> entries = {{"vec", types.integer(vector)},
                                             {"perPhase", types.integer(1)},
                                             {"maxPhase", types.integer(most_phases)},
                                             {"order", array_of(types, order)}};
  const ir::Encoding meaning = layout_of("ttg.swizzled_shared", entries);
  return types.dialect("ttg.swizzled_shared", std::move(entries), meaning);
}

}  // namespace

ir::Attribute barrier_layout(ir::TypeTable& types) { return swizzled(types, 1, 1, {0}); }

ir::Attribute staging_layout(ir::TypeTable& types, std::size_t rank, int element_bits) {
  Numbers order;
  for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  if (rank < 2) return swizzled(types, 1, 1, order);
  return swizzled(types, std::max(1, 128 / std::max(1, element_bits)), 8, order);
}

ir::Attribute single_layout(ir::TypeTable& types, int warps) {
  std::vector<ir::NamedAttribute> entries = {{"sizePerThread", array_of(types, Numbers{1})},
                                             {"threadsPerWarp", array_of(types, Numbers{32})},
                                             {"warpsPerCTA", array_of(types, Numbers{warps})},
                                             {"order", array_of(types, Numbers{0})}};
  const ir::Encoding meaning = layout_of("ttg.blocked", entries);
  return types.dialect("ttg.blocked", std::move(entries), meaning);
}

ir::Type byte_pointer(ir::TypeTable& types) { return types.pointer(types.scalar("i8"), "!tt.ptr"); }

ir::Type copy_token(ir::TypeTable& types) { return types.token("!ttg.async.token"); }

}  // namespace twill::dialect
