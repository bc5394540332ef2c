#include "twill/extract/body.h"

#include <algorithm>
#include <compare>
#include <set>
#include <string>

#include "twill/extract/counter.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::extract {
namespace {

using ir::OpKind;

/// Most ops of a body, far more than any kernel has: chains of ops are followed recursively.
constexpr std::size_t kMostOps = 2000;

bool touches_tiles(const ir::Program& program, ir::OpId root) {
  for (ir::OpId id : ir::walk(program, root)) {
    const ir::Op& op = program.op(id);
    for (ir::ValueId value : op.operands) {
      if (is_tile(program, value)) return true;
    }
    for (ir::ValueId value : op.results) {
      if (is_tile(program, value)) return true;
    }
  }
  return false;
}

/// Number of tile elements that the ops of a block produce or store: a rough measure of a branch's
/// cost. Multiplications of products count first.
struct Weight {
  std::int64_t products = 0;
  std::int64_t elements = 0;

  friend auto operator<=>(const Weight&, const Weight&) = default;
};

std::int64_t multiplications(const ir::Program& program, const ir::Op& product) {
  const auto operands = ir::mma_operands(product);
  if (!operands) return 0;
  const auto of = [&](ir::ValueId value) { return ir::type_of(program, value); };
  const ir::Type a = of(operands->a), b = of(operands->b);
  if (a->shape.empty() || b->shape.empty()) return 0;
  return ir::element_count(a) * b->shape.back();
}

Weight weight_of(const ir::Program& program, ir::BlockId block) {
  Weight weight;
  for (ir::OpId top : program.block(block).ops) {
    for (ir::OpId id : ir::walk(program, top)) {
      const ir::Op& op = program.op(id);
      if (is_view(op.kind) || op.kind == OpKind::yield) continue;
      weight.products += multiplications(program, op);
      for (ir::ValueId value : op.results) {
        if (is_tile(program, value))
          weight.elements += ir::element_count(ir::type_of(program, value));
      }
      if (!op.results.empty()) continue;
      for (ir::ValueId value : op.operands) {
        if (is_tile(program, value))
          weight.elements += ir::element_count(ir::type_of(program, value));
      }
    }
  }
  return weight;
}

class Straightener {
 public:
  Straightener(const ir::Program& program, ir::Loop loop) {
    body_.program = &program;
    body_.loop = std::move(loop);
  }

  Result<Body> run() {
    for (const ir::Carried& carried : body_.loop.carried) {
      body_.carried[carried.argument] = carried.yielded;
    }
    for (const ir::Forwarded& forwarded : body_.loop.forwarded) {
      body_.renamed[forwarded.argument] = forwarded.passed;
    }
    if (body_.loop.before) {
      TWILL_TRY_VOID(take(*body_.loop.before));
    }
    TWILL_TRY_VOID(take(body_.loop.body));
    if (body_.ops.size() > kMostOps) {
      return fail(ir::text_location(program(), body_.loop.op),
                  "the loop body has " + std::to_string(body_.ops.size()) + " ops, more than " +
                      std::to_string(kMostOps));
    }
    return std::move(body_);
  }

 private:
  Result<void> take(ir::BlockId block) {
    for (ir::OpId id : program().block(block).ops) {
      const ir::Op& op = program().op(id);
      if (op.kind == OpKind::yield || op.kind == OpKind::condition) continue;
      if (op.kind == OpKind::branch) {
        TWILL_TRY_VOID(take_if(id));
      } else if (ir::is_loop(op.kind) && touches_tiles(program(), id)) {
        return fail(ir::text_location(program(), id),
                    "the chosen loop holds another loop that works on tiles" +
                        ir::source_words(program(), id),
                    "choose the inner loop with --loop");
      } else {
        note_conditions(id);
        body_.ops.push_back(id);
      }
    }
    return {};
  }

  Result<void> take_if(ir::OpId id) {
    const ir::Op& op = program().op(id);
    if (op.operands.empty()) return {};
    if (!touches_tiles(program(), id)) return take_effects(id);
    const auto then_block = ir::body(program(), id, 0);
    const auto else_block = ir::body(program(), id, 1);
    if (!then_block) return {};
    const ir::ValueId condition = op.operands[0];
    const bool of_tiles = comes_from_tiles(condition);
    const auto taken_when = of_tiles ? std::nullopt : counter_equality(op);
    const bool heavier_else =
        else_block && weight_of(program(), *else_block) > weight_of(program(), *then_block);
    const bool take_else = taken_when ? *taken_when : heavier_else;
    const auto chosen = take_else ? else_block : then_block;
    const auto other = take_else ? then_block : else_block;
    if (taken_when) {
      note_rare(id, other);
    } else if (other && weight_of(program(), *other) > Weight{}) {
      note_other(id, *chosen, *other);
    } else {
      take_as_live(id);
    }
    if (!chosen) return {};
    rename_results(id, *chosen);
    if (!taken_when && other && body_.other_branch.count(id) == 0) note_alternatives(id, *other);
    if (!of_tiles) return take(*chosen);
    for (ir::ValueId result : op.results) {
      body_.decided[result] = condition;
    }
    conditions_.push_back(condition);
    auto taken = take(*chosen);
    conditions_.pop_back();
    return taken;
  }

