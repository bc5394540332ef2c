#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "twill/frontend/tasks/tile_layouts.h"
#include "twill/tasks/values.h"

/// Internal to the lowering of tasks: the module's text as it grows, and the spelling of its types.
namespace twill::frontend::from_tasks {

/// A tile in registers.
struct TileType {
  Extents shape;
  tasks::Scalar scalar = tasks::Scalar::f32;
  std::string layout = {};  ///< empty for numbers
};

constexpr int kPanel = 128;  ///< bytes of a row of the panels that TMA writes

/// Spelling of a type: "tensor<128x64xf16, #mma64>"; without extents "f32".
std::string tensor_text(const TileType& type);
/// Spelling with another element: "tensor<128xi32, LAYOUT>".
std::string tensor_text(const TileType& type, const std::string& element);
/// Bytes by which TMA swizzles rows for stores: 32, 64 or 128; 0: none fits.
int swizzle_of(const TileType& type);
/// Bytes by which rows are swizzled for products: the most bytes that divide a row; 0: none.
int operand_swizzle(const TileType& type);
/// Name of a layout: "#shared128_16" is swizzled by 128 bytes, with 16-bit elements;
/// "#shared128_16t" is read with exchanged dimensions; "#shared128_16_3d" has more than two
/// dimensions.
std::string layout_name(int swizzle, bool transposed, int bits, std::size_t rank = 2);
std::string buffer_text(const TileType& type, int swizzle, bool transposed);
std::string descriptor_text(const TileType& type, int swizzle);
/// Spelling of a number: "1.275000000e-01", or hexadecimal for infinities.
std::string number_text(double number, tasks::Scalar scalar);

/// Text in nested scopes: the function's body, and the bodies of open loops. Text that does not
/// depend on a loop can go in front of it.
class ModuleText {
 public:
  ModuleText(std::string file, const Products& products)
      : file_(std::move(file)), warps_(products.warps), layouts_(products) {
    scopes_.emplace_back();
  }

  std::size_t innermost() const { return scopes_.size() - 1; }
  void open() { scopes_.emplace_back(); }
  /// Ends the innermost loop and returns its body.
  std::string close();

  /// A name that neither the kernel's arguments nor earlier values have.
  std::string fresh(const std::string& name);
  void keep_free(const std::string& name) { taken_.insert(name); }
  /// Writes `RESULT = TEXT` to the scope, once. The same text in the scope or a scope around it
  /// gives the earlier result.
  std::string once(std::size_t scope, const std::string& name, const std::string& text,
                   const tasks::Where& where);
  /// Writes `RESULT = TEXT` without looking for earlier text.
  std::string put(std::size_t scope, const std::string& name, const std::string& text,
                  const tasks::Where& where);
  /// Writes a line without a result, or with results that the caller named.
  void line(std::size_t scope, const std::string& text, const tasks::Where& where);
  /// An i32 constant: "%c64".
  std::string integer(std::int64_t value);
  /// Declares a layout: "#shared128".
  void use_layout(int swizzle, bool transposed, int bits, std::size_t rank = 2);
  /// Layouts of tiles in registers.
  TileLayouts& layouts() { return layouts_; }

  /// The module with its function. `stated`: further attributes.
  std::string module(const std::string& name, const std::string& arguments, int target,
                     const std::string& stated, const tasks::Where& where) const;
  const std::string& file() const { return file_; }

 private:
  std::string place_of(const tasks::Where& where) const;

  struct Scope {
    std::string text;
    std::map<std::string, std::string> known;
  };
  std::string file_;
  std::vector<Scope> scopes_;
  int warps_;
  TileLayouts layouts_;
  std::set<std::string> shared_layouts_;
  std::set<std::string> taken_;  ///< names from the user's source
  std::size_t count_ = 0;
};

}  // namespace twill::frontend::from_tasks
