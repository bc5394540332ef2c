#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

template <class T, class Text>
std::string joined(const std::vector<T>& all, Text text, const char* between = ", ") {
  std::string out;
  for (const T& it : all) out += (out.empty() ? "" : between) + text(it);
  return out;
}

std::string joined(const std::vector<Size>& sizes) {
  return joined(sizes, [](const Size& size) { return to_string(size); });
}

std::string number_text(double number) {
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  return fmt::format("{}", number);
}

// --- Inner variants -----------------------------------------------------------------------------

class InnerPrinter {
 public:
  explicit InnerPrinter(std::string& out) : out_(out) {}

  void print(const std::vector<Statement>& body) {
    indent_ += "  ";
    for (const Statement& statement : body) {
      std::visit([&](const auto& what) { out_ += indent_ + text_of(what) + "\n"; }, statement.what);
    }
    indent_.resize(indent_.size() - 2);
  }

 private:
  std::string text_of(const Make& make) const {
    return fmt::format("{} = tensor {}[{}]", make.name, name_of(make.scalar), joined(make.shape));
  }
  std::string text_of(const Launch& launch) const {
    const std::string pieces =
        joined(launch.pieces, [](const Piece& piece) { return to_string(piece); });
    const char* between = launch.positions.empty() || pieces.empty() ? "" : ", ";
    return fmt::format("{}({}{}{})", launch.task, pieces, between, joined(launch.positions));
  }
  std::string text_of(const Range& range) {
    std::string body;
    std::swap(body, out_);
    print(range.body);
    std::swap(body, out_);
    const std::string dimensions = joined(range.dimensions, [](const Dimension& it) {
      return it.index + " < " + to_string(it.extent);
    });
    const std::string head =
        range.when ? "if " + to_string(*range.when)
                   : fmt::format("{} {}", range.parallel ? "prange" : "srange", dimensions);
    return fmt::format("{} {{\n{}{}}}", head, body, indent_);
  }

  std::string& out_;
  std::string indent_;
};

// --- Leaves -------------------------------------------------------------------------------------

/// Prints nodes with one reader inside their reader's text, and other nodes under a name.
class LeafPrinter {
 public:
  LeafPrinter(const TaskValue& task, const Leaf& leaf) : task_(task), leaf_(leaf) {
    uses_.resize(leaf.nodes.size());
    for (const Node& node : leaf.nodes) {
      for (const std::size_t operand : node.operands) ++uses_[operand];
    }
    for (const Output& output : leaf.outputs) ++uses_[output.node];
  }

  std::string print() {
    std::string out;
    const bool in_the_way = reads_what_it_writes();
    for (std::size_t i = 0; i < leaf_.nodes.size(); ++i) {
      const bool is_named = is_shared(i) || (in_the_way && is_output(i) && !is_number(i));
      if (is_named) out += "  " + name_of_node(i) + " = " + text_of(i, 0) + "\n";
      names_.push_back(is_named ? name_of_node(i) : "");
    }
    for (const Output& output : leaf_.outputs) {
      out += "  " + statement(output) + "\n";
    }
    return out;
  }

 private:
  /// Whether a node is always written out: arguments and numbers.
  bool is_plain(std::size_t i) const {
    const Function function = leaf_.nodes[i].function;
    return function == Function::argument || function == Function::constant;
  }
  bool is_number(std::size_t i) const { return leaf_.nodes[i].function == Function::constant; }
  bool is_shared(std::size_t i) const { return uses_[i] > 1 && !is_plain(i); }
  bool is_output(std::size_t i) const {
    for (const Output& output : leaf_.outputs) {
      if (output.node == i) return true;
    }
    return false;
  }
  /// Whether an assignment would change a value that a later assignment reads.
  bool reads_what_it_writes() const {
    if (leaf_.outputs.size() < 2) return false;
    for (const Output& output : leaf_.outputs) {
      for (const Node& node : leaf_.nodes) {
        if (node.function == Function::argument && node.argument == output.argument) return true;
      }
    }
    return false;
  }
  std::string name_of_node(std::size_t i) const {
    std::string name = fmt::format("v{}", i);
    while (find_argument(task_, name) != nullptr) name += "_";
    return name;
  }

