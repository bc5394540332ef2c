#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/tasks/values.h"

/// Internal to interpreters: tensors, parts of them, and who touched which element.
namespace twill::tasks {

struct Storage {
  std::string name;
  Scalar scalar = Scalar::f32;
  execute::Tile tile;
  std::vector<bool> written;  ///< by element
};

/// A part of a tensor. Elements from `end` on are beyond the edge.
struct Window {
  struct Extent {
    std::int64_t begin = 0;
    std::int64_t size = 0;
    std::int64_t end = 0;
  };
  std::shared_ptr<Storage> storage;
  std::vector<Extent> extents;

  execute::Shape shape() const;
};

std::shared_ptr<Storage> make_storage(std::string name, Scalar scalar, execute::Shape shape);
Window whole_of(std::shared_ptr<Storage> storage);

/// The block at `index` of blocks of that tile.
Window block_of(const Window& window, const execute::Shape& tile, const execute::Shape& index);

/// Elements that iterations of a prange touch, of tensors that were there before it.
class Touches {
 public:
  void begin_iteration(std::int64_t iteration) { iteration_ = iteration; }
  /// The iteration that touched the element before, if both may not.
  std::optional<std::int64_t> conflict(const Storage* storage, std::size_t element, bool writes);
  std::int64_t iteration() const { return iteration_; }
  /// Made within an iteration: nobody else sees it.
  void leave_out(const Storage* storage) { own_[storage] = iteration_; }

 private:
  struct Element {
    std::int64_t writer = -1;
    std::int64_t reader = -1;
    std::int64_t other_reader = -1;
  };
  std::int64_t iteration_ = 0;
  std::map<const Storage*, std::vector<Element>> elements_;
  std::map<const Storage*, std::int64_t> own_;
};

/// Calls `visit(element, place)` for every element of the window that is not beyond the edge: its
/// number in the storage, and its place in the window, in row-major order.
template <class Visit>
void for_each_element(const Window& window, Visit visit) {
  const execute::Shape shape = window.shape();
  const execute::Shape strides = execute::strides_of(window.storage->tile.shape);
  execute::Shape at(shape.size(), 0);
  const auto count = static_cast<std::size_t>(execute::size_of(shape));
  for (std::size_t place = 0; place < count; ++place) {
    std::int64_t element = 0;
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t coordinate = window.extents[d].begin + at[d];
      inside = inside && coordinate < window.extents[d].end;
      element += coordinate * strides[d];
    }
    if (inside) visit(static_cast<std::size_t>(element), place);
    for (std::size_t d = at.size(); d > 0 && ++at[d - 1] == shape[d - 1]; --d) at[d - 1] = 0;
  }
}

}  // namespace twill::tasks
