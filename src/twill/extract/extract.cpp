#include "twill/extract/extract.h"

#include <algorithm>

#include "twill/extract/assemble.h"
#include "twill/extract/behind.h"
#include "twill/extract/body.h"
#include "twill/extract/branches.h"
#include "twill/extract/contract.h"
#include "twill/extract/effects.h"
#include "twill/extract/fuse.h"
#include "twill/extract/kept_sums.h"
#include "twill/extract/load_chains.h"
#include "twill/extract/memory_order.h"
#include "twill/extract/name_ops.h"
#include "twill/extract/sub_tile.h"
#include "twill/ir/source_words.h"

namespace twill::extract {
namespace {

/// Number of an architecture: "sm_90" gives 90.
int architecture_of(const machine::Machine& machine) {
  int number = 0;
  for (char c : machine->target) {
    if (c >= '0' && c <= '9' && number < 1000) number = number * 10 + (c - '0');
  }
  return number;
}

Result<void> check_target(const ir::Program& program, const machine::Machine& machine) {
  const auto kernel = ir::launch_traits(program).cuda_target;
  const int target = architecture_of(machine);
  if (!kernel || target == 0 || *kernel / 10 == target / 10) return {};
  return fail({program.file(), 0, 0},
              "the kernel was compiled for sm_" + std::to_string(*kernel) + ", but " +
                  machine->name + " is " + machine->target,
              "their tensor-core instructions differ: choose another --machine, or compile again");
}

/// Fails if a descriptor gathers or scatters rows: no TMA before Blackwell can do so.
Result<void> check_gathers(const ir::Program& program, const machine::Machine& machine) {
  constexpr int kFirst = 100;
  const int target = architecture_of(machine);
  if (target == 0 || target >= kFirst) return {};
  for (const ir::OpId function : ir::functions(program)) {
    for (const ir::OpId id : ir::walk(program, function)) {
      if (!ir::is_spread(program.op(id).kind)) continue;
      return fail(ir::text_location(program, id),
                  program.op(id).name + " needs sm_100: the TMA of " + machine->target +
                      " brings boxes only" + ir::source_words(program, id),
                  "access the rows by pointers");
    }
  }
  return {};
}

Result<const machine::Pool*> pool_of(const machine::Machine& machine, const std::string& name) {
  if (machine->pools.empty()) return fail({}, "machine " + machine->name + " has no pool");
  if (name.empty()) return &machine->pools.front();
  if (const machine::Pool* pool = machine.pool_named(name)) return pool;
  std::string known;
  for (const machine::Pool& pool : machine->pools) known += " " + pool.name;
  return fail({}, "machine " + machine->name + " has no pool '" + name + "'", "pools:" + known);
}

int compute_groups_of(const machine::Pool& pool) {
  const auto computes = [](const machine::PoolGroup& group) {
    return !group.loads && group.warps > 1;
  };
  return std::max(
      1, static_cast<int>(std::count_if(pool.groups.begin(), pool.groups.end(), computes)));
}

/// Cuts into the rows of the option, or of the machine. With the machine's rows, a loop that cannot
/// be cut stays whole, with a warning.
Result<SubTiling> cut(const TileGraph& graph, const machine::Machine& machine,
                      const Options& options) {
  const auto rows_in = [](const machine::Quantity& it) {
    return static_cast<std::int64_t>(it.value);
  };
  const std::int64_t block = machine->product_rows ? rows_in(*machine->product_rows) : 1;
  if (options.subtile) return sub_tile(graph, *options.subtile, block);
  auto tiling = sub_tile(graph, rows_in(machine->subtile_rows), block);
  if (tiling) return tiling;
  TWILL_TRY(SubTiling whole, sub_tile(graph, 0, block));
  Diagnostic why = std::move(tiling).error();
  why.message += "; they stay whole";
  whole.graph.warnings.push_back(std::move(why));
  return whole;
}

std::string kernel_name(const ir::Program& program, ir::OpId loop) {
  std::string name = "loop";
  if (const auto function = ir::enclosing(program, loop, ir::OpKind::function)) {
    name = std::string(ir::symbol_name(program, *function));
  }
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!good) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "k");
  return name.substr(0, 100);
}

bool has_product(const TileGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(),
                     [](const TileOp& op) { return op.action == Action::product; });
}

/// Ops of the Program that the graph's ops stand for.
std::set<ir::OpId> stood_for(const TileGraph& graph) {
  std::set<ir::OpId> found;
  for (const TileOp& op : graph.ops) {
    if (op.forwards) continue;
    for (const Source& source : op.sources) found.insert(source.op);
  }
  return found;
}

bool is_copy_by_threads(const TileOp& op) {
  return op.action == Action::copy && !op.pieces.empty() && op.pieces[0].kind == "pointer_copy";
}

}  // namespace

bool copies_by_threads(const ir::Program& program, ir::OpId loop) {
  const auto body = straighten(program, loop);
  if (!body) return false;
  const TileGraph graph = contract(*body);
  return std::any_of(graph.ops.begin(), graph.ops.end(), is_copy_by_threads) &&
         std::none_of(graph.ops.begin(), graph.ops.end(),
                      [](const TileOp& op) { return op.one_warp && op.action != Action::copy; });
}

bool is_already_pipelined(const ir::Program& program, ir::OpId loop) {
  const auto body = straighten(program, loop);
  return body && is_pipelined(*body);
}

Result<Extraction> extract(const ir::Program& program, ir::OpId loop,
                           const machine::Machine& machine, const Options& options) {
  TWILL_TRY_VOID(check_target(program, machine));
  TWILL_TRY_VOID(check_gathers(program, machine));
  TWILL_TRY(const machine::Pool* pool, pool_of(machine, options.pool));
  TWILL_TRY(const Body body, straighten(program, loop));
  const TileGraph contracted = contract(body);
  TileGraph graph = name_ops(with_kept_sums(fuse(contracted)));
  if (!has_product(graph)) {
    return fail(ir::text_location(program, loop),
                "the loop has no tensor-core work" + ir::source_words(program, loop));
  }
  TWILL_TRY(const std::vector<std::string> left_out, check_effects(body, stood_for(graph)));
  TWILL_TRY_VOID(check_kept(body, contracted));
  TWILL_TRY_VOID(check_around(body));
  graph.notes.insert(graph.notes.end(), left_out.begin(), left_out.end());
  TWILL_TRY(SubTiling tiling, cut(graph, machine, options));
  for (Diagnostic& warning : tiling.graph.warnings) {
    if (warning.location == Location{}) warning.location = ir::text_location(program, loop);
  }
  tiling.graph.together = meetings(body, tiling.graph);
  for (auto& same : around_kept_sums(tiling.graph)) tiling.graph.together.push_back(same);
  tiling.graph.chains = load_chains(body, tiling.graph);
  keep_for_branches(body, tiling.graph);
  const Pricing pricing{&machine, options.rate, compute_groups_of(*pool),
                        std::max(1, compute_width(*pool) / kWarpgroup)};
  auto extraction = assemble(tiling, *pool, pricing, kernel_name(program, loop), options);
  if (!extraction && extraction.error().location == Location{}) {
    extraction.error().location = ir::text_location(program, loop);
  }
  if (extraction) extraction->live_only = body.live_only;
  return extraction;
}

}  // namespace twill::extract
