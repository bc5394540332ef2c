#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/frontend/tasks/lowering.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/text.h"

/// Pranges within a block whose iterations are written side by side, and temporary tensors kept in
/// parts for such iterations.
namespace twill::frontend::from_tasks {

using tasks::fail_task;
using tasks::Size;
using tasks::SizeMap;
using tasks::Where;

namespace {

constexpr std::int64_t kMostLanes = 16;  ///< iterations side by side

bool has_parts_by_mma(const std::vector<tasks::Statement>& body) {
  return std::any_of(body.begin(), body.end(), [](const tasks::Statement& statement) {
    const auto* range = std::get_if<tasks::Range>(&statement.what);
    if (range != nullptr) return has_parts_by_mma(range->body);
    const auto* launch = std::get_if<tasks::Launch>(&statement.what);
    if (launch == nullptr) return false;
    return std::any_of(launch->pieces.begin(), launch->pieces.end(), [](const auto& piece) {
      return std::any_of(piece.blocks.begin(), piece.blocks.end(),
                         [](const auto& block) { return block.cut == tasks::Cut::mma; });
    });
  });
}

/// Index at which the frame's part of a size begins; 0 for a whole size.
std::int64_t first_of(const Frame& frame, const std::string& size) {
  const auto found = frame.first.find(size);
  return found == frame.first.end() ? 0 : found->second;
}

std::string in_words(const Extents& cuts) { return fmt::format("{}", fmt::join(cuts, " x ")); }

}  // namespace

Result<void> each_lane(Frames& lanes, const std::function<Result<void>(Frames&)>& walk) {
  for (Frame& lane : lanes) {
    Frames one = {std::move(lane)};
    TWILL_TRY_VOID(walk(one));
    lane = std::move(one[0]);
  }
  return {};
}

/// Writes a prange within a block: as parts of one op if it cuts rows or makes all parts by `mma`,
/// else side by side.
Result<void> Lowering::parallel(const tasks::Range& range, Frames& lanes) {
  const State before = state_;
  const Frames entering = lanes;
  Result<void> made;
  for (std::size_t i = 0; made && i < lanes.size(); ++i) made = parts(range, lanes[i]);
  const bool is_final = made || tasks::code_of(made.error()) != "M08" || wanted_;
  if (is_final || has_parts_by_mma(range.body)) return made;
  state_ = before;
  lanes = entering;
  return side_by_side(range, lanes);
}

/// Walks iterations side by side, so that their loops become one loop: their order is free. Ranges
/// with many iterations, or a number known only at run time, become loops of their own.
Result<void> Lowering::side_by_side(const tasks::Range& range, Frames& lanes) {
  Frames all;
  for (const Frame& lane : lanes) {
    std::int64_t count = 1;
    for (const tasks::Dimension& it : range.dimensions) {
      const auto extent = substituted(it.extent, lane.sizes).constant();
      if (!extent || *extent > kMostLanes) return loop(range, lanes);
      count *= std::max<std::int64_t>(0, *extent);
      if (count + static_cast<std::int64_t>(all.size()) > kMostLanes) return loop(range, lanes);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      all.push_back(lane);
      at_iteration(range, i, all.back().sizes);
    }
  }
  if (!all.empty()) {
    TWILL_TRY_VOID(walk_body(range.body, all));
  }
  for (Frame& lane : lanes) lane.launches += count_launches(range.body);
  return {};
}

// --- Temporary tensors in parts -----------------------------------------------------------------

void Lowering::keep_in_parts(std::size_t cell) {
  const auto found = cuts_.find(state_.cells[cell].key);
  if (found == cuts_.end()) return;
  const Cell whole = state_.cells[cell];
  Cell part{whole.name, whole.type, {}, {}};
  std::int64_t count = 1;
  for (std::size_t d = 0; d < found->second.size(); ++d) {
    part.type.shape[d] /= found->second[d];
    count *= found->second[d];
  }
  part.type.layout = state_.text.layouts().home(part.type.shape);
  state_.cells[cell].cuts = found->second;
  for (std::int64_t p = 0; p < count; ++p) {
    part.key = fmt::format("{}.{}", whole.key, p);
    const std::size_t made = state_.cells.size();
    state_.cells.push_back(part);
    state_.cells[cell].parts.push_back(made);
    keep_in_parts(made);
  }
}

/// Failure after which the tree is walked again, with the tensor in parts.
tl::unexpected<Diagnostic> Lowering::cut_again(const Cell& cell, Extents cuts, const Where& where) {
  const std::string parts = in_words(cuts);
  wanted_ = {cell.key, std::move(cuts)};
  return fail_task("M08", where,
                   fmt::format("'{}' would have to be kept in {} parts", cell.name, parts),
                   "let all tasks cut it in the same way");
}

/// The part of a tensor in registers.
Result<Place> Lowering::part_of_cell(const Place& place, const tasks::Block& block,
                                     const SizeMap& sizes, const tasks::Piece& piece) {
  const auto refuse = [&](const std::string& why) {
    return fail_task(
        "M08", piece.where,
        fmt::format("{} is a part of a tensor in registers, {}", to_string(piece), why),
        "cut it into blocks that divide it, by indices of pranges of numbers");
  };
  if (block.cut == tasks::Cut::pick) return refuse("which would have to be copied to be cut");
  Place part = place;
  const Cell& cell = state_.cells[place.cell];
  Extents cuts;
  std::int64_t number = 0;
  bool is_whole = true, known = block.cut == tasks::Cut::blocks, divides = true;
  for (std::size_t d = 0; d < block.tile.size(); ++d) {
    part.extent[d] = substituted(block.tile[d], sizes);
    const Size at = substituted(block.index[d], sizes);
    is_whole = is_whole && place.extent[d] == part.extent[d] && at == Size(0) &&
               substituted(tasks::every_of(block, d), sizes) == Size(1);
    const std::int64_t extent = cell.type.shape[d], tile = part.extent[d].constant().value_or(0);
    const std::int64_t index = at.constant().value_or(-1);
    known = known && index >= 0;
    divides = divides && tile > 0 && extent % tile == 0;
    if (!known || !divides) continue;
    cuts.push_back(extent / tile);
    if (index >= cuts.back()) return refuse("which ends before it");
    number = number * cuts.back() + index;
  }
  if (is_whole) return place;
  if (!known) return refuse("whose place in it is no number when the kernel is made");
  if (!divides) return refuse("and blocks of that shape do not divide it");
  if (cell.cuts.empty()) return cut_again(cell, std::move(cuts), piece.where);
  if (cell.cuts != cuts) {
    return refuse(fmt::format("which is kept in {} parts for another task, not in {}",
                              in_words(cell.cuts), in_words(cuts)));
  }
  part.cell = cell.parts[static_cast<std::size_t>(number)];
  return part;
}

/// Sizes of a leaf's task along which tensors are kept in parts, with the number of parts.
Result<std::map<std::string, std::int64_t>> Lowering::cut_sizes(const Frame& leaf,
                                                                const Where& where) const {
  const tasks::TaskValue& task = *leaf.node->task;
  std::map<std::string, std::int64_t> counts;
  for (const tasks::Argument& argument : task.arguments) {
    const Place& place = leaf.tensors.at(argument.name);
    if (place.is_global) continue;
    const Cell& cell = state_.cells[place.cell];
    for (std::size_t d = 0; d < cell.cuts.size(); ++d) {
      if (cell.cuts[d] == 1) continue;
      const std::string& name = argument.shape[d].name();
      const auto [at, is_new] = counts.try_emplace(name, cell.cuts[d]);
      if (!name.empty() && at->second == cell.cuts[d] &&
          goes_along(task, std::get<tasks::Leaf>(leaf.node->variant->body), name)) {
        continue;
      }
      return fail_task(
          "M08", where,
          fmt::format("'{}.{}' needs '{}' in one piece, which is kept in {} parts", task.name,
                      leaf.node->variant->name, cell.name, in_words(cell.cuts)),
          "let all tasks cut it in the same way");
    }
  }
  return counts;
}

/// The leaf on each part of its tensors; the leaf itself for tensors kept whole.
Result<Frames> Lowering::lanes_of(const Frame& leaf, const Where& where) {
  using Counts = std::map<std::string, std::int64_t>;
  TWILL_TRY(const Counts counts, cut_sizes(leaf, where));
  const auto count_of = [&](const Size& size) {
    const auto found = counts.find(size.name());
    return found == counts.end() ? std::int64_t{1} : found->second;
  };
  for (const tasks::Argument& argument : leaf.node->task->arguments) {
    const Place& place = leaf.tensors.at(argument.name);
    if (place.is_global) continue;
    const Cell& cell = state_.cells[place.cell];
    Extents wanted;
    for (const Size& size : argument.shape) wanted.push_back(count_of(size));
    const bool whole = std::all_of(wanted.begin(), wanted.end(), [](auto n) { return n == 1; });
    if (cell.cuts == wanted || (whole && cell.cuts.empty())) continue;
    if (cell.cuts.empty()) return cut_again(cell, std::move(wanted), where);
    return fail_task("M08", where,
                     fmt::format("'{}' is kept in {} parts, and '{}' wants it in {}", cell.name,
                                 in_words(cell.cuts), leaf.node->task->name, in_words(wanted)),
                     "let all tasks cut it in the same way");
  }
  Frames lanes = {leaf};
  for (const auto& [name, count] : counts) {
    const std::int64_t size = leaf.sizes.at(name).constant().value_or(0) / count;
    Frames next;
    for (const Frame& lane : lanes) {
      for (std::int64_t i = 0; i < count; ++i) {
        next.push_back(lane);
        next.back().sizes[name] = Size(size);
        next.back().first[name] += i * size;
      }
    }
    lanes = std::move(next);
  }
  // The last part assigns to an argument that all parts of a size share, after all reads.
  for (Frame& lane : lanes) {
    for (const auto& [name, count] : counts) {
      const std::int64_t size = lane.sizes.at(name).constant().value_or(1);
      if (lane.first.at(name) - first_of(leaf, name) == size * (count - 1)) continue;
      for (const tasks::Argument& argument : leaf.node->task->arguments) {
        const auto& shape = argument.shape;
        const bool has = std::find(shape.begin(), shape.end(), Size::named(name)) != shape.end();
        if (!has) lane.left_out.insert(argument.name);
      }
    }
  }
  for (Frame& lane : lanes) {
    for (const tasks::Argument& argument : leaf.node->task->arguments) {
      Place& place = lane.tensors.at(argument.name);
      std::int64_t number = 0;
      for (std::size_t d = 0; d < argument.shape.size(); ++d) {
        const std::int64_t count = count_of(argument.shape[d]);
        if (count == 1) continue;
        const std::string& name = argument.shape[d].name();
        const std::int64_t size = lane.sizes.at(name).constant().value_or(1);
        place.extent[d] = Size(size);
        const std::int64_t first = lane.first.at(name) - first_of(leaf, name);
        number = number * count + first / size;
        if (!place.is_global) continue;
        const std::size_t dimension = place.dimensions[d];
        place.offset[dimension] =
            place.offset[dimension] + Size(first) * every_of(place, dimension);
      }
      const bool is_part = !place.is_global && !state_.cells[place.cell].cuts.empty();
      if (is_part) place.cell = state_.cells[place.cell].parts[static_cast<std::size_t>(number)];
    }
  }
  if (counts.empty()) return lanes;
  Frames parts;
  for (const Frame& lane : lanes) {
    TWILL_TRY(Frames of_lane, lanes_of(lane, where));  // parts may themselves be kept in parts
    std::move(of_lane.begin(), of_lane.end(), std::back_inserter(parts));
  }
  return parts;
}

}  // namespace twill::frontend::from_tasks
