#include "twill/machine/read_parts.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "twill/support/spelling.h"

namespace twill::machine {

Result<std::string> name_in(const JsonNode& node) {
  TWILL_TRY(const JsonNode member, node.at("name"));
  TWILL_TRY(std::string name, member.text());
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > 60 || !letter(name[0]) ||
      !std::all_of(name.begin(), name.end(), follows)) {
    return member.expected("a name of letters, digits and '_', a letter first");
  }
  return name;
}

Result<std::string> text_in(const JsonNode& node, std::string_view member) {
  TWILL_TRY(const JsonNode child, node.at(member));
  return child.text();
}

Result<void> unique(const JsonNode& list, const std::vector<std::string_view>& names) {
  std::set<std::string_view> seen;
  for (const std::string_view name : names) {
    if (!seen.insert(name).second) return list.wrong(fmt::format("'{}' occurs twice", name));
  }
  return {};
}

Result<Quantity> quantity(const JsonNode& node, double least, double most) {
  TWILL_TRY(const JsonNode value, node.at("value"));
  TWILL_TRY(const JsonNode source, node.at("source"));
  Quantity result;
  TWILL_TRY(result.value, value.number(least, most));
  TWILL_TRY(result.unit, text_in(node, "unit"));
  TWILL_TRY(result.source, source.text());
  const auto& sources = node.document().sources;
  const auto found = sources.find(result.source);
  if (found == sources.end()) return source.wrong("no such key in /sources");
  result.measured = found->second.measured;
  result.source = found->second.text;
  return result;
}

Result<Quantity> plain_quantity(const JsonNode& parent, std::string_view member,
                                std::string_view unit, double least, double most) {
  TWILL_TRY(const JsonNode node, parent.at(member));
  TWILL_TRY_VOID(node.only({"value", "unit", "source"}));
  TWILL_TRY(Quantity result, quantity(node, least, most));
  if (result.unit != unit) {
    return node.wrong(
        fmt::format("expected the unit \"{}\", found {}", unit, in_quotes(result.unit)));
  }
  return result;
}

Result<bool> flag_in(const JsonNode& node, std::string_view key) {
  const auto flag = node.find(key);
  return flag ? flag->flag() : Result<bool>(false);
}

}  // namespace twill::machine
