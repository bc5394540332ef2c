#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/frontend/tasks/lowering.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/text.h"

/// Pranges within a block whose iterations become one op: parts of rows for warpgroups, and parts
/// by `mma` for warps and threads.
namespace twill::frontend::from_tasks {

using tasks::fail_task;
using tasks::Size;
using tasks::Where;

/// Checks the instruction with which `mma` cuts a piece.
Result<void> Lowering::check_instruction(const tasks::Block& block, const tasks::Piece& of,
                                         const Frame& frame) {
  TWILL_TRY(const Place place, place_of(of, frame));
  const tasks::Block known = substituted(block, frame.sizes);
  for (const Size& size : known.tile) {
    if (size.constant()) continue;
    return fail_task("M09", of.where,
                     fmt::format("an instruction has numbers, and {} is known only when the "
                                 "kernel runs",
                                 to_string(size)),
                     "give the size a value in the mapping");
  }
  TWILL_TRY(TileType type, type_of(place.extent, tasks::Scalar::f32, of.tensor, of.where));
  for (const Cuts& around : frame.parts) {
    const auto cut = around.find(of.tensor);
    if (cut == around.end()) continue;
    for (std::size_t d = 0; d < type.shape.size(); ++d) type.shape[d] /= cut->second.counts[d];
  }
  return check_fragment(known, type.shape, of.where);
}

namespace {

/// Number of parts in each dimension for a block that `count` iterations share.
std::vector<std::int64_t> counts_of(const tasks::Block& block, std::size_t rank,
                                    std::int64_t count) {
  std::vector<std::int64_t> counts(rank, 1);
  counts[0] = count;
  for (std::size_t d = 0; block.cut == tasks::Cut::mma && d < rank; ++d) {
    counts[d] = cuts_of(block, d);
  }
  return counts;
}

}  // namespace

/// Walks a prange within a block: parts for several warpgroups, for warps or for threads. A leaf on
/// such parts becomes one op on all of them. A later step deals the rows out to warpgroups, with
/// proof; the tensor core determines the parts of warps and threads.
Result<void> Lowering::parts(const tasks::Range& range, Frame& frame) {
  const auto refuse = [&](const std::string& why) {
    return fail_task("M08", range.where,
                     "this prange within a block is no cut into rows for warpgroups: " + why,
                     "leave it out: Twill cuts rows by itself");
  };
  if (range.dimensions.size() != 1) return refuse("it has several dimensions");
  const std::string& index = range.dimensions[0].index;
  const Size count = substituted(range.dimensions[0].extent, frame.sizes);
  if (!count.constant()) return refuse(to_string(count) + " is no number");
  for (const tasks::Statement& statement : range.body) {
    const auto* what = std::get_if<tasks::Launch>(&statement.what);
    if (what == nullptr) return refuse("there is more than launches in it");
    const tasks::TreeNode& child = frame.node->children[frame.launches];
    tasks::Launch whole = *what;
    Cuts cut;
    for (std::size_t p = 0; p < whole.pieces.size(); ++p) {
      tasks::Piece& piece = whole.pieces[p];
      if (piece.blocks.empty()) continue;
      const tasks::Block block = piece.blocks.back();
      auto all = united(block, index, count);
      if (!all && block.cut == tasks::Cut::mma) {
        return fail_task(
            "M10", piece.where, to_string(piece) + ": " + all.error(),
            "a prange of 4 for warps, of 32 for threads, whose index the part has alone");
      }
      if (!all) return refuse(to_string(piece));
      piece.blocks.pop_back();
      if (block.cut == tasks::Cut::mma) {
        TWILL_TRY_VOID(check_instruction(block, piece, frame));
      }
      if (*all) piece.blocks.push_back(**std::move(all));
      const tasks::Argument& argument = child.task->arguments[p];
      const std::size_t rank = argument.shape.size();
      cut[argument.name] = {axes_of(block, rank), counts_of(block, rank, *count.constant())};
    }
    for (const Size& position : whole.positions) {
      if (names_in(position).count(index) > 0) return refuse(to_string(position));
    }
    for (const tasks::Piece& piece : whole.pieces) {
      for (const tasks::Block& block : piece.blocks) {
        for (const Size& at : block.index) {
          if (names_in(at).count(index) > 0) return refuse(to_string(piece));
        }
      }
      TWILL_TRY(const Place place, place_of(piece, frame));
      if (frame.parts.empty() || place.extent == frame.tensors.at(piece.tensor).extent) continue;
      return refuse(to_string(piece) + " is not all of '" + piece.tensor + "'");
    }
    Frames one = {frame};
    TWILL_TRY_VOID(launch(whole, one, cut));
    frame = std::move(one[0]);
  }
  return {};
}

/// Checks a variant below pranges whose iterations are one op. A leaf must give the same on the
/// whole, and an inner variant makes parts of parts.
Result<void> Lowering::check_parts(const Frame& frame, const Where& where) const {
  if (frame.parts.empty()) return {};
  const tasks::TaskValue& task = *frame.node->task;
  const std::string name = fmt::format("'{}.{}'", task.name, frame.node->variant->name);
  if (!frame.node->variant->is_leaf()) {
    for (const auto& statement : std::get<tasks::Inner>(frame.node->variant->body).body) {
      const auto* range = std::get_if<tasks::Range>(&statement.what);
      if (range != nullptr && range->parallel && !range->when) continue;
      return fail_task("M08", where,
                       name +
                           " is launched on parts for warpgroups, warps or threads, and has more "
                           "than pranges in it",
                       "launch a leaf on the parts");
    }
    return {};
  }
  for (const Cuts& around : frame.parts) {
    std::map<std::string, tasks::PartAxes> cut;
    for (const auto& [tensor, parts] : around) cut[tensor] = parts.axes;
    const auto& leaf = std::get<tasks::Leaf>(frame.node->variant->body);
    if (goes_by_parts(task, leaf, cut)) continue;
    if (const auto added = added_by_all_parts(leaf, cut)) {
      return fail_task("M08", where,
                       name + " adds to '" + *added +
                           "' in each iteration of a prange, and iterations share elements of it",
                       "an srange adds in order; parts that share nothing may be at once");
    }
    const auto is_columns = [](const auto& it) {
      const auto& axes = it.second.axes;
      return std::count(axes.begin(), axes.end(), tasks::Axis::columns) > 0;
    };
    if (std::any_of(cut.begin(), cut.end(), is_columns)) {
      return fail_task("M10", where,
                       name + " needs more of its operands than these parts of 'mma' have",
                       "parts of a are for a, of b for b, and rows are reduced by warps");
    }
    return fail_task("M08", where,
                     "rows of '" + task.name +
                         "' need rows of others, so that no warpgroup or warp "
                         "can have some of them",
                     "leave the prange out: Twill cuts rows by itself");
  }
  return {};
}

}  // namespace twill::frontend::from_tasks
