#include "twill/extract/assemble.h"

#include <algorithm>
#include <utility>

#include "twill/extract/readers_first.h"
#include "twill/extract/transfers.h"
#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"

namespace twill::extract {
namespace {

constexpr int kThreadsPerWarp = 32;
/// Threads of a warp that share a row of a wgmma accumulator.
constexpr std::int64_t kQuad = 4;

std::optional<std::size_t> memory_of(const machine::Machine& machine, Home home) {
  const std::string_view name = home == Home::tensor ? "TMEM" : "SMEM";
  for (std::size_t i = 0; i < machine->memories.size(); ++i) {
    if (machine->memories[i].name == name) return i;
  }
  return std::nullopt;
}

Amount amount_of(Home home, const Space& space, int bits) {
  return home == Home::tensor ? columns_of(space, bits) : bytes_of(space, bits);
}

/// Widths of the pool: its compute groups, its load group, and whether it has other groups.
struct Widths {
  int compute = kWarpgroup;
  int load = 1;
  bool has_compute = false;
  bool has_load = false;
  bool has_single = false;
};

Widths widths_of(const machine::Pool& pool) {
  Widths widths;
  widths.compute = compute_width(pool);
  for (const machine::PoolGroup& group : pool.groups) {
    if (group.loads && !widths.has_load) {
      widths.load = group.warps;
      widths.has_load = true;
    } else if (!group.loads && group.warps == 1) {
      widths.has_single = true;
    } else if (!group.loads) {
      widths.has_compute = true;
    }
  }
  return widths;
}

std::string letter_of(int part) {
  if (part < 0) return "";
  return part < 26 ? std::string(1, static_cast<char>('A' + part)) : "_" + std::to_string(part);
}

class Assembler {
 public:
  Assembler(const SubTiling& tiling, const machine::Pool& pool, const Pricing& pricing)
      : graph_(tiling.graph),
        tiling_(tiling),
        pool_(pool),
        pricing_(pricing),
        widths_(widths_of(pool)) {}

  Result<Extraction> run(const std::string& name, const Options& options) {
    parts_.name = name;
    reserved_.clear();
    warnings_ = graph_.warnings;
    TWILL_TRY_VOID(add_machine());
    TWILL_TRY(const std::vector<std::vector<PricedAlternative>> prices,
              price_ops(graph_, pricing_));
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      TWILL_TRY_VOID(add_op(i, prices[i], options.strict));
    }
    for (const TileEdge& edge : graph_.edges) {
      TWILL_TRY_VOID(add_dependence(edge));
    }
    for (const std::vector<TileOpId>& ops : graph_.together) {
      std::vector<problem::OpId>& same = parts_.same_group.emplace_back();
      for (const TileOpId op : ops) same.emplace_back(op.index());
    }
    for (const LoadChain& chain : graph_.chains) {
      TWILL_TRY_VOID(add_chain(chain));
    }
    put_readers_first(parts_);
    mark_streaming();
    if (options.load_latency) wait_for_streaming();
    set_minimum_groups();
    std::vector<OpOrigin> transfer_ops;
    if (options.transfers) {
      TWILL_TRY(transfer_ops, add_transfers(graph_, pricing_, parts_));
    }
    TWILL_TRY(problem::Problem posed, problem::pose(std::move(parts_)));
    Extraction extraction{std::move(posed),
                          {},
                          std::move(reserved_),
                          graph_.notes,
                          std::move(warnings_),
                          false,
                          tiling_.parts,
                          tiling_.rows,
                          pool_.name};
    for (const TileOp& op : graph_.ops) {
      extraction.origins.push_back({op.sources, op.part, op.row_begin, op.row_end, op.forwards});
    }
    for (OpOrigin& it : transfer_ops) extraction.origins.push_back(std::move(it));
    return extraction;
  }

