#include "twill/frontend/tasks/formula.h"

#include <fmt/format.h>

#include "twill/ir/user_function.h"
#include "twill/tasks/evaluate.h"

namespace twill::frontend::from_tasks {
namespace {

using tasks::Function;
using tasks::Scalar;

/// "f16 " for numbers that are rounded to f16.
std::string rounding_of(Scalar scalar) {
  const bool rounds = scalar == Scalar::f16 || scalar == Scalar::bf16;
  return rounds ? std::string(name_of(scalar)) + " " : std::string();
}

class FormulaText {
 public:
  FormulaText(const tasks::Leaf& leaf, const std::vector<tasks::NodeType>& types,
              const std::vector<tasks::ElementArgument>& arguments)
      : leaf_(leaf), types_(types), arguments_(arguments) {}

  Result<std::string> run() {
    TWILL_TRY_VOID(add(leaf_.outputs[0].node));
    return std::move(out_);
  }

 private:
  Result<void> add(std::size_t index) {
    constexpr std::size_t kMostWords = 4096;
    const tasks::Node& node = leaf_.nodes[index];
    if (++count_ > kMostWords) {
      return tasks::fail_task("T15", leaf_.external ? leaf_.external->where : node.where,
                              fmt::format("its meaning has more than {} functions", kMostWords));
    }
    for (std::size_t a = 0; a < arguments_.size(); ++a) {
      if (arguments_[a].node != index) continue;
      out_ += fmt::format("x{} ", a);
      return {};
    }
    if (node.function == Function::constant) {
      out_ += fmt::format("{} ", static_cast<float>(node.number));
      return {};
    }
    std::string of_numbers;  // numbers among the operands
    for (const std::size_t operand : node.operands) {
      if (!types_[operand].is_constant) of_numbers = rounding_of(types_[operand].scalar);
    }
    for (const std::size_t operand : node.operands) {
      TWILL_TRY_VOID(add(operand));
      if (types_[operand].is_constant) out_ += of_numbers;
    }
    if (node.function != Function::cast) {
      out_ += std::string(ir::name_of(tasks::word_of(node.function))) + " ";
    }
    out_ += rounding_of(types_[index].scalar);
    return {};
  }

  const tasks::Leaf& leaf_;
  const std::vector<tasks::NodeType>& types_;
  const std::vector<tasks::ElementArgument>& arguments_;
  std::size_t count_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> formula_of(const tasks::Leaf& leaf, const std::vector<tasks::NodeType>& types,
                               const std::vector<tasks::ElementArgument>& arguments) {
  return FormulaText(leaf, types, arguments).run();
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    out += plain ? std::string(1, c) : fmt::format("\\{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace twill::frontend::from_tasks
