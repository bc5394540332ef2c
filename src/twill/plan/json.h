#pragma once

#include <string>
#include <string_view>

#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

namespace twill::plan {

/// "version" of the JSON below; a reader refuses other versions.
inline constexpr int kPlanJsonVersion = 8;

/// The plan as JSON, documented in docs/reference/plan-json.md: all of it, so that reading it back
/// gives an equal Plan. The same plan gives the same bytes.
std::string plan_json(const Plan& plan);

/// Whether the text is JSON with the "format" of a plan, of any version.
bool is_plan_json(std::string_view text);

/// Reads the text of `plan_json`, also edited: only its form is checked here, and `prove` decides
/// whether it is safe. Fails on wrong JSON, missing members, unknown names, and if the hash is not
/// that of the embedded problem; the message has the path of the member.
Result<Plan> read_plan_json(std::string_view text, const std::string& file);

}  // namespace twill::plan