 private:
  Result<void> add_machine() {
    const machine::Machine& machine = *pricing_.machine;
    if (!widths_.has_compute) return fail({}, "pool '" + pool_.name + "' has no compute group");
    if (!widths_.has_load) return fail({}, "pool '" + pool_.name + "' has no load group");
    for (const machine::Unit& unit : machine.units()) parts_.units.push_back({unit.name});
    for (const machine::Pipe& pipe : machine.pipes()) {
      parts_.pipes.push_back({pipe.name, pipe.port});
    }
    std::vector<Amount> taken(machine->memories.size(), 0);
    std::int64_t registers = 0;
    for (const InvariantBuffer& invariant_buffer : graph_.invariant_buffers)
      reserve(invariant_buffer, taken, registers);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const machine::Memory& memory = machine->memories[i];
      const Amount capacity = static_cast<Amount>(memory.capacity.value) - taken[i];
      if (capacity < 1) {
        const auto whole = static_cast<Amount>(memory.capacity.value);
        return fail({},
                    "tiles that live through the whole loop take " + std::to_string(taken[i]) +
                        " " + memory.capacity.unit + " of " + memory.name + ", and there are " +
                        std::to_string(whole),
                    "smaller tiles take less; a mapping's 'limit shared' may be larger");
      }
      parts_.memories.push_back({memory.name, capacity});
    }
    for (const machine::PoolGroup& group : pool_.groups) {
      const bool holds_tiles = !group.loads && group.warps >= widths_.compute;
      const std::int64_t left = group.registers - (holds_tiles ? registers : 0);
      if (left < 0) {
        warn({}, "loop-invariant register tiles take all registers of group " + group.name);
      }
      parts_.groups.push_back({group.name, group.warps,
                               static_cast<int>(std::max<std::int64_t>(left, 0)), group.loads});
    }
    share_registers(registers);
    set_objectives();
    return {};
  }

  /// Sets the budget of the groups that share registers. The reserve covers the overhead,
  /// loop-invariant tiles, and the least setmaxnreg.
  void share_registers(std::int64_t invariant_buffer) {
    const machine::SharedRegisters& shared = pool_.shared;
    if (shared.total == 0) return;
    const auto overhead = static_cast<std::int64_t>((*pricing_.machine)->register_overhead.value);
    constexpr int kStep = machine::kRegisterStep;
    const bool holds_tiles = kWarpgroup >= widths_.compute;
    const std::int64_t reserve = std::max<std::int64_t>(
        overhead + (holds_tiles ? invariant_buffer : 0), shared.least - kStep + 1);
    problem::RegisterBudget budget{{}, shared.total, kStep, static_cast<int>(reserve)};
    for (std::size_t g = 0; g < pool_.groups.size(); ++g) {
      if (pool_.groups[g].shares) budget.groups.emplace_back(g);
    }
    parts_.register_budgets.push_back(std::move(budget));
  }

  void set_objectives() {
    const machine::Machine& machine = *pricing_.machine;
    std::vector<problem::Objective> objectives;
    for (const std::string& name : machine->objectives) {
      if (const auto known = problem::objective_named(name)) objectives.push_back(*known);
    }
    if (!objectives.empty()) parts_.objectives = std::move(objectives);
  }

  /// Sets the minimum of compute groups with ops that the machine wants, limited to groups that the
  /// ops can use. Ops that share a group count once.
  void set_minimum_groups() {
    int apart = problem::compute_ops(parts_);
    for (const std::vector<problem::OpId>& same : parts_.same_group) {
      apart -= static_cast<int>(same.size()) - 1;
    }
    const int usable = std::min(problem::compute_groups(parts_), apart);
    const int wanted = (*pricing_.machine)->minimum_compute_groups;
    parts_.minimum_compute_groups = std::clamp(usable, 1, wanted);
  }

  void reserve(const InvariantBuffer& invariant_buffer, std::vector<Amount>& taken,
               std::int64_t& registers) {
    if (invariant_buffer.home == Home::registers) {
      const std::int64_t each =
          registers_of(invariant_buffer.space, invariant_buffer.bits, widths_.compute, false);
      registers += each;
      reserved_.push_back({invariant_buffer.name, "registers", each, invariant_buffer.why,
                           invariant_buffer.op, false});
      return;
    }
    const auto memory = memory_of(*pricing_.machine, invariant_buffer.home);
    if (!memory) return;
    const Amount amount =
        amount_of(invariant_buffer.home, invariant_buffer.space, invariant_buffer.bits);
    taken[*memory] += amount;
    reserved_.push_back({invariant_buffer.name, (*pricing_.machine)->memories[*memory].name, amount,
                         invariant_buffer.why, invariant_buffer.op, invariant_buffer.staging});
  }

