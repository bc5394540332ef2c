#include "twill/machine/json_node.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/machine/json_location.h"
#include "twill/support/spelling.h"

namespace twill::machine {
namespace {

using Kind = JsonValue::Kind;

std::string found(const JsonValue& value) {
  switch (value.kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return value.flag ? "true" : "false";
    case Kind::number:
      return fmt::format("{:g}", value.number);
    case Kind::text:
      return in_quotes(value.text);
    case Kind::list:
      return "an array";
    case Kind::object:
      return "an object";
  }
  return "";
}

}  // namespace

tl::unexpected<Diagnostic> JsonNode::wrong(std::string_view message, std::string hint) const {
  std::string pointer;
  for (const std::string& segment : path_) pointer += "/" + segment;
  if (pointer.empty()) pointer = "the file";
  Diagnostic diagnostic;
  diagnostic.location = locate(document_->text, path_, document_->file);
  diagnostic.message = fmt::format("{}: {}", pointer, message);
  const std::string_view line = line_of(document_->text, diagnostic.location.line);
  diagnostic.source_line = std::string(line.substr(0, 200));
  diagnostic.hint = std::move(hint);
  return tl::unexpected(std::move(diagnostic));
}

tl::unexpected<Diagnostic> JsonNode::expected(std::string_view what) const {
  return wrong(fmt::format("expected {}, found {}", what, found(*value_)));
}

JsonNode JsonNode::child(std::string name, const JsonValue& value) const {
  JsonNode node = *this;
  node.value_ = &value;
  node.path_.push_back(std::move(name));
  return node;
}

std::optional<JsonNode> JsonNode::find(std::string_view name) const {
  for (std::size_t i = 0; i < value_->names.size(); ++i) {
    if (value_->names[i] == name) return child(value_->names[i], value_->items[i]);
  }
  return std::nullopt;
}

Result<JsonNode> JsonNode::at(std::string_view name) const {
  if (value_->kind != Kind::object) return expected("an object");
  if (auto node = find(name)) return *std::move(node);
  return wrong(fmt::format("the member \"{}\" is missing", name));
}

Result<std::vector<JsonNode>> JsonNode::items() const {
  if (value_->kind != Kind::list) return expected("an array");
  std::vector<JsonNode> nodes;
  for (const JsonValue& item : value_->items) {
    nodes.push_back(child(std::to_string(nodes.size()), item));
  }
  return nodes;
}

Result<std::vector<JsonNode>> JsonNode::members() const {
  if (value_->kind != Kind::object) return expected("an object");
  std::vector<JsonNode> nodes;
  for (std::size_t i = 0; i < value_->names.size(); ++i) {
    nodes.push_back(child(value_->names[i], value_->items[i]));
  }
  return nodes;
}

Result<void> JsonNode::only(std::initializer_list<std::string_view> names) const {
  TWILL_TRY(const auto nodes, members());
  for (const JsonNode& node : nodes) {
    if (std::find(names.begin(), names.end(), node.name()) == names.end()) {
      return node.wrong("unknown member", did_you_mean(node.name(), {names.begin(), names.size()}));
    }
  }
  return {};
}

Result<std::string> JsonNode::text() const {
  if (value_->kind != Kind::text) return expected("a string");
  return value_->text;
}

Result<bool> JsonNode::flag() const {
  if (value_->kind != Kind::boolean) return expected("true or false");
  return value_->flag;
}

Result<double> JsonNode::number(double least, double most) const {
  if (value_->kind == Kind::number && value_->number >= least && value_->number <= most) {
    return value_->number;
  }
  return expected(fmt::format("a number from {:g} to {:g}", least, most));
}

Result<int> JsonNode::integer(int least, int most) const {
  if (value_->kind == Kind::number && value_->whole && value_->number >= least &&
      value_->number <= most) {
    return static_cast<int>(value_->number);
  }
  return expected(fmt::format("a whole number from {} to {}", least, most));
}

Result<std::size_t> JsonNode::one_of(std::span<const std::string_view> names) const {
  TWILL_TRY(const std::string word, text());
  const auto place = std::find(names.begin(), names.end(), word);
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  return wrong(fmt::format("expected one of {}, found {}", fmt::join(names, ", "), in_quotes(word)),
               did_you_mean(word, names));
}

}  // namespace twill::machine
