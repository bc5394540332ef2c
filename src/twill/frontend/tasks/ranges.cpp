#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/frontend/tasks/lowering.h"
#include "twill/frontend/tasks/stated.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/text.h"

/// Ranges: the grid, loops, parts of rows and branches.
namespace twill::frontend::from_tasks {

using tasks::fail_task;
using tasks::Processor;
using tasks::Size;
using tasks::SizeMap;
using tasks::Where;

namespace {

/// Bodies of loops are walked twice, those within them four times, and so on.
constexpr std::size_t kMostLoops = 6;
constexpr std::int64_t kMostApart = 16;  ///< iterations that are written one after the other

bool multiplies(const tasks::TreeNode& node) {
  const auto* leaf = std::get_if<tasks::Leaf>(&node.variant->body);
  if (leaf == nullptr) return std::any_of(node.children.begin(), node.children.end(), multiplies);
  return std::any_of(leaf->nodes.begin(), leaf->nodes.end(),
                     [](const auto& it) { return it.function == tasks::Function::mma; });
}

}  // namespace

Result<void> Lowering::grid(const tasks::Range& range, Frame& frame) {
  constexpr const char* kDimensions[] = {"x", "y", "z"};
  if (state_.has_grid) return fail_task("M05", range.where, "a kernel has one grid");
  state_.has_grid = true;
  if (range.dimensions.size() > std::size(kDimensions)) {
    const std::string all = state_.text.once(0, "all", "tt.get_program_id x : i32", range.where);
    split(range, all, frame);
    return walk_body(range.body, frame);
  }
  for (std::size_t d = 0; d < range.dimensions.size(); ++d) {
    const std::string& name = range.dimensions[d].index;
    const std::string unique = fmt::format("{}.{}", name, ++state_.count);
    const std::string value = state_.text.once(
        0, name, fmt::format("tt.get_program_id {} : i32", kDimensions[d]), range.where);
    state_.indices[unique] = {value, 1, 0};
    frame.sizes[name] = Size::named(unique);
  }
  return walk_body(range.body, frame);
}

/// The indices of a range, from a variable that counts all iterations; the last index comes first.
void Lowering::split(const tasks::Range& range, const std::string& counter, Frame& frame) {
  ModuleText& text = state_.text;
  const std::size_t scope = text.innermost();
  std::string rest = counter;
  for (std::size_t d = range.dimensions.size(); d-- > 0;) {
    const tasks::Dimension& dimension = range.dimensions[d];
    const Size extent = substituted(dimension.extent, frame.sizes);
    std::string index = rest;
    if (d > 0) {
      const std::string by = integer(extent, range.where);
      index = text.once(scope, dimension.index, fmt::format("arith.remsi {}, {} : i32", rest, by),
                        range.where);
      rest = text.once(scope, "i", fmt::format("arith.divsi {}, {} : i32", rest, by), range.where);
    }
    const std::string unique = fmt::format("{}.{}", dimension.index, ++state_.count);
    state_.indices[unique] = {index, 1, scope, extent.constant()};
    frame.sizes[dimension.index] = Size::named(unique);
  }
}

/// Checks the instruction of a part by `mma` of a piece.
Result<void> Lowering::check_instruction(const tasks::Block& block, const tasks::Piece& of,
                                         const Frame& frame) {
  TWILL_TRY(const Place place, place_of(of, frame));
  const tasks::Block known = substituted(block, frame.sizes);
  for (const Size& size : known.tile) {
    if (size.constant()) continue;
    return fail_task("M09", of.where,
                     fmt::format("an instruction has numbers, and {} is known only when the "
                                 "kernel runs",
                                 to_string(size)));
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

/// In how many parts each dimension is cut by a block that one of `count` iterations has.
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

/// A prange within a block: parts for several warpgroups, for warps or for threads. Leaves that go
/// by these parts are carried out on all of them at once. Warpgroups get theirs later, with proof,
/// and warps and threads as the tensor core has them.
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
        return fail_task("M10", piece.where, to_string(piece) + ": " + all.error());
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
    TWILL_TRY_VOID(launch(whole, frame, cut));
  }
  return {};
}

/// A variant below pranges that are carried out at once. A leaf has to be the same on the whole,
/// and an inner variant makes parts of parts.
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
                           "than pranges in it");
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