  /// Registers per thread. On Hopper, four threads share a row of an accumulator, so each row value
  /// takes four registers in all. On Blackwell, each thread has a row of its own. If several
  /// warpgroups share rows, each holds all row values. A thread holds a quarter of a vector along
  /// columns.
  std::int64_t registers_of(const Space& space, int bits, int warps, bool column) const {
    const std::int64_t words = (elements_of(space) * bits + 31) / 32;
    if (column) return (words + kQuad - 1) / kQuad;
    const std::int64_t threads = std::int64_t{warps} * kThreadsPerWarp;
    const bool shared_rows = !memory_of(*pricing_.machine, Home::tensor);
    std::int64_t copies = 1;
    if (is_row(space)) copies = (shared_rows ? kQuad : 1) * parts_of_row(space, pricing_);
    return (words * copies + threads - 1) / threads;
  }

  int width_of(const TileOp& op) const {
    if (op.action == Action::copy) return widths_.load;
    if (op.one_warp && widths_.has_single) return 1;
    return widths_.compute;
  }

  Result<void> add_op(std::size_t index, const std::vector<PricedAlternative>& alternatives,
                      bool strict) {
    const TileOp& tile = graph_.ops[index];
    const machine::Cost& cost = alternatives.front().cost;
    if (cost.defaulted) {
      TWILL_TRY_VOID(report_default(tile, strict));
    }
    problem::Op op;
    op.name = tile.name + letter_of(tile.part);
    for (const PricedAlternative& alternative : alternatives)
      op.alternatives.push_back(alternative_of(alternative));
    op.warps = width_of(tile);
    // A storing thread waits for the indices that the same op loads.
    const bool stores = tile.action == Action::store && !tile.one_warp && tile.home == Home::none;
    op.asynchronous = cost.asynchronous && !stores;
    op.variable_latency = tile.action == Action::copy;
    if (tile.home == Home::registers) {
      op.registers = static_cast<int>(std::min<std::int64_t>(
          registers_of(tile.result, tile.result_bits, op.warps, is_column(index)),
          problem::kLargestNumber));
    }
    const auto memory = memory_of(*pricing_.machine, tile.home);
    if (is_memory(tile.home) && tile.holds_memory) {
      if (!memory) {
        return fail(tile.sources.empty() ? Location{} : tile.sources[0].where,
                    "this machine has no tensor memory", "choose the machine the kernel is for");
      }
      op.footprint.push_back(
          {problem::MemoryId(*memory), amount_of(tile.home, tile.result, tile.result_bits)});
    }
    for (const Source& source : tile.sources) op.source.push_back(source.text);
    parts_.ops.push_back(std::move(op));
    return {};
  }

  Result<void> report_default(const TileOp& tile, bool strict) {
    const Location where = tile.sources.empty() ? Location{} : tile.sources[0].where;
    const std::string what =
        "no price for '" + (tile.pieces.empty() ? std::string("?") : tile.pieces[0].kind) + "'";
    if (strict) {
      return fail(where, what + ", and --strict allows no default",
                  "give the machine a rule for it, or leave --strict out");
    }
    warn(where, what + ": the machine's default is used");
    return {};
  }

  /// Whether a row vector lies along the columns of its readers' tile.
  bool is_column(std::size_t index) const {
    const TileOp& op = graph_.ops[index];
    if (op.result.size() != 1) return false;
    for (const TileEdge& edge : graph_.edges) {
      if (edge.from.index() != index || edge.flow == Flow::order || edge.flow == Flow::memory) {
        continue;
      }
      const Space& space = graph_.ops[edge.to.index()].space;
      if (space.size() >= 2 && space.back() == op.result[0]) return true;
    }
    return false;
  }

