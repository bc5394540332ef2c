#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Commands and their options: the part of CLI11 that commands use, under CLI11's names. CLI11's
/// header takes seconds to compile. Only application, command, help and usage include it.
namespace twill::cli {

/// Refers to an option of a command, which owns it. Each function returns the option itself.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  Option description(const std::string& help) const;
  /// Section of the help text; empty: the help leaves the option out.
  Option group(const std::string& title) const;
  /// Name of the value in the help text.
  Option type_name(const std::string& name) const;
  Option capture_default_str() const;

  /// Takes a whole number from `least` to `most`; 1e9 is 1000000000.
  Option whole_number(std::int64_t least, std::int64_t most) const;
  Option real_range(double least, double most) const;
  Option one_of(const std::vector<std::string>& names) const;

  Option delimiter(char between) const;
  Option expected(int count) const;
  Option expected(int least, int most) const;
  Option allow_extra_args(bool allowed) const;

  Option needs(Option other) const;
  Option remove_needs(Option other) const;
  template <std::same_as<Option>... Others>
  Option excludes(Others... others) const {
    (exclude(others), ...);
    return *this;
  }

  std::size_t count() const;
  bool empty() const { return count() == 0; }

 private:
  void exclude(Option other) const;

  CLI::Option* option_;
};

/// Refers to a command, which the application owns.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_subcommand(const std::string& name, const std::string& about) const;

  /// `into` must live as long as the command. Defined for the types in use.
  template <class Value>
  Option add_option(const std::string& name, Value& into, const std::string& help) const;
  template <class Value>
  Option add_option_function(const std::string& name, std::function<void(const Value&)> take,
                             const std::string& help) const;
  /// An option whose value is one of the names.
  template <class Value, class Take>
  Option add_choice(const std::string& name, const std::map<std::string, Value>& values, Take take,
                    const std::string& help) const {
    std::vector<std::string> names;
    for (const auto& [it, value] : values) names.push_back(it);
    const auto of_name = [values, take](const std::string& it) { take(values.at(it)); };
    return add_option_function<std::string>(name, of_name, help).one_of(names);
  }
  Option add_flag(const std::string& name, bool& into, const std::string& help) const;
  Option add_flag_callback(const std::string& name, std::function<void()> take,
                           const std::string& help) const;

  void footer(const std::string& text) const;
  void callback(std::function<void()> run) const;
  void require_subcommand() const;

  Option get_option(const std::string& name) const;
  /// How often the option was given.
  std::size_t count(const std::string& option) const;
  /// Names of the options that were given, as "--pool", in the order of the help.
  std::vector<std::string> options_given() const;

 private:
  CLI::App* app_;
};

/// Throws the usage error of an option's value.
[[noreturn]] void refuse_value(const std::string& option, const std::string& why);

/// Throws the usage error of a missing option or argument.
[[noreturn]] void require(const std::string& option);

}  // namespace twill::cli
