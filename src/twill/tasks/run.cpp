#include "twill/tasks/run.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "twill/tasks/evaluate.h"
#include "twill/tasks/tensor.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

using execute::Shape;
using execute::Tile;
using Sizes = std::map<std::string, std::int64_t>;

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

std::string lengths_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// Text of a block's index. Precondition: a block with values.
std::string index_text(const Block& block) {
  std::vector<std::string> index;
  for (const Size& at : block.index) index.push_back(to_string(at));
  return fmt::format("{}", fmt::join(index, ", "));
}

/// Names of a running variant, with their values.
struct Frame {
  const TreeNode* node = nullptr;
  Sizes sizes;
  std::map<std::string, Window> tensors;
  std::size_t launches = 0;  ///< launches so far, in the order of the text
};

class Run {
 public:
  explicit Run(const RunOptions& options) : options_(options), random_(options.seed) {}

  Result<void> launch(const TreeNode& node, std::vector<Window> arguments,
                      const std::vector<std::int64_t>& positions, const Where& where) {
    TWILL_TRY(Frame frame, frame_of(node, arguments, where));
    for (std::size_t p = 0; p < positions.size(); ++p) {
      frame.sizes[node.task->positions[p]] = positions[p];
    }
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      if (node.task->arguments[a].privilege == Privilege::writes) poison(arguments[a]);
    }
    if (node.variant->is_leaf()) {
      TWILL_TRY_VOID(run_leaf(frame, where));
    } else {
      TWILL_TRY_VOID(run_body(std::get<Inner>(node.variant->body).body, frame));
    }
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      const Argument& argument = node.task->arguments[a];
      if (argument.privilege != Privilege::writes) continue;
      TWILL_TRY_VOID(check_written(node, argument, arguments[a]));
    }
    return {};
  }

 private:
  static Result<Frame> frame_of(const TreeNode& node, const std::vector<Window>& arguments,
                                const Where& where) {
    Frame frame{&node, node.tunables, {}, 0};
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      const Argument& argument = node.task->arguments[a];
      const Shape shape = arguments[a].shape();
      if (shape.size() != argument.shape.size()) {
        return fail_task("T03", where,
                         fmt::format("'{}' of '{}' has {} dimensions, not {}", argument.name,
                                     node.task->name, argument.shape.size(), shape.size()));
      }
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const Size& wanted = argument.shape[d];
        if (!wanted.constant()) frame.sizes.try_emplace(wanted.name(), shape[d]);
        const auto value = value_of(wanted, frame.sizes);
        if (value && *value == shape[d]) continue;
        return fail_task("T03", where,
                         fmt::format("'{}' of '{}' is {} in dimension {}, and {} elsewhere",
                                     argument.name, node.task->name, shape[d], d,
                                     value ? std::to_string(*value) : value.error().why));
      }
      frame.tensors[argument.name] = arguments[a];
    }
    return frame;
  }

  static void poison(const Window& window) {
    for_each_element(window, [&](std::size_t element, std::size_t) {
      window.storage->tile.numbers()[element] = std::numeric_limits<float>::quiet_NaN();
      window.storage->written[element] = false;
    });
  }

  static Result<void> check_written(const TreeNode& node, const Argument& argument,
                                    const Window& window) {
    std::optional<std::size_t> missing;
    for_each_element(window, [&](std::size_t element, std::size_t) {
      if (!window.storage->written[element] && !missing) missing = element;
    });
    if (!missing) return {};
    return fail_task("T14", node.variant->where,
                     fmt::format("'{}.{}' leaves element {} of '{}' unwritten, which it writes",
                                 node.task->name, node.variant->name, *missing, argument.name),
                     "let its blocks be all of it, or declare it as 'updates'");
  }

  // --- Inner variants ---------------------------------------------------------------------------

  Result<std::int64_t> value(const Size& size, const Frame& frame, const Where& where) const {
    const auto number = value_of(size, frame.sizes);
    if (number) return *number;
    return fail_task(number.error().has_remainder ? "T11" : "T13", where,
                     fmt::format("{}: {}", to_string(size), number.error().why));
  }

  Result<Shape> values(const std::vector<Size>& sizes, const Frame& frame, std::int64_t least,
                       const Where& where) const {
    Shape shape;
    for (const Size& size : sizes) {
      TWILL_TRY(const std::int64_t number, value(size, frame, where));
      if (number < least || number > kMostElements) {
        return fail_task("T13", where, fmt::format("{} is {}", to_string(size), number));
      }
      shape.push_back(number);
    }
    return shape;
  }

  Result<void> run_body(const std::vector<Statement>& body, Frame& frame) {
    for (const Statement& statement : body) {
      if (const auto* make = std::get_if<Make>(&statement.what)) {
        TWILL_TRY_VOID(run_make(*make, frame));
      } else if (const auto* range = std::get_if<Range>(&statement.what)) {
        TWILL_TRY_VOID(run_range(*range, frame));
      } else {
        TWILL_TRY_VOID(run_launch(std::get<Launch>(statement.what), frame));
      }
    }
    return {};
  }

  Result<void> run_make(const Make& make, Frame& frame) {
    TWILL_TRY(const Shape shape, values(make.shape, frame, 0, make.where));
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count = std::min(kMostElements + 1, count * extent);
    if (count > kMostElements) {
      return fail_task("T13", make.where, "'" + make.name + "' is " + lengths_text(shape));
    }
    auto storage = make_storage(make.name, make.scalar, shape);
    for (Touches& touches : touches_) touches.leave_out(storage.get());
    kept_.push_back(storage);  // kept so that no other storage gets its address
    frame.tensors[make.name] = whole_of(std::move(storage));
    return {};
  }

  Result<Window> window_of(const Piece& piece, const Frame& frame) const {
    Window window = frame.tensors.at(piece.tensor);
    for (const Block& block : piece.blocks) {
      const auto part = with_values(block, frame.sizes);
      if (!part) {
        return fail_task(part.error().has_remainder ? "T11" : "T13", piece.where, part.error().why);
      }
      const Shape shape = window.shape();
      const bool divides = block.edge == Edge::exact && block.cut == Cut::blocks;
      for (std::size_t d = 0; divides && d < shape.size(); ++d) {
        const std::int64_t tile = *part->tile[d].constant();
        if (tile > 0 && shape[d] % tile == 0) continue;
        return fail_task(
            "T11", piece.where,
            fmt::format("blocks of {} do not divide the {} of '{}'", tile, shape[d], piece.tensor),
            "leave `exact` out, or give another size");
      }
      if (block.cut == Cut::mma) {
        TWILL_TRY_VOID(check_fragment(*part, shape, piece.where));
      }
      const bool inside =
          block.cut == Cut::pick || (block.cut == Cut::windows && block.edge == Edge::exact);
      if (inside && !is_within(window, *part)) {
        return fail_task(
            "T13", piece.where,
            fmt::format("{} at [{}] goes beyond '{}', which is {} there", to_string(piece),
                        index_text(*part), piece.tensor, lengths_text(shape)),
            "windows and indices lie within the tensor, unless a range ends at cdiv");
      }
      window = part_of(window, *part);
    }
    return window;
  }

  Result<void> run_launch(const Launch& launch_of, Frame& frame) {
    const TreeNode& child = frame.node->children[frame.launches++];
    std::vector<Window> arguments;
    for (const Piece& piece : launch_of.pieces) {
      TWILL_TRY(Window window, window_of(piece, frame));
      arguments.push_back(std::move(window));
    }
    std::vector<std::int64_t> positions;
    for (const Size& position : launch_of.positions) {
      TWILL_TRY(const std::int64_t number, value(position, frame, launch_of.where));
      positions.push_back(number);
    }
    return launch(child, std::move(arguments), positions, launch_of.where);
  }

  Result<void> run_range(const Range& range, Frame& frame) {
    std::vector<Size> sizes;
    for (const Dimension& dimension : range.dimensions) sizes.push_back(dimension.extent);
    if (range.when) sizes.push_back(count_of(*range.when));
    TWILL_TRY(const Shape extents, values(sizes, frame, 0, range.where));
    std::vector<std::int64_t> order(static_cast<std::size_t>(execute::size_of(extents)));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    if (range.parallel && options_.order == Order::backward) {
      std::reverse(order.begin(), order.end());
    }
    if (range.parallel && options_.order == Order::shuffled) {
      std::shuffle(order.begin(), order.end(), random_);
    }
    if (range.parallel) touches_.emplace_back();
    const std::size_t launches = frame.launches;
    for (const std::int64_t iteration : order) {
      frame.launches = launches;
      set_indices(range, extents, iteration, frame);
      if (range.parallel) touches_.back().begin_iteration(iteration);
      TWILL_TRY_VOID(run_body(range.body, frame));
    }
    if (order.empty()) frame.launches = launches + count_launches(range.body);
    if (range.parallel) touches_.pop_back();
    return {};
  }

  static void set_indices(const Range& range, const Shape& extents, std::int64_t iteration,
                          Frame& frame) {
    for (std::size_t d = range.dimensions.size(); d-- > 0;) {
      frame.sizes[range.dimensions[d].index] = iteration % extents[d];
      iteration /= extents[d];
    }
  }

  // --- Leaves -----------------------------------------------------------------------------------

  Result<void> run_leaf(const Frame& frame, const Where& where) {
    const TaskValue& task = *frame.node->task;
    const Leaf& leaf = std::get<Leaf>(frame.node->variant->body);
    std::map<std::string, Tile> inputs;
    std::map<std::string, Shape> shapes;
    for (const auto& [name, window] : frame.tensors) shapes[name] = window.shape();
    for (const Node& node : leaf.nodes) {
      if (node.function != Function::argument) continue;
      if (has_position(task, node.argument)) {
        inputs[node.argument] = position_tile(frame.sizes.at(node.argument));
        continue;
      }
      TWILL_TRY(inputs[node.argument], read(task, frame.tensors.at(node.argument), where));
    }
    std::vector<Tile> outputs = evaluate(task, leaf, inputs, shapes, frame.sizes);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Window& window = frame.tensors.at(leaf.outputs[i].argument);
      Tile& tile = outputs[i];
      const auto combines = leaf.outputs[i].combines;
      if (combines) {
        TWILL_TRY(const Tile before, read(task, window, where, Privilege::reduces));
        tile = combined(*combines, window.storage->scalar, before, tile);
      }
      const Privilege use = combines ? Privilege::reduces : Privilege::writes;
      TWILL_TRY_VOID(write(task, window, tile, where, use));
    }
    return {};
  }

  std::optional<std::string> touch(const Window& window, std::size_t element, Privilege use) {
    for (Touches& touches : touches_) {
      const auto other = touches.conflict(window.storage.get(), element, use);
      if (!other) continue;
      return fmt::format(
          "iterations {} and {} of a prange both touch element {} of '{}', and one "
          "writes it",
          std::min(*other, touches.iteration()), std::max(*other, touches.iteration()), element,
          window.storage->name);
    }
    return std::nullopt;
  }

  Result<Tile> read(const TaskValue& task, const Window& window, const Where& where,
                    Privilege use = Privilege::reads) {
    Tile tile{window.shape(), {}};
    tile.data = numbers_beyond(window);
    std::optional<std::size_t> unwritten;
    std::optional<std::string> conflict;
    for_each_element(window, [&](std::size_t element, std::size_t place) {
      tile.numbers()[place] = window.storage->tile.numbers()[element];
      if (!window.storage->written[element]) unwritten = unwritten.value_or(element);
      if (!conflict) conflict = touch(window, element, use);
    });
    if (conflict) return fail_task("T07", where, *conflict, "use srange");
    if (!unwritten) return tile;
    return fail_task("T06", where,
                     fmt::format("'{}' reads element {} of '{}', which was not written before",
                                 task.name, *unwritten, window.storage->name),
                     "launch a task that writes it first");
  }

  Result<void> write(const TaskValue& task, const Window& window, const Tile& tile,
                     const Where& where, Privilege use) {
    std::optional<std::string> conflict;
    for_each_element(window, [&](std::size_t element, std::size_t place) {
      window.storage->tile.numbers()[element] = tile.numbers()[place];
      window.storage->written[element] = true;
      if (!conflict) conflict = touch(window, element, use);
    });
    if (!conflict) return {};
    return fail_task("T07", where, fmt::format("'{}': {}", task.name, *conflict), "use srange");
  }

  RunOptions options_;
  std::mt19937_64 random_;
  std::vector<Touches> touches_;  ///< for the running pranges, the outermost first
  std::vector<std::shared_ptr<Storage>> kept_;
};

}  // namespace

Result<std::map<std::string, Tile>> run(const Tree& tree, const std::map<std::string, Tile>& arrays,
                                        const RunOptions& options) {
  std::vector<Window> arguments;
  const Where where = tree.root.task->where;
  for (const Argument& argument : tree.root.task->arguments) {
    const auto given = arrays.find(argument.name);
    if (given == arrays.end() || !given->second.is_floating()) {
      return fail_task("T01", where, "there is no array for '" + argument.name + "'");
    }
    auto storage = make_storage(argument.name, argument.scalar, given->second.shape);
    if (argument.privilege != Privilege::writes) {
      storage->written.assign(storage->written.size(), true);
      for (std::size_t i = 0; i < storage->tile.size(); ++i) {
        storage->tile.numbers()[i] =
            rounded(argument.scalar, static_cast<double>(given->second.numbers()[i]));
      }
    }
    arguments.push_back(whole_of(std::move(storage)));
  }
  TWILL_TRY_VOID(Run(options).launch(tree.root, arguments, {}, where));
  std::map<std::string, Tile> out;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    out[tree.root.task->arguments[a].name] = arguments[a].storage->tile;
  }
  return out;
}

}  // namespace twill::tasks
