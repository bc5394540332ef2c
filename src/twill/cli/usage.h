#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace twill::cli {

/// A fault of a command line, with a hint.
struct UsageError {
  std::string message;
  std::string hint;
};

/// The command that was named last: `twill emit smtlib` of `twill emit smtlib --help`.
const CLI::App& innermost(const CLI::App& app);

/// `error` in words: names misspelt commands and options, and suggests the right ones. `arguments`
/// are those of `main`, without the program's name.
UsageError usage_error(const CLI::App& app, const CLI::ParseError& error, int count,
                       char** arguments);

}  // namespace twill::cli
