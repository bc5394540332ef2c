#include "twill/cli/ignored_options.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "twill/driver/input.h"
#include "twill/plan/json.h"

namespace twill::cli {
namespace {

/// Options that say how a kernel's loop is found and posed, with its prologue and epilogue ops.
constexpr std::array<std::string_view, 12> kOfKernels = {
    "--machine",           "--loop",         "--subtile", "--pool",    "--strict",
    "--may-overlap",       "--transfer-ops", "--rate",    "--cluster", "--spare-registers",
    "--already-pipelined", "--load-latency"};

/// Options that say how a plan is made, except the machine.
constexpr std::array<std::string_view, 20> kOfPlanning = {"--already-pipelined",
                                                          "--loop",
                                                          "--subtile",
                                                          "--pool",
                                                          "--strict",
                                                          "--transfer-ops",
                                                          "--load-latency",
                                                          "--strategy",
                                                          "--depth",
                                                          "--ping-pong",
                                                          "--alternative",
                                                          "--within",
                                                          "--schedule",
                                                          "--tiles",
                                                          "--rate",
                                                          "--cluster",
                                                          "--work-limit",
                                                          "--pins",
                                                          "--spare-registers",
                                                          "--may-overlap"};

/// Options of outputs that `twill plan --check` does not print.
constexpr std::array<std::string_view, 2> kOfPrinting = {"--json", "--output"};

constexpr std::array<std::string_view, 2> kOfNumbers = {"--size", "--arg"};

using Names = std::vector<std::string>;

bool has(const Names& given, std::string_view name) {
  return std::find(given.begin(), given.end(), name) != given.end();
}

void add_given(const Names& given, std::span<const std::string_view> names, Names& out) {
  std::copy_if(given.begin(), given.end(), std::back_inserter(out), [&](const std::string& it) {
    return std::find(names.begin(), names.end(), it) != names.end();
  });
}

/// "--rate changes nothing", "--loop, --rate and --strict change nothing"
std::string no_change(const Names& names) {
  if (names.size() == 1) return names.front() + " changes nothing";
  return fmt::format("{} and {} change nothing", fmt::join(names.begin(), names.end() - 1, ", "),
                     names.back());
}

/// The kind of input, in words, that fixes these options itself.
std::string decided_by(const Names& given, const driver::Input& input, Names& options) {
  const auto form = driver::form_of(input);
  if (!form || form == driver::Form::ttgir) return {};
  if (form == driver::Form::loop) {
    add_given(given, kOfKernels, options);
    return "a .loop text brings its own costs and groups";
  }
  if (plan::is_plan_json(input.text)) {
    add_given(given, kOfPlanning, options);
    if (has(given, "--check")) add_given(given, kOfPrinting, options);
    return "a plan is taken as it is";
  }
  add_given(given, kOfKernels, options);
  return "the JSON of a schedule brings its own costs and groups";
}

}  // namespace

std::vector<Diagnostic> ignored_options(const std::vector<std::string>& given,
                                        const driver::Input& input) {
  std::vector<Diagnostic> warnings;
  Names options;
  const std::string reason = decided_by(given, input, options);
  if (!options.empty()) {
    warnings.push_back({{input.name}, reason + ": " + no_change(options), "", ""});
  }
  Names numbers;
  if (!has(given, "--numbers")) add_given(given, kOfNumbers, numbers);
  if (!numbers.empty()) {
    warnings.push_back(
        {{input.name}, "without --numbers nothing is computed: " + no_change(numbers), "", ""});
  }
  return warnings;
}

void add_ignored(const std::vector<std::string>& given, const driver::Input& input,
                 report::Outcome& outcome) {
  const std::vector<Diagnostic> warnings = ignored_options(given, input);
  outcome.warnings.insert(outcome.warnings.begin(), warnings.begin(), warnings.end());
}

}  // namespace twill::cli
