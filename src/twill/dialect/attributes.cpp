#include "twill/dialect/attributes.h"

#include <algorithm>

namespace twill::dialect {

ir::Attribute attribute(const ir::Op& op, std::string_view name) {
  const auto place =
      std::lower_bound(op.attributes.begin(), op.attributes.end(), name,
                       [](const auto& a, std::string_view n) { return a.first < n; });
  return place != op.attributes.end() && place->first == name ? place->second : nullptr;
}

std::optional<std::int64_t> integer_attribute(const ir::Op& op, std::string_view name) {
  const ir::Attribute found = attribute(op, name);
  if (found == nullptr) return std::nullopt;
  const bool known =
      found->kind == ir::AttributeKind::integer || found->kind == ir::AttributeKind::boolean;
  return known ? std::optional(found->integer) : std::nullopt;
}

std::optional<std::string_view> string_attribute(const ir::Op& op, std::string_view name) {
  const ir::Attribute found = attribute(op, name);
  if (found == nullptr || found->kind != ir::AttributeKind::string) return std::nullopt;
  return std::string_view(found->value);
}

std::optional<std::vector<std::int64_t>> integers_of(ir::Attribute attribute) {
  const bool is_list = attribute->kind == ir::AttributeKind::array ||
                       attribute->kind == ir::AttributeKind::dense_array ||
                       attribute->kind == ir::AttributeKind::dense;
  if (!is_list) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const ir::Attribute element : attribute->elements) {
    if (element->kind != ir::AttributeKind::integer &&
        element->kind != ir::AttributeKind::boolean) {
      return std::nullopt;
    }
    values.push_back(element->integer);
  }
  return values;
}

std::optional<std::vector<std::int64_t>> integers_attribute(const ir::Op& op,
                                                            std::string_view name) {
  const ir::Attribute found = attribute(op, name);
  return found == nullptr ? std::nullopt : integers_of(found);
}

}  // namespace twill::dialect
