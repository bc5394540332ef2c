#pragma once

#include <memory>

#include "twill/driver/plan_loop.h"

/// Internal to the driver.
namespace twill::driver {

/// Walks the list of candidates of a loop that was read; `answer_loop` documents them.
Result<PlannedLoop> walk(const Request& request, std::shared_ptr<const Reading> reading,
                         const AnswerChoice& choice);

}  // namespace twill::driver
