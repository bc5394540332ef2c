#include "twill/extract/price_ops.h"

#include <algorithm>

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

/// Row vectors cost what the machine says for row arithmetic, plus the MUFU if they need it.
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

Cycles scaled(Cycles cycles, Cycles together, Cycles apart) {
  return (cycles * together + apart - 1) / apart;
}

}  // namespace

int parts_of_row(const Space& space, const Pricing& pricing) {
  if (space.empty()) return 1;
  const auto rows = static_cast<std::int64_t>((*pricing.machine)->subtile_rows.value);
  const std::int64_t filled = (space.front().size + rows - 1) / rows;
  return static_cast<int>(std::max<std::int64_t>(pricing.warpgroups / filled, 1));
}

Result<std::vector<machine::Cost>> price_ops(const TileGraph& graph, const Pricing& pricing) {
  std::vector<machine::Cost> costs;
  for (const TileOp& op : graph.ops) {
    TWILL_TRY(machine::Cost cost, price(works_of(op, pricing), pricing));
    costs.push_back(std::move(cost));
  }
  // Slowest means that nothing overlaps within the group.
  if (pricing.rate == machine::Rate::slowest) return costs;
  for (const std::vector<std::size_t>& chain : chains_of(graph)) {
    std::vector<machine::Work> works;
    Cycles apart = 0;
    for (std::size_t member : chain) {
      const std::vector<machine::Work> more = works_of(graph.ops[member], pricing);
      works.insert(works.end(), more.begin(), more.end());
      apart += costs[member].latency;
    }
    TWILL_TRY(const machine::Cost together, price(works, pricing));
    if (together.latency >= apart) continue;
    for (std::size_t member : chain) {
      machine::Cost& cost = costs[member];
      const Cycles shorter = scaled(cost.latency, together.latency, apart);
      cost.latency = std::max(shorter, std::min(cost.latency, cost.issue));
    }
  }
  return costs;
}

problem::Way way_of(const machine::Cost& cost) {
  problem::Way way;
  if (cost.unit) way.unit = problem::UnitId(*cost.unit);
  way.occupancy = cost.occupancy;
  way.latency = cost.latency;
  way.issue = cost.issue;
  for (const machine::PipeDemand& demand : cost.pipes) {
    way.pipes.push_back({problem::PipeId(demand.pipe), demand.demand});
  }
  return way;
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
