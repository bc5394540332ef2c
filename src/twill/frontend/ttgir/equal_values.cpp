#include "twill/frontend/ttgir/equal_values.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::frontend::ttgir {
namespace {

using Term = Terms::Term;

bool is_pure_call(const ir::Op& op) {
  return (op.kind == ir::OpKind::library_call || op.kind == ir::OpKind::inline_asm) && op.is_pure;
}

bool is_reduction(ir::OpKind kind) { return ir::class_of(kind) == ir::OpClass::reduction; }

/// Whether an op, without its regions, may change global memory that loads read.
bool may_write(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  if (is_repeatable(program, id) || mma_operands(op)) return false;
  if (const auto access = memory_access(op)) {
    return access->space == ir::AccessSpace::global && access->writes;
  }
  switch (op.kind) {
    case ir::OpKind::for_loop:
    case ir::OpKind::while_loop:
    case ir::OpKind::branch:
    case ir::OpKind::yield:
    case ir::OpKind::condition:
    case ir::OpKind::combined:
    case ir::OpKind::make_descriptor:
    case ir::OpKind::shared_alloc:
    case ir::OpKind::tensor_alloc:
    case ir::OpKind::buffer_index:
    case ir::OpKind::buffer_slice:
    case ir::OpKind::tensor_slice:
    case ir::OpKind::buffer_transpose:
    case ir::OpKind::buffer_reshape:
    case ir::OpKind::buffer_cast:
    case ir::OpKind::ret:
      return false;
    default:
      return true;
  }
}

/// Classes of carried values of a loop that are assumed equal.
using Classes = std::map<ir::ValueId, std::size_t>;

/// A pass over a Program under an assumption, which the pass refines.
class Pass {
 public:
  Pass(const ir::Program& program, const Classes& assumed)
      : program_(program), assumed_(assumed), terms_(program) {}

  /// Returns classes that are at least as fine as the assumed classes, and the same classes if the
  /// assumption holds.
  Classes run() {
    for (const ir::OpId op : walk(program_, program_.module())) {
      if (may_write(program_, op)) note_writer(op);
    }
    enter(program_.module());
    return std::move(refined_);
  }

  Terms terms() && { return std::move(terms_); }

 private:
  void note_writer(ir::OpId op) {
    for (std::optional<ir::OpId> up = op; up && writes_.insert(*up).second;) {
      up = parent(program_, *up);
    }
  }

  bool writes(ir::OpId op) const { return writes_.contains(op); }

  /// Numbers the values in the regions of an unknown op.
  void enter(ir::OpId op) {
    for (const ir::RegionId region : program_.op(op).regions) {
      for (const ir::BlockId block : program_.region(region).blocks) {
        memory_ = terms_.symbol();
        number(block);
      }
    }
    memory_ = terms_.symbol();
  }

  void number(ir::BlockId block) {
    for (const ir::OpId op : program_.block(block).ops) number(op);
  }

  void number(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (const auto loop = as_loop(program_, id)) return number_loop(*loop);
    if (op.kind == ir::OpKind::branch) return number_if(id);
    if (is_reduction(op.kind)) return number_reduction(id);
    if (!op.regions.empty()) return enter(id);
    if (is_plain_load(op)) return assume(op, "load", {memory_});
    if (is_pure_call(op)) return assume(op, "call", {});
    if (writes(id)) memory_ = terms_.symbol();
    for (const ir::ValueId result : op.results) terms_.of(result);
  }

  /// Numbers the results of `op` as function `what` applied to its operands, then `more`.
  void assume(const ir::Op& op, const std::string& what, std::vector<Term> more) {
    for (const ir::ValueId operand : op.operands) more.push_back(terms_.of(operand));
    for (const ir::ValueId result : op.results) {
      terms_.assume(result,
                    terms_.made(what + " " + description(op) + " " + words_of(result), more));
    }
  }

  /// Text with the number and shape of a result.
  std::string words_of(ir::ValueId value) const {
    return std::to_string(program_.value(value).index) + " " +
           text_without_layout(type_of(program_, value));
  }

  void number_loop(const ir::Loop& loop) {
    const std::string name = std::to_string(loop.op.index());
    const auto term_of = [&](const char* what, const ir::Carried& carried) {
      return terms_.made(what + name, {assumed_.at(carried.argument)});
    };
    std::vector<Term> inits;
    for (const ir::Carried& carried : loop.carried) {
      inits.push_back(terms_.of(carried.init));
      terms_.assume(carried.argument, term_of("carried ", carried));
    }
    if (writes(loop.op)) memory_ = terms_.symbol();
    if (loop.before) number(*loop.before);
    for (const ir::Forwarded& passed : loop.forwarded) {
      const Term term = terms_.of(passed.passed);
      terms_.assume(passed.argument, term);
      terms_.assume(passed.result, terms_.made("passed " + name, {term}));
    }
    number(loop.body);
    if (writes(loop.op)) memory_ = terms_.symbol();
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      const ir::Carried& carried = loop.carried[i];
      if (carried.result) terms_.assume(*carried.result, term_of("result ", carried));
      const std::vector<std::size_t> key = {assumed_.at(carried.argument), inits[i],
                                            terms_.of(carried.yielded)};
      refined_[carried.argument] = numbers_.try_emplace(key, numbers_.size()).first->second;
    }
  }