  std::string statement(const Output& output) const {
    const Node& node = leaf_.nodes[output.node];
    const bool adds = node.function == Function::mma && node.operands.size() == 3 &&
                      names_[output.node].empty() &&
                      leaf_.nodes[node.operands[2]].argument == output.argument &&
                      leaf_.nodes[node.operands[2]].function == Function::argument;
    if (output.combines) {
      return fmt::format("{} {} {}", output.argument, assignment_of(*output.combines),
                         operand(output.node, 0));
    }
    if (!adds) return output.argument + " = " + operand(output.node, 0);
    return fmt::format("{} += mma({}, {})", output.argument, operand(node.operands[0], 0),
                       operand(node.operands[1], 0));
  }
  std::string operand(std::size_t i, int least) const {
    return i < names_.size() && !names_[i].empty() ? names_[i] : text_of(i, least);
  }
  /// Text of a node, in brackets if it binds less than `least`: 1 for sums, 2 for products, 3 for
  /// all others.
  std::string text_of(std::size_t i, int least) const {
    const Node& node = leaf_.nodes[i];
    const std::string name(spelling_of(node.function).name);
    const auto infix = [&](int strength) {
      const std::string text = operand(node.operands[0], strength) + " " + name + " " +
                               operand(node.operands[1], strength + 1);
      return strength < least ? "(" + text + ")" : text;
    };
    switch (node.function) {
      case Function::argument:
        return node.argument;
      case Function::constant:
        return number_text(node.number);
      case Function::less:
      case Function::less_equal:
      case Function::greater:
      case Function::greater_equal:
      case Function::equal:
      case Function::unequal: {
        const std::string text =
            operand(node.operands[0], 1) + " " + name + " " + operand(node.operands[1], 1);
        return least > 0 ? "(" + text + ")" : text;
      }
      case Function::iota:
        return "iota(" + to_string(node.length) + ")";
      case Function::add:
      case Function::sub:
        return infix(1);
      case Function::mul:
      case Function::div:
        return infix(2);
      case Function::neg:
        return "-" + operand(node.operands[0], 3);
      case Function::cast:
        return fmt::format("cast({}, {})", tasks::name_of(node.scalar),
                           operand(node.operands[0], 0));
      default:
        return name + "(" +
               joined(node.operands, [&](std::size_t from) { return operand(from, 0); }) + ")";
    }
  }

  const TaskValue& task_;
  const Leaf& leaf_;
  std::vector<int> uses_;
  std::vector<std::string> names_;
};

// --- Tasks and mappings -------------------------------------------------------------------------

std::string text_of(const Argument& argument) {
  return fmt::format("{} {}: {}[{}]", name_of(argument.privilege), argument.name,
                     name_of(argument.scalar), joined(argument.shape));
}

std::string text_of(const TaskValue& task, const Variant& variant) {
  if (variant.is_leaf() && std::get<Leaf>(variant.body).external) {
    const External& it = *std::get<Leaf>(variant.body).external;
    return fmt::format("external {}.{} means {} calls {} \"\"\"{}\"\"\"\n", task.name, variant.name,
                       it.meaning, it.function, it.code);
  }
  if (variant.is_leaf()) {
    return fmt::format("leaf {}.{} {{\n{}}}\n", task.name, variant.name,
                       LeafPrinter(task, std::get<Leaf>(variant.body)).print());
  }
  const Inner& inner = std::get<Inner>(variant.body);
  std::string body;
  InnerPrinter(body).print(inner.body);
  const std::string tunables =
      inner.tunables.empty()
          ? ""
          : " tunable " + joined(inner.tunables, [](const std::string& it) { return it; });
  return fmt::format("inner {}.{}{} {{\n{}}}\n", task.name, variant.name, tunables, body);
}

std::string edge_text(const EdgeRule& rule) {
  if (rule.edge == Edge::zero) return "";
  if (rule.edge != Edge::fill) return fmt::format(", {}", name_of(rule.edge));
  return fmt::format(", {}({})", name_of(rule.edge), number_text(rule.fill));
}

}  // namespace

std::string to_string(const SizeComparison& condition) {
  return fmt::format("{} {} {}", to_string(condition.left), spelling_of(condition.how).name,
                     to_string(condition.right));
}

std::string to_string(const Piece& piece) {
  std::string text = piece.tensor;
  for (const Block& block : piece.blocks) {
    const std::string edge = edge_text(block.edge);
    switch (block.cut) {
      case Cut::blocks:
        text = fmt::format("blocks({}, {}{})[{}]", text, joined(block.tile), edge,
                           joined(block.index));
        break;
      case Cut::windows:
        text = fmt::format(
            "windows({}, {} by {}{}{})[{}]", text, joined(block.tile), joined(block.step),
            block.every.empty() ? "" : " every " + joined(block.every), edge, joined(block.index));
        break;
      case Cut::mma:
        text = fmt::format("mma({}, {}, {}, {})[{}]", text, name_of(block.fragment),
                           block.level == Level::thread ? "thread" : "warp", joined(block.tile),
                           joined(block.index));
        break;
      case Cut::pick: {
        const std::string dimension =
            block.picked > 0 ? fmt::format(", {}", block.picked) : std::string();
        text = fmt::format("pick({}, {}{})", text, joined(block.index), dimension);
        break;
      }
    }
  }
  return text;
}

std::string signature_text(const TaskValue& task) {
  const std::string arguments =
      joined(task.arguments, [](const Argument& argument) { return text_of(argument); });
  std::string positions;
  for (const std::string& name : task.positions) {
    positions += (arguments.empty() && positions.empty() ? "position " : ", position ") + name;
  }
  return fmt::format("task {}({}{})", task.name, arguments, positions);
}

std::string print_tasks(const TaskText& text) {
  std::string out;
  for (const TaskValue& task : text.library.tasks) out += signature_text(task) + "\n";
  for (const TaskValue& task : text.library.tasks) {
    for (const Variant& variant : task.variants) out += "\n" + text_of(task, variant);
  }
  for (const Mapping& mapping : text.mappings) out += "\n" + print_mapping(mapping);
  return out;
}

}  // namespace twill::tasks
