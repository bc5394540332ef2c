#include "twill/cli/help.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "twill/support/text_table.h"

namespace twill::cli {
namespace {

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kHelpColumn = 30;  ///< column in which descriptions begin

struct OptionGroup {
  std::string_view title;
  std::vector<std::string_view> options;  ///< long names
};

/// Groups in the order of the help text. Options without a group come last.
const std::array<OptionGroup, 6>& option_groups() {
  static const std::array<OptionGroup, 6> groups = {{
      {"The loop and its costs",
       {"kernel", "map", "machine", "loop", "subtile", "pool", "rate", "strict",
        "already-pipelined", "may-overlap", "transfer-ops", "load-latency", "normalize", "literal",
        "ii", "length"}},
      {"The schedule",
       {"strategy", "depth", "ping-pong", "schedule", "alternatives", "alternative", "within",
        "work-limit"}},
      {"The kernel",
       {"tiles", "cluster", "ctas-per-sm", "spare-registers", "pins", "triton", "python", "compile",
        "no-compile", "instrument", "check", "ttgir"}},
      {"A run", {"trips", "jitter",     "numbers",    "size",      "arg",     "grid",    "seed",
                 "seeds", "completion", "interleave", "sms",       "timeout", "against", "keep",
                 "args",  "time-us",    "measured",   "clock-mhz", "input",   "at-least"}},
      {"Output",
       {"verbose", "json", "output", "html", "roles", "trace", "certificate", "timing", "tree",
        "mapping", "flow", "partitions", "variants", "text-first"}},
      {"Many inputs", {"batch", "jobs"}},
  }};
  return groups;
}

constexpr const char* kOtherOptions = "Other options";

/// The group that the option's command gave it, or the group listed for its name. Empty: the option
/// is hidden.
std::string group_of(const CLI::Option& option) {
  if (option.get_group().empty()) return "";
  for (const OptionGroup& group : option_groups()) {
    if (option.get_group() == group.title) return option.get_group();
  }
  for (const OptionGroup& group : option_groups()) {
    for (const std::string& name : option.get_lnames()) {
      const auto& known = group.options;
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        return std::string(group.title);
      }
    }
  }
  return kOtherOptions;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// "INT:1 to 64" of "INT:INT in [1 - 64]", as CLI11 names a type with a range.
std::string range_of(const std::string& type) {
  const std::size_t colon = type.find(':'), at = type.find(" in [");
  if (colon == std::string::npos || at == std::string::npos || type.back() != ']') return type;
  std::string range = type.substr(at + 5, type.size() - at - 6);
  if (const std::size_t dash = range.find(" - "); dash != std::string::npos) {
    range.replace(dash, 3, " to ");
  }
  return type.substr(0, colon + 1) + range;
}

/// An option behind its name: " INT:1 to 256", with "..." if it may be repeated.
std::string kind_of_value(const CLI::Option& option) {
  if (!option.get_option_text().empty()) return " " + option.get_option_text();
  if (option.get_type_size() == 0) return "";
  std::string text = " " + range_of(option.get_type_name());
  if (option.get_expected_max() >= CLI::detail::expected_max_vector_size) text += " ...";
  return text;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = "  " + make_option_name(option, is_positional);
    if (!is_positional) name += kind_of_value(*option);
    std::string about = option->get_description();
    const std::string usual = option->get_default_str();
    if (!usual.empty() && about.find('[') == std::string::npos) about += " [" + usual + "]";
    if (!option->get_needs().empty()) about += " (with " + names_of(option->get_needs()) + ")";
    if (!option->get_excludes().empty()) {
      about += " (not with " + names_of(option->get_excludes()) + ")";
    }
    return described(name, about);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return described("  " + command->get_name(), command->get_description());
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
           groups_of(app) + make_subcommands(app, mode) + "\n" + make_footer(app);
  }

 private:
  std::string groups_of(const CLI::App* app) const {
    std::vector<std::string> titles;
    for (const OptionGroup& group : option_groups()) titles.emplace_back(group.title);
    titles.emplace_back(kOtherOptions);
    std::string text;
    for (const std::string& title : titles) {
      const auto options = app->get_options([&](const CLI::Option* option) {
        return option->get_group() == title && option->nonpositional();
      });
      if (!options.empty()) text += make_group(title, false, options);
    }
    return text;
  }

  static std::string described(const std::string& name, const std::string& about) {
    const std::string indent(kHelpColumn, ' ');
    if (name.size() + 1 > kHelpColumn) {
      return name + "\n" + wrap(about, kHelpWidth, indent, indent);
    }
    return wrap(about, kHelpWidth, name + std::string(kHelpColumn - name.size(), ' '), indent);
  }
};

void use(CLI::App& app, const std::shared_ptr<HelpFormatter>& formatter) {
  app.formatter(formatter);
  for (CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) option->group(group_of(*option));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->group("Commands");
    use(*command, formatter);
  }
}

}  // namespace

void format_help(CLI::App& app) {
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Input");
  formatter->label("SUBCOMMAND", "COMMAND");
  use(app, formatter);
}

std::string help_of(const CLI::App& command) {
  std::string before;
  for (const CLI::App* it = command.get_parent(); it != nullptr; it = it->get_parent()) {
    before = it->get_name() + (before.empty() ? "" : " " + before);
  }
  return command.help(before);
}

}  // namespace twill::cli
