#include "twill/frontend/ttgir/flat_loop.h"

#include <algorithm>

#include "twill/frontend/ttgir/spelling.h"
#include "twill/ir/operands.h"

namespace twill::frontend::ttgir {
namespace {

bool writes_global(const ir::Program& program, ir::OpId id) {
  const std::vector<ir::OpId> all = walk(program, id);
  return std::any_of(all.begin(), all.end(), [&](ir::OpId op) {
    const auto access = memory_access(program.op(op));
    return access && access->writes && access->space == ir::AccessSpace::global;
  });
}

class Reader {
 public:
  Reader(const ir::Program& program, const ir::Loop& loop, Terms& terms)
      : program_(program), terms_(terms) {
    flat_.loop = loop;
  }

  std::optional<FlatLoop> read() {
    const ir::Op& op = program_.op(flat_.loop.op);
    const auto unused = [&](ir::ValueId result) { return program_.value(result).uses.empty(); };
    const bool counted = flat_.loop.induction && flat_.loop.innermost && is(*flat_.loop.lower, 0) &&
                         is(*flat_.loop.step, 1) &&
                         program_.value(*flat_.loop.induction).uses.empty() &&
                         std::all_of(op.results.begin(), op.results.end(), unused);
    if (!counted || !find_counter() || !sort_ops() || !only_known_uses() || !find_merges()) {
      return std::nullopt;
    }
    if (flat_.before.empty() || flat_.after.empty()) return std::nullopt;
    return flat_;
  }

 private:
  bool is(ir::ValueId value, std::int64_t number) const {
    return constant_integer(program_, value) == number;
  }

  const ir::Op* op_of(ir::ValueId value, ir::OpKind kind) const {
    const ir::Op* op = defining_op(program_, value);
    return op != nullptr && op->kind == kind ? op : nullptr;
  }

  /// Value that `value` compares with the counter for equality, if it is such a comparison.
  std::optional<ir::ValueId> compared(ir::ValueId value) const {
    const ir::Op* op = op_of(value, ir::OpKind::icmp);
    const bool equality = op != nullptr && op->operands.size() == 2 && op->results.size() == 1 &&
                          integer_attribute(*op, "predicate") == 0;
    if (!equality) return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
      if (op->operands[side] == flat_.counts()) return op->operands[1 - side];
    }
    return std::nullopt;
  }

  /// Other factor of a product with `steps`.
  std::optional<ir::ValueId> tiles_of(ir::ValueId total, ir::ValueId steps) {
    const ir::Op* op = op_of(total, ir::OpKind::mul);
    if (op == nullptr) return std::nullopt;
    for (const std::size_t side : {1U, 0U}) {
      if (terms_.of(op->operands[side]) == terms_.of(steps)) return op->operands[1 - side];
    }
    return std::nullopt;
  }

  /// Finds a carried value that begins at 0 and becomes `counter == steps - 1 ? 0 : counter + 1`.
  /// The number of iterations must be a multiple of `steps`.
  bool find_counter() {
    const ir::Op* total = op_of(*flat_.loop.upper, ir::OpKind::mul);
    if (total == nullptr) return false;
    for (flat_.counter = 0; flat_.counter < flat_.loop.carried.size(); ++flat_.counter) {
      const ir::Carried& carried = flat_.loop.carried[flat_.counter];
      const ir::Op* wraps = op_of(carried.yielded, ir::OpKind::select);
      if (wraps == nullptr || !is(carried.init, 0) || !is(wraps->operands[1], 0)) continue;
      const auto limit = compared(wraps->operands[0]);
      const ir::Op* next = op_of(wraps->operands[2], ir::OpKind::add);
      if (!limit || next == nullptr || next->operands[0] != carried.argument ||
          !is(next->operands[1], 1)) {
        continue;
      }
      for (const ir::ValueId steps : total->operands) {
        const ir::Type type = type_of(program_, steps);
        const bool wraps_there =
            is_invariant(program_, flat_.loop, *limit) &&
            terms_.of(*limit) == terms_.minus(terms_.of(steps), terms_.integer(1, type), type);
        const auto tiles = wraps_there ? tiles_of(*flat_.loop.upper, steps) : std::nullopt;
        if (!tiles || is(steps, 1)) continue;
        flat_.steps = steps;
        flat_.tiles = *tiles;
        machinery_ = {*program_.value(carried.yielded).op, *program_.value(wraps->operands[2]).op};
        return true;
      }
    }
    return false;
  }

  /// Whether the else branch of an scf.if has no other op than its yield.
  bool only_yields_otherwise(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    if (!ir::body(program_, id, 0)) return false;
    if (op.regions.size() < 2 || program_.region(op.regions[1]).blocks.empty()) {
      return op.results.empty();
    }
    const auto block = ir::body(program_, id, 1);
    return block && program_.block(*block).ops.size() == 1;
  }

  bool note_condition(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    const auto with = op.results.size() == 1 ? compared(op.results[0]) : std::nullopt;
    if (!with || !is_invariant(program_, flat_.loop, *with)) return false;
    const ir::Type type = type_of(program_, flat_.steps);
    const Terms::Term last = terms_.minus(terms_.of(flat_.steps), terms_.integer(1, type), type);
    if (is(*with, 0)) {
      flat_.first.insert(op.results[0]);
    } else if (terms_.of(*with) == last) {
      flat_.last.insert(op.results[0]);
    } else {
      return false;
    }
    machinery_.insert(id);
    return true;
  }

