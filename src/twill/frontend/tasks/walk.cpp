#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "twill/frontend/tasks/lowering.h"
#include "twill/frontend/tasks/stated.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/text.h"

namespace twill::frontend::from_tasks {

using tasks::fail_task;
using tasks::Processor;
using tasks::Size;
using tasks::SizeMap;
using tasks::Where;

namespace {

/// Refuses tiles in shared memory that products do not read; all other tiles are in registers.
Result<void> check_tiles_in_shared(const tasks::TreeNode& node) {
  const auto& leaf = std::get<tasks::Leaf>(node.variant->body);
  std::set<std::string> operands = product_operands(leaf, 0);
  operands.merge(product_operands(leaf, 1));
  for (std::size_t a = 0; a < node.memories.size(); ++a) {
    const std::string& name = node.task->arguments[a].name;
    if (node.memories[a] != tasks::Memory::shared || operands.count(name) > 0) continue;
    return fail_task("M06", node.variant->where,
                     fmt::format("the mapping has '{}' of '{}' in shared memory, where kernels "
                                 "have operands of products alone",
                                 name, node.instance),
                     fmt::format("let the mapping say '{}: register', or nothing", name));
  }
  return {};
}

}  // namespace

SizeMap Lowering::fixed_sizes() const {
  SizeMap sizes;
  for (const auto& [name, value] : tree_.root.tunables) sizes[name] = Size(value);
  return sizes;
}

/// Lowers the tree. For readers of the module, each parameter is an array of its own. So a written
/// tensor must have a single parameter, or its content would be read before it is written. The tree
/// is walked again once that is known. The same happens if a temporary tensor must be kept in
/// parts.
Result<std::string> Lowering::run() {
  const State fresh = state_;
  for (;;) {
    auto made = run_once();
    if (!made && wanted_) {
      const bool is_new = cuts_.insert(*std::exchange(wanted_, std::nullopt)).second;
      if (!is_new) return made;
    } else {
      std::set<std::size_t> several = written_through_several();
      std::erase_if(several, [&](std::size_t it) { return by_pointers_.count(it) > 0; });
      if (!made || several.empty()) return made;
      by_pointers_.merge(several);
    }
    state_ = fresh;
  }
}

std::set<std::size_t> Lowering::written_through_several() const {
  std::set<std::size_t> found;
  for (std::size_t a = 0; a < tree_.root.task->arguments.size(); ++a) {
    const auto count = std::count_if(state_.parameters.begin(), state_.parameters.end(),
                                     [&](const Parameter& it) { return it.argument == a; });
    if (count > 1 && may_write(tree_.root.task->arguments[a].privilege)) found.insert(a);
  }
  return found;
}

Result<std::string> Lowering::run_once() {
  std::vector<Place> arguments;
  const SizeMap fixed = fixed_sizes();
  for (std::size_t a = 0; a < tree_.root.task->arguments.size(); ++a) {
    Place place;
    place.argument = a;
    state_.text.keep_free(tree_.root.task->arguments[a].name);
    for (const Size& size : tree_.root.task->arguments[a].shape) {
      state_.text.keep_free(size.name());
      place.dimensions.push_back(place.dimensions.size());
      place.offset.emplace_back(0);
      place.extent.push_back(substituted(size, fixed));
    }
    arguments.push_back(std::move(place));
  }
  TWILL_TRY(Frame root, frame_of(tree_.root, std::move(arguments), {}, tree_.root.task->where));
  TWILL_TRY_VOID(walk({std::move(root)}, tree_.root.task->where));
  constexpr int kHopper = 90;
  TWILL_TRY(const std::string parameters, argument_text());
  return state_.text.module(tree_.root.task->name, parameters, kHopper,
                            stated_text(tree_, state_.text.file()), tree_.root.task->where);
}

Products Lowering::products() const {
  if (state_.products.empty()) return {};
  constexpr std::int64_t kRowsOfTwoGroups = 128;
  const bool two_groups =
      std::all_of(state_.products.begin(), state_.products.end(),
                  [](const Extents& shape) { return shape[0] % kRowsOfTwoGroups == 0; });
  return {two_groups ? 8 : 4, state_.products.front()[1], state_.depth, state_.is_whole};
}

Result<TileType> Lowering::type_of(const std::vector<Size>& shape, tasks::Scalar scalar,
                                   const std::string& name, const Where& where) {
  TileType type{{}, scalar};
  std::int64_t count = 1;
  for (const Size& size : shape) {
    const auto value = value_of(size, {});
    if (!value) {
      return fail_task("M03", where,
                       fmt::format("'{}' is a tile of {} here, which is known only when the kernel "
                                   "runs: {}",
                                   name, to_string(size), value.error().why),
                       "cut it into blocks, or give the size a value in the mapping");
    }
    constexpr std::int64_t kMost = 1 << 20;
    count = *value < 1 || *value > kMost ? kMost + 1 : std::min(kMost + 1, count * *value);
    if (count > kMost) {
      return fail_task(
          "M03", where,
          fmt::format("'{}' has {} elements in a dimension, and a tile has from 1 to {} "
                      "in all dimensions together",
                      name, *value, kMost),
          "cut it into blocks, or give the size another value");
    }
    type.shape.push_back(*value);
  }
  if (!type.shape.empty()) type.layout = state_.text.layouts().home(type.shape);
  return type;
}

Result<Frame> Lowering::frame_of(const tasks::TreeNode& node, std::vector<Place> arguments,
                                 const std::vector<Size>& positions, const Where& where,
                                 std::vector<Cuts> parts) const {
  Frame frame{&node, {}, {}, 0, std::move(parts)};
  for (const auto& [name, value] : node.tunables) frame.sizes[name] = Size(value);
  for (std::size_t p = 0; p < positions.size(); ++p) {
    frame.sizes[node.task->positions[p]] = positions[p];
  }
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const tasks::Argument& argument = node.task->arguments[a];
    for (std::size_t d = 0; d < argument.shape.size(); ++d) {
      const Size& formal = argument.shape[d];
      const Size& actual = arguments[a].extent[d];
      if (!formal.constant()) frame.sizes.try_emplace(formal.name(), actual);
      const Size wanted = substituted(formal, frame.sizes);
      if (wanted == actual) continue;
      return fail_task("T03", where,
                       fmt::format("'{}' of '{}' has {} where {} is wanted", argument.name,
                                   node.task->name, to_string(actual), to_string(wanted)),
                       "sizes of one name are equal throughout a signature");
    }
    frame.tensors[argument.name] = std::move(arguments[a]);
  }
  TWILL_TRY_VOID(check_parts(frame, where));
  return frame;
}

