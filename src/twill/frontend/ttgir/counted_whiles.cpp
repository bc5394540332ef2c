#include "twill/frontend/ttgir/counted_whiles.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "twill/frontend/ttgir/copy.h"
#include "twill/frontend/ttgir/terms.h"
#include "twill/ir/arrays.h"
#include "twill/ir/loop.h"

namespace twill::frontend::ttgir {
namespace {

/// Numbers of MLIR's predicates of integers.
constexpr std::int64_t kLess = 2, kAtMost = 3, kGreater = 4, kAtLeast = 5;

/// A while loop that runs while its counter is less than `upper`, or at most `upper` with `last`.
struct CountedWhile {
  ir::Loop loop;
  std::size_t counter = 0;  ///< number among the carried values
  ir::ValueId upper;
  ir::ValueId step;
  bool last = false;
};

class CountReader {
 public:
  CountReader(const ir::Program& program, const ir::Loop& loop) : program_(program), loop_(loop) {}

  std::optional<CountedWhile> find() {
    const auto end = ir::terminator(program_, *loop_.before);
    const ir::ValueId condition = program_.op(*end).operands[0];
    if (!computes_only(*loop_.before)) return std::nullopt;
    for (const ir::Forwarded& it : loop_.forwarded) {
      if (!carried_as(it.passed) && !is_fixed(it.passed)) return std::nullopt;
    }
    const ir::Op* const compared = ir::defining_op(program_, condition);
    if (compared == nullptr || compared->kind != ir::OpKind::icmp) return std::nullopt;
    const std::int64_t how = compared->predicate.value_or(-1);
    if (how < kLess || how > kAtLeast) return std::nullopt;
    const bool less = how == kLess || how == kAtMost;
    const ir::ValueId smaller = compared->operands[less ? 0 : 1];
    const ir::ValueId upper = compared->operands[less ? 1 : 0];
    const auto counter = carried_as(smaller);
    if (!counter || !is_fixed(upper)) return std::nullopt;
    const auto step = step_of(*counter);
    if (!step) return std::nullopt;
    return CountedWhile{loop_, *counter, upper, *step, how == kAtMost || how == kAtLeast};
  }

 private:
  bool computes_only(ir::BlockId block) const {
    const auto& ops = program_.block(block).ops;
    return std::all_of(ops.begin(), ops.end() - 1, [&](ir::OpId op) { return is_computed(op); });
  }

  bool is_computed(ir::OpId op) const {
    return is_computation(program_.op(op)) || ir::reads_what_stays(program_, op);
  }

  /// Number of a value among the loop's carried values, in either of its regions.
  std::optional<std::size_t> carried_as(ir::ValueId value) const {
    for (const ir::Forwarded& it : loop_.forwarded) {
      if (it.argument == value) value = it.passed;
    }
    for (std::size_t i = 0; i < loop_.carried.size(); ++i) {
      if (loop_.carried[i].argument == value) return i;
    }
    return std::nullopt;
  }

  /// Whether a value is equal in all iterations and can be computed before the loop.
  bool is_fixed(ir::ValueId value) {
    if (ir::is_invariant(program_, loop_, value)) return true;
    const auto [known, added] = fixed_.try_emplace(value, false);
    const ir::Op* const op = ir::defining_op(program_, value);
    if (!added || op == nullptr || !is_computed(*program_.value(value).op)) return known->second;
    const bool fixed = std::all_of(op->operands.begin(), op->operands.end(),
                                   [&](ir::ValueId operand) { return is_fixed(operand); });
    return fixed_[value] = fixed;
  }

  std::optional<ir::ValueId> step_of(std::size_t counter) {
    const ir::Op* const sum = ir::defining_op(program_, loop_.carried[counter].yielded);
    if (sum == nullptr || sum->kind != ir::OpKind::add) return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
      const ir::ValueId by = sum->operands[1 - side];
      const bool adds = carried_as(sum->operands[side]) == counter && is_fixed(by);
      const auto known = ir::constant_integer(program_, by);
      if (adds && (!known || *known > 0)) return by;
    }
    return std::nullopt;
  }

  const ir::Program& program_;
  const ir::Loop& loop_;
  std::map<ir::ValueId, bool> fixed_;
};

class CountedWriter {
 public:
  CountedWriter(const ir::Program& program, const std::map<ir::OpId, CountedWhile>& found)
      : program_(program), found_(found), copier_(program) {}

  std::optional<ir::Program> write() {
    return std::move(copier_).copy([this](ir::OpId op, ir::BlockId into) {
      const auto counted = found_.find(op);
      if (counted == found_.end()) return false;
      write_loop(counted->second, into);
      return true;
    });
  }

