#include "twill/emit/ttgir/words.h"

#include <string_view>

namespace twill::emit::ttgir {

std::string Words::shaped(ir::Type type) {
  std::string text;
  for (const std::int64_t extent : type->shape) text += std::to_string(extent) + "x";
  text += this->type(type->element);
  for (const ir::Attribute part : {type->encoding, type->memory_space}) {
    if (part != nullptr) text += ", " + layout(part);
  }
  if (type->is_mutable) text += ", mutable";
  for (std::size_t i = 0; i < type->alloc_shape.size(); ++i) {
    text += (i == 0 ? ", " : "x") + std::to_string(type->alloc_shape[i]);
  }
  return text;
}

std::string Words::type(ir::Type type) {
  switch (type->kind) {
    case ir::TypeKind::tensor:
      return "tensor<" + shaped(type) + ">";
    case ir::TypeKind::memdesc:
      return type->text.substr(0, type->text.find('<')) + short_type(type);
    case ir::TypeKind::tensordesc: {
      const bool short_form = spelling_ == dialect::Spelling::v3_8;
      return "!tt.tensordesc<" + (short_form ? shaped(type->element) : this->type(type->element)) +
             ">";
    }
    default:
      return type->text;
  }
}

std::string Words::short_type(ir::Type type) { return "<" + shaped(type) + ">"; }

std::string Words::types(const std::vector<ir::Type>& types) {
  std::string text;
  for (const ir::Type one : types) text += (text.empty() ? "" : ", ") + type(one);
  return types.size() == 1 ? text : "(" + text + ")";
}

/// A layout with the layouts in it by name.
std::string Words::body(ir::Attribute layout) {
  if (layout->entries.empty()) return layout->text;
  std::string text = "#" + layout->value + "<";
  const bool braces = layout->text.compare(text.size(), 1, "{") == 0;
  const std::string inside = entries(layout->entries);
  return text + (braces ? inside : inside.substr(1, inside.size() - 2)) + ">";
}

std::string Words::layout(ir::Attribute layout) {
  if (layout->kind != ir::AttributeKind::dialect) return layout->text;
  const auto known = names_.find(layout);
  if (known != names_.end()) return known->second;
  const std::string_view kind = std::string_view(layout->value).substr(layout->value.find('.') + 1);
  std::string name;
  if (kind == "nvidia_mma") name = "mma";
  if (kind == "blocked" || kind == "linear") name = kind;
  if (kind == "nvmma_shared") name = "shared";
  if (kind == "swizzled_shared")
    name = layout->entry("order")->elements.size() == 1 ? "bar" : "rows";
  if (kind == "shared_memory") name = "smem";
  if (name.empty()) return body(layout);
  const int number = taken_[name]++;
  name = "#" + name + (number == 0 ? "" : std::to_string(number));
  definitions_ += name + " = " + body(layout) + "\n";
  return names_[layout] = name;
}

std::string Words::entries(const std::vector<ir::NamedAttribute>& entries) {
  std::string text;
  for (const auto& [name, value] : entries) {
    text += (text.empty() ? "" : ", ") + ir::key_text(name);
    if (value->kind != ir::AttributeKind::unit) text += " = " + attribute(value);
  }
  return "{" + text + "}";
}

std::string Words::attribute(ir::Attribute attribute) {
  switch (attribute->kind) {
    case ir::AttributeKind::dialect:
      return layout(attribute);
    case ir::AttributeKind::dictionary:
      return entries(attribute->entries);
    case ir::AttributeKind::type:
      return type(attribute->type);
    case ir::AttributeKind::dense:
      return attribute->text.substr(0, attribute->text.size() - attribute->type->text.size()) +
             type(attribute->type);
    default:
      return attribute->text;
  }
}

}  // namespace twill::emit::ttgir
