#pragma once

#include <string>
#include <vector>

#include "twill/driver/driver.h"

namespace CLI {
class App;
}

namespace twill::cli {

/// The options that a command was given, as "--pool", in the order of its help.
std::vector<std::string> options_given(const CLI::App& command);

/// Warnings about options without an effect. Reasons: a `.loop` text or the JSON of a schedule or
/// plan has decided the question already, or another option is missing.
std::vector<Diagnostic> ignored_options(const std::vector<std::string>& given,
                                        const driver::Input& input);

/// Puts these warnings before those that an outcome has.
void add_ignored(const std::vector<std::string>& given, const driver::Input& input,
                 report::Outcome& outcome);

}  // namespace twill::cli
