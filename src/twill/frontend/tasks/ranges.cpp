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

/// Ranges: the grid, and loops.
namespace twill::frontend::from_tasks {

using tasks::fail_task;
using tasks::Processor;
using tasks::Size;
using tasks::SizeMap;
using tasks::Where;

namespace {

constexpr std::int64_t kMostApart = 16;  ///< iterations that are written out one after the other

bool multiplies(const tasks::TreeNode& node) {
  const auto* leaf = std::get_if<tasks::Leaf>(&node.variant->body);
  if (leaf == nullptr) return std::any_of(node.children.begin(), node.children.end(), multiplies);
  return std::any_of(leaf->nodes.begin(), leaf->nodes.end(),
                     [](const auto& it) { return it.function == tasks::Function::mma; });
}

}  // namespace

Result<void> Lowering::grid(const tasks::Range& range, Frames& lanes) {
  constexpr const char* kDimensions[] = {"x", "y", "z"};
  if (state_.has_grid)
    return fail_task("M05", range.where, "a kernel has one grid",
                     "let one prange of the host have all dimensions");
  state_.has_grid = true;
  if (range.dimensions.size() > std::size(kDimensions)) {
    const std::string all = state_.text.once(0, "all", "tt.get_program_id x : i32", range.where);
    split(range, all, lanes);
    return walk_body(range.body, lanes);
  }
  for (std::size_t d = 0; d < range.dimensions.size(); ++d) {
    const std::string& name = range.dimensions[d].index;
    const std::string unique = fmt::format("{}.{}", name, ++state_.count);
    const std::string value = state_.text.once(
        0, name, fmt::format("tt.get_program_id {} : i32", kDimensions[d]), range.where);
    state_.indices[unique] = {value, 1, 0};
    lanes[0].sizes[name] = Size::named(unique);
  }
  return walk_body(range.body, lanes);
}

/// Computes the indices of a range from a variable that counts all iterations; the last index
/// changes fastest. Precondition: its extents are the same in all lanes.
void Lowering::split(const tasks::Range& range, const std::string& counter, Frames& lanes) {
  ModuleText& text = state_.text;
  const std::size_t scope = text.innermost();
  std::string rest = counter;
  for (std::size_t d = range.dimensions.size(); d-- > 0;) {
    const tasks::Dimension& dimension = range.dimensions[d];
    const Size extent = substituted(dimension.extent, lanes[0].sizes);
    std::string index = rest;
    if (d > 0) {
      const std::string by = integer(extent, range.where);
      index = text.once(scope, dimension.index, fmt::format("arith.remsi {}, {} : i32", rest, by),
                        range.where);
      rest = text.once(scope, "i", fmt::format("arith.divsi {}, {} : i32", rest, by), range.where);
    }
    const std::string unique = fmt::format("{}.{}", dimension.index, ++state_.count);
    state_.indices[unique] = {index, 1, scope, extent.constant()};
    for (Frame& lane : lanes) lane.sizes[dimension.index] = Size::named(unique);
  }
}

void at_iteration(const tasks::Range& range, std::int64_t iteration, SizeMap& sizes) {
  for (std::size_t d = range.dimensions.size(); d-- > 0;) {
    const std::int64_t extent =
        substituted(range.dimensions[d].extent, sizes).constant().value_or(1);
    sizes[range.dimensions[d].index] = Size(iteration % extent);
    iteration /= extent;
  }
}

/// Number of iterations of a loop within another loop, if they are few and without products. All of
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
                                  Frames& lanes) {
  const std::size_t launches = lanes[0].launches;
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (Frame& lane : lanes) {
      lane.launches = launches;
      at_iteration(range, i, lane.sizes);
    }
    TWILL_TRY_VOID(walk_body(range.body, lanes));
  }
  for (Frame& lane : lanes) lane.launches = launches + count_launches(range.body);
  return {};
}

Result<void> Lowering::loop(const tasks::Range& range, Frames& lanes, const std::string& when) {
  const auto extents_in = [&](const Frame& lane) {
    std::vector<Size> extents;
    for (const tasks::Dimension& it : range.dimensions) {
      extents.push_back(substituted(it.extent, lane.sizes));
    }
    return extents;
  };
  if (!same_in_all(lanes, extents_in)) {
    return each_lane(lanes, [&](Frames& one) { return loop(range, one, when); });
  }
  if (const auto iterations = iterations_apart(range, lanes[0])) {
    return one_by_one(range, *iterations, lanes);
  }
  if (state_.text.innermost() >= kMostLoops) {
    return fail_task("M05", range.where,
                     fmt::format("there are more than {} loops in each other", kMostLoops),
                     "let an inner variant have fewer ranges in each other");
  }
  const bool is_split = range.dimensions.size() > 1;
  const tasks::Dimension& dimension = range.dimensions[0];
  Size extent = 1;
  for (const Size& it : extents_in(lanes[0])) extent = extent * it;
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
  std::string to = integer(bound, range.where);
  if (!when.empty()) {
    to =
        state_.text.once(state_.text.innermost(), "to",
                         fmt::format("arith.select {}, {}, {} : i32", when, to, from), range.where);
  }
  const std::string step = integer(Size(index.step), range.where);
  index.value = state_.text.fresh(dimension.index);
  index.scope = state_.text.innermost() + 1;
  const auto enter = [&] {
    state_.indices[unique] = index;
    state_.text.open();
    if (is_split) return split(range, index.value, lanes);
    for (Frame& lane : lanes) lane.sizes[dimension.index] = Size::named(unique);
  };

  const std::vector<Cell> before = state_.cells;
  TWILL_TRY(std::vector<std::size_t> carried, changed_by(range.body, lanes, enter));
  std::erase_if(carried, [&](std::size_t c) { return before[c].value.empty(); });

  std::vector<std::string> entering, types;
  for (const std::size_t c : carried) {
    Cell& cell = state_.cells[c];
    const std::string argument = state_.text.fresh(cell.name);
    entering.push_back(fmt::format("{} = {}", argument, cell.value));
    types.push_back(tensor_text(cell.type));
    cell.value = argument;
  }
  enter();
  TWILL_TRY_VOID(walk_body(range.body, lanes));
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
                       stated_text(lanes[0].node->depth, state_.text.file()),
                   range.where);
  for (std::size_t c = 0; c < state_.cells.size(); ++c) {
    const bool was = c < before.size() && !before[c].value.empty();
    if (!was) state_.cells[c].value.clear();  // a tensor made by iterations ends with them
  }
  for (std::size_t i = 0; i < carried.size(); ++i) {
    state_.cells[carried[i]].value = carried.size() > 1 ? fmt::format("{}#{}", result, i) : result;
  }
  return {};
}

}  // namespace twill::frontend::from_tasks
