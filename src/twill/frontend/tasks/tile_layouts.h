#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Internal to the lowering of tasks: layouts of tiles in registers, as Triton's TTGIR spells them.
/// Schedules and CUDA need none; `twill emit ttgir` prints them.
namespace twill::frontend::from_tasks {

using Extents = std::vector<std::int64_t>;

/// Facts of a kernel's products that the layouts of all its tiles follow from.
struct Products {
  int warps = 4;              ///< that hold a tile
  std::int64_t columns = 64;  ///< of the first product
  std::int64_t depth = 16;    ///< of an instruction
  bool is_whole = false;      ///< integers are multiplied
  friend bool operator==(const Products&, const Products&) = default;
};

/// Names layouts, and keeps the definitions of named ones.
class TileLayouts {
 public:
  explicit TileLayouts(const Products& products) : products_(products) {}

  /// The layout in which code computes with tiles of that shape: the layout of a product with as
  /// many columns, if there is one. A vector gets the layout of such a tile's rows.
  std::string home(const Extents& shape);
  /// The layout of [rows, 1], whose column is a vector at home.
  std::string column(std::int64_t rows) { return home({rows, 1}); }
  /// The layout of [1, columns], whose row is added to tiles with as many columns.
  std::string row(std::int64_t columns) { return home({1, columns}); }
  /// The layout in which a tile comes from memory: 16 bytes of a row in each thread.
  std::string loaded(const Extents& shape, int bytes);
  /// The layout of a loaded tile after its two dimensions were exchanged.
  std::string turned(const Extents& shape, int bytes);
  /// The layout of a product's result, and of its left operand. `depth` and `is_whole` default to
  /// those of the first product.
  std::string product(std::int64_t columns) {
    return product(columns, products_.depth, products_.is_whole);
  }
  std::string product(std::int64_t columns, std::int64_t depth, bool is_whole);
  static std::string left_operand(const std::string& product);
  static std::string without(int dimension, const std::string& parent);
  /// The layout of a product's tile after a change of shape that moves no element. nullopt if
  /// `layout` is no product's, or an extent is no power of two.
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
