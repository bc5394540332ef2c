#include "twill/concurrent/assembly.h"
#include "twill/concurrent/machine.h"
#include "twill/execute/evaluate.h"

/// Inline assembly: named barriers and fences of a role's threads.
namespace twill::concurrent {
namespace {

constexpr std::int64_t kThreads = 32;  ///< threads of a warp

}  // namespace

const Barrier& Machine::named_barrier(std::int64_t number) const {
  return barriers_.all().at({named_.at(number).get(), 0});
}

/// The named barrier, created at its first use.
Barrier& Machine::named_barrier(const Role& role, ir::OpId op, std::int64_t number,
                                std::int64_t threads) {
  if (threads == 0) {
    for (const Role& other : roles_) threads += kThreads * other.warps;
  }
  auto& storage = named_[number];
  if (storage == nullptr) {
    storage = std::make_shared<execute::TileMemory>(execute::poison({1}, false));
    barriers_.init({storage, 0, {1}, {1}}, "named barrier " + std::to_string(number), Visit{},
                   threads, agents_++);
  }
  Barrier& barrier = *barriers_.find({storage, 0, {1}, {1}});
  if (barrier.count != threads) {
    findings_.add({Rule::arrivals, op, std::nullopt,
                   barrier.name + " counts " + std::to_string(threads) + " threads for " +
                       role.where() + ", and " + std::to_string(barrier.count) + " for others"});
  }
  return barrier;
}

/// Executes the steps of inline assembly that other roles can notice; false: the assembly only
/// computes. Fails for unknown instructions.
Result<bool> Machine::assemble(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const ir::Op& op = program_.op(id);
  const Assembly assembly = read_assembly(op.symbol);
  const auto cannot = [&](const std::string& why) {
    return fail(ir::text_location(program_, id), "cannot be followed: inline assembly " + why,
                "named barriers with numbers in the text, fence.proxy.async and arithmetic are "
                "followed");
  };
  if (!assembly.unknown.empty()) return cannot("has " + assembly.unknown);
  if (assembly.steps.empty()) return false;
  for (const ir::ValueId result : op.results) {
    const bool tile = ir::type_of(program_, result)->kind == ir::TypeKind::tensor;
    if (tile) return cannot("synchronizes once for each piece of a tile");
    role.values.set(result, std::monostate());
  }
  for (std::size_t i = 0; i < assembly.steps.size(); ++i) {
    const AssemblyStep& step = assembly.steps[i];
    if (step.kind == AssemblyStep::Kind::stored) continue;
    if (step.kind == AssemblyStep::Kind::fence) {
      role.known.visible.join(role.known.done);
      continue;
    }
    const bool waits = step.kind == AssemblyStep::Kind::sync;
    if (waits && i + 1 < assembly.steps.size()) return cannot("goes on behind a barrier");
    Barrier& barrier = named_barrier(role, id, step.barrier, step.threads);
    if (!role.synchronizes) {
      const std::uint32_t phase = barrier.completed;
      tick(role);
      barriers_.arrive(barrier, visit_of(role, id), kThreads * role.warps, role.known);
      if (!waits) continue;
      if (barrier.completed == phase) {
        role.synchronizes = std::pair(step.barrier, phase);
        role.waits = true;
        --role.frames.back().next;
        return true;
      }
    }
    role.synchronizes.reset();
    role.known.join(barrier.last);
  }
  return true;
}

}  // namespace twill::concurrent
