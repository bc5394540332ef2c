#include "twill/cli/command.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "twill/support/spelling.h"

namespace twill::cli {
namespace {

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole(const std::string& text) {
  if (const auto number = number_of<std::int64_t>(text)) return number;
  const auto number = number_of<double>(text);
  constexpr double kMost = 1e18;  // limits of the result type
  if (!number || std::trunc(*number) != *number || std::fabs(*number) > kMost) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

CLI::Validator whole_number_from(std::int64_t least, std::int64_t most) {
  const bool is_bounded = most < std::numeric_limits<std::int64_t>::max();
  const std::string range =
      is_bounded ? fmt::format("{} to {}", least, most) : fmt::format("{} or more", least);
  const auto check = [least, most, range](std::string& text) -> std::string {
    const auto number = whole(text);
    if (!number) return in_quotes(text) + " is not a whole number";
    if (*number < least || *number > most) return in_quotes(text) + " is not " + range;
    text = std::to_string(*number);
    return {};
  };
  return {check, range};
}

/// Also refuses input that is no number: CLI::Range accepts "nan" in each range.
CLI::Validator real_number_from(double least, double most) {
  const std::string range = fmt::format("{:g} to {:g}", least, most);
  const auto check = [least, most, range](const std::string& text) -> std::string {
    const auto number = number_of<double>(text);
    if (number && *number >= least && *number <= most) return {};
    return in_quotes(text) + " is not a number from " + range;
  };
  return {check, range, ""};
}

}  // namespace

Option Option::required() const { return Option(option_->required()); }

Option Option::description(const std::string& help) const {
  return Option(option_->description(help));
}

Option Option::group(const std::string& title) const { return Option(option_->group(title)); }

Option Option::type_name(const std::string& name) const { return Option(option_->type_name(name)); }

Option Option::capture_default_str() const {
  option_->capture_default_str();
  return *this;
}

Option Option::whole_number(std::int64_t least, std::int64_t most) const {
  return Option(option_->transform(whole_number_from(least, most)));
}

Option Option::real_range(double least, double most) const {
  return Option(option_->check(real_number_from(least, most)));
}

Option Option::one_of(const std::vector<std::string>& names) const {
  return Option(option_->check(CLI::IsMember(names)));
}

Option Option::delimiter(char between) const { return Option(option_->delimiter(between)); }

Option Option::expected(int count) const { return Option(option_->expected(count)); }

Option Option::expected(int least, int most) const {
  return Option(option_->expected(least, most));
}

Option Option::allow_extra_args(bool allowed) const {
  return Option(option_->allow_extra_args(allowed));
}

Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }

Option Option::remove_needs(Option other) const {
  option_->remove_needs(other.option_);
  return *this;
}

std::size_t Option::count() const { return option_->count(); }

void Option::exclude(Option other) const { option_->excludes(other.option_); }

Command Command::add_subcommand(const std::string& name, const std::string& about) const {
  return Command(*app_->add_subcommand(name, about));
}

template <class Value>
Option Command::add_option(const std::string& name, Value& into, const std::string& help) const {
  return Option(app_->add_option(name, into, help));
}

template Option Command::add_option(const std::string&, int&, const std::string&) const;
template Option Command::add_option(const std::string&, unsigned&, const std::string&) const;
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<int>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::int64_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<double>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::int64_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&) const;

template <class Value>
Option Command::add_option_function(const std::string& name, std::function<void(const Value&)> take,
                                    const std::string& help) const {
  return Option(app_->add_option_function<Value>(name, std::move(take), help));
}

template Option Command::add_option_function(const std::string&, std::function<void(const int&)>,
                                             const std::string&) const;
template Option Command::add_option_function(const std::string&,
                                             std::function<void(const std::int64_t&)>,
                                             const std::string&) const;
template Option Command::add_option_function(const std::string&,
                                             std::function<void(const std::string&)>,
                                             const std::string&) const;
template Option Command::add_option_function(const std::string&,
                                             std::function<void(const std::vector<std::string>&)>,
                                             const std::string&) const;

Option Command::add_flag(const std::string& name, bool& into, const std::string& help) const {
  return Option(app_->add_flag(name, into, help));
}

Option Command::add_flag_callback(const std::string& name, std::function<void()> take,
                                  const std::string& help) const {
  return Option(app_->add_flag_callback(name, std::move(take), help));
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::callback(std::function<void()> run) const { app_->callback(std::move(run)); }

void Command::require_subcommand() const { app_->require_subcommand(1); }

Option Command::get_option(const std::string& name) const { return Option(app_->get_option(name)); }

std::size_t Command::count(const std::string& option) const { return app_->count(option); }

std::vector<std::string> Command::options_given() const {
  std::vector<std::string> given;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) given.push_back(option->get_name());
  }
  return given;
}

void refuse_value(const std::string& option, const std::string& why) {
  throw CLI::ValidationError(option, why);
}

void require(const std::string& option) { throw CLI::RequiredError(option); }

}  // namespace twill::cli
