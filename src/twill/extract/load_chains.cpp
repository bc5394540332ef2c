#include "twill/extract/load_chains.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "twill/ir/operands.h"

namespace twill::extract {
namespace {

/// Most loads that are examined; in longer loops, only the first ones of the text.
constexpr std::size_t kMostLoads = 32;

/// For each op, the least number of iterations from its execution to a value that depends on it.
using Distances = std::map<ir::OpId, int>;

/// Finds ops of `ends` on which the values depend. Does not look through these ops.
Distances ends_behind(const Body& body, std::vector<ir::ValueId> values,
                      const std::set<ir::OpId>& ends) {
  const ir::Program& program = *body.program;
  struct At {
    ir::ValueId value;
    int distance = 0;
  };
  Distances found;
  std::set<ir::ValueId> seen;
  std::deque<At> open;  // sorted by distance
  for (const ir::ValueId value : values) open.push_back({value, 0});
  while (!open.empty()) {
    const At at = open.front();
    open.pop_front();
    if (ir::is_invariant(program, body.loop, at.value) || !seen.insert(at.value).second) continue;
    const auto carried = body.carried.find(at.value);
    if (carried != body.carried.end()) {
      open.push_back({carried->second, at.distance + 1});
      continue;
    }
    const auto renamed = body.renamed.find(at.value);
    if (renamed != body.renamed.end()) {
      open.push_front({renamed->second, at.distance});
      continue;
    }
    const auto made = program.value(at.value).op;
    if (!made) continue;
    if (ends.contains(*made)) {
      found.try_emplace(*made, at.distance);
      continue;
    }
    for (const ir::ValueId read : read_by(program, *made)) open.push_front({read, at.distance});
  }
  return found;
}

/// Loads from global memory by pointers, in the order of the text.
std::vector<ir::OpId> loads_of(const Body& body) {
  std::vector<ir::OpId> loads;
  for (const ir::OpId id : body.ops) {
    const auto access = ir::memory_access(body.program->op(id));
    const bool loads_here = access && access->reads && access->result && !access->by_descriptor &&
                            access->space == ir::AccessSpace::global;
    if (loads_here && loads.size() < kMostLoads) loads.push_back(id);
  }
  return loads;
}

/// A circuit of loads that wait for each other, over `distance` iterations.
struct Circuit {
  int loads = 0;
  int distance = 0;
  bool slower_than(const Circuit& other) const {
    return loads * other.distance > other.loads * distance;
  }
};

class Circuits {
 public:
  explicit Circuits(const Body& body) : loads_(loads_of(body)) {
    const std::set<ir::OpId> all(loads_.begin(), loads_.end());
    for (const ir::OpId load : loads_) {
      const auto access = ir::memory_access(body.program->op(load));
      std::vector<ir::ValueId> reads = {access->address};
      if (access->mask) reads.push_back(*access->mask);
      before_.push_back(ends_behind(body, reads, all));
      for (const auto& [earlier, distance] : before_condition(body, load, all)) {
        const auto [kept, fresh] = before_.back().try_emplace(earlier, distance);
        if (!fresh) kept->second = std::min(kept->second, distance);
      }
    }
    for (std::size_t load = 0; load < loads_.size(); ++load) {
      if (const auto slowest = slowest_through(load)) of_[loads_[load]] = *slowest;
    }
  }

  /// For each load, the slowest circuit through it.
  const std::map<ir::OpId, Circuit>& all() const { return of_; }

 private:
  /// Loads that decide whether a while loop reaches `load`: no load runs ahead of the condition.
  static Distances before_condition(const Body& body, ir::OpId load,
                                    const std::set<ir::OpId>& all) {
    if (!body.loop.before) return {};
    const auto condition = ir::terminator(*body.program, *body.loop.before);
    if (!condition || body.program->op(*condition).operands.empty()) return {};
    Distances found = ends_behind(body, {body.program->op(*condition).operands[0]}, all);
    const bool stands_before = body.program->op(load).block == *body.loop.before;
    for (auto& [earlier, distance] : found) distance += stands_before ? 1 : 0;
    return found;
  }

