#include "twill/ir/without_unread.h"

#include <utility>
#include <vector>

#include "twill/ir/copy.h"
#include "twill/ir/equal_values.h"
#include "twill/ir/loop.h"
#include "twill/support/check.h"

namespace twill::ir {
namespace {

class Remover {
 public:
  explicit Remover(const Program& program)
      : program_(program), op_(program.op_count()), value_(program.value_count()) {}

  Program run() {
    for (const Loop& loop : loops(program_, program_.module())) note_carried(loop);
    for (std::size_t i = 0; i < program_.op_count(); ++i) {
      if (is_needed_anyway(OpId(i))) need(OpId(i));
    }
    while (!open_.empty()) {
      const ValueId value = open_.back();
      open_.pop_back();
      spread(value);
    }
    Copier copier(program_);
    auto copy = std::move(copier).copy(
        [this, &copier](OpId op, BlockId into) { return instead(copier, op, into); });
    TWILL_CHECK(copy.has_value(), "what is read was copied");
    return *std::move(copy);
  }

 private:
  /// Loops whose ops say something of every result by number keep them all.
  bool may_lose_values(const Op& op) const {
    return op.kind == OpKind::scf_for && attribute(op, "ttg.partition.outputs") == nullptr;
  }

  void note_carried(const Loop& loop) {
    if (!may_lose_values(program_.op(loop.op))) return;
    for (const Carried& carried : loop.carried) {
      carried_[carried.argument] = carried;
      carried_[*carried.result] = carried;
    }
    ends_.emplace(*terminator(program_, loop.body), loop);
  }

  bool is_needed_anyway(OpId id) const {
    const Op& op = program_.op(id);
    if (op.results.empty()) return true;
    return !is_pure(program_, id) && !is_plain_load(op);
  }

  /// An op with its operands and all that its regions need; of loops that may lose values, the
  /// bounds alone.
  void need(OpId id) {
    if (op_[id.index()]) return;
    op_[id.index()] = true;
    const Op& op = program_.op(id);
    const bool is_end = ends_.contains(id);
    const std::size_t count =
        is_end ? 0 : (may_lose_values(op) && as_loop(program_, id) ? 3 : op.operands.size());
    for (std::size_t i = 0; i < count; ++i) need(op.operands[i]);
    for (const RegionId region : op.regions) {
      for (const BlockId block : program_.region(region).blocks) {
        const auto end = terminator(program_, block);
        if (end) need(*end);
      }
    }
  }

  void need(ValueId value) {
    if (value_[value.index()]) return;
    value_[value.index()] = true;
    open_.push_back(value);
  }

  void spread(ValueId value) {
    if (const auto op = program_.value(value).op) need(*op);
    const auto carried = carried_.find(value);
    if (carried == carried_.end()) return;
    need(carried->second.init);
    need(carried->second.argument);
    need(carried->second.yielded);
  }

  bool is_kept(const Carried& carried) const { return value_[carried.argument.index()]; }

  bool instead(Copier& copier, OpId id, BlockId into) const {
    if (!op_[id.index()]) return true;
    if (const auto end = ends_.find(id); end != ends_.end()) {
      write_end(copier, id, end->second, into);
      return true;
    }
    if (!may_lose_values(program_.op(id))) return false;
    const auto loop = as_loop(program_, id);
    if (!loop) return false;
    write_loop(copier, *loop, into);
    return true;
  }

  void write_loop(Copier& copier, const Loop& loop, BlockId into) const {
    const Op& old = program_.op(loop.op);
    Op op;
    op.name = old.name;
    op.attributes = old.attributes;
    for (std::size_t i = 0; i < 3; ++i) op.operands.push_back(copier.at(old.operands[i]));
    std::vector<Carried> kept;
    for (const Carried& carried : loop.carried) {
      if (!is_kept(carried)) continue;
      kept.push_back(carried);
      op.operands.push_back(copier.at(carried.init));
    }
    const OpId made = copier.add(std::move(op), loop.op, into);
    ProgramBuilder& builder = copier.builder();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const ValueId result = copier.at(*kept[i].result);
      const std::string& name = program_.value(*kept[i].result).name;
      const std::string base = name.substr(0, name.find('#'));
      builder.set_name(result, kept.size() > 1 ? base + "#" + std::to_string(i) : base);
      builder.define_result(made, result);
    }
    const BlockId block = builder.add_block(builder.add_region(made));
    define(copier, block, *loop.induction);
    for (const Carried& carried : kept) define(copier, block, carried.argument);
    copier.copy_ops(program_.block(loop.body).ops, block);
  }

  void define(Copier& copier, BlockId block, ValueId argument) const {
    const ValueId now = copier.at(argument);
    copier.builder().define_argument(block, now);
    copier.builder().set_location(now, program_.value(argument).location);
  }

  void write_end(Copier& copier, OpId id, const Loop& loop, BlockId into) const {
    Op op;
    op.name = program_.op(id).name;
    op.attributes = program_.op(id).attributes;
    for (const Carried& carried : loop.carried) {
      if (is_kept(carried)) op.operands.push_back(copier.at(carried.yielded));
    }
    copier.add(std::move(op), id, into);
  }

  const Program& program_;
  std::vector<bool> op_;     ///< by op: it is needed
  std::vector<bool> value_;  ///< by value: somebody reads it
  std::vector<ValueId> open_;
  std::map<ValueId, Carried> carried_;  ///< by argument and by result, in loops that may lose them
  std::map<OpId, Loop> ends_;           ///< scf.yield of such a loop: the loop
};

}  // namespace

Program without_unread(const Program& program) { return Remover(program).run(); }

}  // namespace twill::ir
