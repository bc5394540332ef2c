#include "twill/tasks/tensor.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace twill::tasks {

std::optional<std::int64_t> Window::Extent::element(std::int64_t x) const {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    x = level->lanes.offset + x / level->lanes.run * level->lanes.stride + x % level->lanes.run;
    if (x < 0 || x >= level->size) return std::nullopt;
  }
  return x;
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

tl::expected<execute::Shape, std::string> numbers_of(
    const std::vector<Size>& sizes, const std::map<std::string, std::int64_t>& names, bool any) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  execute::Shape numbers;
  for (const Size& size : sizes) {
    const auto value = value_of(size, names);
    if (!value) return tl::unexpected(to_string(size) + ": " + value.error());
    if (*value > kMost || *value < (any ? -kMost : 0)) {
      return tl::unexpected(to_string(size) + " is " + std::to_string(*value));
    }
    numbers.push_back(*value);
  }
  return numbers;
}

/// Where a part of one dimension begins in it.
std::int64_t begin_of(const PartNumbers& part, std::size_t dimension) {
  const auto& step = part.cut == Cut::windows ? part.step : part.tile;
  return part.cut == Cut::pick ? part.index[0] : part.index[dimension] * step[dimension];
}

/// Dimensions of the tensor that a part of the window has, in the order of the part's.
std::vector<std::size_t> dimensions_of(const Window& window, const PartNumbers& part) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < window.extents.size(); ++d) {
    if (!window.extents[d].picked) dimensions.push_back(d);
  }
  if (part.cut == Cut::pick) return {dimensions[part.picked]};
  return dimensions;
}

}  // namespace

tl::expected<PartNumbers, std::string> part_of(const Block& block,
                                               const std::map<std::string, std::int64_t>& names) {
  PartNumbers part{block.cut, {}, {}, {}, block.picked, block};
  TWILL_TRY(part.tile, numbers_of(block.tile, names, false));
  TWILL_TRY(part.step, numbers_of(block.step, names, false));
  TWILL_TRY(part.index, numbers_of(block.index, names, block.cut == Cut::windows));
  return part;
}

Window part_of(const Window& window, const PartNumbers& part) {
  Window out = window;
  const std::vector<std::size_t> dimensions = dimensions_of(window, part);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Window::Extent& of = window.extents[dimensions[i]];
    const bool picks = part.cut == Cut::pick;
    Window::Extent& made = out.extents[dimensions[i]];
    if (part.cut == Cut::mma) {
      made.size = of.size / cuts_of(part.fragment, i);
      made.levels.push_back({lanes_of(part.fragment, i, part.index[0]), of.size});
      continue;
    }
    made.size = picks ? 1 : part.tile[i];
    made.picked = picks;
    made.levels.push_back({{1, 1, begin_of(part, i)}, of.size});
  }
  return out;
}

std::optional<std::string> misfit_of(const Window& window, const PartNumbers& part) {
  if (part.cut != Cut::mma) return std::nullopt;
  if (part.index[0] >= parts_of(part.fragment)) {
    return "'mma' has " + std::to_string(parts_of(part.fragment)) + " parts, and this is number " +
           std::to_string(part.index[0]);
  }
  const execute::Shape shape = window.shape();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t granule = granule_of(part.fragment, d);
    if (shape[d] % granule == 0) continue;
    return "'mma' cuts multiples of " + std::to_string(granule) + " in dimension " +
           std::to_string(d) + ", and there are " + std::to_string(shape[d]);
  }
  return std::nullopt;
}

bool is_within(const Window& window, const PartNumbers& part) {
  const std::vector<std::size_t> dimensions = dimensions_of(window, part);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::int64_t begin = begin_of(part, i);
    const std::int64_t size = part.cut == Cut::pick ? 1 : part.tile[i];
    if (begin < 0 || begin + size > window.extents[dimensions[i]].size) return false;
  }
  return true;
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
