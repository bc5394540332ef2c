#include "twill/driver/emit_cuda.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/emit/cuda.h"
#include "twill/gate/compile.h"
#include "twill/gate/matching.h"
#include "twill/support/data_path.h"

namespace twill::driver {
namespace {

constexpr const char* kHeaders[] = {"barrier", "copy", "fragment", "host",  "ring", "role",
                                    "stamps",  "tile", "tma",      "types", "wgmma"};

/// What a kernel includes, so that the folder compiles by itself.
Result<void> add_runtime(const std::string& source, std::map<std::string, std::string>& files) {
  TWILL_TRY(const std::filesystem::path folder, support::data_path("runtime"));
  const bool copies = source.find("runtime/copy.cuh") != std::string::npos;
  for (const char* header : kHeaders) {
    const std::string name = std::string(header) + ".cuh";
    if (name == "copy.cuh" && !copies) continue;
    TWILL_TRY(Input read, read_input((folder / name).string()));
    files["runtime/" + name] = std::move(read.text);
  }
  return {};
}

Result<EmittedCuda> printed(const Request& request, emit::Stamps stamps, PlannedLoop planned) {
  EmittedCuda emitted{std::move(planned), {}, {}};
  if (!emitted.planned.plan) return emitted;
  if (emitted.planned.outcome.machine.empty()) {
    return fail({request.input.name},
                "a .loop text says when, and not what: it has no kernel to print",
                "give the TTGIR of the kernel");
  }
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  const emit::KernelParts parts{
      kernel.program,        kernel.choice.loop, emitted.planned.outcome.origins,
      *emitted.planned.plan, request.input.name, stamps};
  TWILL_TRY(std::string source, emit::cuda_kernel(parts));
  TWILL_TRY(emitted.loops, emit::expected_loops(parts));
  if (stamps != emit::Stamps::none) {
    emitted.files["stamps.json"] = emit::cuda_stamps(*emitted.planned.plan, stamps);
  }
  TWILL_TRY_VOID(add_runtime(source, emitted.files));
  emitted.files["kernel.cu"] = std::move(source);
  return emitted;
}

/// What is known before the search: whether there is a printer for the kernel's GPU.
Result<void> check_printable(const Request& request) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form != Form::ttgir) return {};
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  return emit::check_target(kernel.program);
}

/// Whether what cannot be printed may be how groups hand values to each other: they do, and nothing
/// is done that is printed for no pool.
bool may_be_hand_overs(const plan::Plan& plan) {
  const bool never = std::any_of(
      plan.mechanisms.begin(), plan.mechanisms.end(),
      [](const plan::Mechanism mechanism) { return mechanism == plan::Mechanism::tcgen05; });
  return !never && std::any_of(plan.values.begin(), plan.values.end(),
                               [](const plan::Value& value) { return value.staged.has_value(); });
}

/// The pools but the outcome's, the one expected to be fastest first, then those never solved.
std::vector<std::string> others_of(std::vector<std::string> pools, const report::Outcome& outcome) {
  std::erase(pools, outcome.pool);
  const auto expected = [&](const std::string& pool) {
    Cycles least = std::numeric_limits<Cycles>::max();
    for (const report::Candidate& candidate : outcome.candidates) {
      if (!candidate.interval || candidate.pool != pool) continue;
      least = std::min(least, candidate.expected.value_or(*candidate.interval));
    }
    return least;
  };
  std::stable_sort(pools.begin(), pools.end(),
                   [&](const auto& a, const auto& b) { return expected(a) < expected(b); });
  return pools;
}

}  // namespace

Result<EmittedCuda> emit_cuda(const Request& request, emit::Stamps stamps) {
  TWILL_TRY_VOID(check_printable(request));
  TWILL_TRY(PlannedLoop planned, plan_loop(request));
  const bool may_be_other = planned.plan && may_be_hand_overs(planned.plan->plan()) &&
                            !request.names_schedule() && request.pool.empty();
  const report::Outcome outcome = planned.outcome;
  auto first = printed(request, stamps, std::move(planned));
  if (first || !may_be_other) return first;
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  const std::vector<std::string> others = others_of(kernel.pools, outcome);
  for (const std::string& other : others) {
    Request again = request;
    again.pool = other;
    auto replanned = plan_loop(again);
    if (!replanned || !replanned->plan) continue;
    auto next = printed(again, stamps, *std::move(replanned));
    if (!next) continue;
    Diagnostic why = first.error();
    why.message +=
        fmt::format("; that was for pool {}, this is the kernel for pool {}", outcome.pool, other);
    next->planned.outcome.warnings.push_back(std::move(why));
    return next;
  }
  return first;
}

namespace {

constexpr int kMoreRegisters = 8;
constexpr int kMostSpareRegisters = 16;

void judge_overlaps(const EmittedCuda& emitted, const gate::FunctionCode& function,
                    GateVerdict& verdict) {
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

void judge_code(const gate::FunctionCode& function, GateVerdict& verdict) {
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

}  // namespace

Result<GateVerdict> compile_emitted(const EmittedCuda& emitted, const std::string& folder) {
  const gate::Toolchain toolchain = gate::find_toolchain(gate::places_of_environment());
  const std::filesystem::path source = std::filesystem::path(folder) / "kernel.cu";
  TWILL_TRY(const gate::Compiled compiled,
            gate::compile_cuda(toolchain, source, {{std::filesystem::path(folder)}, {}}));
  GateVerdict verdict;
  verdict.refusals = compiled.refusals;
  verdict.compiled = !compiled.report.functions.empty();
  for (const gate::FunctionReport& function : compiled.report.functions) {
    if (!function.is_kernel) continue;
    verdict.facts.push_back(fmt::format("{}: {} registers at entry, {} + {} bytes spilled",
                                        function.name, function.registers, function.spill_stores,
                                        function.spill_loads));
  }
  if (!compiled.accepted()) return verdict;
  if (!toolchain.nvdisasm) {
    verdict.facts.emplace_back("no nvdisasm: the machine code was not looked at");
    return verdict;
  }
  TWILL_TRY(const std::vector<gate::FunctionCode> code,
            gate::disassemble(toolchain, compiled.cubin));
  for (const gate::FunctionCode& function : code) {
    judge_code(function, verdict);
    judge_overlaps(emitted, function, verdict);
  }
  return verdict;
}

std::optional<Remedy> remedy_for(const Request& request, const GateVerdict& verdict) {
  if (!verdict.compiled || verdict.refusals.empty()) return std::nullopt;
  Remedy remedy{request, ""};
  if (verdict.overlaps_lost && !request.pins) {
    remedy.request.pins = true;
    remedy.words = "with pins (--pins)";
    return remedy;
  }
  if (request.names_schedule()) return std::nullopt;  // solved again it would be another
  if (request.spare_registers + kMoreRegisters > kMostSpareRegisters) return std::nullopt;
  remedy.request.spare_registers += kMoreRegisters;
  remedy.words = fmt::format("with {} registers of each thread kept free (--spare-registers {})",
                             remedy.request.spare_registers, remedy.request.spare_registers);
  return remedy;
}

}  // namespace twill::driver
