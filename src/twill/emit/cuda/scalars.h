#pragma once

#include <map>
#include <string>

#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// The scalars of the kernel that one role needs. Each is computed once, before the tiles or for
/// each tile. Scalars that change with the iteration are written out at their use.
class Scalars {
 public:
  Scalars(const View& view, int kernel_depth, int tile_depth)
      : view_(&view), kernel_scope_(kernel_depth), tile_scope_(tile_depth) {}

  /// An expression for a scalar. `iteration` is an expression for the number of its iteration,
  /// empty outside the loop. Fails for a value that is no arithmetic on scalars.
  Result<std::string> operator()(ir::ValueId value, const std::string& iteration);

  /// Names `value` from here on. Without a name, the value is computed again at each use.
  void call(ir::ValueId value, const std::string& name) {
    name.empty() ? static_cast<void>(known_.erase(value)) : static_cast<void>(known_[value] = name);
  }

  /// Ends the tile where the function returns before the loop; `how`: a statement. Scalars that are
  /// requested later are computed after this point.
  Result<void> leave_at(const ir::Exit& exit, const std::string& how);

  /// Whether a program id was requested.
  bool uses_ids() const { return uses_ids_; }

  const Text& kernel_scope() const { return kernel_scope_; }  ///< text before the tiles
  const Text& tile_scope() const { return tile_scope_; }      ///< text at the beginning of a tile

 private:
  enum class Scope { kernel, tile, iteration };
  Scope scope_of(ir::ValueId value) const;
  Result<std::string> of_argument(ir::ValueId value, const std::string& iteration);

  const View* view_;
  std::map<ir::ValueId, std::string> known_;
  bool uses_ids_ = false;
  Text kernel_scope_;
  Text tile_scope_;
};

}  // namespace twill::emit::cuda
