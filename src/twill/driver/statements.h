#pragma once

#include <functional>
#include <optional>

#include "twill/driver/driver.h"

/// Internal to the driver: statements of a mapping that leave a kernel without a schedule.
namespace twill::driver {

/// The tunables of a mapping that together leave a kernel of tasks without a schedule (M14).
/// Proven: smaller values of the other tunables do not help. The message has changes with which a
/// schedule was found. nullopt for other kernels, without a proof that there is no schedule, or if
/// smaller values did not help. Cost: a search for a schedule for each of at most 100 mappings.
std::optional<Diagnostic> statements_without_schedule(const Request& request,
                                                      const report::Outcome& outcome);

/// Reason why tasks make no module: the tunables that together cause it, and changes with which a
/// module was made (M14). Returns `why` for other kernels, or if smaller tiles do not help. Cost:
/// as above, with `is_made` as the question.
Diagnostic in_words_of_mapping(const Request& request, Diagnostic why,
                               const std::function<bool(const Request&)>& is_made);

}  // namespace twill::driver
