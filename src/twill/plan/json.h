#pragma once

#include <string>
#include <string_view>

#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

namespace twill::plan {

/// "version" of the JSON below; a reader refuses what it does not know.
inline constexpr int kPlanJsonVersion = 5;

/// The plan as JSON, documented in docs/reference/plan-json.md: all of it, so that reading it back
/// gives an equal Plan. The same plan gives the same bytes.
std::string plan_json(const Plan& plan);

/// Whether the text is JSON that says of itself that it is a plan, of whatever version.
bool is_plan_json(std::string_view text);

/// Reads what `plan_json` prints, or what somebody made of it: only its form is checked here,
/// `prove` says whether it is safe. Fails on wrong JSON, missing members, unknown names, and if the
/// hash is not that of the embedded problem; the message has the path of the member.
Result<Plan> read_plan_json(std::string_view text, const std::string& file);

}  // namespace twill::plan
