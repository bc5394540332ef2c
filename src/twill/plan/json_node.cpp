#include "twill/plan/json_node.h"

#include <nlohmann/json.hpp>

namespace twill::plan {

tl::unexpected<Diagnostic> PlanJson::wrong(const std::string& message) const {
  return fail({*file_}, (path_.empty() ? "the plan" : path_) + " " + message,
              "docs/reference/plan-json.md describes the format");
}

bool PlanJson::has(const char* name) const { return json_->is_object() && json_->contains(name); }
bool PlanJson::is_null() const { return json_->is_null(); }

Result<PlanJson> PlanJson::at(const char* name) const {
  if (!has(name)) return wrong(std::string("has no member '") + name + "'");
  return PlanJson(json_->at(name), path_ + "/" + name, *file_);
}

Result<std::vector<PlanJson>> PlanJson::elements() const {
  if (!json_->is_array()) return wrong("is not an array");
  std::vector<PlanJson> nodes;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    nodes.push_back(PlanJson((*json_)[i], path_ + "/" + std::to_string(i), *file_));
  }
  return nodes;
}

Result<std::vector<PlanJson>> PlanJson::list(const char* name) const {
  TWILL_TRY(const PlanJson member, at(name));
  return member.elements();
}

Result<std::string> PlanJson::text() const {
  if (!json_->is_string()) return wrong("is not a string");
  return json_->get<std::string>();
}

Result<std::string> PlanJson::text(const char* name) const {
  TWILL_TRY(const PlanJson member, at(name));
  return member.text();
}

Result<std::int64_t> PlanJson::number() const {
  const bool fits =
      json_->is_number_integer() &&
      (!json_->is_number_unsigned() || json_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits) return wrong("is not an integer of 64 bits");
  return json_->get<std::int64_t>();
}

Result<std::int64_t> PlanJson::number(const char* name) const {
  TWILL_TRY(const PlanJson member, at(name));
  return member.number();
}

Result<std::vector<std::int64_t>> PlanJson::numbers(const char* name) const {
  TWILL_TRY(const std::vector<PlanJson> nodes, list(name));
  std::vector<std::int64_t> numbers;
  for (const PlanJson& node : nodes) {
    TWILL_TRY(numbers.emplace_back(), node.number());
  }
  return numbers;
}

Result<int> PlanJson::small(const char* name) const {
  TWILL_TRY(const std::int64_t value, number(name));
  const bool fits = value >= -1'000'000'000 && value <= 1'000'000'000;
  if (!fits) return wrong(std::string("/") + name + " is out of range");
  return static_cast<int>(value);
}

Result<bool> PlanJson::flag(const char* name, bool otherwise) const {
  if (!has(name)) return otherwise;
  TWILL_TRY(const PlanJson member, at(name));
  if (!member.json_->is_boolean()) return member.wrong("is not true or false");
  return member.json_->get<bool>();
}

Result<std::size_t> PlanJson::reference(const char* name, const PlanNames& known) const {
  TWILL_TRY(const PlanJson member, at(name));
  return member.reference(known);
}

Result<std::size_t> PlanJson::reference(const PlanNames& known) const {
  TWILL_TRY(const std::string word, text());
  const auto found = known.find(word);
  if (found == known.end()) return wrong("names '" + word + "', which there is not");
  return found->second;
}

}  // namespace twill::plan