/// Tensors that a walk of the body, in a scope that `enter` opens, gives another value, of those
/// that had one. Leaves all else as it was.
Result<std::vector<std::size_t>> Lowering::changed_by(const std::vector<tasks::Statement>& body,
                                                      Frame& frame,
                                                      const std::function<void()>& enter) {
  const State before = state_;
  const std::size_t launches = frame.launches;
  const auto tensors = frame.tensors;
  enter();
  TWILL_TRY_VOID(walk_body(body, frame));
  std::vector<std::size_t> changed;
  for (std::size_t c = 0; c < before.cells.size(); ++c) {
    const bool is_other = before.cells[c].value != state_.cells[c].value;
    if (is_other && !before.cells[c].value.empty()) changed.push_back(c);
  }
  state_ = before;
  frame.launches = launches;
  frame.tensors = tensors;
  return changed;
}

/// A body that is done if a condition of sizes holds.
Result<void> Lowering::branch(const tasks::Range& range, Frame& frame) {
  if (frame.node->processor == Processor::host) {
    return fail_task("M05", range.where, "the host of a kernel has a grid alone",
                     "ask within the block");
  }
  if (state_.text.innermost() >= kMostLoops) {
    return fail_task("M05", range.where,
                     fmt::format("there are more than {} loops in each other", kMostLoops));
  }
  const tasks::SizeComparison condition = substituted(*range.when, frame.sizes);
  const std::size_t scope = state_.text.innermost();
  const std::string left = integer(condition.left, range.where);
  const std::string right = integer(condition.right, range.where);
  const std::string holds = state_.text.once(
      scope, "when",
      fmt::format("{} {}, {} : i32", op_of(condition.how, tasks::Scalar::i32), left, right),
      range.where);
  const std::size_t outer = state_.branch;
  const auto enter = [&] {
    state_.text.open();
    state_.branch = state_.text.innermost();
  };
  TWILL_TRY(const std::vector<std::size_t> changed, changed_by(range.body, frame, enter));
  std::vector<std::string> types, else_values, values;
  for (const std::size_t c : changed) {
    types.push_back(tensor_text(state_.cells[c].type));
    else_values.push_back(state_.cells[c].value);
  }
  const std::vector<Cell> before = state_.cells;
  enter();
  TWILL_TRY_VOID(walk_body(range.body, frame));
  state_.branch = outer;
  for (const std::size_t c : changed) values.push_back(state_.cells[c].value);
  std::string body = state_.text.close();
  const std::string indent(4 + 2 * scope, ' ');
  std::string head = fmt::format("scf.if {} ", holds), tail = "}";
  const std::string result = state_.text.fresh("if");
  if (!changed.empty()) {
    const std::string count = changed.size() > 1 ? fmt::format(":{}", changed.size()) : "";
    const auto yield = [&](const std::vector<std::string>& what) {
      return fmt::format("{}  scf.yield {} : {}\n", indent, fmt::join(what, ", "),
                         fmt::join(types, ", "));
    };
    head = fmt::format("{}{} = {}-> ({}) ", result, count, head, fmt::join(types, ", "));
    body += yield(values);
    tail = fmt::format("}} else {{\n{}{}}}", yield(else_values), indent);
  }
  state_.text.line(scope, fmt::format("{}{{\n{}{}{}", head, body, indent, tail), range.where);
  for (std::size_t c = 0; c < state_.cells.size(); ++c) {
    const bool was = c < before.size() && !before[c].value.empty();
    if (!was) state_.cells[c].value.clear();  // made where the condition holds alone
  }
  for (std::size_t i = 0; i < changed.size(); ++i) {
    state_.cells[changed[i]].value = changed.size() > 1 ? fmt::format("{}#{}", result, i) : result;
  }
  return {};
}

/// How many iterations a loop within another has, if they are few and without products. All of
/// them are planned as part of the outer loop.
std::optional<std::int64_t> Lowering::iterations_apart(const tasks::Range& range,
                                                       const Frame& frame) const {
  if (state_.text.innermost() == 0) return std::nullopt;
  std::int64_t count = 1;
  for (const tasks::Dimension& it : range.dimensions) {
    const auto extent = substituted(it.extent, frame.sizes).constant();
    if (!extent || *extent < 0 || *extent > kMostApart) return std::nullopt;
    count *= *extent;
  }
  if (count > kMostApart) return std::nullopt;
  const auto first = frame.node->children.begin() + static_cast<std::ptrdiff_t>(frame.launches);
  const auto end = first + static_cast<std::ptrdiff_t>(count_launches(range.body));
  return std::any_of(first, end, multiplies) ? std::nullopt : std::optional(count);
}

