#include "twill/tasks/tensor.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace twill::tasks {

execute::Shape Window::shape() const {
  execute::Shape shape;
  for (const Extent& extent : extents) shape.push_back(extent.size);
  return shape;
}

std::shared_ptr<Storage> make_storage(std::string name, Scalar scalar, execute::Shape shape) {
  auto storage = std::make_shared<Storage>();
  storage->name = std::move(name);
  storage->scalar = scalar;
  storage->tile = execute::poison(std::move(shape), true);
  storage->written.assign(storage->tile.size(), false);
  return storage;
}

Window whole_of(std::shared_ptr<Storage> storage) {
  Window window{std::move(storage), {}};
  for (const std::int64_t extent : window.storage->tile.shape) {
    window.extents.push_back({0, extent, extent});
  }
  return window;
}

Window block_of(const Window& window, const execute::Shape& tile, const execute::Shape& index) {
  Window block{window.storage, {}};
  for (std::size_t d = 0; d < window.extents.size(); ++d) {
    const Window::Extent& of = window.extents[d];
    const std::int64_t edge = std::min(of.end, of.begin + of.size);
    block.extents.push_back({of.begin + index[d] * tile[d], tile[d], edge});
  }
  return block;
}

std::optional<std::int64_t> Touches::conflict(const Storage* storage, std::size_t element,
                                              bool writes) {
  if (own_.count(storage) > 0) return std::nullopt;
  std::vector<Element>& all = elements_[storage];
  if (all.empty()) all.resize(storage->tile.size());
  Element& it = all[element];
  if (it.writer >= 0 && it.writer != iteration_) return it.writer;
  if (!writes) {
    if (it.reader < 0) it.reader = iteration_;
    if (it.reader != iteration_) it.other_reader = iteration_;
    return std::nullopt;
  }
  it.writer = iteration_;
  if (it.reader >= 0 && it.reader != iteration_) return it.reader;
  if (it.other_reader >= 0 && it.other_reader != iteration_) return it.other_reader;
  return std::nullopt;
}

}  // namespace twill::tasks
