#include "twill/driver/run_kernel.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/run/build.h"
#include "twill/support/sha256.h"
#include "twill/support/shipped.h"
#include "twill/support/stopwatch.h"

namespace twill::driver {
namespace {

namespace fs = std::filesystem;

/// Files that `twill emit cuda` left in a folder.
struct Emitted {
  emit::Description description;
  Input input;
  std::string source;
};

Result<Input> read_part(const fs::path& folder, const char* name) {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / name, ignored)) {
    return fail({folder.string()},
                std::string("is no folder of an emitted kernel: it has no ") + name,
                "`twill emit cuda KERNEL -o FOLDER` makes one");
  }
  return read_text((folder / name).string());
}

Result<Emitted> read_emitted(const std::string& path) {
  const fs::path folder = path;
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return fail({path}, "no such folder");
  if (!fs::is_directory(folder, ignored)) {
    return fail({path}, "is a file, not a folder of `twill emit cuda`");
  }
  Emitted emitted;
  TWILL_TRY(const Input json, read_part(folder, "kernel.json"));
  TWILL_TRY(emitted.description, emit::read_description(json.text, json.name));
  TWILL_TRY(emitted.input, read_part(folder, "kernel.ttgir"));
  if (sha256(emitted.input.text) != emitted.description.sha256) {
    return fail({emitted.input.name}, "is not the text for which kernel.json was made",
                "emit the kernel again");
  }
  if (fs::exists(folder / "kernel.refused.cu", ignored)) {
    return fail({path}, "has no kernel that may be used: it was refused, and status.json says why");
  }
  TWILL_TRY(Input source, read_part(folder, "kernel.cu"));
  emitted.source = std::move(source.text);
  return emitted;
}

/// The headers in a folder's runtime/, by name.
std::map<std::string, std::string> runtime_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder / "runtime", error), end; !error && it != end;
       it.increment(error)) {
    const auto text = read_text(it->path().string());
    if (text) files["runtime/" + it->path().filename().string()] = text->text;
  }
  return files;
}

/// Checks that the parameters are the function's arguments, so that the called kernel matches the
/// executed text.
Result<void> check_parameters(const run::Kernel& kernel, const std::string& folder) {
  const auto wrong = [&] {
    return fail({(fs::path(folder) / "kernel.json").string()},
                "has other parameters than the function in kernel.ttgir", "emit the kernel again");
  };
  using Kind = emit::Parameter::Kind;
  const auto arguments = ir::function_arguments(kernel.text, kernel.function);
  const auto& parameters = kernel.description.parameters;
  if (parameters.size() < arguments.size()) return wrong();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool stamp =
        parameters[i].kind == Kind::stamps || parameters[i].kind == Kind::stamp_limit;
    if (stamp != (i >= arguments.size())) return wrong();
    if (stamp) continue;
    const ir::Type type = ir::type_of(kernel.text, arguments[i]);
    const Kind kind = type->kind == ir::TypeKind::pointer      ? Kind::pointer
                      : type->kind == ir::TypeKind::tensordesc ? Kind::descriptor
                                                               : Kind::scalar;
    if (kind != parameters[i].kind || kernel.text.value(arguments[i]).name != parameters[i].name) {
      return wrong();
    }
  }
  return {};
}

/// Runs a chosen call on one machine.
Result<run::Trial> tried(const fs::path& program, const run::Kernel& kernel, const run::Case& call,
                         const run::Machine& machine, const RunKernelRequest& request,
                         const run::Tolerances& tolerances) {
  run::Trial trial;
  trial.trips = call.chosen.trips;
  trial.machine = machine;
  trial.launch = call.chosen.launch;
  Stopwatch watch;
  TWILL_TRY(trial.called, run::call(program, kernel, call, machine, request.limit, request.go_on));
  trial.seconds = watch.lap();
  if (trial.called.fault.empty() && trial.called.refusal.empty()) {
    trial.outputs = run::compare(call, trial.called, tolerances);
  }
  return trial;
}

/// Trip counts to run. With the largest, each slot of the deepest ring is used for the third time.
std::vector<std::int64_t> trips_for(const RunKernelRequest& request,
                                    const emit::Description& description) {
  if (!request.trips.empty()) return request.trips;
  std::vector<std::int64_t> trips = {0, 1, 2, 3, 4};
  const std::int64_t depth = std::clamp(description.deepest_ring, 1, 64);
  for (const std::int64_t more : {depth + 1, 2 * depth + 1}) {
    if (more > trips.back()) trips.push_back(more);
  }
  return trips;
}