  void number_if(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    const Term before = memory_;
    std::vector<const ir::Op*> yields;
    for (std::size_t branch = 0; branch < op.regions.size(); ++branch) {
      const auto block = body(program_, id, branch);
      if (!block) continue;
      memory_ = before;
      number(*block);
      if (const auto end = terminator(program_, *block)) yields.push_back(&program_.op(*end));
    }
    memory_ = writes(id) ? terms_.symbol() : before;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      std::vector<Term> made_of = {terms_.of(op.operands[0])};
      for (const ir::Op* yield : yields) made_of.push_back(terms_.of(yield->operands[i]));
      terms_.assume(op.results[i], terms_.made("if", made_of));
    }
  }

  void number_reduction(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    std::vector<Term> more;
    const std::string combination = text_of_combination(id, more);
    assume(op, combination, std::move(more));
  }

  /// Text of a reduction's combination, with its own values as numbers. Values from outside are
  /// added to `outer`.
  std::string text_of_combination(ir::OpId id, std::vector<Term>& outer) {
    const auto block = body(program_, id);
    std::map<ir::ValueId, std::size_t> own;
    for (const ir::ValueId argument : program_.block(*block).arguments)
      own.emplace(argument, own.size());
    std::string text;
    for (const ir::OpId inner : program_.block(*block).ops) {
      const ir::Op& op = program_.op(inner);
      if (!op.regions.empty()) outer.push_back(terms_.symbol());
      text += description(op);
      for (const ir::ValueId operand : op.operands) {
        const auto known = own.find(operand);
        if (known == own.end()) outer.push_back(terms_.of(operand));
        text += known == own.end() ? " *" : " " + std::to_string(known->second);
      }
      for (const ir::ValueId result : op.results) {
        own.emplace(result, own.size());
        text += " " + type_of(program_, result)->text;
      }
      text += ";";
    }
    return text;
  }

  const ir::Program& program_;
  const Classes& assumed_;
  Terms terms_;
  Term memory_ = 0;            ///< contents of global memory
  std::set<ir::OpId> writes_;  ///< ops that may write, or contain such ops
  Classes refined_;
  std::map<std::vector<std::size_t>, std::size_t> numbers_;
};

/// The coarsest assumption: all carried values of one loop with one shape are equal.
Classes coarsest(const ir::Program& program, std::size_t& count) {
  Classes classes;
  std::map<std::string, std::size_t> numbers;
  for (const ir::Loop& loop : loops(program, program.module())) {
    for (const ir::Carried& carried : loop.carried) {
      const std::string key = std::to_string(loop.op.index()) + " " +
                              text_without_layout(type_of(program, carried.argument));
      classes[carried.argument] = numbers.try_emplace(key, numbers.size()).first->second;
    }
  }
  count = numbers.size();
  return classes;
}

std::size_t count_of(const Classes& classes) {
  std::size_t most = 0;
  for (const auto& [value, number] : classes) most = std::max(most, number + 1);
  return most;
}

}  // namespace

bool is_repeatable(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  if (is_computation(op) || is_pure_call(op)) return true;
  if (!is_reduction(op.kind)) return false;
  const auto block = body(program, id);
  if (!block) return false;
  const std::vector<ir::OpId>& ops = program.block(*block).ops;
  return std::all_of(ops.begin(), ops.end(), [&](ir::OpId inner) {
    const ir::OpKind kind = program.op(inner).kind;
    return is_computation(program.op(inner)) || kind == ir::OpKind::combined;
  });
}

bool is_plain_load(const ir::Op& op) {
  const bool loads = op.kind == ir::OpKind::load || op.kind == ir::OpKind::block_load;
  return loads && op.results.size() == 1 && !op.is_volatile;
}

std::optional<Terms> equal_values(const ir::Program& program) {
  std::size_t count = 0;
  Classes classes = coarsest(program, count);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    Pass numbering(program, classes);
    Classes refined = numbering.run();
    const std::size_t finer = count_of(refined);
    if (finer == count) return std::move(numbering).terms();
    classes = std::move(refined);
    count = finer;
  }
  return std::nullopt;
}

}  // namespace twill::frontend::ttgir
