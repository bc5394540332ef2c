#pragma once

#include <memory>

#include "twill/driver/plan_loop.h"

/// Internal to the driver.
namespace twill::driver {

/// Walks the list of candidates of a loop as the reading has it: `answer_loop` says which these
/// are.
Result<PlannedLoop> walk(const Request& request, std::shared_ptr<const Reading> reading,
                         const AnswerChoice& choice);

}  // namespace twill::driver
