#include "twill/extract/effects.h"

#include <algorithm>
#include <map>

#include "twill/extract/contract.h"
#include "twill/ir/arrays.h"
#include "twill/ir/control_flow.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"
#include "twill/ir/source_words.h"

namespace twill::extract {
namespace {

/// Whether an op reads a number that an op with an effect returns.
bool brings_number(const ir::Program& program, const ir::Op& op) {
  return std::any_of(op.results.begin(), op.results.end(), [&](ir::ValueId result) {
    const ir::TypeKind kind = ir::type_of(program, result)->kind;
    const bool is_number = kind == ir::TypeKind::integer || kind == ir::TypeKind::floating;
    return is_number && !program.value(result).uses.empty();
  });
}

}  // namespace

Result<std::vector<std::string>> check_effects(const Body& body,
                                               const std::set<ir::OpId>& stands_for) {
  const ir::Program& program = *body.program;
  const bool pipelined = is_pipelined(body);
  std::vector<std::string> notes;
  for (const ir::OpId id : ir::walk(program, body.loop.op)) {
    const ir::Op& op = program.op(id);
    const ir::Effect effect = ir::effect_of(op);
    if (effect == ir::Effect::none) continue;
    if (effect == ir::Effect::remark) {
      notes.push_back(ir::op_words(program, id) +
                      " is left out: its effect is visible to people only");
      continue;
    }
    const bool synchronizes = ir::class_of(op.kind) == ir::OpClass::synchronization;
    if (pipelined && synchronizes) continue;  // the schedule creates its own synchronization
    if (effect != ir::Effect::writes && !stands_for.contains(id)) {
      const bool is_barrier = op.kind == ir::OpKind::synchronize;
      return fail(ir::text_location(program, id),
                  op.name +
                      " is in the loop, and memory accesses may not cross it: no plan "
                      "keeps that order",
                  is_barrier
                      ? "remove it if it only orders accesses through one argument, since plans "
                        "keep their order; otherwise move it before or after the loop"
                      : "move it before or after the loop");
    }
    if (!stands_for.contains(id)) {
      return fail(ir::text_location(program, id),
                  op.name + " changes memory in the loop, and the problem has no op for it",
                  "in a branch of the loop: store in every iteration, under a mask");
    }
    if (brings_number(program, op)) {
      return fail(ir::text_location(program, id),
                  op.name +
                      " returns a number that other ops need, and each op of a plan computes "
                      "such numbers itself",
                  "compute the number before the loop, or load it from an array");
    }
  }
  return notes;
}

namespace {

/// The op for which `is` holds: this op, or the closest one around it. nullopt without such an op.
std::optional<ir::OpId> holder_for(const ir::Program& program, ir::OpId op,
                                   const std::function<bool(ir::OpId)>& is) {
  for (std::optional<ir::OpId> at = op; at; at = ir::parent(program, *at)) {
    if (is(*at)) return at;
  }
  return std::nullopt;
}

/// Finds branches of a loop, and effects without an op of the Problem.
class Wholes {
 public:
  Wholes(const ir::Program& program, ir::OpId loop, std::span<const OpOrigin> origins)
      : program_(program), loop_(loop) {
    for (std::size_t v = 0; v < origins.size(); ++v) {
      for (const Source& source : origins[v].sources) {
        stood_for_.insert(source.op);
        if (origins[v].forwards || !ir::is_inside(program, source.op, loop)) continue;
        if (!source.absorbed) makers_[source.op].insert(v);
        const ir::OpId top = in_body(program, loop, source.op);
        const bool branches = top != source.op && program.op(top).kind == ir::OpKind::branch;
        if (branches) entry(top).within.insert(v);
      }
    }
  }

  std::vector<WholeOp> all() {
    const auto is_stood_for = [&](ir::OpId op) { return stood_for_.contains(op); };
    for (const ir::OpId op : ir::walk(program_, loop_)) {
      if (!ir::is_effect(program_, op) || holder_for(program_, op, is_stood_for)) continue;
      WholeOp& whole = entry(in_body(program_, loop_, op));
      if (!whole.acts) whole.needs = behind(whole.op);
      whole.acts = true;
      if (ir::effect_of(program_.op(op)) != ir::Effect::remark) {
        whole.objection = "has an effect that no step of the plan has";
      }
    }
    std::vector<WholeOp> found;
    for (auto& [op, whole] : found_) found.push_back(std::move(whole));
    return found;
  }

 private:
  WholeOp& entry(ir::OpId op) {
    WholeOp& whole = found_[op];
    whole.op = op;
    return whole;
  }

