#include "twill/extract/behind.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace twill::extract {
namespace {

using ByValue = std::map<ir::ValueId, Makers>;

ByValue makers_of_results(const Body& body, std::span<const std::vector<Source>> sources) {
  const ir::Program& program = *body.program;
  ByValue made;
  for (const ir::Carried& carried : body.loop.carried) {
    if (!carried.result || !is_tile(program, carried.yielded)) continue;
    const Origin origin = origin_of(body, carried.yielded);
    const std::optional<ir::OpId> from = program.value(origin.value).op;
    if (!from || origin.invariant) continue;
    for (std::size_t v = 0; v < sources.size(); ++v) {
      const bool makes = std::any_of(sources[v].begin(), sources[v].end(),
                                     [&](const Source& source) { return source.op == *from; });
      if (makes) made[*carried.result].insert(v);
    }
  }
  return made;
}

Makers needs_of(const ir::Program& program, ir::OpId id, const ByValue& made) {
  Makers needs;
  for (const ir::OpId inner : ir::walk(program, id)) {
    for (const ir::ValueId operand : program.op(inner).operands) {
      const auto known = made.find(operand);
      if (known != made.end()) needs.insert(known->second.begin(), known->second.end());
    }
  }
  return needs;
}

/// Sets that grow together.
class Sets {
 public:
  explicit Sets(std::size_t count) : up_(count) { std::iota(up_.begin(), up_.end(), 0); }

  std::size_t find(std::size_t item) {
    while (up_[item] != item) item = up_[item] = up_[up_[item]];
    return item;
  }

  void unite(std::size_t a, std::size_t b) {
    const std::size_t x = find(a), y = find(b);
    up_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::vector<std::size_t> up_;
};

}  // namespace

std::map<ir::OpId, Makers> needs_behind(const Body& body,
                                        std::span<const std::vector<Source>> sources) {
  const ir::Program& program = *body.program;
  ByValue made = makers_of_results(body, sources);
  std::map<ir::OpId, Makers> needs;
  for (std::optional<ir::OpId> inner = body.loop.op; inner; inner = ir::parent(program, *inner)) {
    const auto outer = ir::parent(program, *inner);
    if (!outer) break;
    for (const ir::OpId id : program.block(program.op(*inner).block).ops) {
      if (!(*inner < id)) continue;
      Makers its = needs_of(program, id, made);
      for (const ir::ValueId result : program.op(id).results) made[result] = its;
      needs.emplace(id, std::move(its));
    }
  }
  return needs;
}

std::vector<std::vector<TileOpId>> meetings(const Body& body, const TileGraph& graph) {
  std::vector<std::vector<Source>> sources;
  for (const TileOp& op : graph.ops) sources.push_back(op.sources);
  Sets sets(graph.ops.size());
  for (const auto& [id, makers] : needs_behind(body, sources)) {
    std::map<int, std::size_t> first;  // by part
    for (const std::size_t op : makers) {
      if (graph.ops[op].home != Home::registers) continue;
      const auto [place, fresh] = first.try_emplace(graph.ops[op].part, op);
      if (!fresh) sets.unite(place->second, op);
    }
  }
  std::map<std::size_t, std::vector<TileOpId>> members;
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    members[sets.find(op)].emplace_back(op);
  }
  // Row vectors are where their product is in every optimum seen; demanding that as well leaves the
  // search with refutations of three equal groups that it cannot turn into a certificate.
  std::vector<std::vector<TileOpId>> together;
  for (auto& [root, ops] : members) {
    const auto products = std::count_if(ops.begin(), ops.end(), [&](TileOpId op) {
      return graph.ops[op.index()].action == Action::product;
    });
    if (products > 1) together.push_back(std::move(ops));
  }
  return together;
}

}  // namespace twill::extract
