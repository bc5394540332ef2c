#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "twill/cli/commands.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/emit_cuda.h"

namespace twill::cli {
namespace {

struct Choices {
  std::string input;
  driver::Request request;
  std::string output;
  bool compile = false;
};

constexpr const char* kFooter = R"(Examples:
  twill emit cuda kernels/gemm/sm_90/tma_128x256x64.pre.ttgir -o gemm
  nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -O3 -Igemm --shared -Xcompiler -fPIC \
    -o gemm.so gemm/kernel.cu)";

int judge(const std::string& folder) {
  const auto verdict = driver::compile_emitted(folder);
  if (!verdict) return refuse(verdict.error());
  std::string text;
  for (const std::string& fact : verdict->facts) text += fact + "\n";
  if (verdict->refusals.empty()) text += "accepted\n";
  const auto printed = print(text);
  if (!printed) return refuse(printed.error());
  for (const std::string& refusal : verdict->refusals) {
    std::fprintf(stderr, "%s/kernel.cu: error: must not be used: %s\n", folder.c_str(),
                 refusal.c_str());
  }
  return verdict->refusals.empty() ? kAnswer : kUnverified;
}

int run(Choices choices) {
  auto input = driver::read_input(choices.input);
  if (!input) return refuse(input.error());
  choices.request.input = *std::move(input);
  choices.request.limits.progress = progress_line();
  const auto emitted = driver::emit_cuda(choices.request);
  end_progress_line();
  if (!emitted) return refuse(emitted.error());
  if (!emitted->planned.plan) return show_missing_plan(emitted->planned);
  warn(emitted->planned.outcome.warnings);
  const auto written = choices.output.empty()
                           ? print(emitted->files.at("kernel.cu"))
                           : write_folder(choices.output, emitted->files, {"kernel.cu"});
  if (!written) return refuse(written.error());
  return choices.compile ? judge(choices.output) : kAnswer;
}

}  // namespace

void add_emit_cuda(CLI::App& emit, Session& session) {
  auto choices = std::make_shared<Choices>();
  CLI::App* command = emit.add_subcommand(
      "cuda", "The planned kernel as CUDA C++ for Hopper, with the headers it includes");
  driver::Request& request = choices->request;
  command->add_option("INPUT", choices->input, "TTGIR file; - reads standard input")->required();
  add_kernel_options(*command, request, "Only this pool of warp groups [all of the machine]");
  add_strategy_options(*command, request);
  add_cluster_option(*command, request);
  add_work_limit_option(*command, request,
                        "Units of solver work after which to plan the best schedule known");
  CLI::Option* output =
      command->add_option("-o,--output", choices->output,
                          "Folder for kernel.cu and runtime/ [kernel.cu to standard output]");
  command
      ->add_flag("--compile", choices->compile,
                 "Compile it with nvcc, and refuse what spills or what ptxas serializes")
      ->needs(output);
  command->footer(kFooter);
  command->callback([choices, &session] { session.command = [choices] { return run(*choices); }; });
}

}  // namespace twill::cli
