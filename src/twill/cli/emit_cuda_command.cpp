#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "twill/cli/commands.h"
#include "twill/cli/interruption.h"
#include "twill/cli/kernel_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/emit_cuda.h"
#include "twill/driver/judge_kernel.h"

namespace twill::cli {
namespace {

enum class Compile { if_there_is_nvcc, always, never };

struct EmitCudaChoices {
  std::string input;
  driver::Request request;
  std::string output;
  Compile compile = Compile::if_there_is_nvcc;
  emit::Stamps stamps = emit::Stamps::none;
};

constexpr const char* kEmitCudaFooter = R"(Examples:
  twill emit cuda kernels/gemm/sm_90/tma_128x256x64.pre.ttgir -o gemm
  nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -O3 -Igemm --shared -Xcompiler -fPIC \
    -o gemm.so gemm/kernel.cu)";

/// The last printed kernel, and its verdict.
struct Judged {
  driver::EmittedCuda emitted;
  gate::Verdict verdict;
};

Result<driver::EmittedCuda> emit_once(const driver::Request& request, emit::Stamps stamps) {
  auto emitted = driver::emit_cuda(request, stamps);
  end_progress_line();
  if (emitted && emitted->planned.plan) warn(emitted->planned.outcome.warnings);
  return emitted;
}

/// Compiles and judges, with a line of progress. An interruption ends the process here, before any
/// file is written.
Result<gate::Verdict> judge_once(const driver::EmittedCuda& emitted,
                                 const gate::Toolchain& toolchain) {
  const auto judge = [&] {
    const Interruption interruption;
    return driver::judge_kernel(emitted, toolchain,
                                [show = waiting_line("compiling with nvcc, to judge it")] {
                                  show();
                                  return Interruption::caught() == 0;
                                });
  };
  auto verdict = judge();
  end_progress_line();
  if (const int signal = Interruption::caught()) end_by(signal);
  return verdict;
}

/// Compiles the kernel. While ptxas does not follow the plan and a remedy is left, emits and
/// compiles again. Stamps keep the code from overlapping, so an instrumented kernel is only judged.
Result<Judged> close_loop(const EmitCudaChoices& choices, const gate::Toolchain& toolchain,
                          driver::EmittedCuda first) {
  driver::Request request = choices.request;
  TWILL_TRY(gate::Verdict verdict, judge_once(first, toolchain));
  Judged judged{std::move(first), std::move(verdict)};
  while (choices.stamps == emit::Stamps::none) {
    const auto remedy = driver::remedy_for(request, judged.verdict);
    if (!remedy) break;
    std::fprintf(stderr, "twill: ptxas does not follow the plan: %s; trying %s\n",
                 judged.verdict.refusals.front().c_str(), remedy->words.c_str());
    request = remedy->request;
    auto next = emit_once(request, choices.stamps);
    if (!next || !next->planned.plan) {
      std::fprintf(stderr, "twill: so there is no kernel: %s\n",
                   next ? "there is no such schedule" : next.error().message.c_str());
      break;
    }
    TWILL_TRY(judged.verdict, judge_once(*next, toolchain));
    judged.emitted = *std::move(next);
  }
  return judged;
}

/// Reason why the kernel is not compiled; empty if it is.
std::string why_unchecked(const EmitCudaChoices& choices, const gate::Toolchain& toolchain) {
  if (choices.compile == Compile::always) return "";
  if (choices.compile == Compile::never) return "--no-compile was given";
  if (choices.stamps != emit::Stamps::none) return "it is instrumented, and --compile not given";
  return toolchain.nvcc ? "" : "there is no nvcc on PATH or in CUDA's folders";
}

/// Writes the kernel, and prints the verdict: to standard output beside a folder, else to standard
/// error.
int finish(const EmitCudaChoices& choices, const Judged& judged) {
  const gate::Verdict& verdict = judged.verdict;
  const bool refused = verdict.standing() == gate::Standing::refused;
  std::string text;
  for (const std::string& fact : verdict.facts) text += fact + "\n";
  if (!refused) text += words_of(verdict) + "\n";
  Result<void> written;
  const std::string& folder = choices.output;
  const auto files = driver::kept_files(judged.emitted, verdict);
  if (!folder.empty()) {
    written = write_folder(folder, files, {"kernel.cu", "kernel.refused.cu"});
    if (written) written = print(text);
  } else {
    if (!refused) written = print(files.at("kernel.cu"));
    std::fputs(text.c_str(), stderr);
  }
  if (!written) return refuse(written.error());
  for (const std::string& refusal : verdict.refusals) {
    const std::string source = folder.empty() ? "the kernel" : folder + "/kernel.refused.cu";
    std::fprintf(stderr, "%s: error: must not be used: %s\n", source.c_str(), refusal.c_str());
  }
  if (refused && folder.empty()) {
    std::fputs("hint: -o FOLDER keeps it as kernel.refused.cu, --no-compile prints it unchecked\n",
               stderr);
  }
  if (refused) {
    std::fputs(
        "hint: `twill emit ttgir` has Triton compile the plan; another --pool or --strategy is "
        "another kernel\n",
        stderr);
  }
  return refused ? kUnverified : kAnswer;
}

int run(EmitCudaChoices choices) {
  auto input = driver::read_input(choices.input, choices.request.choice, choices.request.machine);
  if (!input) return refuse(input.error());
  if (const auto read = read_schedule(choices.request); !read) return refuse(read.error());
  choices.request.input = *std::move(input);
  choices.request.limits.progress = progress_line();
  const gate::Toolchain toolchain = choices.compile == Compile::never
                                        ? gate::Toolchain{}
                                        : gate::find_toolchain(gate::places_of_environment());
  if (choices.compile == Compile::always && !toolchain.nvcc) {
    return refuse({{},
                   "there is no nvcc to compile the kernel with",
                   "",
                   "put nvcc on PATH, or set CUDA_HOME to a CUDA installation"});
  }
  auto emitted = emit_once(choices.request, choices.stamps);
  if (!emitted) return refuse(emitted.error());
  if (!emitted->planned.plan) return show_missing_plan(emitted->planned);
  gate::Verdict unchecked;
  unchecked.unchecked = why_unchecked(choices, toolchain);
  if (!unchecked.unchecked.empty()) return finish(choices, {*std::move(emitted), unchecked});
  const auto judged = close_loop(choices, toolchain, *std::move(emitted));
  return judged ? finish(choices, *judged) : refuse(judged.error());
}

}  // namespace

