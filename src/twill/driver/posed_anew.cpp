#include "twill/driver/posed_anew.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/report/outcome.h"
#include "twill/schedule/loop_text.h"
#include "twill/support/sha256.h"

namespace twill::driver {
namespace {

using certify::PosingOption;
using certify::Provenance;
using machine::Rate;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<problem::Normalization> normalization_in(std::string_view text) {
  problem::Normalization out;
  constexpr std::string_view kPaper = ":paper";
  if (text.ends_with(kPaper)) {
    out.form = problem::NormalForm::paper;
    text.remove_suffix(kPaper.size());
  }
  const auto budget = number_in(text);
  if (!budget || *budget < 1 || *budget > problem::kLargestBudget) return std::nullopt;
  out.budget = *budget;
  return out;
}

/// Sets the option in the request; false if the option or its value is unknown.
bool read_option(const PosingOption& option, Request& request) {
  const std::optional<std::int64_t> number = number_in(option.value);
  if (option.name == "loop") {
    request.loop = option.value;
  } else if (option.name == "pool") {
    request.pool = option.value;
  } else if (option.name == "strict") {
    request.strict = true;
  } else if (option.name == "already-pipelined") {
    request.already_pipelined = true;
  } else if (option.name == "transfer-ops" || option.name == "hand-offs") {
    request.transfers = true;
  } else if (option.name == "load-latency") {
    request.load_latency = true;
  } else if (option.name == "subtile" && number && *number <= 65536) {
    request.subtile = *number;
  } else if (option.name == "spare-registers" && number && *number <= 256) {
    request.spare_registers = static_cast<int>(*number);
  } else if (option.name == "normalize") {
    request.normalize = normalization_in(option.value);
    return request.normalize.has_value();
  } else {
    return false;
  }
  return true;
}

void add(Provenance& from, Rate rate, const std::vector<PosedPool>& pools) {
  for (const PosedPool& it : pools) {
    from.posed.push_back({report::name_of(rate), it.pool, schedule::problem_hash(it.problem)});
  }
}

/// Poses the single Problem of a loop with normalized costs, or of a `.loop` text.
Result<AllPosed> pose_one(const Request& request, AllPosed out, std::string pool) {
  TWILL_TRY(PosedLoop posed, pose_loop(request, Rate::slowest));
  out.slowest.push_back({std::move(pool), std::move(posed.problem), {}, {}, {}});
  add(out.from, Rate::slowest, out.slowest);
  return out;
}

}  // namespace

std::vector<PosingOption> options_of(const Request& request) {
  std::vector<PosingOption> out;
  if (!request.loop.empty()) out.push_back({"loop", request.loop});
  if (request.subtile) out.push_back({"subtile", std::to_string(*request.subtile)});
  if (!request.pool.empty()) out.push_back({"pool", request.pool});
  if (request.strict) out.push_back({"strict", ""});
  if (request.already_pipelined) out.push_back({"already-pipelined", ""});
  if (request.transfers) out.push_back({"transfer-ops", ""});
  if (request.load_latency) out.push_back({"load-latency", ""});
  if (request.spare_registers != 0) {
    out.push_back({"spare-registers", std::to_string(request.spare_registers)});
  }
  if (request.normalize) {
    const bool paper = request.normalize->form == problem::NormalForm::paper;
    out.push_back(
        {"normalize", fmt::format("{}{}", request.normalize->budget, paper ? ":paper" : "")});
  }
  return out;
}

Result<void> read_options(const std::vector<PosingOption>& options, std::string_view file,
                          Request& request) {
  for (const PosingOption& option : options) {
    if (read_option(option, request)) continue;
    return fail({std::string(file)},
                fmt::format("there is no option '{} {}' that changes what is posed", option.name,
                            option.value));
  }
  return {};
}

Result<AllPosed> pose_all(const Request& request) {
  AllPosed out;
  out.from.input = sha256(request.input.text);
  out.from.options = options_of(request);
  TWILL_TRY(const Form form, form_of(request.input));
  if (form != Form::ttgir) return pose_one(request, std::move(out), "-");
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  out.from.machine = kernel.machine->name;
  out.from.machine_hash = kernel.machine->digest;
  if (request.normalize) return pose_one(request, std::move(out), kernel.pools.front());
  TWILL_TRY(PosedKernel fastest, pose_kernel(kernel, request, Rate::fastest));
  TWILL_TRY(PosedKernel slowest, pose_kernel(kernel, request, Rate::slowest));
  out.fastest = std::move(fastest.pools);
  out.slowest = std::move(slowest.pools);
  add(out.from, Rate::fastest, out.fastest);
  add(out.from, Rate::slowest, out.slowest);
  return out;
}

Result<certify::Checked> check_certificate(const certify::Files& files, const Input& input,
                                           const std::string& machine) {
  TWILL_TRY(const Provenance claimed, certify::provenance_of(files));
  Request request;
  request.input = input;
  request.machine = machine;
  TWILL_TRY_VOID(read_options(claimed.options, certify::kPoolsFile, request));
  if (!claimed.input.empty() && claimed.input != sha256(input.text)) {
    Provenance other;  // the certificate is about another input
    other.input = sha256(input.text);
    return certify::check_files(files, &other);
  }
  TWILL_TRY(const AllPosed posed, pose_all(request));
  return certify::check_files(files, &posed.from);
}

}  // namespace twill::driver
