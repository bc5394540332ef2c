#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "twill/frontend/tasks/tile_layouts.h"
#include "twill/tasks/values.h"

/// Internal to the lowering of tasks: a module as it grows, and what its types are spelled like.
namespace twill::frontend::from_tasks {

/// A tile in registers.
struct TileType {
  Extents shape;
  tasks::Scalar scalar = tasks::Scalar::f32;
  std::string layout = {};  ///< empty for numbers
};

constexpr int kPanel = 128;  ///< bytes of a row of the panels that TMA writes

/// "tensor<128x64xf16, #mma64>"; of no extents "f32".
std::string tensor_text(const TileType& type);
/// The same with other elements: "tensor<128xi32, LAYOUT>".
std::string tensor_text(const TileType& type, const std::string& element);
/// Bytes by which rows are swizzled where TMA stores from: 32, 64 or 128; 0: none of these fits.
int swizzle_of(const TileType& type);
/// Bytes by which rows are swizzled where products read: the most of these that divide a row; 0:
/// none does.
int operand_swizzle(const TileType& type);
/// "#shared128_16": swizzled by 128 bytes, of 16-bit elements; read with exchanged dimensions
/// "#shared128_16t"; of more than two dimensions "#shared128_16_3d".
std::string layout_name(int swizzle, bool transposed, int bits, std::size_t rank = 2);
std::string buffer_text(const TileType& type, int swizzle, bool transposed);
std::string descriptor_text(const TileType& type, int swizzle);
/// "1.275000000e-01", or in hexadecimal where it is infinite.
std::string number_text(double number, tasks::Scalar scalar);

/// Text in nested scopes: the function's body, and the bodies of loops that are open. What does not
/// depend on a loop can be put in front of it.
class ModuleText {
 public:
  ModuleText(std::string file, const Products& products)
      : file_(std::move(file)), warps_(products.warps), layouts_(products) {
    scopes_.emplace_back();
  }

  std::size_t innermost() const { return scopes_.size() - 1; }
  void open() { scopes_.emplace_back(); }
  /// The body of the innermost loop, which ends.
  std::string close();

  /// A name that is neither of the kernel's arguments nor given before.
  std::string fresh(const std::string& name);
  void keep_free(const std::string& name) { taken_.insert(name); }
  /// `RESULT = TEXT` in the scope, once: text that was put there before, or in a scope around it,
  /// gives the same result.
  std::string once(std::size_t scope, const std::string& name, const std::string& text,
                   const tasks::Where& where);
  /// The same without looking for the text.
  std::string put(std::size_t scope, const std::string& name, const std::string& text,
                  const tasks::Where& where);
  /// A line without a result, or with results that the caller named.
  void line(std::size_t scope, const std::string& text, const tasks::Where& where);
  /// "%c64": an i32.
  std::string integer(std::int64_t value);
  /// "#shared128"
  void use_layout(int swizzle, bool transposed, int bits, std::size_t rank = 2);
  /// Layouts of tiles in registers.
  TileLayouts& layouts() { return layouts_; }

  /// The module with one function, which stands at a place. `stated`: further attributes.
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
  std::set<std::string> taken_;  ///< names of the user's
  std::size_t count_ = 0;
};

}  // namespace twill::frontend::from_tasks
