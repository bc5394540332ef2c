#pragma once

#include <string>
#include <vector>

#include "machine/shipped_machine.h"
#include "twill/problem/problem.h"
#include "twill/schedule/order.h"

/// The attention-forward loops that were timed on an H200, as Problems: K and V stay in shared
/// memory, each warpgroup owns 64 query rows, head dimension 128.
namespace twill::machine {

enum class Pipeline {
  in_order,  ///< each product is awaited before the next op
  fa3,       ///< S of the next block and O of the last block issued together, softmax under O
};

struct AttentionLoop {
  Pipeline pipeline = Pipeline::in_order;
  int groups = 2;
  int keys = 128;             ///< per step
  bool skip_rescale = false;  ///< O is not rescaled (its maximum did not grow)
  bool hoisted = false;       ///< O is awaited above the exponentials: ptxas moves the wait there
};

struct PosedOrder {
  problem::Problem problem;
  schedule::Order order;
};

inline Work tile_work(std::string kind, std::int64_t columns) {
  Work work;
  work.kind = std::move(kind);
  work.rows = 64;
  work.elements = 64 * columns;
  return work;
}

inline Work product_work(std::int64_t n, std::int64_t k, std::string form) {
  Work work;
  work.kind = "mma";
  work.m = 64;
  work.n = n;
  work.k = k;
  work.bits = 16;
  work.form = std::move(form);
  return work;
}

/// Builds the Problem op by op; each warpgroup has its own copy of every op.
class AttentionBuilder {
 public:
  AttentionBuilder(const Machine& machine, const AttentionLoop& loop, Rate rate)
      : machine_(machine), loop_(loop), rate_(rate) {
    parts_.name = "attention";
    for (const Unit& unit : machine.units()) parts_.units.push_back({unit.name});
    for (const Pipe& pipe : machine.pipes()) parts_.pipes.push_back({pipe.name, pipe.port});
    order_.units.resize(parts_.units.size());
  }

  PosedOrder build() {
    for (int g = 0; g < loop_.groups; ++g) add_group(g);
    if (loop_.pipeline == Pipeline::in_order) {
      auto& turns = order_.units[machine_->tensor_unit];
      turns = qk_;
      turns.insert(turns.end(), pv_.begin(), pv_.end());
    }
    auto posed = problem::pose(parts_);
    if (!posed) {
      ADD_FAILURE() << to_string(posed.error());
      std::abort();
    }
    return {*std::move(posed), order_};
  }

 private:
  using OpId = problem::OpId;

  OpId add(const std::string& name, const std::vector<Work>& work, int stage = 0) {
    const Cost cost = price(machine_, work, rate_, loop_.groups).value();
    problem::Alternative alternative;
    if (cost.unit) alternative.unit = problem::UnitId(*cost.unit);
    alternative.occupancy = cost.occupancy;
    alternative.latency = cost.latency;
    alternative.issue = cost.issue;
    for (const PipeDemand& use : cost.pipes) {
      alternative.pipes.push_back({problem::PipeId(use.pipe), use.demand});
    }
    problem::Op op;
    op.name = name + std::to_string(parts_.groups.size() - 1);
    op.alternatives = {alternative};
    op.asynchronous = cost.asynchronous;
    parts_.ops.push_back(op);
    const OpId id(parts_.ops.size() - 1);
    order_.ops.push_back({stage, problem::GroupId(parts_.groups.size() - 1), 0});
    return id;
  }

  void depend(OpId from, OpId to, int distance = 0, bool blocking = false) {
    problem::Dependence dependence;
    dependence.from = from;
    dependence.to = to;
    dependence.distance = distance;
    dependence.blocking = blocking;
    dependence.carries_value = false;
    parts_.dependences.push_back(dependence);
  }

  void add_group(int g) {
    const bool fa3 = loop_.pipeline == Pipeline::fa3;
    parts_.groups.push_back({"WG" + std::to_string(g), 4, 212, false});
    const std::int64_t n = loop_.keys;
    std::vector<Work> exponentials = {tile_work("fma", n), tile_work("exp2", n),
                                      tile_work("add", n)};
    std::vector<Work> last;
    if (!loop_.skip_rescale) last.push_back(tile_work("fma", 128));
    (fa3 ? last : exponentials).push_back(tile_work("convert", n));
    const OpId qk = add("qk", {product_work(n, 128, "SS")});
    const OpId maximum = add("max", {tile_work("reduce_max", n), tile_work("row", n)});
    const OpId exp2 = add("exp", exponentials);
    const OpId rescale = add("rescale", last);
    const OpId pv = add("pv", {product_work(128, n, "RS")}, fa3 ? 1 : 0);
    depend(qk, maximum, 0, true);
    depend(maximum, exp2);
    depend(exp2, rescale);
    depend(rescale, pv);
    depend(pv, loop_.hoisted ? exp2 : rescale, 1, true);
    if (!fa3) depend(pv, qk, 1, true);
    qk_.push_back(qk);
    pv_.push_back(pv);
    if (fa3) {
      order_.groups.push_back({qk, pv, maximum, exp2, rescale});
      auto& turns = order_.units[machine_->tensor_unit];
      turns.push_back(qk);
      turns.push_back(pv);
    } else {
      order_.groups.push_back({qk, maximum, exp2, rescale, pv});
    }
  }

  const Machine& machine_;
  AttentionLoop loop_;
  Rate rate_;
  problem::Parts parts_;
  schedule::Order order_;
  std::vector<OpId> qk_;
  std::vector<OpId> pv_;
};

inline PosedOrder attention(const Machine& machine, const AttentionLoop& loop, Rate rate) {
  return AttentionBuilder(machine, loop, rate).build();
}

}  // namespace twill::machine
