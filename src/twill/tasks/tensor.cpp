#include "twill/tasks/tensor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "twill/tasks/evaluate.h"

namespace twill::tasks {

std::int64_t Window::Level::of(std::int64_t x) const {
  return lanes.offset + x / lanes.run * lanes.stride + x % lanes.run;
}

std::optional<std::int64_t> Window::Extent::element(std::int64_t x) const {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    x = level->of(x);
    if (x < 0 || x >= level->size) return std::nullopt;
  }
  return x;
}

std::optional<std::size_t> Window::Extent::beyond(std::int64_t x) const {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    x = level->of(x);
    if (x < 0 || x >= level->size) return level->part;
  }
  return std::nullopt;
}

execute::Shape Window::shape() const {
  execute::Shape shape;
  for (const Extent& extent : extents) {
    if (!extent.picked) shape.push_back(extent.size);
  }
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
    window.extents.push_back({extent});
  }
  return window;
}

namespace {

/// Value of a size. Precondition: a size of a block with values.
std::int64_t number(const Size& size) { return *size.constant(); }

/// Start of a part in one dimension of its whole.
std::int64_t begin_of(const Block& block, std::size_t dimension) {
  const auto& step = block.cut == Cut::windows ? block.step : block.tile;
  if (block.cut == Cut::pick) return number(block.index[0]);
  return number(block.index[dimension]) * number(step[dimension]);
}

/// Dimensions of the tensor that a part of the window keeps, in the order of the part's dimensions.
std::vector<std::size_t> dimensions_of(const Window& window, const Block& block) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < window.extents.size(); ++d) {
    if (!window.extents[d].picked) dimensions.push_back(d);
  }
  if (block.cut == Cut::pick) return {dimensions[block.picked]};
  return dimensions;
}

}  // namespace

Window part_of(const Window& window, const Block& block) {
  Window out = window;
  const std::size_t part = window.edges.size();
  out.edges.push_back(block.edge);
  const std::vector<std::size_t> dimensions = dimensions_of(window, block);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Window::Extent& of = window.extents[dimensions[i]];
    const bool picks = block.cut == Cut::pick;
    Window::Extent& made = out.extents[dimensions[i]];
    if (block.cut == Cut::mma) {
      made.size = of.size / cuts_of(block, i);
      made.levels.push_back({lanes_of(block, i, number(block.index[0])), of.size, part});
      continue;
    }
    made.size = picks ? 1 : number(block.tile[i]);
    made.picked = picks;
    const std::int64_t every = picks ? 1 : number(every_of(block, i));
    made.levels.push_back({{1, every, begin_of(block, i)}, of.size, part});
  }
  return out;
}

bool is_within(const Window& window, const Block& block) {
  const std::vector<std::size_t> dimensions = dimensions_of(window, block);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::int64_t begin = begin_of(block, i);
    const std::int64_t size = block.cut == Cut::pick ? 1 : number(reach_of(block, i));
    if (begin < 0 || begin + size > window.extents[dimensions[i]].size) return false;
  }
  return true;
}

execute::Numbers numbers_beyond(const Window& window) {
  execute::Shape shape;
  for (const Window::Extent& extent : window.extents) shape.push_back(extent.size);
  execute::Numbers numbers(static_cast<std::size_t>(execute::size_of(shape)));
  const auto fills = [](const EdgeRule& edge) { return edge.edge == Edge::fill; };
  if (std::none_of(window.edges.begin(), window.edges.end(), fills)) return numbers;
  const execute::Shape strides = execute::strides_of(shape);
  std::vector<std::size_t> innermost(
      numbers.size());  // number of the innermost part with the element beyond its edge, from 1
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (std::size_t place = 0; place < numbers.size(); ++place) {
      const std::int64_t x = static_cast<std::int64_t>(place) / strides[d] % shape[d];
      const auto part = window.extents[d].beyond(x);
      if (part) innermost[place] = std::max(innermost[place], *part + 1);
    }
  }
  for (std::size_t place = 0; place < numbers.size(); ++place) {
    if (innermost[place] == 0) continue;
    numbers[place] = rounded(window.storage->scalar, window.edges[innermost[place] - 1].fill);
  }
  return numbers;
}

void Touches::Users::add(std::int64_t iteration) {
  if (one < 0) one = iteration;
  if (one != iteration) other = iteration;
}

std::int64_t Touches::Users::beside(std::int64_t iteration) const {
  return one != iteration ? one : other != iteration ? other : -1;
}

std::optional<std::int64_t> Touches::conflict(const Storage* storage, std::size_t element,
                                              Privilege use) {
  if (own_.count(storage) > 0) return std::nullopt;
  std::vector<Element>& all = elements_[storage];
  if (all.empty()) all.resize(storage->tile.size());
  Element& it = all[element];
  const bool reads = use == Privilege::reads, reduces = use == Privilege::reduces;
  (reads ? it.readers : reduces ? it.reducers : it.writers).add(iteration_);
  std::vector<const Users*> others = {&it.writers};
  if (!reads) others.push_back(&it.readers);
  if (!reduces) others.push_back(&it.reducers);
  for (const Users* users : others) {
    const std::int64_t other = users->beside(iteration_);
    if (other >= 0) return other;
  }
  return std::nullopt;
}

}  // namespace twill::tasks