Result<void> run_all(const fs::path& program, const run::Kernel& kernel,
                     const RunKernelRequest& request, run::Report& report) {
  for (int s = 0; s < request.seeds; ++s) {
    const std::uint64_t seed = request.seed + static_cast<std::uint64_t>(s);
    std::set<std::optional<std::int64_t>> done;
    for (const std::int64_t trips : trips_for(request, kernel.description)) {
      TWILL_TRY(auto chosen, run::choose(kernel, request.given, trips, seed));
      if (!chosen) {
        if (s == 0) report.left_out.push_back(trips);
        continue;
      }
      if (request.go_on && !request.go_on()) return fail({}, "stopped");
      if (!done.insert(chosen->trips).second) continue;
      TWILL_TRY(const run::Case call, run::case_of(kernel, *std::move(chosen)));
      for (const bool random : request.random) {
        TWILL_TRY(run::Trial trial,
                  tried(program, kernel, call,
                        {seed, random, request.processors, request.switch_at_memory}, request,
                        report.tolerances));
        trial.wanted = trips;
        report.trials.push_back(std::move(trial));
      }
    }
  }
  const auto wanted = trips_for(request, kernel.description);
  const bool wants_some = std::ranges::any_of(wanted, [](std::int64_t it) { return it > 0; });
  const bool has_some =
      std::ranges::any_of(report.trials, [](const auto& it) { return it.trips != 0; });
  if (has_some || (!wants_some && !report.trials.empty())) return {};
  if (!report.trials.empty()) {
    return fail({kernel.description.input},
                "no arguments were found for which the loop makes an iteration",
                "choose other values: --arg NAME=VALUE, --size N, --grid X,Y,Z");
  }
  return fail(
      {kernel.description.input},
      "no arguments were found for which the kernel does the same in every order of its CTAs",
      "choose other values: --arg NAME=VALUE, --size N, --grid X,Y,Z");
}

}  // namespace

Result<ir::OpId> function_of(const ir::Program& text, const Kernel& planned) {
  const auto around = ir::enclosing(planned.program, planned.choice.loop, ir::OpKind::function);
  const auto there = ir::functions(planned.program), here = ir::functions(text);
  for (std::size_t i = 0; around && i < there.size() && i < here.size(); ++i) {
    if (there[i] == *around) return here[i];
  }
  return fail(ir::text_location(planned.program, planned.choice.loop), "is in no function");
}

std::string runtime_hash(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [name, text] : files) {
    if (name.starts_with("runtime/")) all += name + "\n" + text + "\n";
  }
  return sha256(all);
}

Result<RunSession> RunSession::start(const gate::GoOn& go_on) {
  TWILL_TRY(std::vector<std::string> compiler, run::host_compiler());
  TWILL_TRY(run::Scratch scratch, run::Scratch::make());
  TWILL_TRY(const std::vector<std::string> names, support::shipped_names("runtime"));
  for (const std::string& name : names) {
    TWILL_TRY(const std::string text, support::shipped_text(name));
    const fs::path file = scratch.path() / name;
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    TWILL_TRY_VOID(run::write_bytes(file, text));
  }
  fs::path runtime = scratch.path() / "runtime";
  return RunSession(std::move(scratch), std::move(runtime), std::move(compiler), go_on);
}

Result<run::Report> run_kernel(const RunKernelRequest& request, RunSession& session) {
  TWILL_TRY(const Emitted emitted, read_emitted(request.folder));
  Request same;
  same.input = emitted.input;
  same.loop = std::to_string(emitted.description.loop);
  same.machine = emitted.description.machine;
  TWILL_TRY(const Kernel planned, read_kernel(same));
  TWILL_TRY(const ir::Program text, frontend::read_ttgir(emitted.input.text, emitted.input.name));
  TWILL_TRY(const ir::OpId function, function_of(text, planned));
  const run::Kernel kernel{text, function, planned.program, planned.choice.loop,
                           emitted.description};
  TWILL_TRY_VOID(check_parameters(kernel, request.folder));

  TWILL_TRY_VOID(run::check_arguments(kernel, request.given.launch));

  run::Report report;
  report.description = emitted.description;
  report.tolerances = run::tolerances_of(kernel);
  fs::path folder = request.keep.empty() ? session.scratch() / "program" : fs::path(request.keep);
  std::error_code error;
  if (!fs::create_directories(folder, error) && error) {
    return fail({request.keep}, "cannot be made: " + error.message());
  }
  TWILL_TRY(const run::Built built,
            session.builder().build(emitted.description, emitted.source, request.folder, folder));
  report.complaints = built.complaints;
  const auto headers = runtime_in(request.folder);
  if (headers.empty()) {
    report.notes.emplace_back("the folder has no runtime/: this program's own is used");
  } else if (!emitted.description.runtime.empty() &&
             runtime_hash(headers) != emitted.description.runtime) {
    report.notes.emplace_back("runtime/ was changed since the kernel was emitted");
  }
  if (built.program.empty()) return report;
  TWILL_TRY_VOID(run_all(built.program, kernel, request, report));
  return report;
}

}  // namespace twill::driver