void add_emit_cuda(Command emit, Session& session) {
  auto choices = std::make_shared<EmitCudaChoices>();
  const Command command = emit.add_subcommand(
      "cuda", "The planned kernel as CUDA C++ for Hopper, with the headers it includes");
  driver::Request& request = choices->request;
  command.add_option("INPUT", choices->input, "TTGIR or .task file; - reads standard input")
      .required();
  add_planning_options(command, request);
  const Option output = command.add_option(
      "-o,--output", choices->output,
      "Folder for kernel.cu, runtime/ and status.json [kernel.cu to standard output]");
  const Option compile = command.add_flag_callback(
      "--compile", [choices] { choices->compile = Compile::always; },
      "Compile it; nvcc must be there. Print it again where ptxas does not follow the plan, "
      "else refuse it [where there is an nvcc]");
  command
      .add_flag_callback(
          "--no-compile", [choices] { choices->compile = Compile::never; },
          "Print it without a check of spills and machine code")
      .excludes(compile);
  const std::map<std::string, emit::Stamps> stamps = {{"sections", emit::Stamps::sections},
                                                      {"steps", emit::Stamps::steps}};
  command
      .add_choice(
          "--instrument", stamps, [choices](emit::Stamps stamp) { choices->stamps = stamp; },
          "Record the clock at the beginning of every section or step; stamps.json is the legend")
      .needs(output);
  command.footer(kEmitCudaFooter);
  command.callback([choices, command, &session] {
    check_planning(command, choices->request);
    session.command = [choices] { return run(*choices); };
  });
}

}  // namespace twill::cli