  /// Takes the stores on both sides of a branch of single values, as if both sides were always
  /// executed.
  Result<void> take_effects(ir::OpId id) {
    const std::vector<ir::OpId> inside = ir::walk(program(), id);
    const bool writes = std::any_of(inside.begin(), inside.end(), [&](ir::OpId inner) {
      return ir::effect_of(program().op(inner)) == ir::Effect::writes;
    });
    if (!writes) return {};
    take_as_live(id);
    const ir::ValueId condition = program().op(id).operands[0];
    const bool of_tiles = comes_from_tiles(condition);
    if (of_tiles) conditions_.push_back(condition);
    for (const std::size_t side : {0U, 1U}) {
      const auto block = ir::body(program(), id, side);
      if (!block) continue;
      TWILL_TRY_VOID(take(*block));
    }
    if (of_tiles) conditions_.pop_back();
    return {};
  }

  /// Whether a value depends on tiles that the loop computes.
  bool comes_from_tiles(ir::ValueId value) const {
    std::set<ir::ValueId> seen;
    std::vector<ir::ValueId> open = {value};
    while (!open.empty()) {
      const ir::ValueId next = open.back();
      open.pop_back();
      if (ir::is_invariant(program(), body_.loop, next) || !seen.insert(next).second) continue;
      if (is_tile(program(), next)) return true;
      const auto carried = body_.carried.find(next);
      if (carried != body_.carried.end()) open.push_back(carried->second);
      const auto renamed = body_.renamed.find(next);
      if (renamed != body_.renamed.end()) open.push_back(renamed->second);
      const auto from = program().value(next).op;
      if (!from) continue;
      const std::vector<ir::ValueId> read = read_by(program(), *from);
      open.insert(open.end(), read.begin(), read.end());
    }
    return false;
  }

  void note_conditions(ir::OpId id) {
    if (!conditions_.empty()) body_.under[id] = conditions_;
  }

  /// Decides a condition `counter == invariant`, which holds in few iterations. True if the steady
  /// state runs the else branch (of ==), false for the then branch (of !=).
  std::optional<bool> counter_equality(const ir::Op& op) const {
    const ir::Op* compare =
        op.operands.empty() ? nullptr : ir::defining_op(program(), op.operands.front());
    if (!compare || compare->kind != OpKind::icmp || compare->operands.size() != 2) return {};
    const auto predicate = compare->predicate;
    if (!predicate || *predicate > 1) return {};
    const bool left = ir::is_invariant(program(), body_.loop, compare->operands[0]);
    const bool right = ir::is_invariant(program(), body_.loop, compare->operands[1]);
    if (left == right || !is_counter(program(), body_.loop, compare->operands[left ? 1 : 0])) {
      return {};
    }
    return *predicate == 0;
  }

  void take_as_live(ir::OpId id) {
    body_.live_only = true;
    warn(id, "the condition is taken to hold in every iteration");
  }

  void note_rare(ir::OpId id, std::optional<ir::BlockId> block) {
    if (!block || weight_of(program(), *block) == Weight{}) return;
    RareBranch rare{id, inner_ops(*block)};
    note_conditions(id);
    warn(id,
         "this branch is taken in few iterations (an equality of a counter): it is one op "
         "without cost in the steady state");
    body_.rare.push_back(std::move(rare));
  }

  void note_other(ir::OpId id, ir::BlockId chosen, ir::BlockId block) {
    body_.other_branch[id] = inner_ops(block);
    body_.live_only = true;
    const Weight priced = weight_of(program(), chosen), other = weight_of(program(), block);
    warn(id, priced.elements >= other.elements ? "only the costlier branch is priced"
                                               : "only the branch with more products is priced");
  }

  std::vector<ir::OpId> inner_ops(ir::BlockId block) const {
    std::vector<ir::OpId> ops;
    for (ir::OpId top : program().block(block).ops) {
      for (ir::OpId inner : ir::walk(program(), top)) {
        if (program().op(inner).kind != OpKind::yield) ops.push_back(inner);
      }
    }
    return ops;
  }

  void rename_results(ir::OpId id, ir::BlockId block) {
    const auto yield = ir::terminator(program(), block);
    if (!yield) return;
    const ir::Op& op = program().op(id);
    const ir::Op& end = program().op(*yield);
    for (std::size_t i = 0; i < op.results.size() && i < end.operands.size(); ++i) {
      body_.renamed[op.results[i]] = end.operands[i];
    }
  }