Result<void> Lowering::one_by_one(const tasks::Range& range, std::int64_t iterations,
                                  Frame& frame) {
  const std::size_t launches = frame.launches;
  for (std::int64_t i = 0; i < iterations; ++i) {
    frame.launches = launches;
    std::int64_t rest = i;
    for (std::size_t d = range.dimensions.size(); d-- > 0;) {
      const Size extent = substituted(range.dimensions[d].extent, frame.sizes);
      frame.sizes[range.dimensions[d].index] = Size(rest % *extent.constant());
      rest /= *extent.constant();
    }
    TWILL_TRY_VOID(walk_body(range.body, frame));
  }
  frame.launches = launches + count_launches(range.body);
  return {};
}

Result<void> Lowering::loop(const tasks::Range& range, Frame& frame) {
  if (const auto iterations = iterations_apart(range, frame)) {
    return one_by_one(range, *iterations, frame);
  }
  if (state_.text.innermost() >= kMostLoops) {
    return fail_task("M05", range.where,
                     fmt::format("there are more than {} loops in each other", kMostLoops));
  }
  const bool is_split = range.dimensions.size() > 1;
  const tasks::Dimension& dimension = range.dimensions[0];
  Size extent = 1;
  for (const tasks::Dimension& it : range.dimensions) {
    extent = extent * substituted(it.extent, frame.sizes);
  }
  const bool by_steps =
      !is_split && (extent.kind() == Size::Kind::cdiv || extent.kind() == Size::Kind::div);
  Index index;
  index.count = extent.constant();
  Size bound = extent;
  if (by_steps && extent.right().constant().value_or(0) > 0) {
    bound = extent.left();
    index.step = *extent.right().constant();
  }
  const std::string unique = fmt::format("{}.{}", dimension.index, ++state_.count);
  const std::string from = integer(Size(0), range.where);
  const std::string to = integer(bound, range.where);
  const std::string step = integer(Size(index.step), range.where);
  index.value = state_.text.fresh(dimension.index);
  index.scope = state_.text.innermost() + 1;
  const SizeMap sizes = frame.sizes;
  const auto enter = [&] {
    frame.sizes = sizes;
    state_.indices[unique] = index;
    state_.text.open();
    if (is_split) split(range, index.value, frame);
    if (!is_split) frame.sizes[dimension.index] = Size::named(unique);
  };

  const std::vector<Cell> before = state_.cells;
  TWILL_TRY(const std::vector<std::size_t> carried, changed_by(range.body, frame, enter));

  std::vector<std::string> entering, types;
  for (const std::size_t c : carried) {
    Cell& cell = state_.cells[c];
    const std::string argument = state_.text.fresh(cell.name);
    entering.push_back(fmt::format("{} = {}", argument, cell.value));
    types.push_back(tensor_text(cell.type));
    cell.value = argument;
  }
  enter();
  TWILL_TRY_VOID(walk_body(range.body, frame));
  std::vector<std::string> leaving;
  for (const std::size_t c : carried) leaving.push_back(state_.cells[c].value);
  std::string body = state_.text.close();
  const std::size_t scope = state_.text.innermost();
  std::string head = fmt::format("scf.for {} = {} to {} step {} ", index.value, from, to, step);
  const std::string result = state_.text.fresh("loop");
  if (!carried.empty()) {
    const std::string count = carried.size() > 1 ? fmt::format(":{}", carried.size()) : "";
    head = fmt::format("{}{} = {}iter_args({}) -> ({}) ", result, count, head,
                       fmt::join(entering, ", "), fmt::join(types, ", "));
    body += fmt::format("{}scf.yield {} : {}\n", std::string(6 + 2 * scope, ' '),
                        fmt::join(leaving, ", "), fmt::join(types, ", "));
  }
  state_.text.line(scope,
                   head + " : i32 {\n" + body + std::string(4 + 2 * scope, ' ') + "}" +
                       stated_text(frame.node->depth, state_.text.file()),
                   range.where);
  for (std::size_t c = 0; c < state_.cells.size(); ++c) {
    const bool was = c < before.size() && !before[c].value.empty();
    if (!was) state_.cells[c].value.clear();  // made by iterations, and gone with them
  }
  for (std::size_t i = 0; i < carried.size(); ++i) {
    state_.cells[carried[i]].value = carried.size() > 1 ? fmt::format("{}#{}", result, i) : result;
  }
  return {};
}

}  // namespace twill::frontend::from_tasks
