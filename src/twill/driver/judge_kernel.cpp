#include "twill/driver/judge_kernel.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "twill/gate/compile.h"
#include "twill/gate/matching.h"
#include "twill/support/check.h"

namespace twill::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "kernel.cu";
constexpr const char* kRefusedSource = "kernel.refused.cu";
constexpr int kMoreRegisters = 8;
constexpr int kMostSpareRegisters = 16;

void judge_overlaps(const EmittedCuda& emitted, const gate::FunctionCode& function,
                    gate::Verdict& verdict) {
  std::vector<gate::LoopCode> planned;
  for (const emit::ExpectedLoop& loop : emitted.loops) planned.push_back(loop.code);
  const std::vector<std::vector<std::string>> reasons = gate::shortfalls(planned, function);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    for (const std::string& reason : reasons[i]) {
      verdict.refusals.push_back(fmt::format("{}: role {} does not overlap as planned: {}",
                                             function.name, emitted.loops[i].role, reason));
      verdict.overlaps_lost = true;
    }
  }
}

void judge_code(const gate::FunctionCode& function, gate::Verdict& verdict) {
  for (const gate::RoleCode& role : function.roles) {
    verdict.facts.push_back(
        fmt::format("{}: a role of {} registers uses R0 to R{}, {} wgmma in {} batches, {} waits",
                    function.name, role.registers, role.highest_register, role.products,
                    role.batches, role.waits));
  }
  for (std::string& refusal : gate::refusals(function)) {
    verdict.refusals.push_back(std::move(refusal));
  }
}

/// A scratch folder, removed by the destructor.
class Scratch {
 public:
  static Result<Scratch> make() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    std::string name = (folder / "twill-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      return fail({name}, "no folder can be made here to compile in", "set TMPDIR to another");
    }
    return Scratch(name);
  }
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  Scratch(Scratch&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  Scratch& operator=(Scratch&&) = delete;

  const fs::path& folder() const { return folder_; }

 private:
  explicit Scratch(fs::path folder) : folder_(std::move(folder)) {}
  fs::path folder_;
};

Result<void> write_below(const fs::path& folder, const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    const fs::path file = folder / name;
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) return fail({file.string()}, "cannot be written");
  }
  return {};
}

/// Adds the registers and spills of every kernel in the report of ptxas.
void note_figures(const gate::PtxasReport& report, gate::Verdict& verdict) {
  for (const gate::FunctionReport& function : report.functions) {
    if (!function.is_kernel) continue;
    verdict.facts.push_back(fmt::format("{}: {} registers at entry, {} + {} bytes spilled",
                                        function.name, function.registers, function.spill_stores,
                                        function.spill_loads));
  }
}

void judge_machine_code(const EmittedCuda& emitted, const gate::Toolchain& toolchain,
                        const fs::path& cubin, gate::Verdict& verdict) {
  if (!toolchain.nvdisasm) {
    verdict.code_unread = "there is no nvdisasm on PATH, in CUDA's folders or in Triton's";
    return;
  }
  verdict.nvdisasm = toolchain.nvdisasm->string();
  const auto code = gate::disassemble(toolchain, cubin);
  if (!code) {
    verdict.code_unread = code.error().message;
    return;
  }
  for (const gate::FunctionCode& function : *code) {
    judge_code(function, verdict);
    judge_overlaps(emitted, function, verdict);
  }
}

}  // namespace

Result<gate::Verdict> judge_kernel(const EmittedCuda& emitted, const gate::Toolchain& toolchain,
                                   const gate::GoOn& go_on) {
  TWILL_TRY(const Scratch scratch, Scratch::make());
  TWILL_TRY_VOID(write_below(scratch.folder(), emitted.files));
  gate::CompileOptions options;
  options.temporary = scratch.folder();
  TWILL_TRY(const gate::Compiled compiled,
            gate::compile_cuda(toolchain, scratch.folder() / kSource, options, go_on));
  gate::Verdict verdict;
  verdict.nvcc = toolchain.nvcc->string();
  verdict.nvcc_release = gate::version_of(*toolchain.nvcc);
  verdict.refusals = compiled.refusals;
  verdict.compiled = !compiled.report.functions.empty();
  note_figures(compiled.report, verdict);
  if (!compiled.accepted()) {
    verdict.code_unread = "refused before the machine code was read";
    return verdict;
  }
  judge_machine_code(emitted, toolchain, compiled.cubin, verdict);
  if (verdict.refusals.empty()) {
    TWILL_TRY(Input cubin, read_input(compiled.cubin.string()));
    verdict.cubin = std::move(cubin.text);
  }
  return verdict;
}

Result<gate::CompiledModule> judge_module(const std::string& text, const fs::path& python,
                                          const gate::GoOn& go_on) {
  constexpr const char* kModule = "module.ttgir";
  TWILL_TRY(const Scratch scratch, Scratch::make());
  TWILL_TRY_VOID(write_below(scratch.folder(), {{kModule, text}}));
  return gate::compile_ttgir(python, scratch.folder() / kModule, scratch.folder(), go_on);
}

std::map<std::string, std::string> kept_files(const EmittedCuda& emitted,
                                              const gate::Verdict& verdict) {
  std::map<std::string, std::string> files = emitted.files;
  const bool refused = verdict.standing() == gate::Standing::refused;
  const std::string name = refused ? kRefusedSource : kSource;
  auto source = files.extract(kSource);
  TWILL_CHECK(!source.empty(), "a kernel that was emitted has a source");
  files["status.json"] = gate::status_json(verdict, name, source.mapped());
  if (!verdict.cubin.empty()) files["kernel.cubin"] = verdict.cubin;
  files[name] = std::move(source.mapped());
  return files;
}

std::optional<Remedy> remedy_for(const Request& request, const gate::Verdict& verdict) {
  if (!verdict.compiled || verdict.refusals.empty()) return std::nullopt;
  Remedy remedy{request, ""};
  if (verdict.overlaps_lost && !request.pins) {
    remedy.request.pins = true;
    remedy.words = "with pins (--pins)";
    return remedy;
  }
  if (request.names_schedule()) return std::nullopt;  // a new solution would be another schedule
  if (request.spare_registers + kMoreRegisters > kMostSpareRegisters) return std::nullopt;
  remedy.request.spare_registers += kMoreRegisters;
  remedy.words = fmt::format("with {} registers of each thread kept free (--spare-registers {})",
                             remedy.request.spare_registers, remedy.request.spare_registers);
  return remedy;
}

}  // namespace twill::driver
