#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: reading JSON, with complaints that name its places.
namespace twill::plan {

/// Indices of named objects, for references.
using PlanNames = std::map<std::string, std::size_t, std::less<>>;

/// A value of the JSON with its path. Every accessor fails with that path.
class PlanJson {
 public:
  /// Reads a whole text. Fails, with the place in `file`, if the text is no JSON.
  static Result<PlanJson> parse(std::string_view text, const std::string& file);

  tl::unexpected<Diagnostic> wrong(const std::string& message) const;
  bool has(const char* name) const;
  bool is_null() const;

  Result<PlanJson> at(const char* name) const;
  Result<std::vector<PlanJson>> elements() const;
  Result<std::vector<PlanJson>> list(const char* name) const;
  Result<std::string> text() const;
  Result<std::string> text(const char* name) const;
  Result<std::int64_t> number() const;
  Result<std::int64_t> number(const char* name) const;
  Result<std::vector<std::int64_t>> numbers(const char* name) const;
  Result<int> small(const char* name) const;
  Result<bool> flag(const char* name, bool otherwise) const;

  /// One of the values `all`, as `name_of` spells them.
  template <class Enum>
  Result<Enum> named(const char* name, std::initializer_list<Enum> all) const {
    TWILL_TRY(const PlanJson member, at(name));
    TWILL_TRY(const std::string word, member.text());
    for (const Enum value : all) {
      if (name_of(value) == word) return value;
    }
    return member.wrong("is '" + word + "', which is not known here");
  }

  /// The index to which the member `name` refers.
  Result<std::size_t> reference(const char* name, const PlanNames& known) const;
  Result<std::size_t> reference(const PlanNames& known) const;

 private:
  struct Value;
  PlanJson(std::shared_ptr<const Value> value, std::string path, const std::string& file);

  std::shared_ptr<const Value> value_;
  std::string path_, file_;
};

}  // namespace twill::plan