  /// Sorts ops by step. Ops of the first step only must be able to move before all earlier ops. Ops
  /// of the last step only must be able to move after all later ops.
  bool sort_ops() {
    bool only_computed = true;
    for (const ir::OpId id : program_.block(flat_.loop.body).ops) {
      const ir::Op& op = program_.op(id);
      if (op.kind == ir::OpKind::yield || machinery_.contains(id) || note_condition(id)) continue;
      const bool branches = op.kind == ir::OpKind::branch;
      if (branches && flat_.first.contains(op.operands[0])) {
        if (!only_computed || !flat_.after.empty() || !only_yields_otherwise(id)) return false;
        flat_.before.push_back(id);
      } else if (branches && flat_.last.contains(op.operands[0])) {
        if (!only_yields_otherwise(id)) return false;
        flat_.after.push_back(id);
      } else if (op.kind == ir::OpKind::select && is_condition(op.operands[0])) {
        merges_.insert(id);
      } else {
        const bool computation = is_computation(op);
        if (writes_global(program_, id) || (!flat_.after.empty() && !computation)) return false;
        only_computed = only_computed && computation;
        flat_.body.push_back(id);
      }
    }
    return true;
  }

  bool is_condition(ir::ValueId value) const {
    return flat_.first.contains(value) || flat_.last.contains(value);
  }

  /// Whether conditions and the counter's successor have no further uses.
  bool only_known_uses() const {
    const auto decides = [&](const ir::Use& use) {
      const ir::Op& op = program_.op(use.op);
      return use.operand == 0 && (merges_.contains(use.op) || machinery_.contains(use.op) ||
                                  (op.kind == ir::OpKind::branch && op.block == flat_.loop.body));
    };
    for (const auto& conditions : {flat_.first, flat_.last}) {
      for (const ir::ValueId condition : conditions) {
        const auto& uses = program_.value(condition).uses;
        if (!std::all_of(uses.begin(), uses.end(), decides)) return false;
      }
    }
    const ir::Op& wraps = *defining_op(program_, flat_.loop.carried[flat_.counter].yielded);
    return program_.value(wraps.results[0]).uses.size() == 1 &&
           program_.value(wraps.operands[2]).uses.size() == 1;
  }

  bool find_merges() {
    for (const ir::OpId id : merges_) {
      const ir::Op& op = program_.op(id);
      auto& merges = flat_.first.contains(op.operands[0]) ? flat_.at_first : flat_.at_last;
      merges.emplace(op.results[0], Merge{op.operands[1], op.operands[2]});
    }
    for (const auto& [ifs, merges] :
         {std::pair(&flat_.before, &flat_.at_first), std::pair(&flat_.after, &flat_.at_last)}) {
      for (const ir::OpId id : *ifs) note_results(id, *merges);
    }
    return each_enters_once() && last_ones_only_leave();
  }

  void note_results(ir::OpId id, std::map<ir::ValueId, Merge>& merges) const {
    const ir::Op& op = program_.op(id);
    if (op.results.empty()) return;
    const auto yielded = [&](std::size_t region) {
      return program_.op(*terminator(program_, *ir::body(program_, id, region))).operands;
    };
    const auto there = yielded(0);
    const auto elsewhere = yielded(1);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      merges.emplace(op.results[i], Merge{there[i], elsewhere[i]});
    }
  }

  /// Whether each carried value is read directly, or in all but first steps. In a first step, the
  /// value is the result of the previous tile, which only `before` may read.
  bool each_enters_once() {
    for (const auto& [value, merge] : flat_.at_first) {
      if (is_invariant(program_, flat_.loop, merge.elsewhere)) continue;
      const bool argument = program_.value(merge.elsewhere).block == flat_.loop.body;
      if (!argument || !flat_.merged_at.emplace(merge.elsewhere, value).second) return false;
    }
    for (const auto& [argument, value] : flat_.merged_at) {
      if (argument == flat_.counts()) return false;
      for (const ir::Use& use : program_.value(argument).uses) {
        if (!enters(use, value) && !is_read_before(use)) return false;
      }
    }
    return true;
  }

  /// Whether a use reads `value` as in all but first steps.
  bool enters(const ir::Use& use, ir::ValueId value) const {
    const ir::Value& merged = program_.value(value);
    if (merges_.contains(use.op)) return merged.op == use.op && use.operand == 2;
    const auto otherwise = ir::body(program_, *merged.op, 1);
    return otherwise && program_.op(use.op).block == *otherwise && use.operand == merged.index;
  }

  bool is_read_before(const ir::Use& use) const {
    return std::any_of(flat_.before.begin(), flat_.before.end(), [&](ir::OpId branch) {
      const auto then = ir::body(program_, branch, 0);
      for (std::optional<ir::OpId> at = use.op; at; at = parent(program_, *at)) {
        if (then && program_.op(*at).block == *then) return true;
      }
      return false;
    });
  }

  /// Whether values that differ in the last step are only carried on.
  bool last_ones_only_leave() const {
    const auto leaves = [&](const ir::Use& use) {
      const ir::Op& op = program_.op(use.op);
      return op.kind == ir::OpKind::yield && op.block == flat_.loop.body;
    };
    return std::all_of(flat_.at_last.begin(), flat_.at_last.end(), [&](const auto& entry) {
      const auto& uses = program_.value(entry.first).uses;
      return std::all_of(uses.begin(), uses.end(), leaves);
    });
  }

  const ir::Program& program_;
  Terms& terms_;
  FlatLoop flat_;
  std::set<ir::OpId> machinery_;  ///< ops that compute the counter
  std::set<ir::OpId> merges_;     ///< selects by a condition on the counter
};

}  // namespace

std::optional<FlatLoop> as_flat_loop(const ir::Program& program, const ir::Loop& loop,
                                     Terms& terms) {
  return Reader(program, loop, terms).read();
}

}  // namespace twill::frontend::ttgir
