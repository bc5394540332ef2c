#include "twill/run/build.h"

#include <cstdlib>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "twill/gate/process.h"
#include "twill/gate/toolchain.h"
#include "twill/run/host_main.h"

namespace twill::run {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostComplaints = 8;
constexpr std::chrono::seconds kLongestBuild{300};

std::vector<std::string> complaints_in(std::string_view log) {
  std::vector<std::string> lines;
  std::vector<std::string> all;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string line(log.substr(0, end));
    if (line.find("error") != std::string::npos) lines.push_back(line);
    all.push_back(line);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  if (lines.empty()) lines = std::move(all);
  if (lines.size() > kMostComplaints) lines.resize(kMostComplaints);
  return lines;
}

/// Words of a command, separated by spaces: CXX may be "ccache g++".
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Failure of the compiler for a reason other than the kernel. The run gives no verdict on the
/// kernel.
tl::unexpected<Diagnostic> broken(const std::string& compiler, const gate::Finished& finished) {
  std::string how = "ends with status " + std::to_string(finished.status);
  if (finished.status > kSignalled) {
    how = "was ended by signal " + std::to_string(finished.status - kSignalled);
  }
  return fail({compiler}, "this compiler " + how + " without a message",
              "try it by hand, or name another by the variable CXX");
}

/// A file's name, escaped for the quotes of a line directive.
std::string in_directive(const fs::path& file) {
  std::string escaped;
  for (const char c : file.string()) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

Result<std::vector<std::string>> host_compiler() {
  const gate::Places places = gate::places_of_environment();
  const char* given = std::getenv("CXX");
  if (given != nullptr && *given != '\0') {
    std::vector<std::string> words = words_of(given);
    const auto found = words.empty() ? std::nullopt : gate::find_program(places, words[0]);
    if (!found) {
      return fail({given}, "CXX names no program that is there",
                  "unset it, or name a C++ compiler");
    }
    words[0] = found->string();
    return words;
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (const auto found = gate::find_program(places, name)) return std::vector{found->string()};
  }
  return fail({},
              "there is no C++ compiler for the host: neither c++ nor g++ nor clang++ is on PATH",
              "install one, or name it by the variable CXX");
}

Result<void> write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) return fail({path.string()}, "cannot be written");
  return {};
}

Result<fs::path> Builder::executor() {
  if (!executor_.empty()) return executor_;
  const fs::path source = runtime_ / "host" / "caller.cpp", made = scratch_ / "executor.o";
  // With -O2 the compiler takes a second longer, and a run is no faster.
  std::vector<std::string> command = compiler_;
  for (const std::string& word : {std::string("-std=c++20"), std::string("-O1"), std::string("-w"),
                                  std::string("-ffp-contract=off"), std::string("-c"),
                                  source.string(), std::string("-o"), made.string()}) {
    command.push_back(word);
  }
  TWILL_TRY(const gate::Finished finished, gate::run(command, kLongestBuild, go_on_));
  if (finished.status != 0) {
    if (finished.output.empty()) return broken(compiler_[0], finished);
    return fail({source.string()}, "does not compile with " + compiler_[0],
                complaints_in(finished.output).front());
  }
  executor_ = made;
  return executor_;
}

Result<Built> Builder::build(const emit::Description& description, const std::string& source,
                             const fs::path& home, const fs::path& folder) {
  TWILL_TRY_VOID(
      write_bytes(folder / "kernel.cu",
                  fmt::format("#line 1 \"{}\"\n{}", in_directive(home / "kernel.cu"), source)));
  TWILL_TRY_VOID(write_bytes(folder / "main.cpp", host_main(description)));
  const fs::path object = folder / "main.o";
  std::vector<std::string> compile = compiler_, link = compiler_;
  const std::string own = runtime_.string() + "/host";
  // Every load and store of the kernel calls the executor, in place of the sanitizer's library.
  for (const std::string& word :
       {std::string("-std=c++20"), std::string("-O1"), std::string("-g1"), std::string("-w"),
        std::string("-ffp-contract=off"), std::string("-fsanitize=thread"), "-I" + own + "/include",
        "-I" + own, "-I" + folder.string(), "-I" + home.string(),
        "-I" + runtime_.parent_path().string(), std::string("-c"), (folder / "main.cpp").string(),
        std::string("-o"), object.string()}) {
    compile.push_back(word);
  }
  Built built;
  TWILL_TRY(gate::Finished compiled, gate::run(compile, kLongestBuild, go_on_));
  if (compiled.status != 0 && !compiled.output.empty()) {
    // A function of the user's may name what only <cmath> declares. Messages of compilers are in
    // the user's language, so any failure is tried again.
    compile.insert(compile.end(), {"-include", "cmath"});
    TWILL_TRY(compiled, gate::run(compile, kLongestBuild, go_on_));
  }
  if (compiled.status != 0) {
    if (compiled.output.empty()) return broken(compiler_[0], compiled);
    built.complaints = complaints_in(compiled.output);
    return built;
  }
  TWILL_TRY(const fs::path executor, this->executor());
  const fs::path program = folder / "program";
  link.insert(link.end(), {object.string(), executor.string(), "-o", program.string()});
  TWILL_TRY(const gate::Finished linked, gate::run(link, kLongestBuild, go_on_));
  if (linked.status == 0) {
    built.program = program;
  } else if (linked.output.empty()) {
    return broken(compiler_[0], linked);
  } else {
    built.complaints = complaints_in(linked.output);
  }
  if (built.complaints.empty() && !fs::exists(program)) {
    return fail({compiler_[0]}, "this compiler reports success, but makes no program",
                "try it by hand, or name another by the variable CXX");
  }
  return built;
}

Result<Scratch> Scratch::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (parent / "twill-run-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    return fail({parent.string()}, "no folder for the program can be made here",
                "set TMPDIR to a folder that can be written to");
  }
  return Scratch(name);
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace twill::run
