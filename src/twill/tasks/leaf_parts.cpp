#include <algorithm>
#include <map>
#include <optional>

#include "twill/tasks/leaf.h"

/// Leaves on parts of their tiles, and on single elements.
namespace twill::tasks {
namespace {

/// Finds, node by node, the dimensions in which the parts of a leaf's tiles differ.
class Parts {
 public:
  /// `size`: the size along which positions go on from part to part.
  Parts(const TaskValue& task, const Leaf& leaf, const std::map<std::string, PartAxes>& cut,
        const Size& size = {})
      : task_(task), leaf_(leaf), cut_(cut), size_(size) {}

  bool fit() {
    for (const Node& node : leaf_.nodes) {
      auto made = axes_of_node(node);
      if (!made) return false;
      all_.push_back(*std::move(made));
    }
    return std::all_of(leaf_.outputs.begin(), leaf_.outputs.end(), [&](const Output& output) {
      return merged(all_[output.node], of_argument(output.argument)).has_value();
    });
  }

 private:
  using Axes = std::vector<std::optional<Axis>>;  ///< nullopt: equal in all parts

  Axes of_argument(const std::string& name) const {
    const auto found = cut_.find(name);
    if (found != cut_.end()) return {found->second.axes.begin(), found->second.axes.end()};
    const Argument* argument = find_argument(task_, name);
    return Axes(argument == nullptr ? 0 : argument->shape.size(), Axis::all);
  }

  /// Joins the axes of tiles of one shape, some of them broadcast; nullopt if their parts differ.
  static std::optional<Axes> merged(Axes a, const Axes& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    for (std::size_t d = 0; d < a.size(); ++d) {
      if (a[d] && b[d] && *a[d] != *b[d]) return std::nullopt;
      if (!a[d]) a[d] = b[d];
    }
    return a;
  }

  std::optional<Axes> axes_of_node(const Node& node) const {
    const auto operand = [&](std::size_t i) -> const Axes& { return all_[node.operands[i]]; };
    switch (node.function) {
      case Function::argument:
        return of_argument(node.argument);
      case Function::constant:
        return Axes();
      case Function::iota:
        return Axes{node.length == size_ ? Axis::rows : Axis::all};
      case Function::cast:
        return operand(0);
      case Function::column:
        return Axes{operand(0)[0], std::nullopt};
      case Function::row:
        return Axes{std::nullopt, operand(0)[0]};
      case Function::transpose:
        return Axes{operand(0)[1], operand(0)[0]};
      case Function::row_max:
      case Function::row_sum:
        if (operand(0)[1].value_or(Axis::all) != Axis::all) return std::nullopt;
        return Axes{operand(0)[0]};
      case Function::mma: {
        const auto along = [](const std::optional<Axis>& axis) {
          return axis.value_or(Axis::all) == Axis::all;
        };
        if (!along(operand(0)[1]) || !along(operand(1)[0])) return std::nullopt;
        const Axes sums{operand(0)[0], operand(1)[1]};
        return node.operands.size() > 2 ? merged(sums, operand(2)) : sums;
      }
      default:
        break;
    }
    std::optional<Axes> made = Axes();
    for (std::size_t i = 0; made && i < node.operands.size(); ++i) made = merged(*made, operand(i));
    return made;
  }

  const TaskValue& task_;
  const Leaf& leaf_;
  const std::map<std::string, PartAxes>& cut_;
  const Size size_;
  std::vector<Axes> all_;
};

}  // namespace

Result<std::vector<ElementArgument>> element_arguments(const TaskValue& task, const Leaf& leaf) {
  const Where where = leaf.external ? leaf.external->where : Where();
  const auto refuse = [&](const std::string& why) {
    return fail_task(
        "T15", where,
        "a function of single elements cannot do what '" + task.name + "' means: " + why,
        "it gets the element of each argument that is read, and returns one");
  };
  if (leaf.outputs.size() != 1) return refuse("it has several results");
  if (leaf.outputs[0].combines) return refuse("it is combined with what is there");
  for (const Argument& argument : task.arguments) {
    if (is_whole(argument.scalar)) return refuse(argument.name + " has whole numbers, not f32");
  }
  std::map<std::string, std::size_t> taken;
  for (std::size_t n = 0; n < leaf.nodes.size(); ++n) {
    const Node& node = leaf.nodes[n];
    const bool spreads = node.function == Function::column || node.function == Function::row;
    if (node.function == Function::argument) {
      if (has_position(task, node.argument))
        return refuse("it takes the position " + node.argument);
      taken.try_emplace(node.argument, n);
    } else if (spreads) {
      const Node& from = leaf.nodes[node.operands[0]];
      if (from.function != Function::argument) return refuse("it spreads what it has computed");
      std::size_t& at = taken[from.argument];
      if (at != node.operands[0]) return refuse("it takes " + from.argument + " in two ways");
      at = n;
    } else if (node.function != Function::constant && node.function != Function::cast &&
               !is_elementwise(node.function)) {
      return refuse("it has a " + std::string(spelling_of(node.function).name));
    }
  }
  std::vector<ElementArgument> all;
  for (const Argument& argument : task.arguments) {
    const auto found = taken.find(argument.name);
    if (found != taken.end()) all.push_back({argument.name, found->second});
  }
  if (all.empty()) return refuse("it reads nothing");
  return all;
}

std::optional<std::string> added_by_all_parts(const Leaf& leaf,
                                              const std::map<std::string, PartAxes>& cut) {
  for (const Output& output : leaf.outputs) {
    const auto found = cut.find(output.argument);
    const bool is_disjoint = found != cut.end() && found->second.is_disjoint;
    if (output.combines == Function::add && !is_disjoint) return output.argument;
  }
  return std::nullopt;
}

bool goes_by_parts(const TaskValue& task, const Leaf& leaf,
                   const std::map<std::string, PartAxes>& cut) {
  return !added_by_all_parts(leaf, cut) && Parts(task, leaf, cut).fit();
}

bool goes_along(const TaskValue& task, const Leaf& leaf, const std::string& size) {
  const Size named = Size::named(size);
  std::map<std::string, PartAxes> cut;
  for (const Argument& argument : task.arguments) {
    PartAxes parts{std::vector<Axis>(argument.shape.size(), Axis::all), true};
    bool has_size = false;
    for (std::size_t d = 0; d < argument.shape.size(); ++d) {
      if (argument.shape[d] != named) continue;
      parts.axes[d] = Axis::rows;
      has_size = true;
    }
    if (has_size) cut[argument.name] = std::move(parts);
  }
  return !added_by_all_parts(leaf, cut) && Parts(task, leaf, cut, named).fit();
}

}  // namespace twill::tasks