  /// Ops of the Problem that compute inputs of an operation and its regions, in this iteration.
  Makers behind(ir::OpId id) const {
    Makers makers;
    std::set<ir::ValueId> seen;
    std::vector<ir::ValueId> open;
    const auto read = [&](ir::OpId by) {
      for (const ir::OpId at : ir::walk(program_, by)) {
        const auto& operands = program_.op(at).operands;
        open.insert(open.end(), operands.begin(), operands.end());
      }
    };
    read(id);
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      const auto from = program_.value(value).op;
      if (!seen.insert(value).second || !from || from == id) continue;
      if (!ir::is_inside(program_, *from, loop_)) continue;
      const auto known = makers_.find(*from);
      if (known == makers_.end()) {
        read(*from);
      } else {
        makers.insert(known->second.begin(), known->second.end());
      }
    }
    return makers;
  }

  const ir::Program& program_;
  ir::OpId loop_;
  std::set<ir::OpId> stood_for_;
  std::map<ir::OpId, Makers> makers_;
  std::map<ir::OpId, WholeOp> found_;
};

}  // namespace

ir::OpId in_body(const ir::Program& program, ir::OpId loop, ir::OpId op) {
  return *holder_for(program, op, [&](ir::OpId at) { return ir::parent(program, at) == loop; });
}

std::vector<WholeOp> whole_ops(const ir::Program& program, ir::OpId loop,
                               std::span<const OpOrigin> origins) {
  return Wholes(program, loop, origins).all();
}

bool is_read(const ir::Program& program, const ir::Op& op) {
  return std::any_of(op.results.begin(), op.results.end(),
                     [&](ir::ValueId result) { return !program.value(result).uses.empty(); });
}

bool acts_alone(const ir::Program& program, ir::OpId id,
                const std::function<bool(ir::OpId)>& works_on_tiles) {
  const std::vector<ir::OpId> all = ir::walk(program, id);
  if (std::none_of(all.begin(), all.end(), [&](ir::OpId op) {
        return ir::is_effect(program, op) && ir::effect_of(program.op(op)) != ir::Effect::remark;
      })) {
    return false;
  }
  const auto function = ir::enclosing(program, id, ir::OpKind::function);
  const std::set<ir::ValueId> of_tiles = ir::computed_of_tiles(program, *function);
  for (const ir::OpId op : all) {
    const auto& operands = program.op(op).operands;
    if (std::any_of(operands.begin(), operands.end(),
                    [&](ir::ValueId operand) { return of_tiles.contains(operand); })) {
      return false;
    }
  }
  const auto around = ir::parent(program, id);
  if (around && ir::is_loop(program.op(*around).kind)) return true;
  const auto& block = program.block(program.op(id).block).ops;
  return std::any_of(block.begin(), block.end(), [&](ir::OpId op) {
    return op > id && works_on_tiles(op) && !ir::is_pure(program, op);
  });
}

std::optional<ir::OpId> meeting(const ir::Program& program, ir::OpId function, ir::OpId op,
                                const std::function<bool(ir::OpId)>& among) {
  const auto global = [&](ir::OpId at) {
    const auto access = ir::memory_access(program.op(at));
    return access && access->space == ir::AccessSpace::global ? access : std::nullopt;
  };
  const ir::Effect effect = ir::effect_of(program.op(op));
  const bool orders = effect == ir::Effect::orders || effect == ir::Effect::unknown;
  const auto own = orders ? std::nullopt : global(op);
  for (const ir::OpId other : ir::walk(program, function)) {
    const auto access = global(other);
    if (!access || !among(other)) continue;
    if (!own || ir::may_meet(program, own->address, access->address)) return other;
  }
  return std::nullopt;
}

namespace {

/// Order of effects in the function around a loop.
class AroundLoop {
 public:
  AroundLoop(const ir::Program& program, ir::OpId loop, ir::OpId function,
             const std::function<bool(ir::OpId)>& is_planned)
      : program_(program), loop_(loop), function_(function), is_planned_(is_planned) {
    std::optional<ir::OpId> outermost = loop;
    for (auto at = ir::parent(program, loop); at && *at != function;
         at = ir::parent(program, *at)) {
      if (program.op(*at).kind == ir::OpKind::branch) branches_.insert(*at);
      outermost = at;
    }
    for (const ir::Exit& exit :
         ir::returns_before(program, *outermost, ir::Leaving::may_act).exits) {
      if (!exit.acts) continue;
      const auto& ops = program.block(*exit.acts).ops;
      leaving_.insert(ops.begin(), ops.end());
    }
  }

