#include "twill/cli/usage.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "twill/support/spelling.h"

namespace twill::cli {
namespace {

using Words = std::vector<std::string>;

/// The command's full name: " emit smtlib" for `twill emit smtlib`; empty for `twill` itself.
std::string path_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return "";
  return " " + chosen.front()->get_name() + path_of(*chosen.front());
}

Words commands_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

Words options_of(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string meant(std::string_view word, const Words& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return did_you_mean(word, candidates);
}

bool is_file(const std::string& word) {
  std::error_code ignored;
  const std::string ending = std::filesystem::path(word).extension().string();
  return ending == ".ttgir" || ending == ".loop" || std::filesystem::exists(word, ignored);
}

/// The words that no command took, in the order in which they were typed.
Words left_over(const CLI::App& app, std::span<char*> arguments) {
  const Words rest = app.remaining(true);
  Words words;
  for (const char* argument : arguments) {
    if (std::find(rest.begin(), rest.end(), argument) != rest.end()) words.emplace_back(argument);
  }
  return words;
}

std::string list_hint(const std::string& path) {
  return fmt::format("`twill{} --help` lists what there is", path);
}

/// Error of a command line that names no known command: `twill shedule K`, `twill K`, `twill emit
/// K`. Precondition: `at` has commands.
UsageError missing_command(const CLI::App& at, const std::string& path, const Words& rest) {
  const Words commands = commands_of(at);
  const bool is_top = path.empty();
  const std::string what =
      is_top ? "a command is required"
             : fmt::format("{} what? {}", at.get_name(), fmt::join(commands, " or "));
  const auto word = std::find_if(rest.begin(), rest.end(),
                                 [](const std::string& it) { return !it.starts_with("-"); });
  if (word == rest.end()) return {what, list_hint(path)};
  std::string hint = meant(*word, commands);
  if (hint.empty() && is_file(*word)) {
    hint = fmt::format("did you mean `twill{} {} {}`?", path, commands.front(), *word);
    if (!is_top) return {what, hint};
  }
  return {fmt::format("there is no command {}", in_quotes(*word)),
          hint.empty() ? list_hint(path) : hint};
}

/// The fault of an unknown option; empty if all are known.
std::optional<UsageError> unknown_option(const CLI::App& at, const std::string& path,
                                         const Words& rest) {
  for (const std::string& word : rest) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || name.size() < 3) continue;
    const std::string hint = meant(name, options_of(at));
    return UsageError{fmt::format("`twill{}` has no option {}", path, name),
                      hint.empty() ? list_hint(path) : hint};
  }
  return std::nullopt;
}

}  // namespace

const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

UsageError usage_error(const CLI::App& app, const CLI::ParseError& error, int count,
                       char** arguments) {
  const CLI::App& at = innermost(app);
  const std::string path = path_of(app);
  const Words rest = left_over(app, {arguments, static_cast<std::size_t>(std::max(count, 0))});
  const bool is_left_over = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                            dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (is_left_over && !commands_of(at).empty()) {
    return missing_command(at, path, rest);
  }
  if (is_left_over) {
    if (auto unknown = unknown_option(at, path, rest)) return *std::move(unknown);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !rest.empty()) {
    return {fmt::format("`twill{}` takes no {} here", path, in_quotes(rest.front())),
            list_hint(path)};
  }
  return {error.what(), list_hint(path)};
}

}  // namespace twill::cli
