#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Internal to the lowering of tasks: layouts of tiles in registers, as Triton's TTGIR spells them.
/// Schedules and CUDA need no such layouts; `twill emit ttgir` prints them.
namespace twill::frontend::from_tasks {

using Extents = std::vector<std::int64_t>;

/// Facts about a kernel's products, from which the layouts of all its tiles follow.
struct Products {
  int warps = 4;              ///< warps that hold a tile
  std::int64_t columns = 64;  ///< columns of the first product
  std::int64_t depth = 16;    ///< depth of an instruction
  bool is_whole = false;      ///< the product multiplies integers
  friend bool operator==(const Products&, const Products&) = default;
};

/// Names layouts, and keeps the definitions of named ones.
class TileLayouts {
 public:
  explicit TileLayouts(const Products& products) : products_(products) {}

  /// Layout for computing with tiles of that shape: that of a product with as many columns, if such
  /// a product exists. A vector gets the layout of such a tile's rows.
  std::string home(const Extents& shape);
  /// Layout of [rows, 1], whose column is a vector in its home layout.
  std::string column(std::int64_t rows) { return home({rows, 1}); }
  /// Layout of [1, columns], whose row is added to tiles with as many columns.
  std::string row(std::int64_t columns) { return home({1, columns}); }
  /// Layout of a tile loaded from memory: 16 bytes of a row in each thread.
  std::string loaded(const Extents& shape, int bytes);
  /// Layout of a loaded tile after its two dimensions were exchanged.
  std::string turned(const Extents& shape, int bytes);
  /// Layout of a product's result, and of its left operand. `depth` and `is_whole` default to the
  /// first product's.
  std::string product(std::int64_t columns) {
    return product(columns, products_.depth, products_.is_whole);
  }
  std::string product(std::int64_t columns, std::int64_t depth, bool is_whole);
  static std::string left_operand(const std::string& product);
  static std::string without(int dimension, const std::string& parent);
  /// Layout of a product's tile after a change of shape that moves no element. nullopt if `layout`
  /// is no product's, or an extent is no power of two.
  std::optional<std::string> reshaped(const std::string& layout, const Extents& from,
                                      const Extents& to);

  const std::set<std::string>& definitions() const { return definitions_; }

 private:
  bool is_of_products(std::int64_t rows, std::int64_t columns) const;
  std::string blocked(const Extents& shape, int bytes, bool turned);

  Products products_;
  std::set<std::string> definitions_;
};

}  // namespace twill::frontend::from_tasks
