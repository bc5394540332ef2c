#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: reading JSON with complaints that name its places.
namespace twill::plan::json {

using Json = nlohmann::json;
using Names = std::map<std::string, std::size_t, std::less<>>;

/// A value of the JSON with its path. Every accessor fails with that path.
class Node {
 public:
  Node(const Json& json, std::string path, const std::string& file)
      : json_(&json), path_(std::move(path)), file_(&file) {}

  tl::unexpected<Diagnostic> wrong(const std::string& message) const {
    return fail({*file_}, (path_.empty() ? "the plan" : path_) + " " + message,
                "docs/reference/plan-json.md describes the format");
  }
  bool has(const char* name) const { return json_->is_object() && json_->contains(name); }
  bool is_null() const { return json_->is_null(); }

  Result<Node> at(const char* name) const {
    if (!has(name)) return wrong(std::string("has no member '") + name + "'");
    return Node(json_->at(name), path_ + "/" + name, *file_);
  }

  Result<std::vector<Node>> elements() const {
    if (!json_->is_array()) return wrong("is not an array");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < json_->size(); ++i) {
      nodes.push_back(Node((*json_)[i], path_ + "/" + std::to_string(i), *file_));
    }
    return nodes;
  }
  Result<std::vector<Node>> list(const char* name) const { return of(name, &Node::elements); }

  Result<std::string> text() const {
    if (!json_->is_string()) return wrong("is not a string");
    return json_->get<std::string>();
  }
  Result<std::string> text(const char* name) const { return of<std::string>(name, &Node::text); }

  Result<std::int64_t> number(const char* name) const {
    return of<std::int64_t>(name, &Node::number);
  }
  Result<std::int64_t> number() const {
    const bool fits =
        json_->is_number_integer() &&
        (!json_->is_number_unsigned() || json_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits) return wrong("is not an integer of 64 bits");
    return json_->get<std::int64_t>();
  }
  Result<std::vector<std::int64_t>> numbers(const char* name) const {
    TWILL_TRY(const std::vector<Node> nodes, list(name));
    std::vector<std::int64_t> numbers;
    for (const Node& node : nodes) {
      TWILL_TRY(numbers.emplace_back(), node.number());
    }
    return numbers;
  }
  Result<int> small(const char* name) const {
    TWILL_TRY(const std::int64_t value, number(name));
    const bool fits = value >= -1'000'000'000 && value <= 1'000'000'000;
    if (!fits) return wrong(std::string("/") + name + " is out of range");
    return static_cast<int>(value);
  }
  Result<bool> flag(const char* name, bool otherwise) const {
    if (!has(name)) return otherwise;
    TWILL_TRY(const Node member, at(name));
    if (!member.json_->is_boolean()) return member.wrong("is not true or false");
    return member.json_->get<bool>();
  }

  /// One of `all`, as `name_of` spells them.
  template <class Enum>
  Result<Enum> named(const char* name, std::initializer_list<Enum> all) const {
    TWILL_TRY(const Node member, at(name));
    TWILL_TRY(const std::string word, member.text());
    for (const Enum value : all) {
      if (name_of(value) == word) return value;
    }
    return member.wrong("is '" + word + "', which is not known here");
  }

  /// The index that the member `name` refers to.
  Result<std::size_t> reference(const char* name, const Names& known) const {
    TWILL_TRY(const Node member, at(name));
    return member.reference(known);
  }
  Result<std::size_t> reference(const Names& known) const {
    TWILL_TRY(const std::string word, text());
    const auto found = known.find(word);
    if (found == known.end()) return wrong("names '" + word + "', which there is not");
    return found->second;
  }

 private:
  template <class Value>
  Result<Value> of(const char* name, Result<Value> (Node::*read)() const) const {
    TWILL_TRY(const Node member, at(name));
    return (member.*read)();
  }

  const Json* json_;
  std::string path_;
  const std::string* file_;
};

}  // namespace twill::plan::json
