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

/// Warnings about options that were given and change nothing: a `.loop` text, the JSON of a
/// schedule or the JSON of a plan has already decided what they are about, or another option is
/// missing.
std::vector<Diagnostic> ignored_options(const std::vector<std::string>& given,
                                        const driver::Input& input);

/// Puts these warnings before those that an outcome has.
void add_ignored(const std::vector<std::string>& given, const driver::Input& input,
                 report::Outcome& outcome);

}  // namespace twill::cli
