#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: reading JSON, with complaints that name its places.
namespace twill::plan {

/// Indices by name, that references go to.
using PlanNames = std::map<std::string, std::size_t, std::less<>>;

/// A value of the JSON with its path. Every accessor fails with that path.
class PlanJson {
 public:
  PlanJson(const nlohmann::json& json, std::string path, const std::string& file)
      : json_(&json), path_(std::move(path)), file_(&file) {}

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

  /// One of `all`, as `name_of` spells them.
  template <class Enum>
  Result<Enum> named(const char* name, std::initializer_list<Enum> all) const {
    TWILL_TRY(const PlanJson member, at(name));
    TWILL_TRY(const std::string word, member.text());
    for (const Enum value : all) {
      if (name_of(value) == word) return value;
    }
    return member.wrong("is '" + word + "', which is not known here");
  }

  /// The index that the member `name` refers to.
  Result<std::size_t> reference(const char* name, const PlanNames& known) const;
  Result<std::size_t> reference(const PlanNames& known) const;

 private:
  const nlohmann::json* json_;
  std::string path_;
  const std::string* file_;
};

}  // namespace twill::plan