  std::vector<OuterEffect> all() const {
    std::optional<ir::OpId> last_planned;  // last planned effect after the loop
    std::vector<ir::OpId> others;
    for (const ir::OpId op : ir::walk(program_, function_)) {
      if (!ir::is_effect(program_, op) || ir::is_inside(program_, op, loop_)) continue;
      if (!holder_for(program_, op, is_planned_)) {
        others.push_back(op);
      } else if (loop_ < op) {
        last_planned = op;
      }
    }
    const std::set<ir::ValueId> of_tiles = ir::computed_of_tiles(program_, function_);
    std::vector<OuterEffect> found;
    for (const ir::OpId op : others) {
      if (leaving_.contains(op)) continue;
      const ir::OpId whole = standing(op);
      std::string objection =
          op < loop_ ? in_front(op, whole) : behind(op, whole, last_planned, of_tiles);
      const bool within = !found.empty() && found.back().op == whole;
      if (!within) {
        found.push_back({whole, std::move(objection)});
      } else if (found.back().objection.empty()) {
        found.back().objection = std::move(objection);
      }
    }
    return found;
  }

 private:
  static constexpr const char* kNoStep = "is an effect that no step of the plan has";

  /// Whether ops in the blocks of `holder` run once, before or after the loop.
  bool is_around(ir::OpId holder) const {
    return holder == function_ || branches_.contains(holder);
  }

  /// The outermost operation around an effect that runs as a whole outside of the loop.
  ir::OpId standing(ir::OpId op) const {
    ir::OpId whole = op;
    for (auto at = ir::parent(program_, op); at && !is_around(*at);
         at = ir::parent(program_, *at)) {
      whole = *at;
    }
    return ir::is_inside(program_, loop_, whole) ? op : whole;
  }

  /// Whether an effect may run as part of the operation around it. Accesses to memory may;
  /// barriers, waits and calls may not.
  bool may_be_within(ir::OpId op, ir::OpId whole) const {
    return whole == op || ir::memory_access(program_.op(op)).has_value();
  }

  /// Reason why an effect before the loop cannot run before the roles' loads; empty: it can. An
  /// operation around the effect runs as a whole.
  std::string in_front(ir::OpId op, ir::OpId whole) const {
    if (!is_around(*ir::parent(program_, whole))) return kNoStep;
    if (ir::effect_of(program_.op(op)) == ir::Effect::remark) return {};
    if (!may_be_within(op, whole)) return kNoStep;
    const auto earlier = meeting(program_, function_, op, [&](ir::OpId other) {
      return other < op && ir::memory_access(program_.op(other))->reads &&
             !ir::is_effect(program_, other) && !leaving_.contains(other) &&
             !ir::is_inside(program_, other, whole);
    });
    if (!earlier) return {};
    return "is an effect in front of the loop and behind a load (" +
           ir::op_words(program_, *earlier) + "), whose order is not kept yet";
  }

  /// Reason why an effect after the loop cannot run after all roles have ended; empty: it can.
  std::string behind(ir::OpId op, ir::OpId whole, std::optional<ir::OpId> last_planned,
                     const std::set<ir::ValueId>& of_tiles) const {
    if (!is_around(*ir::parent(program_, whole))) return kNoStep;
    if (ir::effect_of(program_.op(op)) == ir::Effect::remark && op != whole) return {};
    if (!may_be_within(op, whole)) return kNoStep;
    for (const ir::OpId at : ir::walk(program_, whole)) {
      const auto& operands = program_.op(at).operands;
      if (std::any_of(operands.begin(), operands.end(),
                      [&](ir::ValueId operand) { return of_tiles.contains(operand); })) {
        return "is an effect of what groups compute that no step of the plan has";
      }
    }
    if (!last_planned || *last_planned < op) return {};
    return "is an effect between those of groups (" + ir::op_words(program_, *last_planned) +
           " follows)";
  }

  const ir::Program& program_;
  ir::OpId loop_;
  ir::OpId function_;
  const std::function<bool(ir::OpId)>& is_planned_;
  std::set<ir::OpId> branches_;  ///< around the loop
  std::set<ir::OpId> leaving_;   ///< ops that run only if the function ends early
};

}  // namespace

std::vector<OuterEffect> effects_around(const ir::Program& program, ir::OpId loop,
                                        const std::function<bool(ir::OpId)>& is_planned) {
  const auto function = ir::enclosing(program, loop, ir::OpKind::function);
  if (!function) return {};
  return AroundLoop(program, loop, *function, is_planned).all();
}

}  // namespace twill::extract
