#include "twill/dialect/words.h"

#include <string_view>
#include <utility>

namespace twill::dialect {
namespace {

/// Short name of a layout; empty for a layout without one.
std::string short_name(ir::Attribute layout) {
  const std::string_view kind = std::string_view(layout->value).substr(layout->value.find('.') + 1);
  if (kind == "nvidia_mma") return "mma";
  if (kind == "blocked" || kind == "linear") return std::string(kind);
  if (kind == "nvmma_shared") return "shared";
  if (kind == "shared_memory") return "smem";
  if (kind != "swizzled_shared") return "";
  return layout->entry("order")->elements.size() == 1 ? "bar" : "rows";
}

}  // namespace

void Words::name(ir::Attribute attribute, std::string name) {
  attribute_names_.emplace(attribute, std::move(name));
}

void Words::name(ir::Type type, std::string name) { type_names_.emplace(type, std::move(name)); }

const std::string* Words::name_of(ir::Attribute attribute) const {
  const auto found = attribute_names_.find(attribute);
  return found == attribute_names_.end() ? nullptr : &found->second;
}

std::string Words::shaped(ir::Type type) {
  std::string text;
  for (const std::int64_t extent : type->shape) {
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  }
  text += this->type(type->element);
  for (const ir::Attribute part : {type->encoding, type->memory_space}) {
    if (part != nullptr) text += ", " + attribute(part);
  }
  if (type->is_mutable) text += ", mutable";
  for (std::size_t i = 0; i < type->alloc_shape.size(); ++i) {
    text += (i == 0 ? ", " : "x") + std::to_string(type->alloc_shape[i]);
  }
  return text;
}

std::string Words::type(ir::Type type) {
  const auto named = type_names_.find(type);
  if (named != type_names_.end()) return named->second;
  switch (type->kind) {
    case ir::TypeKind::tensor:
    case ir::TypeKind::memdesc:
      return type->text.substr(0, type->text.find('<')) + short_type(type);
    case ir::TypeKind::tensordesc: {
      const bool short_form = spelling_ == Spelling::v3_8;
      return "!tt.tensordesc<" + (short_form ? shaped(type->element) : this->type(type->element)) +
             ">";
    }
    default:
      return type->text;
  }
}

std::string Words::list(const std::vector<ir::Type>& types) {
  std::string text;
  for (const ir::Type one : types) text += (text.empty() ? "" : ", ") + type(one);
  return text;
}

std::string Words::types(const std::vector<ir::Type>& types) {
  return types.size() == 1 ? type(types.front()) : "(" + list(types) + ")";
}

std::string Words::body(ir::Attribute layout) {
  if (layout->entries.empty()) return layout->text;
  const std::string head = "#" + layout->value + "<", inside = entries(layout->entries);
  const bool braces = layout->text.compare(head.size(), 1, "{") == 0;
  return head + (braces ? inside : inside.substr(1, inside.size() - 2)) + ">";
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
  if (const std::string* known = name_of(attribute)) return *known;
  switch (attribute->kind) {
    case ir::AttributeKind::dialect: {
      std::string name = names_layouts_ ? short_name(attribute) : "";
      if (name.empty()) return body(attribute);
      const int number = taken_[name]++;
      name = "#" + name + (number == 0 ? "" : std::to_string(number));
      definitions_ += name + " = " + body(attribute) + "\n";
      return attribute_names_[attribute] = name;
    }
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

}  // namespace twill::dialect
