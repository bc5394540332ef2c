#include "twill/driver/ttgir_of_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/candidates.h"
#include "twill/driver/emit_cuda.h"
#include "twill/driver/fit.h"
#include "twill/driver/pressure.h"
#include "twill/driver/propose.h"
#include "twill/emit/ttgir.h"
#include "twill/ir/loop.h"

namespace twill::driver {
namespace {

/// Bytes that a tree may use of the 2 KiB that machine files leave for barriers and alignment. A
/// tree counts its barriers itself.
constexpr std::int64_t kForBarriers = 1024;

/// Bytes of shared memory that a CTA may use for buffers and barriers.
std::int64_t shared_memory(const machine::Description& machine) {
  for (const machine::Memory& memory : machine.memories) {
    if (memory.capacity.unit != "bytes") continue;
    return static_cast<std::int64_t>(memory.capacity.value) + kForBarriers;
  }
  return std::numeric_limits<std::int64_t>::max();
}

/// The tree of a plan of the outcome's schedule, for the module. CTAs share an SM only if a launch
/// takes no more registers than the plan has. Precondition: the outcome belongs to a kernel.
Result<Fitted> tree_of(const Reading& reading, const report::Outcome& outcome,
                       const plan::ProvenPlan& plan, dialect::Spelling spelling) {
  const Kernel& kernel = *reading.kernel;
  device::Parts parts{kernel.program, kernel.choice.loop, outcome.origins, plan};
  parts.parts_of_rings = spelling == dialect::Spelling::v3_6;
  TWILL_TRY(Fitted fitted, build_within(parts, shared_memory(*kernel.machine)));
  if (kernel.machine->ctas_per_sm > 1) {
    fitted.kernel.registers_at_launch = plan.plan().limits.launch_registers;
  }
  return fitted;
}

/// Notes the roles whose tiles need more registers than the role has, less `margin`.
void note_missing_registers(const ir::Program& program, const device::Kernel& tree, int margin,
                            PrintedTtgir& printed) {
  const std::vector<Pressure> pressure = register_pressure(program, tree);
  for (std::size_t i = 0; i < pressure.size(); ++i) {
    const auto& [needed, available] = pressure[i];
    if (available == 0 || needed + margin <= available) continue;
    printed.missing = std::max(printed.missing, needed - available);
    ++printed.short_roles;
    printed.reasons.push_back(fmt::format("{} needs about {} registers of each thread and has {}",
                                          tree.roles[i].name, needed, available));
  }
}

/// Registers that ptxas needs beside the tile of a product's instruction. For a tile of 128
/// registers it needs 154 at launch (C7602, the ptxas of Triton 3.6). Registers added by setmaxnreg
/// do not count.
constexpr int kBesideInstruction = 26;

/// Notes a product whose instruction needs more registers than a launch has.
void note_large_product(const device::Kernel& tree, PrintedTtgir& printed) {
  if (tree.registers_at_launch == 0) return;
  int most = 0;
  for (const device::Role& role : tree.roles) {
    device::walk(role.body.nodes, [&](const device::Node& node) {
      if (node.kind != device::NodeKind::product) return;
      most = std::max(most, instruction_registers(tree[node.results[0]].type));
    });
  }
  if (most + kBesideInstruction <= tree.registers_at_launch) return;
  printed.reasons.push_back(
      fmt::format("a product's instruction takes about {} registers of each "
                  "thread, and a launch has {}",
                  most + kBesideInstruction, tree.registers_at_launch));
}

}  // namespace

const Door& ttgir_door() {
  static const Door kDoor = {
      [](const Reading& reading, const report::Outcome& outcome,
         const plan::ProvenPlan& plan) -> std::optional<Diagnostic> {
        const dialect::Spelling any{};
        const auto tree = tree_of(reading, outcome, plan, any);
        if (!tree) return tree.error();
        const auto text = emit::ttgir_kernel(reading.kernel->program, tree->kernel, any);
        return text ? std::nullopt : std::optional(text.error());
      },
      [](const plan::Plan& plan) {
        return std::none_of(
            plan.mechanisms.begin(), plan.mechanisms.end(),
            [](const plan::Mechanism how) { return how == plan::Mechanism::tcgen05; });
      }};
  return kDoor;
}

Result<PrintedTtgir> print_ttgir(const Reading& reading, const report::Outcome& outcome,
                                 const plan::ProvenPlan& plan, const TtgirChoice& choice,
                                 int margin) {
  const ir::Program& program = reading.kernel->program;
  auto fitted = tree_of(reading, outcome, plan, *choice.spelling);
  if (!fitted) return tl::unexpected(with_page(fitted.error()));
  const device::Kernel& tree = fitted->kernel;
  auto text = emit::ttgir_kernel(program, tree, *choice.spelling);
  if (!text) return tl::unexpected(with_page(text.error()));
  PrintedTtgir out{*std::move(text), tree.notes};
  for (const device::Role& role : tree.roles) out.roles.push_back(role.name);
  out.stored = tree.plan;
  out.plan = std::move(fitted->plan);
  if (choice.judge) {
    TWILL_TRY(out.reasons, choice.judge(out.text));
  } else {
    note_missing_registers(program, tree, margin, out);
    note_large_product(tree, out);
  }
  return out;
}

Result<std::optional<PlannedLoop>> with_one_tile(const Request& given, const PlannedLoop& planned) {
  Request request = given;
  request.tiles = TileWalk::one;
  TWILL_TRY(auto trial, try_outcome(request, *planned.reading, planned.outcome, false));
  if (!trial || trial->refusal) return std::nullopt;
  TWILL_TRY(Attempt made, prove_trial(request, *planned.reading, *std::move(trial), {}));
  if (!made.plan) return std::nullopt;
  return PlannedLoop{planned.outcome, std::move(made.plan), {}, {}, {}, planned.reading};
}

bool may_share_an_sm(const Request& request, const PlannedLoop& planned) {
  const bool open = !request.ctas_per_sm && request.pool.empty() && !request.names_schedule() &&
                    request.spare_registers == 0 && request.cluster == 1 &&
                    request.strategy.strategy == strategy::Strategy::twill;
  return open && planned.plan && planned.plan->plan().kernel->tiles == plan::Tiles::one_per_cta;
}

}  // namespace twill::driver
