#include "twill/plan/json_node.h"

#include <nlohmann/json.hpp>

namespace twill::plan {

/// A value, and the document that it is in.
struct PlanJson::Value {
  std::shared_ptr<const nlohmann::json> document;
  const nlohmann::json* json = nullptr;

  std::shared_ptr<const Value> part(const nlohmann::json& inner) const {
    return std::make_shared<const Value>(Value{document, &inner});
  }
};

PlanJson::PlanJson(std::shared_ptr<const Value> value, std::string path, const std::string& file)
    : value_(std::move(value)), path_(std::move(path)), file_(file) {}

Result<PlanJson> PlanJson::parse(std::string_view text, const std::string& file) {
  try {
    auto document = std::make_shared<const nlohmann::json>(nlohmann::json::parse(text));
    const nlohmann::json* const whole = document.get();
    return PlanJson(std::make_shared<const Value>(Value{std::move(document), whole}), "", file);
  } catch (const nlohmann::json::parse_error& error) {
    return fail_at(text, error.byte == 0 ? 0 : error.byte - 1, file, "not valid JSON");
  } catch (const nlohmann::json::exception&) {  // a number that no type can hold
    return fail({file}, "not valid JSON: a number in it is out of range");
  }
}

tl::unexpected<Diagnostic> PlanJson::wrong(const std::string& message) const {
  return fail({file_}, (path_.empty() ? "the plan" : path_) + " " + message,
              "docs/reference/plan-json.md describes the format");
}

bool PlanJson::has(const char* name) const {
  return value_->json->is_object() && value_->json->contains(name);
}
bool PlanJson::is_null() const { return value_->json->is_null(); }

Result<PlanJson> PlanJson::at(const char* name) const {
  if (!has(name)) return wrong(std::string("has no member '") + name + "'");
  return PlanJson(value_->part(value_->json->at(name)), path_ + "/" + name, file_);
}

Result<std::vector<PlanJson>> PlanJson::elements() const {
  if (!value_->json->is_array()) return wrong("is not an array");
  std::vector<PlanJson> nodes;
  for (std::size_t i = 0; i < value_->json->size(); ++i) {
    nodes.push_back(
        PlanJson(value_->part((*value_->json)[i]), path_ + "/" + std::to_string(i), file_));
  }
  return nodes;
}

Result<std::vector<PlanJson>> PlanJson::list(const char* name) const {
  TWILL_TRY(const PlanJson member, at(name));
  return member.elements();
}

Result<std::string> PlanJson::text() const {
  if (!value_->json->is_string()) return wrong("is not a string");
  return value_->json->get<std::string>();
}

Result<std::string> PlanJson::text(const char* name) const {
  TWILL_TRY(const PlanJson member, at(name));
  return member.text();
}

Result<std::int64_t> PlanJson::number() const {
  const bool fits = value_->json->is_number_integer() &&
                    (!value_->json->is_number_unsigned() ||
                     value_->json->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits) return wrong("is not an integer of 64 bits");
  return value_->json->get<std::int64_t>();
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
  if (!member.value_->json->is_boolean()) return member.wrong("is not true or false");
  return member.value_->json->get<bool>();
}

Result<std::size_t> PlanJson::reference(const char* name, const PlanNames& known) const {
  TWILL_TRY(const PlanJson member, at(name));
  return member.reference(known);
}

Result<std::size_t> PlanJson::reference(const PlanNames& known) const {
  TWILL_TRY(const std::string word, text());
  const auto found = known.find(word);
  if (found == known.end()) return wrong("names '" + word + "', which does not exist");
  return found->second;
}

}  // namespace twill::plan
