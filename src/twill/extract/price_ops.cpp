#include "twill/extract/price_ops.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "twill/extract/chains.h"

namespace twill::extract {
namespace {

machine::Work work_of(const TileOp& op, const Piece& piece, const Pricing& pricing) {
  machine::Work work;
  work.parts_of_row = parts_of_row(op.space, pricing);
  work.kind = piece.kind;
  work.bits = piece.bits;
  work.form = piece.form;
  work.elements = (piece.elements > 0 ? piece.elements : elements_of(op.space)) * piece.times;
  work.rows = op.action == Action::reduction ? elements_of(op.result)
              : op.space.empty()             ? 1
                                             : op.space.front().size;
  work.bytes = (work.elements * piece.bits + 7) / 8;
  if (op.action == Action::product) {
    work.m = op.space[0].size * piece.times;
    work.n = op.space[1].size;
    work.k = op.space[2].size;
  }
  return work;
}

/// Work of an op. A row vector costs the machine's row arithmetic, and the MUFU if needed.
std::vector<machine::Work> works_of(const TileOp& op, const Pricing& pricing) {
  std::vector<machine::Work> works;
  const bool row = op.action == Action::elementwise && is_row(op.space);
  std::int64_t steps = 0;
  for (const Piece& piece : op.pieces) {
    if (row && piece.kind != "exp2" && piece.kind != "special") {
      steps += piece.times;
    } else {
      works.push_back(work_of(op, piece, pricing));
    }
  }
  if (steps > 0) {
    works.push_back(work_of(op, {"row", 32, steps, "", 0}, pricing));
    works.back().rows = works.back().elements;
  }
  return works;
}

Result<machine::Cost> price(const std::vector<machine::Work>& works, const Pricing& pricing) {
  if (works.empty()) return machine::Cost{};
  return machine::price(*pricing.machine, works, pricing.rate, pricing.compute_groups);
}

/// Alternatives of an op. Arithmetic on row vectors is too small for alternatives.
std::vector<machine::Choice> choices_for(const TileOp& op, const Pricing& pricing) {
  std::vector<machine::Work> works = works_of(op, pricing);
  if (op.action == Action::elementwise && !is_row(op.space)) {
    return machine::choices_of(*pricing.machine, std::move(works));
  }
  return {{"", std::move(works)}};
}

Cycles scaled(Cycles cycles, Cycles together, Cycles apart) {
  return (cycles * together + apart - 1) / apart;
}

}  // namespace

int compute_width(const machine::Pool& pool) {
  const auto found =
      std::find_if(pool.groups.begin(), pool.groups.end(),
                   [](const machine::PoolGroup& it) { return !it.loads && it.warps > 1; });
  return found == pool.groups.end() ? kWarpgroup : found->warps;
}

int parts_of_row(const Space& space, const Pricing& pricing) {
  if (space.empty()) return 1;
  const auto rows = static_cast<std::int64_t>((*pricing.machine)->subtile_rows.value);
  const std::int64_t filled = (space.front().size + rows - 1) / rows;
  return static_cast<int>(std::max<std::int64_t>(pricing.warpgroups / filled, 1));
}

namespace {

/// Interleaves the ops of a chain: each op gets a share of the chain's time.
Result<void> interleave(const std::vector<std::size_t>& chain, const TileGraph& graph,
                        const Pricing& pricing, std::vector<std::vector<PricedAlternative>>& ops) {
  const auto choosing = std::count_if(chain.begin(), chain.end(),
                                      [&](std::size_t member) { return ops[member].size() > 1; });
  std::vector<Cycles> alone;  // time of each op by its first alternative
  for (const std::size_t member : chain) alone.push_back(ops[member].front().cost.latency);
  const Cycles apart = std::accumulate(alone.begin(), alone.end(), Cycles{0});
  for (std::size_t at = 0; at < chain.size(); ++at) {
    for (std::size_t w = 0; w < ops[chain[at]].size(); ++w) {
      machine::Cost& cost = ops[chain[at]][w].cost;
      const Cycles least = std::min(cost.latency, cost.issue);
      if (w > 0 && choosing > 1) {  // other ops have open alternatives: keep only this op's slots
        cost.latency = least;
        continue;
      }
      std::vector<machine::Work> works;
      for (const std::size_t member : chain) {
        const std::size_t alternative = member == chain[at] ? w : 0;
        std::vector<machine::Choice> choices = choices_for(graph.ops[member], pricing);
        works.insert(works.end(), choices[alternative].works.begin(),
                     choices[alternative].works.end());
      }
      TWILL_TRY(const machine::Cost together, price(works, pricing));
      const Cycles sum = apart - alone[at] + cost.latency;
      if (together.latency >= sum) continue;
      cost.latency = std::max(scaled(cost.latency, together.latency, sum), least);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::vector<PricedAlternative>>> price_ops(const TileGraph& graph,
                                                              const Pricing& pricing) {
  std::vector<std::vector<PricedAlternative>> ops;
  for (const TileOp& op : graph.ops) {
    std::vector<PricedAlternative>& alternatives = ops.emplace_back();
    for (machine::Choice& choice : choices_for(op, pricing)) {
      TWILL_TRY(machine::Cost cost, price(choice.works, pricing));
      alternatives.push_back({std::move(choice.name), std::move(cost)});
    }
  }
  // At the slowest rate, ops of a group do not overlap.
  if (pricing.rate == machine::Rate::slowest) return ops;
  for (const std::vector<std::size_t>& chain : chains_of(graph)) {
    TWILL_TRY_VOID(interleave(chain, graph, pricing, ops));
  }
  return ops;
}

problem::Alternative alternative_of(const PricedAlternative& priced) {
  problem::Alternative alternative = alternative_of(priced.cost);
  alternative.name = priced.name;
  return alternative;
}

problem::Alternative alternative_of(const machine::Cost& cost) {
  problem::Alternative alternative;
  if (cost.unit) alternative.unit = problem::UnitId(*cost.unit);
  alternative.occupancy = cost.occupancy;
  alternative.latency = cost.latency;
  alternative.issue = cost.issue;
  for (const machine::PipeDemand& demand : cost.pipes) {
    alternative.pipes.push_back({problem::PipeId(demand.pipe), demand.demand});
  }
  return alternative;
}

std::int64_t bytes_of(const Space& space, int bits) { return (elements_of(space) * bits + 7) / 8; }

std::int64_t columns_of(const Space& space, int bits) {
  if (space.empty()) return 1;
  constexpr std::int64_t kLanes = 128, kLeastLanes = 64, kColumnBits = 32;
  const std::int64_t rows = std::max(space.front().size, kLeastLanes);
  const std::int64_t wide = elements_of(space) / space.front().size;
  const std::int64_t columns = (wide * bits + kColumnBits - 1) / kColumnBits;
  const std::int64_t lanes = rows < kLanes ? rows : (rows + kLanes - 1) / kLanes * kLanes;
  return (columns * lanes + kLanes - 1) / kLanes;
}

}  // namespace twill::extract
