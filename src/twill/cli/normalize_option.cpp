#include "twill/cli/normalize_option.h"

#include <charconv>
#include <string>

namespace twill::cli {
namespace {

/// Whether `text` is U or U:paper.
bool read(const std::string& text, problem::Normalization& how) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, how.budget);
  if (error != std::errc() || how.budget < 1 || how.budget > problem::kLargestBudget) return false;
  const std::string_view form(rest, static_cast<std::size_t>(end - rest));
  how.form = form == ":paper" ? problem::NormalForm::paper : problem::NormalForm::repaired;
  return form.empty() || form == ":paper";
}

}  // namespace

void add_normalize_option(Command command, driver::Request& request) {
  const auto set = [&request](const std::string& text) {
    problem::Normalization how;
    if (!read(text, how)) {
      refuse_value("--normalize", "'" + text + "' is neither U nor U:paper, with U in 1.." +
                                      std::to_string(problem::kLargestBudget));
    }
    request.normalize = how;
  };
  command
      .add_option_function<std::string>(
          "--normalize", set,
          "Scale all cycle counts down to a sum of at most U; U:paper as the paper does it")
      .type_name("U");
}

}  // namespace twill::cli
