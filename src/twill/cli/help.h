#pragma once

#include <string>

namespace CLI {
class App;
}

namespace twill::cli {

/// Gives the command and all below it help texts of at most 100 columns, with options in groups.
/// To be called when all commands and options are there.
void format_help(CLI::App& app);

/// The help text of a command, whose usage line names it in full: `twill emit cuda`.
std::string help_of(const CLI::App& command);

}  // namespace twill::cli
