#include "twill/machine/json_value.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "twill/machine/json_location.h"

namespace twill::machine {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 64;

/// Refuses JSON that machine files do not allow: repeated members, and deep nesting.
class Watch {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& value) {
    if (depth > kDeepest) objection_ = "nested too deeply";
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(value).second) {
      objection_ = fmt::format("the member {} occurs twice in one object",
                               value.dump(-1, ' ', true, Json::error_handler_t::replace));
    }
    return objection_.empty();
  }
  const std::string& objection() const { return objection_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::string objection_;
};

/// Precondition: nested at most kDeepest deep.
JsonValue value_of(const Json& json) {
  JsonValue value;
  if (json.is_object()) {
    value.kind = JsonValue::Kind::object;
    for (const auto& [name, member] : json.items()) {
      value.names.push_back(name);
      value.items.push_back(value_of(member));
    }
  } else if (json.is_array()) {
    value.kind = JsonValue::Kind::list;
    for (const Json& item : json) value.items.push_back(value_of(item));
  } else if (json.is_string()) {
    value.kind = JsonValue::Kind::text;
    value.text = json.get<std::string>();
  } else if (json.is_number()) {
    value.kind = JsonValue::Kind::number;
    value.number = json.get<double>();
    value.whole = json.is_number_integer();
  } else if (json.is_boolean()) {
    value.kind = JsonValue::Kind::boolean;
    value.flag = json.get<bool>();
  }
  return value;
}

/// The parser's reason, without its name, error number and position.
std::string reason_of(const Json::parse_error& error) {
  const std::string_view what = error.what();
  const std::size_t begin = what.rfind(" - ");
  const std::string_view reason = begin == std::string_view::npos ? what : what.substr(begin + 3);
  constexpr std::size_t kMost = 120;
  return std::string(reason.substr(0, kMost));
}

/// Start of the innermost object, array or string that is open at `end`; nothing if none is open.
std::optional<std::size_t> open_at(std::string_view text, std::size_t end) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < std::min(end, text.size()); ++i) {
    const bool in_string = !open.empty() && text[open.back()] == '"';
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (in_string ? text[i] == '"' : text[i] == '}' || text[i] == ']') {
      if (!open.empty()) open.pop_back();
    } else if (!in_string && (text[i] == '"' || text[i] == '{' || text[i] == '[')) {
      open.push_back(i);
    }
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

}  // namespace

Result<JsonValue> parse_json(std::string_view text, const std::string& file) {
  Watch watch;
  try {
    const Json json = Json::parse(text, std::ref(watch));
    if (!watch.objection().empty()) return fail({file}, watch.objection());
    return value_of(json);
  } catch (const Json::parse_error& error) {
    const std::size_t at = error.byte > 0 ? error.byte - 1 : 0;
    const auto open = open_at(text, at);
    if (at < text.size())
      return fail_at(text, at, file, "not valid JSON here: " + reason_of(error));
    if (!open) return fail_at(text, at, file, "the file ends where a value is expected");
    const Location begin = location_at(text, *open, file);
    return fail_at(text, at, file,
                   fmt::format("the file ends inside the {} of line {}",
                               text[*open] == '"' ? "string" : std::string("'") + text[*open] + "'",
                               begin.line));
  } catch (const Json::out_of_range&) {
    return fail({file}, "a number is too large for any use");
  }
}

}  // namespace twill::machine