Result<void> Lowering::walk(Frames lanes, const Where& where) {
  const tasks::TreeNode& node = *lanes[0].node;
  if (!node.variant->is_leaf()) {
    return walk_body(std::get<tasks::Inner>(node.variant->body).body, lanes);
  }
  TWILL_TRY_VOID(check_tiles_in_shared(node));
  for (const Frame& lane : lanes) {
    TWILL_TRY(const Frames parts, lanes_of(lane, where));
    for (const Frame& part : parts) {
      TWILL_TRY_VOID(leaf(part, where));
    }
  }
  return {};
}

Result<void> Lowering::walk_body(const std::vector<tasks::Statement>& body, Frames& lanes) {
  for (std::size_t s = 0; s < body.size(); ++s) {
    const tasks::Statement& statement = body[s];
    const auto* range = std::get_if<tasks::Range>(&statement.what);
    if (range != nullptr && range->when) {
      const auto* next =
          s + 1 < body.size() ? std::get_if<tasks::Range>(&body[s + 1].what) : nullptr;
      const bool is_else = next != nullptr && next->when == opposite(*range->when);
      TWILL_TRY_VOID(branch(*range, is_else ? next : nullptr, lanes));
      if (is_else) ++s;
    } else if (range != nullptr) {
      const bool is_grid = range->parallel && lanes[0].node->processor == Processor::host;
      if (is_grid && body.size() > 1) {
        return fail_task("M05", range->where,
                         "a kernel is one prange of the host, and there is more beside this one",
                         "move what stands beside it into the block, or into a kernel of its own");
      }
      TWILL_TRY_VOID(walk_range(*range, lanes));
    } else if (const auto* made = std::get_if<tasks::Make>(&statement.what)) {
      for (Frame& lane : lanes) {
        TWILL_TRY_VOID(make(*made, lane));
      }
    } else {
      TWILL_TRY_VOID(launch(std::get<tasks::Launch>(statement.what), lanes));
    }
  }
  return {};
}