  /// Follows all dependences backwards from `start`, load by load, and keeps the most loads for
  /// each distance.
  std::optional<Circuit> slowest_through(std::size_t start) const {
    const std::size_t count = loads_.size();
    std::map<std::pair<std::size_t, int>, int> most = {{{start, 0}, 0}};
    std::optional<Circuit> slowest;
    for (std::size_t step = 0; step < count; ++step) {
      std::map<std::pair<std::size_t, int>, int> next;
      for (const auto& [at, loads] : most) {
        for (const auto& [earlier, distance] : before_[at.first]) {
          const int total = at.second + distance;
          if (total > static_cast<int>(count)) continue;
          const auto found = std::find(loads_.begin(), loads_.end(), earlier);
          const auto index = static_cast<std::size_t>(found - loads_.begin());
          if (index != start) {
            int& kept = next[{index, total}];
            kept = std::max(kept, loads + 1);
          } else if (total > 0) {
            const Circuit circuit{loads + 1, total};
            if (!slowest || circuit.slower_than(*slowest)) slowest = circuit;
          }
        }
      }
      most = std::move(next);
    }
    return slowest;
  }

  std::vector<ir::OpId> loads_;
  std::vector<Distances> before_;  ///< for each load, the loads on which its address depends
  std::map<ir::OpId, Circuit> of_;
};

/// The slowest circuit that these values depend on.
std::optional<Circuit> slowest_behind(const Body& body, std::vector<ir::ValueId> values,
                                      const std::set<ir::OpId>& ends,
                                      const std::map<ir::OpId, Circuit>& circuits) {
  std::optional<Circuit> slowest;
  for (const auto& [end, distance] : ends_behind(body, std::move(values), ends)) {
    const auto found = circuits.find(end);
    if (found == circuits.end()) continue;
    if (!slowest || found->second.slower_than(*slowest)) slowest = found->second;
  }
  return slowest;
}

/// The circuit on which an op of the graph depends, by itself or by a value that only this op
/// computes.
std::optional<Circuit> circuit_of(const Body& body, const TileOp& op,
                                  const std::set<ir::OpId>& ends,
                                  const std::map<ir::OpId, Circuit>& circuits) {
  std::vector<ir::ValueId> reads;
  for (const Source& source : op.sources) {
    const auto own = circuits.find(source.op);
    if (own != circuits.end()) return own->second;
    const std::vector<ir::ValueId> read = read_by(*body.program, source.op);
    reads.insert(reads.end(), read.begin(), read.end());
  }
  return slowest_behind(body, std::move(reads), ends, circuits);
}

}  // namespace

std::vector<LoadChain> load_chains(const Body& body, const TileGraph& graph) {
  const Circuits found(body);
  const std::map<ir::OpId, Circuit>& circuits = found.all();
  if (circuits.empty()) return {};
  std::set<ir::OpId> ends;
  for (const auto& [load, circuit] : circuits) ends.insert(load);
  for (const TileOp& op : graph.ops) {
    for (const Source& source : op.sources) {
      if (!source.absorbed) ends.insert(source.op);
    }
  }
  std::vector<LoadChain> chains;
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    if (graph.ops[op].forwards) continue;
    const auto circuit = circuit_of(body, graph.ops[op], ends, circuits);
    if (circuit) chains.push_back({TileOpId(op), circuit->loads, circuit->distance});
  }
  if (!chains.empty() || !body.loop.before) return chains;
  const auto condition = ir::terminator(*body.program, *body.loop.before);
  if (!condition || body.program->op(*condition).operands.empty()) return chains;
  const auto circuit =
      slowest_behind(body, {body.program->op(*condition).operands[0]}, ends, circuits);
  for (std::size_t op = 0; circuit && op < graph.ops.size(); ++op) {
    chains.push_back({TileOpId(op), circuit->loads, circuit->distance});
  }
  return chains;
}

}  // namespace twill::extract
