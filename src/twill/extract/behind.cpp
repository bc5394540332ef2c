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
      const bool makes =
          std::any_of(sources[v].begin(), sources[v].end(),
                      [&](const Source& source) { return source.op == *from && !source.absorbed; });
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

/// Gives the values that a loop carries the makers of what it yields. Returns whether a value in
/// the loop has more makers than before.
bool passes_on(const ir::Program& program, ir::OpId id, ByValue& made) {
  const auto loop = ir::as_loop(program, id);
  if (!loop) return false;
  bool grew = false;
  for (const ir::Carried& carried : loop->carried) {
    const auto yielded = made.find(carried.yielded);
    if (yielded == made.end()) continue;
    const Makers its = yielded->second;
    if (carried.result) made[*carried.result].insert(its.begin(), its.end());
    Makers& known = made[carried.argument];
    const std::size_t before = known.size();
    known.insert(its.begin(), its.end());
    grew = grew || known.size() > before;
  }
  return grew;
}

/// Disjoint sets that are united step by step.
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
    do {
      for (const ir::OpId id : program.block(program.op(*inner).block).ops) {
        if (!(*inner < id)) continue;
        Makers its = needs_of(program, id, made);
        for (const ir::ValueId result : program.op(id).results) made[result] = its;
        needs[id] = std::move(its);
      }
    } while (passes_on(program, *outer, made));
  }
  return needs;
}

namespace {

/// Values that the loop computes without an op of the plan.
class Beside {
 public:
  Beside(const Body& body, std::span<const std::vector<Source>> sources)
      : body_(body), program_(*body.program) {
    for (const ir::OpId op : ir::walk(program_, body.loop.op)) beside_.insert(op);
    for (const std::vector<Source>& its : sources) {
      for (const Source& source : its) stands_for(source.op);
    }
  }

  std::set<ir::OpId> behind(const std::vector<Source>& ops) {
    std::set<ir::OpId> found;
    std::set<ir::ValueId> seen;
    for (const Source& source : ops) open_operands(source.op);
    while (!open_.empty()) {
      const ir::ValueId value = open_.back();
      open_.pop_back();
      if (seen.insert(value).second) follow(value, found);
    }
    return found;
  }

 private:
  /// Marks an op and all ops in its regions, such as a reduction's combining block, as part of the
  /// plan.
  void stands_for(ir::OpId id) {
    for (const ir::OpId inner : ir::walk(program_, id)) beside_.erase(inner);
  }

  void open_operands(ir::OpId id) {
    for (const ir::OpId inner : ir::walk(program_, id)) {
      const auto& operands = program_.op(inner).operands;
      open_.insert(open_.end(), operands.begin(), operands.end());
    }
  }

  void follow(ir::ValueId value, std::set<ir::OpId>& found) {
    const auto carried = body_.carried.find(value);
    if (carried != body_.carried.end()) open_.push_back(carried->second);
    const std::optional<ir::OpId> from = program_.value(value).op;
    if (!from || !beside_.contains(*from)) return;
    const ir::Op& op = program_.op(*from);
    if (op.kind == ir::OpKind::branch) return follow_branches(op, value);
    if (!is_view(op.kind) && computes(op)) found.insert(*from);
    open_operands(*from);
  }

  /// Follows the condition of a branch, and both values yielded for this result.
  void follow_branches(const ir::Op& op, ir::ValueId value) {
    open_.push_back(op.operands[0]);
    const std::size_t index = program_.value(value).index;
    for (const ir::RegionId region : op.regions) {
      for (const ir::BlockId block : program_.region(region).blocks) {
        const ir::Op& yield = program_.op(program_.block(block).ops.back());
        open_.push_back(yield.operands[index]);
      }
    }
  }

  /// Whether an op computes a value: no memory access, no order, no constant.
  bool computes(const ir::Op& op) const {
    if (op.kind == ir::OpKind::constant || op.results.empty()) return false;
    const ir::TypeKind kind = ir::type_of(program_, op.results[0])->kind;
    return kind != ir::TypeKind::memdesc && kind != ir::TypeKind::token;
  }

  const Body& body_;
  const ir::Program& program_;
  std::set<ir::OpId> beside_;  ///< ops of the loop without an op of the plan
  std::vector<ir::ValueId> open_;
};

}  // namespace

std::map<ir::OpId, Makers> needed_beside(const Body& body,
                                         std::span<const std::vector<Source>> sources) {
  Beside beside(body, sources);
  std::map<ir::OpId, Makers> needed;
  for (std::size_t v = 0; v < sources.size(); ++v) {
    for (const ir::OpId op : beside.behind(sources[v])) needed[op].insert(v);
  }
  return needed;
}

namespace {

/// Sets of ops of one part that values in registers link. In every optimum seen, one group runs
/// such a set.
Sets linked_in_registers(const TileGraph& graph) {
  Sets linked(graph.ops.size());
  for (const TileEdge& edge : graph.edges) {
    const TileOp &from = graph.ops[edge.from.index()], &to = graph.ops[edge.to.index()];
    const bool flows = edge.flow == Flow::value || edge.flow == Flow::in_place;
    const bool in_registers = from.home == Home::registers && to.home == Home::registers;
    if (flows && in_registers && from.part == to.part) {
      linked.unite(edge.from.index(), edge.to.index());
    }
  }
  return linked;
}

}  // namespace

std::vector<std::vector<TileOpId>> meetings(const Body& body, const TileGraph& graph) {
  std::vector<std::vector<Source>> sources;
  for (const TileOp& op : graph.ops) sources.push_back(op.sources);
  Sets sets(graph.ops.size());
  for (const auto& [id, makers] : needs_behind(body, sources)) {
    std::map<int, std::size_t> first;  // first op of each part
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
  // Leaves out row vectors that are linked with their product: in every optimum seen, they share
  // its group. A constraint for them would lead to refutations of three equal groups without a
  // certificate.
  Sets linked = linked_in_registers(graph);
  std::vector<std::vector<TileOpId>> together;
  for (auto& member : members) {
    std::vector<TileOpId>& ops = member.second;
    const auto products = std::count_if(ops.begin(), ops.end(), [&](TileOpId op) {
      return graph.ops[op.index()].action == Action::product;
    });
    const bool apart = std::any_of(ops.begin(), ops.end(), [&](TileOpId op) {
      return linked.find(op.index()) != linked.find(ops.front().index());
    });
    if (products > 1 || apart) together.push_back(std::move(ops));
  }
  return together;
}

}  // namespace twill::extract
