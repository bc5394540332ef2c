#include "twill/gate/verdict.h"

#include <nlohmann/json.hpp>

#include "twill/support/sha256.h"

namespace twill::gate {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::accepted:
      return "accepted";
    case Standing::refused:
      return "refused";
    case Standing::unchecked:
      return "unchecked";
  }
  return "";
}

Standing Verdict::standing() const {
  if (!unchecked.empty()) return Standing::unchecked;
  return refusals.empty() ? Standing::accepted : Standing::refused;
}

std::string words_of(const Verdict& verdict) {
  if (verdict.standing() == Standing::unchecked) {
    return "spills and machine code not checked: " + verdict.unchecked;
  }
  const std::string word(name_of(verdict.standing()));
  const bool unread = verdict.standing() == Standing::accepted && !verdict.code_unread.empty();
  return unread ? word + ", machine code not checked: " + verdict.code_unread : word;
}

std::string status_json(const Verdict& verdict, const std::string& name, std::string_view text) {
  const Standing standing = verdict.standing();
  const bool read = standing != Standing::unchecked && verdict.code_unread.empty();
  Json json;
  json["format"] = "twill-kernel-status";
  json["version"] = 1;
  json["status"] = name_of(standing);
  json["machine_code"] = read ? "checked" : "not checked";
  json["reasons"] = verdict.refusals;
  if (standing == Standing::unchecked) json["reasons"].push_back(verdict.unchecked);
  if (!verdict.code_unread.empty()) json["reasons"].push_back(verdict.code_unread);
  json["facts"] = verdict.facts;
  json["source"] = name;
  json["source_sha256"] = sha256(text);
  json["cubin"] = verdict.cubin.empty() ? Json() : Json("kernel.cubin");
  json["toolchain"] = {{"nvcc", text_or_null(verdict.nvcc)},
                       {"nvcc_release", text_or_null(verdict.nvcc_release)},
                       {"nvdisasm", text_or_null(verdict.nvdisasm)}};
  constexpr auto kReplace = Json::error_handler_t::replace;  // output may not be UTF-8
  return json.dump(2, ' ', false, kReplace) + "\n";
}

}  // namespace twill::gate
