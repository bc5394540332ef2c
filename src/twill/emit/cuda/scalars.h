#pragma once

#include <map>
#include <string>

#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// The scalars of the kernel that one role needs: whatever a step asks for is computed once where
/// it belongs, before the tiles or for each tile; what changes with the iteration is written out
/// in place.
class Scalars {
 public:
  Scalars(const View& view, int kernel_depth, int tile_depth)
      : view_(&view), kernel_scope_(kernel_depth), tile_scope_(tile_depth) {}

  /// An expression for a scalar; `iteration` is one for the number of the iteration it is wanted
  /// for, empty outside the loop. Fails for what is no arithmetic on scalars.
  Result<std::string> operator()(ir::ValueId value, const std::string& iteration);

  /// From here on `value` is what `name` says; without a name, it is computed again.
  void call(ir::ValueId value, const std::string& name) {
    name.empty() ? static_cast<void>(known_.erase(value)) : static_cast<void>(known_[value] = name);
  }

  /// Ends the tile where the function returns before it comes to the loop; `how`: a statement. What
  /// is asked for later is computed behind it.
  Result<void> leave_at(const ir::Exit& exit, const std::string& how);

  /// Whether anything asked for a program id.
  bool uses_ids() const { return uses_ids_; }

  const Text& kernel_scope() const { return kernel_scope_; }  ///< before the tiles
  const Text& tile_scope() const { return tile_scope_; }      ///< at the beginning of a tile

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