 private:
  /// New value of a loop-invariant value, computed before the loop.
  ir::ValueId in_front(const ir::Loop& loop, ir::ValueId value, ir::BlockId into) {
    if (ir::is_invariant(program_, loop, value)) return copier_.at(value);
    if (!in_front_.emplace(loop.op, value).second) return copier_.at(value);
    for (const ir::ValueId operand : ir::defining_op(program_, value)->operands) {
      in_front(loop, operand, into);
    }
    copier_.copy_op(*program_.value(value).op, into);
    return copier_.at(value);
  }

  /// The first number that the counter does not reach.
  ir::ValueId end_of(const CountedWhile& counted, ir::BlockId into) {
    const ir::ValueId upper = in_front(counted.loop, counted.upper, into);
    if (!counted.last) return upper;
    const ir::Type type = ir::type_of(program_, counted.upper);
    ir::Op op;
    op.name = "arith.addi";
    op.operands = {upper, copier_.add_constant(1, type, counted.loop.op, into)};
    const ir::OpId sum = copier_.add(std::move(op), counted.loop.op, into);
    return copier_.add_result(sum, "end", type);
  }

  void write_loop(const CountedWhile& counted, ir::BlockId into) {
    const ir::Loop& loop = counted.loop;
    ir::Op op;
    op.name = "scf.for";
    op.operands = {copier_.at(loop.carried[counted.counter].init), end_of(counted, into),
                   in_front(loop, counted.step, into)};
    for (const ir::Carried& it : loop.carried) op.operands.push_back(copier_.at(it.init));
    std::map<ir::ValueId, ir::ValueId> fixed;
    for (const ir::Forwarded& it : loop.forwarded) {
      if (!number_of(loop, it.passed)) fixed[it.passed] = in_front(loop, it.passed, into);
    }
    const ir::OpId made = copier_.add(std::move(op), loop.op, into);
    std::vector<ir::ValueId> results;
    for (const ir::Carried& it : loop.carried) {
      const ir::Value& carried = program_.value(it.argument);
      results.push_back(copier_.add_result(made, carried.name, carried.type));
    }
    const ir::BlockId body = copier_.builder().add_block(copier_.builder().add_region(made));
    const std::vector<ir::ValueId> arguments = write_arguments(counted, body);
    for (const ir::Forwarded& it : loop.forwarded) {
      const auto number = number_of(loop, it.passed);
      copier_.bind(it.argument, number ? arguments[*number] : fixed.at(it.passed));
      copier_.bind(it.result, number ? results[*number] : fixed.at(it.passed));
    }
    copier_.copy_ops(program_.block(loop.body).ops, body);
  }

  /// Makes replacements of the carried values in the body: for the counter, the new loop's index.
  std::vector<ir::ValueId> write_arguments(const CountedWhile& counted, ir::BlockId body) {
    const auto& carried = counted.loop.carried;
    const ir::Value& counter = program_.value(carried[counted.counter].argument);
    const ir::ValueId induction = copier_.add_argument(body, counter.name, counter.type);
    std::vector<ir::ValueId> arguments;
    for (const ir::Carried& it : carried) {
      const ir::Value& argument = program_.value(it.argument);
      arguments.push_back(copier_.add_argument(body, argument.name, argument.type));
    }
    arguments[counted.counter] = induction;
    return arguments;
  }

  static std::optional<std::size_t> number_of(const ir::Loop& loop, ir::ValueId passed) {
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      if (loop.carried[i].argument == passed) return i;
    }
    return std::nullopt;
  }

  const ir::Program& program_;
  const std::map<ir::OpId, CountedWhile>& found_;
  Copier copier_;
  std::set<std::pair<ir::OpId, ir::ValueId>> in_front_;
};

}  // namespace

std::optional<ir::Program> counted_whiles(const ir::Program& program, Whiles which) {
  std::map<ir::OpId, CountedWhile> found;
  for (const ir::Loop& loop : ir::loops(program, program.module())) {
    if (!loop.before || (which == Whiles::innermost && !loop.innermost)) continue;
    auto counted = CountReader(program, loop).find();
    if (!counted) continue;
    const bool known = ir::constant_integer(program, counted->step).has_value();
    if (known || which == Whiles::all) found.emplace(loop.op, *std::move(counted));
  }
  if (found.empty()) return std::nullopt;
  return CountedWriter(program, found).write();
}

}  // namespace twill::frontend::ttgir
