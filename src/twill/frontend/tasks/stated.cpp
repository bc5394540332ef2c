#include "twill/frontend/tasks/stated.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "twill/ir/type.h"

namespace twill::frontend {
namespace {

// Names of attributes. Each attribute is a dictionary: {value, file, line, column}.
constexpr std::string_view kMachineKey = "twill.machine";
constexpr std::string_view kSharedKey = "twill.shared_limit";
constexpr std::string_view kSpecializeKey = "twill.specialize";
constexpr std::string_view kDepthKey = "twill.depth";

ir::Attribute attribute_named(const ir::Op& op, std::string_view name) {
  const auto found = std::find_if(op.attributes.begin(), op.attributes.end(),
                                  [&](const ir::NamedAttribute& it) { return it.first == name; });
  return found == op.attributes.end() ? nullptr : found->second;
}

std::int64_t integer_of(ir::Attribute all, std::string_view key) {
  const ir::Attribute found = all->entry(key);
  return found == nullptr ? 0 : found->integer;
}

std::optional<StatedNumber> number_at(const ir::Op& op, std::string_view name) {
  const ir::Attribute found = attribute_named(op, name);
  if (found == nullptr || found->kind != ir::AttributeKind::dictionary) return std::nullopt;
  StatedNumber number{integer_of(found, "value"), {}};
  if (const ir::Attribute file = found->entry("file")) number.where.file = file->value;
  number.where.line = static_cast<int>(integer_of(found, "line"));
  number.where.column = static_cast<int>(integer_of(found, "column"));
  return number;
}

std::string dictionary_text(std::string_view name, std::int64_t value, const tasks::Where& where,
                            const std::string& file) {
  const std::string& from = where.at.file.empty() ? file : where.at.file;
  return fmt::format("{} = {{value = {} : i64, file = {}, line = {} : i64, column = {} : i64}}",
                     name, value, ir::string_text(from), where.at.line, where.at.column);
}

}  // namespace

Stated stated_by_mapping(const ir::Program& program, ir::OpId loop) {
  Stated stated;
  const ir::Op& module = program.op(program.module());
  if (const ir::Attribute machine = attribute_named(module, kMachineKey)) {
    stated.machine = machine->value;
  }
  stated.shared = number_at(module, kSharedKey);
  stated.specialize = number_at(module, kSpecializeKey);
  stated.depth = number_at(program.op(loop), kDepthKey);
  return stated;
}

namespace from_tasks {

std::string stated_text(const tasks::Tree& tree, const std::string& file) {
  std::string text;
  if (!tree.machine.empty()) {
    text += fmt::format(", {} = {}", kMachineKey, ir::string_text(tree.machine));
  }
  if (tree.shared) {
    text += ", " + dictionary_text(kSharedKey, tree.shared->bytes, tree.shared->where, file);
  }
  if (const auto& it = tree.specialize) {
    text += ", " + dictionary_text(kSpecializeKey, it->wanted ? 1 : 0, it->where, file);
  }
  return text;
}

std::string stated_text(const std::optional<tasks::Setting>& depth, const std::string& file) {
  if (!depth) return "";
  return " {" + dictionary_text(kDepthKey, depth->values[0], depth->where, file) + "}";
}

}  // namespace from_tasks

}  // namespace twill::frontend
