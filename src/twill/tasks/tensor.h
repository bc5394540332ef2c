#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/tasks/values.h"

/// Internal to interpreters: tensors, their parts, and records of accesses to elements.
namespace twill::tasks {

struct Storage {
  std::string name;
  Scalar scalar = Scalar::f32;
  execute::Tile tile;
  std::vector<bool> written;  ///< for each element
};

/// A part of a tensor, or a part of such a part.
struct Window {
  /// Mapping from a part to its whole, which has `size` elements. Element x of the part is element
  /// offset + (x / run) * stride + x % run of the whole, or lies beyond the edge.
  struct Level {
    Lanes lanes;
    std::int64_t size = 0;
    std::size_t part = 0;  ///< number of the part with this edge
    /// Element of the whole for element x of the part, or a number beyond the edge.
    std::int64_t of(std::int64_t x) const;
  };
  struct Extent {
    std::int64_t size = 0;
    bool picked = false;             ///< the part has no such dimension; its size is 1
    std::vector<Level> levels = {};  ///< from the tensor on
    /// Element of the tensor for element x of the part; nullopt beyond an edge.
    std::optional<std::int64_t> element(std::int64_t x) const;
    /// The innermost part with element x beyond its edge; nullopt within all parts.
    std::optional<std::size_t> beyond(std::int64_t x) const;
  };
  std::shared_ptr<Storage> storage;
  std::vector<Extent> extents;       ///< by dimension of the tensor
  std::vector<EdgeRule> edges = {};  ///< for each part, from the tensor on

  /// Shape without picked dimensions.
  execute::Shape shape() const;
};

std::shared_ptr<Storage> make_storage(std::string name, Scalar scalar, execute::Shape shape);
Window whole_of(std::shared_ptr<Storage> storage);

/// A part of the window. Precondition: the window has the block's rank, and the block has values.
Window part_of(const Window& window, const Block& block);
/// Whether the whole part is within the window.
bool is_within(const Window& window, const Block& block);

/// Initial numbers of a tile of the window: values of edge rules beyond edges, zeros elsewhere.
execute::Numbers numbers_beyond(const Window& window);

/// Records the elements that iterations of a prange touch, in tensors that existed before the
/// prange.
class Touches {
 public:
  void begin_iteration(std::int64_t iteration) { iteration_ = iteration; }
  /// Earlier iteration that touched the element, if that use and this one conflict.
  std::optional<std::int64_t> conflict(const Storage* storage, std::size_t element, Privilege use);
  std::int64_t iteration() const { return iteration_; }
  /// Excludes a tensor made within an iteration: no other iteration sees it.
  void leave_out(const Storage* storage) { own_[storage] = iteration_; }

 private:
  /// The first iteration with a use, and another iteration.
  struct Users {
    std::int64_t one = -1;
    std::int64_t other = -1;
    void add(std::int64_t iteration);
    /// An iteration with the use other than `iteration`, or -1.
    std::int64_t beside(std::int64_t iteration) const;
  };
  struct Element {
    Users writers, readers, reducers;
  };
  std::int64_t iteration_ = 0;
  std::map<const Storage*, std::vector<Element>> elements_;
  std::map<const Storage*, std::int64_t> own_;
};

/// Calls `visit(element, place)` for the elements of the window within its edges, in row-major
/// order. `element`: number in the storage. `place`: number in the window.
template <class Visit>
void for_each_element(const Window& window, Visit visit) {
  execute::Shape shape;
  for (const Window::Extent& extent : window.extents) shape.push_back(extent.size);
  const execute::Shape strides = execute::strides_of(window.storage->tile.shape);
  std::vector<std::vector<std::optional<std::int64_t>>> elements;  // for each dimension
  for (const Window::Extent& extent : window.extents) {
    elements.emplace_back();
    for (std::int64_t x = 0; x < extent.size; ++x) elements.back().push_back(extent.element(x));
  }
  execute::Shape at(shape.size(), 0);
  const auto count = static_cast<std::size_t>(execute::size_of(shape));
  for (std::size_t place = 0; place < count; ++place) {
    std::int64_t element = 0;
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const auto& coordinate = elements[d][static_cast<std::size_t>(at[d])];
      inside = inside && coordinate;
      element += coordinate.value_or(0) * strides[d];
    }
    if (inside) visit(static_cast<std::size_t>(element), place);
    for (std::size_t d = at.size(); d > 0 && ++at[d - 1] == shape[d - 1]; --d) at[d - 1] = 0;
  }
}

}  // namespace twill::tasks