  /// Keeps both values of a result. If the taken side yields no value of the loop, such as zeros,
  /// the result renames the other value: a carried value must stay visible.
  void note_alternatives(ir::OpId id, ir::BlockId block) {
    const auto yield = ir::terminator(program(), block);
    if (!yield) return;
    const ir::Op& op = program().op(id);
    const ir::Op& end = program().op(*yield);
    for (std::size_t i = 0; i < op.results.size() && i < end.operands.size(); ++i) {
      const ir::ValueId result = op.results[i], other = end.operands[i];
      const auto known = body_.renamed.find(result);
      if (known == body_.renamed.end() || is_fixed(other) || is_carried_on(other, result)) continue;
      if (is_fixed(known->second)) {
        known->second = other;
      } else if (known->second != other) {
        body_.alternatives[result] = other;
      }
    }
  }

  bool is_fixed(ir::ValueId value) const {
    const ir::Op* op = ir::defining_op(program(), value);
    return ir::is_invariant(program(), body_.loop, value) ||
           (op != nullptr && op->kind == OpKind::constant);
  }

  /// Whether `value` is the previous iteration's state of the value that `result` becomes.
  bool is_carried_on(ir::ValueId value, ir::ValueId result) const {
    const auto carried = body_.carried.find(value);
    if (carried == body_.carried.end()) return false;
    ir::ValueId next = carried->second;
    while (next != result) {
      const auto renamed = body_.renamed.find(next);
      if (renamed == body_.renamed.end()) return false;
      next = renamed->second;
    }
    return true;
  }

  void warn(ir::OpId id, std::string what) {
    body_.warnings.push_back({ir::text_location(program(), id),
                              program().op(id).name + ir::source_words(program(), id) + ": " + what,
                              "", ""});
  }

  const ir::Program& program() const { return *body_.program; }

  Body body_;
  /// Conditions, computed from tiles, of the branches around the current op.
  std::vector<ir::ValueId> conditions_;
};

}  // namespace

bool is_view(OpKind kind) {
  return ir::class_of(kind) == ir::OpClass::view || kind == OpKind::bitcast;
}

bool is_tile(const ir::Program& program, ir::ValueId value) {
  const ir::Type type = ir::type_of(program, value);
  return (type->kind == ir::TypeKind::tensor || type->kind == ir::TypeKind::memdesc) &&
         !type->shape.empty();
}

std::vector<ir::ValueId> read_by(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  std::vector<ir::ValueId> read(op.operands.begin(), op.operands.end());
  if (op.kind != OpKind::branch) return read;
  for (const std::size_t branch : {0U, 1U}) {
    const auto block = ir::body(program, id, branch);
    const auto yield = block ? ir::terminator(program, *block) : std::nullopt;
    if (!yield) continue;
    const auto& yielded = program.op(*yield).operands;
    read.insert(read.end(), yielded.begin(), yielded.end());
  }
  return read;
}

Result<Body> straighten(const ir::Program& program, ir::OpId loop) {
  auto structure = ir::as_loop(program, loop);
  if (!structure) return fail(ir::text_location(program, loop), "this is no loop");
  return Straightener(program, *std::move(structure)).run();
}

Origin origin_of(const Body& body, ir::ValueId value) {
  const ir::Program& program = *body.program;
  Origin origin{value, 0, false, false, {}};
  std::set<ir::ValueId> seen;
  while (true) {
    if (ir::is_invariant(program, body.loop, origin.value) || !seen.insert(origin.value).second) {
      origin.invariant = true;  // defined outside of the loop, or carried unchanged
      return origin;
    }
    const auto renamed = body.renamed.find(origin.value);
    if (renamed != body.renamed.end()) {
      const auto decided = body.decided.find(origin.value);
      if (decided != body.decided.end()) {
        origin.decisions.push_back({decided->second, origin.distance});
      }
      const auto other = body.alternatives.find(origin.value);
      if (other != body.alternatives.end()) {
        origin.alternatives.push_back({other->second, origin.distance});
      }
      origin.value = renamed->second;
      continue;
    }
    const auto carried = body.carried.find(origin.value);
    if (carried != body.carried.end()) {
      origin.value = carried->second;
      ++origin.distance;
      continue;
    }
    const ir::Op* op = ir::defining_op(program, origin.value);
    if (!op || !is_view(op->kind) || op->operands.empty()) return origin;
    const std::size_t index =
        op->kind == OpKind::wgmma_wait ? program.value(origin.value).index : 0;
    if (index >= op->operands.size()) return origin;
    if (op->kind == OpKind::transpose) origin.transposed = !origin.transposed;
    origin.value = op->operands[index];
  }
}

}  // namespace twill::extract
