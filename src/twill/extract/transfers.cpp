#include "twill/extract/transfers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "twill/problem/problem.h"

namespace twill::extract {
namespace {

using problem::Dependence;
using problem::Op;
using problem::OpId;
using problem::Parts;
using problem::Transfer;

class TransferOps {
 public:
  TransferOps(const TileGraph& graph, const Pricing& pricing, Parts& parts)
      : graph_(graph), pricing_(pricing), parts_(parts) {}

  Result<std::vector<OpOrigin>> add() {
    const std::size_t count = parts_.ops.size();
    for (std::size_t value = 0; value < count; ++value) {
      Transfer transfer;
      transfer.value = OpId(value);
      for (Dependence& it : parts_.dependences) {
        if (it.from != transfer.value || it.transfer == 0 || !may_part(it)) continue;
        it.transfer = 0;
        transfer.loads.push_back({OpId(), it.to});
      }
      if (!transfer.loads.empty()) {
        TWILL_TRY_VOID(add(std::move(transfer)));
      }
    }
    return std::move(origins_);
  }

 private:
  const Op& op(OpId id) const { return parts_.ops[id.index()]; }

  /// Whether the two ops may run in different groups of one width, and have no other dependence.
  bool may_part(const Dependence& it) const {
    if (it.from == it.to || op(it.from).warps != op(it.to).warps) return false;
    if (op(it.from).variable_latency || op(it.to).variable_latency) return false;
    const auto same = std::count_if(
        parts_.dependences.begin(), parts_.dependences.end(), [&](const Dependence& other) {
          return other.from == it.from && other.to == it.to && other.carries_value;
        });
    const auto groups =
        std::count_if(parts_.groups.begin(), parts_.groups.end(), [&](const problem::Group& group) {
          return !group.loads && group.warps == op(it.from).warps;
        });
    return same == 1 && groups > 1;
  }

  Result<void> add(Transfer transfer) {
    const TileOp& tile = graph_.ops[transfer.value.index()];
    const Amount bytes = bytes_of(tile.result, tile.result_bits);
    const std::string value = op(transfer.value).name;
    TWILL_TRY(Op store, transfer_op(value + ".store", "smem_store", bytes, transfer.value));
    TWILL_TRY(const Cycles signal,
              machine::transfer(*pricing_.machine, 0, pricing_.rate, pricing_.compute_groups));
    store.alternatives.front().latency += signal;
    for (std::size_t i = 0; i < parts_.memories.size(); ++i) {
      if (parts_.memories[i].name == "SMEM")
        store.footprint.push_back({problem::MemoryId(i), bytes});
    }
    transfer.store = add(std::move(store), tile);
    for (Transfer::Load& load : transfer.loads) {
      const std::string name = value + ".load." + op(load.reader).name;
      TWILL_TRY(Op it, transfer_op(name, "smem_load", bytes, load.reader));
      it.registers = op(transfer.value).registers;
      load.op = add(std::move(it), tile);
    }
    parts_.transfers.push_back(std::move(transfer));
    return {};
  }

  /// Makes a transfer op for that many bytes, with the width of op `home`.
  Result<Op> transfer_op(std::string name, std::string kind, Amount bytes, OpId home) const {
    machine::Work work;
    work.kind = std::move(kind);
    work.bytes = bytes;
    TWILL_TRY(const machine::Cost cost,
              machine::price(*pricing_.machine, work, pricing_.rate, pricing_.compute_groups));
    Op it;
    it.name = std::move(name);
    it.alternatives.push_back(alternative_of(cost));
    it.warps = op(home).warps;
    return it;
  }

  OpId add(Op it, const TileOp& tile) {
    for (const Source& source : tile.sources) it.source.push_back(source.text);
    origins_.push_back({tile.sources, tile.part, tile.row_begin, tile.row_end, true});
    parts_.ops.push_back(std::move(it));
    return OpId(parts_.ops.size() - 1);
  }

  const TileGraph& graph_;
  const Pricing& pricing_;
  Parts& parts_;
  std::vector<OpOrigin> origins_;
};

}  // namespace

Result<std::vector<OpOrigin>> add_transfers(const TileGraph& graph, const Pricing& pricing,
                                            Parts& parts) {
  return TransferOps(graph, pricing, parts).add();
}

}  // namespace twill::extract