Result<void> Lowering::walk_range(const tasks::Range& range, Frames& lanes) {
  if (!range.parallel) return loop(range, lanes);
  const bool is_grid = lanes[0].node->processor == Processor::host;
  return is_grid ? grid(range, lanes) : parallel(range, lanes);
}

Result<void> Lowering::make(const tasks::Make& made, Frame& frame) {
  Place place;
  place.is_global = false;
  for (const Size& size : made.shape) place.extent.push_back(substituted(size, frame.sizes));
  TWILL_TRY(TileType type, type_of(place.extent, made.scalar, made.name, made.where));
  place.cell = state_.cells.size();
  state_.cells.push_back({made.name, std::move(type), {}, std::to_string(state_.temporaries++)});
  keep_in_parts(place.cell);
  frame.tensors[made.name] = std::move(place);
  return {};
}

// --- Pieces -------------------------------------------------------------------------------------

/// Checks parts of parts: they end at the edge of the outer parts, while memory goes on after it.
Result<void> Lowering::check_nested(const Place& place, const tasks::Block& block,
                                    const SizeMap& sizes, const tasks::Piece& piece) const {
  const tasks::Argument& argument = tree_.root.task->arguments[place.argument];
  const bool windows = block.cut == tasks::Cut::windows;
  TWILL_TRY_VOID(check_every(substituted(block, sizes), piece.where));
  for (std::size_t d = 0; d < block.tile.size(); ++d) {
    const std::size_t dimension = place.dimensions[d];
    const Size all = substituted(argument.shape[dimension], fixed_sizes());
    const Size tile = substituted(reach_of(block, d), sizes);
    const bool is_whole = place.extent[d] == tile && (!windows || block.index[d] == Size(0));
    const bool from_first =
        place.offset[dimension] == Size(0) || (!windows && !place.may_begin_before);
    const bool is_all = place.extent[d] == all && from_first && place.every.count(dimension) == 0;
    if (is_all || is_whole) continue;
    if (windows) {
      const auto begin = bounds_of(substituted(block.index[d] * block.step[d], sizes));
      const auto room = value_of(place.extent[d] - tile, {});
      if (begin && room && begin->first >= 0 && begin->second <= *room) continue;
    }
    if (!windows && value_of(place.extent[d] / tile, {})) continue;
    return fail_task(
        "T11", piece.where,
        fmt::format("{} of {} {} the block of {} of '{}' that they are parts of",
                    windows ? "windows" : "blocks", to_string(tile),
                    windows ? "may go beyond" : "do not divide", to_string(place.extent[d]),
                    argument.name),
        "give the size a value in the mapping, or cut the tensor into blocks that these "
        "divide");
  }
  return {};
}

std::optional<std::pair<std::int64_t, std::int64_t>> Lowering::bounds_of(const Size& size) const {
  if (const auto number = size.constant()) return std::pair(*number, *number);
  if (size.kind() == Size::Kind::name) {
    const auto index = state_.indices.find(size.name());
    if (index == state_.indices.end() || !index->second.count) return std::nullopt;
    return std::pair(std::int64_t{0}, std::max<std::int64_t>(0, *index->second.count - 1));
  }
  const auto a = bounds_of(size.left()), b = bounds_of(size.right());
  if (!a || !b) return std::nullopt;
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  for (const std::int64_t it : {a->first, a->second, b->first, b->second}) {
    if (it < -kMost || it > kMost) return std::nullopt;
  }
  switch (size.kind()) {
    case Size::Kind::add:
      return std::pair(a->first + b->first, a->second + b->second);
    case Size::Kind::sub:
      return std::pair(a->first - b->second, a->second - b->first);
    case Size::Kind::mul:
      if (a->first < 0 || b->first < 0) return std::nullopt;
      return std::pair(a->first * b->first, a->second * b->second);
    default:
      return std::nullopt;
  }
}

