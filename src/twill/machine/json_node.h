#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/machine/json_value.h"

namespace twill::machine {

/// Machine file under construction: its JSON and the sources that numbers name.
struct Document {
  struct Source {
    std::string text;
    bool measured = false;
  };
  std::string_view text;
  std::string file;
  JsonValue root;
  std::map<std::string, Source, std::less<>> sources;  ///< from the member /sources
};

/// A value of the document together with its path from the root. Every reading function fails with
/// the place of the value, its path ("/pipes/0/name"), what is expected there and what was found.
class JsonNode {
 public:
  explicit JsonNode(const Document& document) : document_(&document), value_(&document.root) {}

  /// A failure about this value.
  tl::unexpected<Diagnostic> wrong(std::string_view message, std::string hint = {}) const;
  tl::unexpected<Diagnostic> expected(std::string_view what) const;

  std::optional<JsonNode> find(std::string_view name) const;
  Result<JsonNode> at(std::string_view name) const;
  Result<std::vector<JsonNode>> items() const;
  Result<std::vector<JsonNode>> members() const;
  /// Fails if the object has a member that is not among `names`.
  Result<void> only(std::initializer_list<std::string_view> names) const;

  Result<std::string> text() const;
  Result<bool> flag() const;
  Result<double> number(double least, double most) const;
  Result<int> integer(int least, int most) const;
  /// The index among `names` of the string at this value.
  Result<std::size_t> one_of(std::span<const std::string_view> names) const;

  const std::string& name() const { return path_.back(); }  ///< precondition: not the root
  const Document& document() const { return *document_; }

 private:
  JsonNode child(std::string name, const JsonValue& value) const;

  const Document* document_;
  const JsonValue* value_;
  std::vector<std::string> path_;
};

}  // namespace twill::machine
