#pragma once

#include <string>
#include <string_view>

#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

namespace twill::plan {

/// "version" of the JSON below; a reader refuses other versions.
inline constexpr int kPlanJsonVersion = 9;

/// The whole plan as JSON (docs/reference/plan-json.md), so that reading it back gives an equal
/// Plan. The same plan gives the same bytes.
std::string plan_json(const Plan& plan);

/// Whether the text is JSON with the "format" of a plan, of any version.
bool is_plan_json(std::string_view text);

/// Reads the text of `plan_json`, also edited. Only its form is checked here; `prove` decides
/// whether it is safe. Fails on wrong JSON, missing members, unknown names, and a hash that does
/// not match the embedded problem. The message has the path of the member.
Result<Plan> read_plan_json(std::string_view text, const std::string& file);

}  // namespace twill::plan
