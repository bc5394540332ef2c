#include "twill/tasks/leaf.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "twill/support/spelling.h"

namespace twill::tasks {
namespace {

std::optional<double> folded(Function function, const std::vector<double>& of) {
  switch (function) {
    case Function::add:
      return of[0] + of[1];
    case Function::sub:
      return of[0] - of[1];
    case Function::mul:
      return of[0] * of[1];
    case Function::div:
      return of[0] / of[1];
    case Function::neg:
      return -of[0];
    default:
      return std::nullopt;
  }
}

/// Key that is equal for nodes with the same computation; a zero and its negative differ.
auto key_of(const Node& node) {
  return std::tuple(node.function, node.operands, node.argument, std::signbit(node.number),
                    node.number, node.scalar, to_string(node.length));
}

}  // namespace

std::size_t LeafBuilder::add(Node node) {
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t LeafBuilder::constant(double number, const Where& where) {
  return add({Function::constant, {}, {}, number, Scalar::f32, where});
}

std::size_t LeafBuilder::cast(Scalar to, std::size_t operand, const Where& where) {
  return add({Function::cast, {operand}, {}, 0, to, where});
}

std::size_t LeafBuilder::iota(Size length, const Where& where) {
  return add({Function::iota, {}, {}, 0, Scalar::i32, where, std::move(length)});
}

std::size_t LeafBuilder::apply(Function function, std::vector<std::size_t> operands,
                               const Where& where) {
  std::vector<double> numbers;
  for (const std::size_t operand : operands) {
    if (nodes_[operand].function == Function::constant) numbers.push_back(nodes_[operand].number);
  }
  if (numbers.size() == operands.size()) {
    const auto number = folded(function, numbers);
    if (number) return constant(*number, where);
  }
  if (function == Function::add) {
    for (const std::size_t product : {operands[1], operands[0]}) {
      const std::size_t sum = product == operands[1] ? operands[0] : operands[1];
      const Node& node = nodes_[product];
      if (node.function != Function::mma || node.operands.size() != 2) continue;
      return add({Function::mma,
                  {node.operands[0], node.operands[1], sum},
                  {},
                  0,
                  Scalar::f32,
                  node.where});
    }
  }
  return add({function, std::move(operands), {}, 0, Scalar::f32, where});
}

std::size_t LeafBuilder::value_of(const std::string& argument, const Where& where) {
  const auto assigned = outputs_.find(argument);
  if (assigned != outputs_.end() && !assigned->second.combines) return assigned->second.node;
  const auto [found, fresh] = entry_.try_emplace(argument, nodes_.size());
  if (fresh) add({Function::argument, {}, argument, 0, Scalar::f32, where});
  return found->second;
}

void LeafBuilder::assign(const std::string& argument, std::size_t node, const Where& where) {
  outputs_[argument] = {argument, node, where};
}

void LeafBuilder::combine(Function by, const std::string& argument, std::size_t node,
                          const Where& where) {
  const Argument* found = find_argument(task_, argument);
  const bool reduces = found != nullptr && combines_by(found->privilege);
  const auto known = outputs_.find(argument);
  if (reduces && known == outputs_.end()) {
    outputs_[argument] = {argument, node, where, by};
    return;
  }
  const std::size_t before = reduces ? known->second.node : value_of(argument, where);
  const std::size_t both = apply(by, {before, node}, where);
  const bool again = reduces && known->second.combines == by;
  outputs_[argument] = {argument, both, where, again ? std::optional(by) : std::nullopt};
}

Leaf LeafBuilder::finish() const {
  Leaf leaf;
  std::map<std::size_t, std::size_t> place;  // new places of nodes
  std::map<decltype(key_of(Node{})), std::size_t> known;
  const std::function<std::size_t(std::size_t)> put = [&](std::size_t from) {
    if (const auto found = place.find(from); found != place.end()) return found->second;
    Node node = nodes_[from];
    for (std::size_t& operand : node.operands) operand = put(operand);
    const auto [at, fresh] = known.try_emplace(key_of(node), leaf.nodes.size());
    if (fresh) leaf.nodes.push_back(std::move(node));
    return place[from] = at->second;
  };
  for (const Argument& argument : task_.arguments) {
    const auto output = outputs_.find(argument.name);
    if (output == outputs_.end()) continue;
    Output made = output->second;
    made.node = put(made.node);
    leaf.outputs.push_back(std::move(made));
  }
  return leaf;
}

// --- Types --------------------------------------------------------------------------------------

namespace {

using Extent = std::optional<Size>;

std::string extents_text(const std::vector<Extent>& shape) {
  std::string text = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    text += (d > 0 ? ", " : "") + (shape[d] ? to_string(*shape[d]) : "any");
  }
  return text + "]";
}

std::string in_words(const NodeType& type) {
  return type.is_constant ? std::string("a number")
                          : std::string(name_of(type.scalar)) + extents_text(type.shape);
}

constexpr const char* kSpreads =
    "column(x) and row(x) make a vector one of a tile's columns or rows";

class Typing {
 public:
  Typing(const TaskValue& task, const Leaf& leaf) : task_(task), leaf_(leaf) {}

  Result<std::vector<NodeType>> run() {
    for (const Node& node : leaf_.nodes) {
      TWILL_TRY(NodeType type, type_of(node));
      types_.push_back(std::move(type));
    }
    for (const Output& output : leaf_.outputs) {
      TWILL_TRY_VOID(check_output(output));
    }
    return types_;
  }

 private:
  std::string name(const Node& node) const {
    return "'" + std::string(spelling_of(node.function).name) + "'";
  }
  const NodeType& operand(const Node& node, std::size_t i) const {
    return types_[node.operands[i]];
  }

  Result<NodeType> type_of(const Node& node) {
    if (is_elementwise(node.function)) return elementwise(node);
    switch (node.function) {
      case Function::argument:
        return argument(node);
      case Function::constant:
        return NodeType{true, Scalar::f32, {}};
      case Function::mma:
        return product(node);
      case Function::cast: {
        NodeType type = operand(node, 0);
        if (type.is_constant)
          return fail_task("T04", node.where, "'cast' of a number",
                           "write the number alone: it is of the type that its user wants");
        if (type.scalar == Scalar::i1) {
          return fail_task("T04", node.where, "'cast' of " + in_words(type),
                           "select(x, 1, 0) makes a number of a condition");
        }
        if (is_whole(node.scalar) && (!is_whole(type.scalar) || node.scalar == Scalar::i8)) {
          return fail_task("T04", node.where,
                           "'cast' of " + in_words(type) + " to " +
                               std::string(name_of(node.scalar)) + ": leaves round to no integers",
                           "f32 has all whole numbers below 16777216: let the result be f32");
        }
        type.scalar = node.scalar;
        return type;
      }
      case Function::iota:
        return iota(node);
      default:
        return moved(node);
    }
  }

  Result<NodeType> iota(const Node& node) const {
    for (const std::string& name : names_in(node.length)) {
      const bool known = std::any_of(
          task_.arguments.begin(), task_.arguments.end(), [&](const Argument& argument) {
            return std::find(argument.shape.begin(), argument.shape.end(), Size::named(name)) !=
                   argument.shape.end();
          });
      if (known) continue;
      return fail_task(
          "T13", node.where,
          "there is no size " + in_quotes(name) + " in the signature of '" + task_.name + "'",
          "iota(SIZE) takes a size of an argument");
    }
    return NodeType{false, Scalar::i32, {node.length}};
  }

  Result<NodeType> argument(const Node& node) {
    if (has_position(task_, node.argument)) return NodeType{false, Scalar::i32, {}};
    const Argument* found = find_argument(task_, node.argument);
    if (found == nullptr) {
      return fail_task("T02", node.where, "'" + node.argument + "' is no argument of the task");
    }
    if (!may_read(found->privilege)) {
      return fail_task("T05", node.where,
                       "the leaf reads '" + found->name + "', which '" + task_.name + "' only " +
                           (combines_by(found->privilege) ? "reduces" : "writes"),
                       "declare it as 'updates " + found->name + "'");
    }
    return NodeType{false, found->scalar, {found->shape.begin(), found->shape.end()}};
  }

  Result<NodeType> elementwise(const Node& node) {
    NodeType all{true, Scalar::f32, {}};
    const bool selects = node.function == Function::select;
    for (std::size_t i = selects ? 1 : 0; i < node.operands.size(); ++i) {
      const NodeType& type = operand(node, i);
      if (type.is_constant) continue;
      if (!takes(node.function, type.scalar)) {
        return fail_task(
            "T04", node.where, name(node) + " of " + in_words(type),
            "cast(f32, x) makes numbers of positions, integers and numbers of 8 bits, and a "
            "comparison makes a condition");
      }
      if (all.is_constant) {
        all = type;
        continue;
      }
      if (type.scalar != all.scalar) {
        return fail_task("T04", node.where,
                         name(node) + " of " + in_words(all) + " and " + in_words(type),
                         "use cast(TYPE, x) on one of them");
      }
      TWILL_TRY(all.shape, common(node, all.shape, type.shape));
    }
    for (const std::size_t it : node.operands) {
      if (!types_[it].is_constant || all.is_constant) continue;
      if (can_be(all.scalar, leaf_.nodes[it].number)) continue;
      return fail_task("T04", leaf_.nodes[it].where,
                       name(node) + " of whole numbers and a number that is none, or too large",
                       "use cast(f32, x) on positions and other whole numbers");
    }
    if (is_comparison(node.function)) all.scalar = Scalar::i1;
    if (selects) {
      const NodeType& condition = operand(node, 0);
      if (condition.is_constant || condition.scalar != Scalar::i1) {
        return fail_task("T04", node.where,
                         "'select' by " + in_words(condition) + ", which is no condition",
                         "as in select(x > 0, x, 0)");
      }
      TWILL_TRY(all.shape, common(node, all.shape, condition.shape));
    }
    if (all.is_constant && !selects) {
      return fail_task("T04", node.where, name(node) + " of numbers alone",
                       "one operand at least is a tile");
    }
    all.is_constant = false;
    return all;
  }

  Result<std::vector<Extent>> common(const Node& node, std::vector<Extent> a,
                                     const std::vector<Extent>& b) const {
    const auto differ = [&] {
      const bool columns = a.size() != b.size();
      return fail_task("T03", node.where,
                       name(node) + " of shapes " + extents_text(a) + " and " + extents_text(b),
                       columns ? kSpreads : "sizes are compared by their names");
    };
    if (a.empty()) return b;
    if (b.empty()) return a;
    if (a.size() != b.size()) return differ();
    for (std::size_t d = 0; d < a.size(); ++d) {
      if (a[d] && b[d] && *a[d] != *b[d]) return differ();
      if (!a[d]) a[d] = b[d];
    }
    return a;
  }

  Result<NodeType> product(const Node& node) const {
    const NodeType& a = operand(node, 0);
    const NodeType& b = operand(node, 1);
    const bool tiles = a.shape.size() == 2 && b.shape.size() == 2;
    const bool known = tiles && a.shape[0] && a.shape[1] && b.shape[0] && b.shape[1];
    if (!known || *a.shape[1] != *b.shape[0]) {
      return fail_task(
          "T03", node.where,
          "'mma' of " + in_words(a) + " and " + in_words(b) + "; it takes [M, K] and [K, N]",
          "transpose(x) exchanges the dimensions");
    }
    const bool has_instruction =
        is_byte(a.scalar) || a.scalar == Scalar::f16 || a.scalar == Scalar::bf16;
    if (a.scalar != b.scalar || !has_instruction) {
      return fail_task("T04", node.where,
                       "'mma' of " + in_words(a) + " and " + in_words(b) +
                           "; it takes f16, bf16 or numbers of 8 bits, of both the same",
                       "cast(f16, x) of a tile in registers may stand on the left");
    }
    NodeType sum{false, sums_of(a.scalar), {a.shape[0], b.shape[1]}};
    if (node.operands.size() < 3) return sum;
    const NodeType& onto = operand(node, 2);
    if (onto.is_constant && can_be(sum.scalar, leaf_.nodes[node.operands[2]].number)) return sum;
    const bool in_f16 = onto.scalar == Scalar::f16 && a.scalar == Scalar::f16;
    if (onto.is_constant || (onto.scalar != sum.scalar && !in_f16)) {
      const std::string sums(name_of(sum.scalar));
      return fail_task("T04", node.where,
                       fmt::format("'mma' of {} adds up in {}, not onto {}", name_of(a.scalar),
                                   sums, in_words(onto)),
                       "let the sums be " + sums +
                           (a.scalar == Scalar::f16 ? ", or f16 that they are added to" : ""));
    }
    sum.scalar = onto.scalar;
    TWILL_TRY(sum.shape, common(node, sum.shape, onto.shape));
    return sum;
  }

  /// Type of column, row, transpose, row_max and row_sum.
  Result<NodeType> moved(const Node& node) const {
    NodeType type = operand(node, 0);
    const bool spread = node.function == Function::column || node.function == Function::row;
    const std::size_t rank = spread ? 1 : 2;
    if (type.shape.size() != rank) {
      return fail_task(
          "T03", node.where,
          name(node) + " takes " + (spread ? "a vector" : "a tile of two dimensions") + ", not " +
              in_words(type),
          "column(v) and row(v) make tiles of vectors, row_max(x) and row_sum(x) vectors of tiles");
    }
    if (node.function == Function::column) {
      type.shape.push_back(std::nullopt);
    } else if (node.function == Function::row) {
      type.shape.insert(type.shape.begin(), std::nullopt);
    } else if (node.function == Function::transpose) {
      std::swap(type.shape[0], type.shape[1]);
    } else {
      if (!type.shape[1])
        return fail_task("T03", node.where, name(node) + " of a column",
                         "it has as many columns as a tile that it is combined with");
      if (!takes(Function::div, type.scalar)) {
        return fail_task("T04", node.where, name(node) + " of " + in_words(type),
                         "it takes numbers: cast(f32, x) or select(x, 1, 0)");
      }
      type.shape.pop_back();
    }
    return type;
  }

  Result<void> check_output(const Output& output) const {
    const Argument* argument = find_argument(task_, output.argument);
    if (argument == nullptr) {
      return fail_task("T02", output.where, "'" + output.argument + "' is no argument of the task");
    }
    if (!may_write(argument->privilege)) {
      return fail_task(
          "T05", output.where,
          "the leaf writes '" + argument->name + "', which '" + task_.name + "' only reads",
          "declare it as 'writes' or 'updates'");
    }
    const auto combines = combines_by(argument->privilege);
    if (combines && output.combines != combines) {
      return fail_task("T05", output.where,
                       fmt::format("the leaf does something else to '{}' than '{}' of '{}'",
                                   argument->name, name_of(argument->privilege), task_.name),
                       fmt::format("write {} {} ...", argument->name, assignment_of(*combines)));
    }
    const NodeType& type = types_[output.node];
    if (type.is_constant && !can_be(argument->scalar, leaf_.nodes[output.node].number)) {
      return fail_task("T04", output.where,
                       fmt::format("'{}' is {}, and the number is none, or too large",
                                   argument->name, name_of(argument->scalar)),
                       "give it a whole number, or let it be f32");
    }
    if (type.is_constant) return {};
    if (type.scalar != argument->scalar) {
      return fail_task("T04", output.where,
                       "'" + argument->name + "' is " + std::string(name_of(argument->scalar)) +
                           ", and what is assigned is " + in_words(type),
                       "use cast(" + std::string(name_of(argument->scalar)) + ", x)");
    }
    bool fits = type.shape.empty() || type.shape.size() == argument->shape.size();
    for (std::size_t d = 0; fits && d < type.shape.size(); ++d) {
      fits = !type.shape[d] || *type.shape[d] == argument->shape[d];
    }
    if (fits) return {};
    return fail_task("T03", output.where,
                     "'" + argument->name + "' is " +
                         extents_text({argument->shape.begin(), argument->shape.end()}) +
                         ", and what is assigned is " + in_words(type),
                     type.shape.size() == 1 ? kSpreads : "sizes are compared by their names");
  }

  const TaskValue& task_;
  const Leaf& leaf_;
  std::vector<NodeType> types_;
};

}  // namespace

Result<std::vector<NodeType>> types_of(const TaskValue& task, const Leaf& leaf) {
  return Typing(task, leaf).run();
}

std::set<std::string> product_operands(const Leaf& leaf, std::size_t side) {
  std::set<std::string> names;
  for (const Node& node : leaf.nodes) {
    if (node.function != Function::mma) continue;
    const Node* operand = &leaf.nodes[node.operands[side]];
    if (operand->function == Function::transpose) operand = &leaf.nodes[operand->operands[0]];
    if (operand->function == Function::argument) names.insert(operand->argument);
  }
  return names;
}

}  // namespace twill::tasks
