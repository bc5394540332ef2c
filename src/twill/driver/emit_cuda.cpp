#include "twill/driver/emit_cuda.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/candidates.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/kernel.h"
#include "twill/driver/run_kernel.h"
#include "twill/emit/cuda.h"
#include "twill/emit/description.h"
#include "twill/report/story.h"
#include "twill/support/sha256.h"
#include "twill/support/shipped.h"
#include "twill/support/text_table.h"

namespace twill::driver {
namespace {

/// Collects the runtime headers that a text includes, directly and through other headers, each
/// once.
Result<void> add_runtime(const std::string& text, std::map<std::string, std::string>& files) {
  constexpr std::string_view kInclude = "#include \"runtime/";
  for (std::size_t at = 0; (at = text.find(kInclude, at)) != std::string::npos;) {
    const std::size_t begin = text.find('"', at) + 1;
    at = text.find('"', begin);
    const std::string name = text.substr(begin, at - begin);
    if (files.contains(name)) continue;
    TWILL_TRY(const std::string header, support::shipped_text(name));
    files[name] = header;
    TWILL_TRY_VOID(add_runtime(header, files));
  }
  return {};
}

/// The options of `twill emit cuda` that correspond to `request`.
std::vector<std::string> options_of(const Request& request, bool load_latency,
                                    emit::Stamps stamps) {
  std::vector<std::string> words;
  const auto add = [&](bool wanted, const std::string& name, const auto& value) {
    if (wanted) words.insert(words.end(), {"--" + name, fmt::format("{}", value)});
  };
  const auto flag = [&](bool wanted, const char* name) {
    if (wanted) words.emplace_back(name);
  };
  add(!request.machine.empty(), "machine", request.machine);
  add(!request.loop.empty(), "loop", request.loop);
  add(request.subtile.has_value(), "subtile", request.subtile.value_or(0));
  add(!request.pool.empty(), "pool", request.pool);
  flag(request.strict, "--strict");
  flag(request.already_pipelined, "--already-pipelined");
  flag(request.transfers, "--transfer-ops");
  flag(load_latency, "--load-latency");
  const strategy::Choice& by = request.strategy;
  add(by.strategy != strategy::Strategy::twill, "strategy", strategy::name_of(by.strategy));
  add(by.depth.has_value(), "depth", by.depth.value_or(0));
  flag(by.ping_pong, "--ping-pong");
  add(request.alternatives.take > 0, "alternative", request.alternatives.take);
  add(request.alternatives.take > 0, "within", request.alternatives.within);
  add(request.imported.has_value(), "schedule", request.imported.value_or(Input{}).name);
  add(request.spare_registers > 0, "spare-registers", request.spare_registers);
  flag(request.pins, "--pins");
  add(request.tiles == TileWalk::one, "tiles", "one");
  add(request.tiles == TileWalk::persistent, "tiles", "persistent");
  add(request.cluster > 1, "cluster", request.cluster);
  add(stamps != emit::Stamps::none, "instrument",
      stamps == emit::Stamps::steps ? "steps" : "sections");
  return words;
}

std::string with_story(const report::Outcome& outcome, const std::string& source) {
  return as_comment(report::story(outcome)) + source;
}

Result<EmittedCuda> printed(const Request& request, emit::Stamps stamps, PlannedLoop planned) {
  EmittedCuda emitted{std::move(planned), {}, {}};
  if (!emitted.planned.plan) return emitted;
  if (emitted.planned.outcome.machine.empty()) {
    return fail(
        {request.input.name},
        "a .loop text says how long ops take, and not what they compute: it has no kernel to print",
        "give the TTGIR of the kernel");
  }
  const Kernel& kernel = *emitted.planned.reading->kernel;
  const emit::KernelParts parts{
      kernel.program,        kernel.choice.loop, emitted.planned.outcome.origins,
      *emitted.planned.plan, request.input.name, stamps};
  TWILL_TRY(std::string source, emit::cuda_kernel(parts));
  TWILL_TRY(emitted.loops, emit::expected_loops(parts));
  if (stamps != emit::Stamps::none) {
    emitted.files["stamps.json"] = emit::cuda_stamps(*emitted.planned.plan, stamps);
  }
  TWILL_TRY_VOID(add_runtime(source, emitted.files));
  emitted.files["kernel.cu"] = with_story(emitted.planned.outcome, source);
  TWILL_TRY(emit::Description description, emit::cuda_description(parts));
  description.sha256 = sha256(request.input.text);
  description.runtime = runtime_hash(emitted.files);
  description.loop = kernel.choice.number;
  description.machine = kernel.machine->name;
  description.options = options_of(request, kernel.load_latency, stamps);
  emitted.files["kernel.json"] = emit::description_json(description);
  emitted.files["kernel.ttgir"] = request.input.text;
  return emitted;
}

/// The refusal; if the kernel can be printed as TTGIR, the hint names that command.
Diagnostic with_other_door(const Request& request, PlannedLoop& planned, Diagnostic why) {
  look_for_doors(request, planned);
  const auto& built = planned.outcome.built;
  if (!built || !built->no_ttgir || !built->no_ttgir->empty()) return with_page(std::move(why));
  if (why.hint.find("emit ttgir") != std::string::npos) return why;
  why.hint = "`twill emit ttgir` prints it" + (why.hint.empty() ? "" : "; or " + why.hint);
  return why;
}

}  // namespace

const Door& cuda_door() {
  static const Door kDoor = {
      [](const Reading& reading, const report::Outcome& outcome,
         const plan::ProvenPlan& plan) -> std::optional<Diagnostic> {
        const Kernel& kernel = *reading.kernel;
        const auto source = emit::cuda_kernel({kernel.program, kernel.choice.loop, outcome.origins,
                                               plan, kernel.program.file(), emit::Stamps::none});
        return source ? std::nullopt : std::optional(source.error());
      },
      may_depend_on_transfers};
  return kDoor;
}

Result<std::string> kernel_text(const PlannedLoop& planned, const std::string& input,
                                emit::Stamps stamps) {
  const Kernel* kernel = kernel_of(*planned.reading, planned.outcome);
  if (kernel == nullptr || !planned.plan) return fail({input}, "has no kernel to print");
  TWILL_TRY_VOID(emit::check_target(kernel->program));
  TWILL_TRY(const std::string source,
            emit::cuda_kernel({kernel->program, kernel->choice.loop, planned.outcome.origins,
                               *planned.plan, input, stamps}));
  return with_story(planned.outcome, source);
}

Result<EmittedCuda> emit_cuda(const Request& request, emit::Stamps stamps) {
  TWILL_TRY(Reading read, read_once(request));
  if (read.kernel) {
    TWILL_TRY_VOID(emit::check_target(read.kernel->program));
  }
  const auto reading = std::make_shared<const Reading>(std::move(read));
  TWILL_TRY(PlannedLoop planned, answer_reading(request, reading, {true, &cuda_door()}));
  auto made = printed(request, stamps, planned);
  if (!made) return tl::unexpected(with_other_door(request, planned, made.error()));
  return made;
}

}  // namespace twill::driver
