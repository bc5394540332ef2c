#include "twill/driver/ring_loads.h"

#include <algorithm>
#include <map>
#include <optional>

#include "twill/device/thread_copies.h"
#include "twill/extract/copied.h"
#include "twill/ir/arrays.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"
#include "twill/ir/source_words.h"

namespace twill::driver {
namespace {

using ir::OpKind;

bool is_load(const ir::Op& op) { return op.kind == OpKind::block_load || op.kind == OpKind::load; }

/// Whether a role that only loads can compute the address of a load. The address may come from
/// loaded values, but not from products, nor from loaded values by more than arithmetic.
bool runs_ahead(const ir::Program& program, const ir::Loop& loop, ir::OpId load,
                const std::set<ir::ValueId>& of_tiles) {
  if (ir::parent(program, load) != loop.op) return false;
  const auto sources = extract::made_in(program, loop, program.op(load).operands, {});
  return std::all_of(sources.begin(), sources.end(), [&](ir::ValueId value) {
    const auto by = program.value(value).op;
    if (!by || !of_tiles.contains(value)) return true;
    return program.op(*by).kind == OpKind::load || ir::is_pure(program, *by);
  });
}

/// Whether a load of a loop after the planned loop may begin while other roles have not yet reached
/// that loop. No earlier op writes what the load reads, and no op between the two loops orders
/// accesses to memory. In a loop over tiles, all of a tile comes before the next tile's loads.
/// Precondition: the loop is after the planned loop.
bool may_begin_early(const ir::Program& program, ir::OpId function, ir::OpId planned_loop,
                     ir::OpId loop, ir::OpId load) {
  const ir::OpId last = ir::walk(program, loop).back();
  const bool in_tiles = ir::parent(program, loop) != function;
  const ir::ValueId address = ir::memory_access(program.op(load))->address;
  for (const ir::OpId id : ir::walk(program, function)) {
    if (last < id && !in_tiles) break;
    const ir::Effect effect = ir::effect_of(program.op(id));
    const bool orders = effect == ir::Effect::orders || effect == ir::Effect::unknown;
    if (orders && (in_tiles || (planned_loop < id && id <= last))) return false;
    const auto access = ir::memory_access(program.op(id));
    const bool writes = access && access->writes && access->space == ir::AccessSpace::global;
    if (writes && ir::may_meet(program, address, access->address)) return false;
  }
  return true;
}

bool is_alike(const ir::Program& program, ir::OpId load, ir::OpId planned) {
  const ir::Op &a = program.op(load), &b = program.op(planned);
  if (a.kind != b.kind) return false;
  const auto address = [&](const ir::Op& op) { return ir::type_of(program, op.operands.front()); };
  if (a.kind == OpKind::block_load && address(a) != address(b)) return false;
  if (a.kind == OpKind::load &&
      device::fits_cp_async(program, load) != device::fits_cp_async(program, planned)) {
    return false;
  }
  const ir::Type tile = ir::type_of(program, a.results.front());
  const ir::Type brought = ir::type_of(program, b.results.front());
  const auto layout = extract::layout_in_memory(program, load);
  return tile->shape == brought->shape && tile->element == brought->element && layout &&
         layout == extract::layout_in_memory(program, planned);
}

/// By loaded value, in the order of the program: the op of the planned loop that loads it.
std::map<ir::ValueId, problem::OpId> planned_loads(const ir::Program& program,
                                                   const report::Outcome& outcome) {
  std::map<ir::ValueId, problem::OpId> loads;
  for (std::size_t v = 0; v < outcome.origins.size(); ++v) {
    const auto loaded = extract::loaded_by(program, outcome.origins[v]);
    if (loaded) loads.emplace(*loaded, problem::OpId(v));
  }
  return loads;
}

}  // namespace

std::vector<plan::LoadRequest> loads_beside(const Kernel& kernel, const report::Outcome& outcome,
                                            ir::OpId id) {
  const ir::Program& program = kernel.program;
  const auto loop = ir::as_loop(program, id);
  const auto function = ir::enclosing(program, id, OpKind::function);
  if (!loop || !function || ir::only_reads(program, id)) return {};
  const std::set<ir::ValueId> of_tiles = ir::computed_of_tiles(program, *function);
  const auto planned = planned_loads(program, outcome);
  std::vector<plan::LoadRequest> requests;
  for (const ir::OpId load : ir::walk(program, id)) {
    const ir::Op& op = program.op(load);
    if (!is_load(op)) continue;
    const ir::Type tile = ir::type_of(program, op.results.front());
    if (!ir::is_tensor(tile) || tile->shape.empty()) continue;
    plan::LoadRequest request;
    request.load = {ir::op_words(program, load), op.line, op.column};
    // A ring of the same array is the first choice.
    for (const bool of_one_array : {true, false}) {
      for (const auto& [value, copy] : planned) {
        const ir::OpId other = *program.value(value).op;
        const bool same = op.operands.front() == program.op(other).operands.front();
        if (same == of_one_array && is_alike(program, load, other)) request.like.push_back(copy);
      }
    }
    request.runs_ahead = runs_ahead(program, *loop, load, of_tiles) &&
                         may_begin_early(program, *function, kernel.choice.loop, id, load);
    request.by_descriptor = op.kind == OpKind::block_load;
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace twill::driver
