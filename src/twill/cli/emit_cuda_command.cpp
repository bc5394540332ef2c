#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
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
  emit::Stamps stamps = emit::Stamps::none;
};

constexpr const char* kFooter = R"(Examples:
  twill emit cuda kernels/gemm/sm_90/tma_128x256x64.pre.ttgir -o gemm
  nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -O3 -Igemm --shared -Xcompiler -fPIC \
    -o gemm.so gemm/kernel.cu)";

int report(const std::string& folder, const driver::GateVerdict& verdict) {
  std::string text;
  for (const std::string& fact : verdict.facts) text += fact + "\n";
  if (verdict.refusals.empty()) text += "accepted\n";
  const auto printed = print(text);
  if (!printed) return refuse(printed.error());
  for (const std::string& refusal : verdict.refusals) {
    std::fprintf(stderr, "%s/kernel.cu: error: must not be used: %s\n", folder.c_str(),
                 refusal.c_str());
  }
  return verdict.refusals.empty() ? kAnswer : kUnverified;
}

Result<driver::EmittedCuda> emit_once(const Choices& choices) {
  auto emitted = driver::emit_cuda(choices.request, choices.stamps);
  end_progress_line();
  return emitted;
}

int write(const Choices& choices, const driver::EmittedCuda& emitted) {
  if (!emitted.planned.plan) return show_missing_plan(emitted.planned);
  warn(emitted.planned.outcome.warnings);
  const auto written = choices.output.empty()
                           ? print(emitted.files.at("kernel.cu"))
                           : write_folder(choices.output, emitted.files, {"kernel.cu"});
  return written ? kAnswer : refuse(written.error());
}

/// Compiles, and as long as ptxas does not follow the plan and something is left to try, emits and
/// compiles again. Stamps keep the code from overlapping, so an instrumented kernel is only judged.
int close_loop(Choices choices, const driver::EmittedCuda& first) {
  auto verdict = driver::compile_emitted(first, choices.output);
  while (verdict && choices.stamps == emit::Stamps::none) {
    const auto remedy = driver::remedy_for(choices.request, *verdict);
    if (!remedy) break;
    std::fprintf(stderr, "twill: ptxas does not follow the plan: %s; trying %s\n",
                 verdict->refusals.front().c_str(), remedy->words.c_str());
    choices.request = remedy->request;
    const auto next = emit_once(choices);
    if (!next || !next->planned.plan) {
      std::fprintf(stderr, "twill: so there is no kernel: %s\n",
                   next ? "there is no such schedule" : next.error().message.c_str());
      break;
    }
    if (const int code = write(choices, *next); code != kAnswer) return code;
    verdict = driver::compile_emitted(*next, choices.output);
  }
  return verdict ? report(choices.output, *verdict) : refuse(verdict.error());
}

int run(Choices choices) {
  auto input = driver::read_input(choices.input);
  if (!input) return refuse(input.error());
  if (const auto read = read_schedule(choices.request); !read) return refuse(read.error());
  choices.request.input = *std::move(input);
  choices.request.limits.progress = progress_line();
  const auto emitted = emit_once(choices);
  if (!emitted) return refuse(emitted.error());
  const int code = write(choices, *emitted);
  return code == kAnswer && choices.compile ? close_loop(choices, *emitted) : code;
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
  add_alternative_option(*command, request);
  add_schedule_option(*command, request);
  add_remedy_options(*command, request);
  add_tile_options(*command, request);
  add_work_limit_option(*command, request,
                        "Units of solver work after which to plan the best schedule known");
  CLI::Option* output =
      command->add_option("-o,--output", choices->output,
                          "Folder for kernel.cu and runtime/ [kernel.cu to standard output]");
  command
      ->add_flag(
          "--compile", choices->compile,
          "Compile it with nvcc; emit anew where ptxas does not follow the plan, else refuse it")
      ->needs(output);
  const std::map<std::string, emit::Stamps> stamps = {{"sections", emit::Stamps::sections},
                                                      {"steps", emit::Stamps::steps}};
  command
      ->add_option_function<std::string>(
          "--instrument",
          [choices, stamps](const std::string& what) { choices->stamps = stamps.at(what); },
          "Record the clock at the beginning of every section or step; stamps.json is the legend")
      ->check(CLI::IsMember(stamps))
      ->needs(output);
  command->footer(kFooter);
  command->callback([choices, command, &session] {
    check_alternatives(*command, choices->request);
    check_tiles(choices->request);
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
