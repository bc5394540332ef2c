#include "twill/cli/numbers.h"

#include "twill/cli/commands.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/arguments.h"

namespace twill::cli {
void add_number_options(Command command, NumberOptions& options) {
  command
      .add_option("--size", options.wanted.launch.size,
                  "With --numbers: value of the integer arguments of the kernel")
      .capture_default_str()
      .whole_number(1, kLargestSize);
  command.add_option("--arg", options.arguments,
                     "NAME=VALUE, with --numbers: value of this argument, or of each "
                     "element of an array: a number, a range, or a file; repeatable");
}

int take_arguments(const std::vector<std::string>& arguments, execute::Launch& launch) {
  for (const std::string& text : arguments) {
    const auto added = driver::add_argument(text, launch);
    if (added) continue;
    const int code = refuse(added.error());
    return text.find('=') == std::string::npos ? static_cast<int>(kUsage) : code;
  }
  return kAnswer;
}

int run_numbers(const driver::Request& request, NumberOptions options,
                std::optional<std::uint64_t> jitter, bool json) {
  const auto taken = take_arguments(options.arguments, options.wanted.launch);
  if (taken != kAnswer) return taken;
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