  Result<void> add_dependence(const TileEdge& edge) {
    const TileOp& from = graph_.ops[edge.from.index()];
    const TileOp& to = graph_.ops[edge.to.index()];
    problem::Dependence dependence;
    dependence.from = problem::OpId(edge.from.index());
    dependence.to = problem::OpId(edge.to.index());
    dependence.distance = edge.distance;
    const problem::Op& source = parts_.ops[edge.from.index()];
    const problem::Op& reader = parts_.ops[edge.to.index()];
    const bool ordered = edge.flow == Flow::order || edge.flow == Flow::memory;
    dependence.through_memory = edge.flow == Flow::memory;
    if (to.action == Action::conditional && !dependence.through_memory) dependence.delay = 0;
    if (ordered) {
      dependence.carries_value = false;
      parts_.dependences.push_back(dependence);
      return {};
    }
    dependence.in_place = edge.flow == Flow::in_place;
    const bool both_products =
        from.action == Action::product && to.action == Action::product && dependence.in_place;
    if (both_products) {
      // Products of one op run in the order of issue; the next product may follow at once.
      dependence.delay = edge.from == edge.to ? 0 : source.alternatives[0].occupancy;
    } else if (to.action == Action::conditional) {
      dependence.read_hold = 0;
    } else {
      dependence.blocking = waits_for(from, source);
      if (is_memory(from.home) && !reader.asynchronous && !dependence.in_place) {
        dependence.read_hold = reader.alternatives[0].latency;
      }
    }
    if (source.registers > 0) {
      TWILL_TRY(dependence.transfer,
                machine::transfer(*pricing_.machine, bytes_of(from.result, from.result_bits),
                                  pricing_.rate, pricing_.compute_groups));
    }
    parts_.dependences.push_back(dependence);
    return {};
  }

  /// Makes an op wait for chained loads between two of its executions. The loads run beside the op,
  /// one after the other.
  Result<void> add_chain(const LoadChain& chain) {
    machine::Work load;
    load.kind = "pointer_load";
    load.bits = 32;
    load.elements = 1;
    load.bytes = 4;
    TWILL_TRY(const machine::Cost one,
              machine::price(*pricing_.machine, load, pricing_.rate, pricing_.compute_groups));
    problem::Dependence turn;
    turn.from = turn.to = problem::OpId(chain.op.index());
    turn.distance = chain.distance;
    turn.delay = one.latency * chain.loads;
    turn.carries_value = false;
    parts_.dependences.push_back(turn);
    return {};
  }

  /// Whether a reader waits on a barrier: for asynchronous results, and for memory written by
  /// others. For a load from global memory, the reader waits on its own scoreboard.
  static bool waits_for(const TileOp& from, const problem::Op& source) {
    if (source.asynchronous || from.action == Action::load) return true;
    return from.action == Action::move && is_memory(from.home);
  }

  /// Marks copies that run ahead as far as their ring allows. The loop must neither compute their
  /// addresses nor write their source.
  void mark_streaming() {
    std::vector<bool> waits(parts_.ops.size(), false);
    for (const problem::Dependence& dependence : parts_.dependences) {
      if (dependence.from != dependence.to && dependence.carries_value) {
        waits[dependence.to.index()] = true;
      }
      if (!dependence.through_memory) continue;
      waits[dependence.from.index()] = waits[dependence.to.index()] = true;
    }
    for (std::size_t i = 0; i < parts_.ops.size(); ++i) {
      parts_.ops[i].streaming = parts_.ops[i].variable_latency && !waits[i];
    }
  }

  /// Makes readers wait for the full latency of loads that run ahead.
  void wait_for_streaming() {
    for (problem::Dependence& it : parts_.dependences) {
      const problem::Op& load = parts_.ops[it.from.index()];
      if (load.streaming && it.carries_value && !it.delay) it.delay = load.alternatives[0].latency;
    }
  }

  void warn(Location where, std::string message) {
    warnings_.push_back({std::move(where), std::move(message), "", ""});
  }

  const TileGraph& graph_;
  const SubTiling& tiling_;
  const machine::Pool& pool_;
  const Pricing& pricing_;
  Widths widths_;
  problem::Parts parts_;
  std::vector<Reserved> reserved_;
  std::vector<Diagnostic> warnings_;
};

}  // namespace

Result<Extraction> assemble(const SubTiling& tiling, const machine::Pool& pool,
                            const Pricing& pricing, const std::string& name,
                            const Options& options) {
  return Assembler(tiling, pool, pricing).run(name, options);
}

}  // namespace twill::extract
