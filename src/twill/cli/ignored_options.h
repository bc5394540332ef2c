#pragma once

#include <string>
#include <vector>

#include "twill/driver/driver.h"

namespace twill::cli {

/// Warnings about options given without an effect. Reasons: a `.loop` text or the JSON of a
/// schedule or plan has decided the question already, or another option is missing.
std::vector<Diagnostic> ignored_options(const std::vector<std::string>& given,
                                        const driver::Input& input);

/// Puts these warnings before the warnings of an outcome.
void add_ignored(const std::vector<std::string>& given, const driver::Input& input,
                 report::Outcome& outcome);

}  // namespace twill::cli
