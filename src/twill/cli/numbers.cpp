#include "twill/cli/numbers.h"

#include <charconv>
#include <cstdio>

#include <CLI/CLI.hpp>

#include "twill/cli/commands.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/cli/whole_number.h"

namespace twill::cli {
namespace {

constexpr std::int64_t kLargestSize = 8192;

/// "name=value" into the launch; false if it is not of that form.
bool take(const std::string& text, execute::Launch& launch) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return false;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + equals + 1, end, value);
  if (error != std::errc() || last != end) return false;
  launch.arguments[text.substr(text[0] == '%' ? 1 : 0, equals - (text[0] == '%' ? 1 : 0))] = value;
  return true;
}

}  // namespace

void add_number_options(CLI::App& command, NumberOptions& options) {
  command
      .add_option("--size", options.wanted.launch.size,
                  "With --numbers: what every integer argument of the kernel is")
      ->capture_default_str()
      ->transform(whole_number(std::int64_t{1}, kLargestSize));
  command.add_option("--arg", options.arguments,
                     "NAME=VALUE, with --numbers: another value for this argument; repeatable");
}

int run_numbers(const driver::Request& request, NumberOptions options,
                std::optional<std::uint64_t> jitter, bool json) {
  for (const std::string& text : options.arguments) {
    if (take(text, options.wanted.launch)) continue;
    std::fprintf(stderr, "twill: --arg: not of the form NAME=VALUE: %s\n", text.c_str());
    return kUsage;
  }
  options.wanted.jitter = jitter;
  const auto loop = driver::compare_numbers(request, options.wanted);
  end_progress_line();
  if (!loop) return refuse(loop.error());
  warn(loop->planned.outcome.warnings);
  if (!loop->comparison) return show_missing_plan(loop->planned);
  const numerics::Comparison& comparison = *loop->comparison;
  const auto printed =
      print(json ? numerics::comparison_json(comparison) : numerics::to_text(comparison));
  if (!printed) return refuse(printed.error());
  return numerics::agrees(comparison) ? kAnswer : kUnverified;
}

}  // namespace twill::cli
