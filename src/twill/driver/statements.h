#pragma once

#include <functional>
#include <optional>

#include "twill/driver/driver.h"

/// Internal to the driver: which statements of a mapping leave a kernel without a schedule.
namespace twill::driver {

/// The tunables of a mapping that together leave a kernel of tasks without a schedule (M14). With
/// smaller values of the others there is none either, proven. The message has changes with which a
/// schedule was found. Nothing for other kernels, without a proof that there is no schedule, or if
/// no smaller values were found to help. Cost: a search for a schedule for each of at most 100
/// mappings.
std::optional<Diagnostic> statements_without_schedule(const Request& request,
                                                      const report::Outcome& outcome);

/// Says why no module is made of tasks: the tunables that together cause it, and changes with which
/// one was made (M14). It is `why` for other kernels, or where smaller tiles do not help. Cost: as
/// above, with `is_made` as the question.
Diagnostic in_words_of_mapping(const Request& request, Diagnostic why,
                               const std::function<bool(const Request&)>& is_made);

}  // namespace twill::driver