/// The part of a place in global memory.
Place Lowering::part_of(Place place, const tasks::Block& block, const SizeMap& sizes) {
  if (block.cut == tasks::Cut::pick) {
    const auto at = static_cast<std::ptrdiff_t>(block.picked);
    const std::size_t dimension = place.dimensions[block.picked];
    Size& offset = place.offset[dimension];
    offset = offset + substituted(block.index[0], sizes) * every_of(place, dimension);
    place.dimensions.erase(place.dimensions.begin() + at);
    place.extent.erase(place.extent.begin() + at);
    return place;
  }
  const bool windows = block.cut == tasks::Cut::windows;
  for (std::size_t d = 0; d < block.tile.size(); ++d) {
    const std::size_t dimension = place.dimensions[d];
    const Size every = every_of(place, dimension);
    const Size step = substituted(windows ? block.step[d] : block.tile[d], sizes) * every;
    Size& offset = place.offset[dimension];
    offset = offset + substituted(block.index[d], sizes) * step;
    const Size apart = every * substituted(tasks::every_of(block, d), sizes);
    if (apart != Size(1)) place.every[dimension] = apart;
    // A part of a part lies within the outer part, so the outermost edge is the edge of memory.
    const bool is_whole = place.extent[d] == substituted(block.tile[d], sizes);
    if (!is_whole || windows) place.fills.try_emplace(place.dimensions[d], block.edge.fill);
    place.extent[d] = substituted(block.tile[d], sizes);
  }
  place.may_begin_before = place.may_begin_before || windows;
  return place;
}

Result<Place> Lowering::place_of(const tasks::Piece& piece, const Frame& frame) {
  Place place = frame.tensors.at(piece.tensor);
  for (const tasks::Block& block : piece.blocks) {
    if (block.cut == tasks::Cut::mma) {
      return fail_task("M10", piece.where,
                       fmt::format("{} is one of the {} parts of 'mma', which are all made at once",
                                   to_string(piece), parts_of(block)),
                       fmt::format("launch a task on them in a prange of {} whose index they have",
                                   parts_of(block)));
    }
    if (place.is_global) {
      TWILL_TRY_VOID(check_nested(place, block, frame.sizes, piece));
      place = part_of(std::move(place), block, frame.sizes);
      continue;
    }
    TWILL_TRY(place, part_of_cell(place, block, frame.sizes, piece));
  }
  return place;
}

Result<void> Lowering::launch(const tasks::Launch& what, Frames& lanes,
                              const std::optional<Cuts>& parts) {
  const tasks::TreeNode& child = lanes[0].node->children[lanes[0].launches];
  Frames launched;
  for (Frame& frame : lanes) {
    ++frame.launches;
    std::vector<Place> arguments;
    for (const tasks::Piece& piece : what.pieces) {
      TWILL_TRY(Place place, place_of(piece, frame));
      arguments.push_back(std::move(place));
    }
    std::vector<Size> positions;
    for (const Size& it : what.positions) positions.push_back(substituted(it, frame.sizes));
    std::vector<Cuts> all;
    for (const Cuts& around : frame.parts) {
      all.emplace_back();
      for (std::size_t p = 0; p < what.pieces.size(); ++p) {
        const auto found = around.find(what.pieces[p].tensor);
        if (found != around.end()) all.back()[child.task->arguments[p].name] = found->second;
      }
    }
    if (parts) all.push_back(*parts);
    TWILL_TRY(Frame made,
              frame_of(child, std::move(arguments), positions, what.where, std::move(all)));
    launched.push_back(std::move(made));
  }
  return walk(std::move(launched), what.where);
}

}  // namespace twill::frontend::from_tasks
