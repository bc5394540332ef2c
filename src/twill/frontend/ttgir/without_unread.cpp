#include "twill/frontend/ttgir/without_unread.h"

#include <utility>
#include <vector>

#include "twill/frontend/ttgir/copy.h"
#include "twill/frontend/ttgir/equal_values.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/support/check.h"

namespace twill::frontend::ttgir {
namespace {

class Remover {
 public:
  explicit Remover(const ir::Program& program)
      : program_(program), op_(program.op_count()), value_(program.value_count()) {}

  ir::Program run() {
    for (const ir::Loop& loop : loops(program_, program_.module())) note_carried(loop);
    for (std::size_t i = 0; i < program_.op_count(); ++i) {
      if (is_needed_anyway(ir::OpId(i))) need(ir::OpId(i));
    }
    while (!open_.empty()) {
      const ir::ValueId value = open_.back();
      open_.pop_back();
      spread(value);
    }
    Copier copier(program_);
    auto copy = std::move(copier).copy(
        [this, &copier](ir::OpId op, ir::BlockId into) { return instead(copier, op, into); });
    TWILL_CHECK(copy.has_value(), "what is read was copied");
    return *std::move(copy);
  }

 private:
  /// Whether results of a loop may be dropped: no op in it names results by number.
  bool may_lose_values(const ir::Op& op) const {
    return op.kind == ir::OpKind::for_loop && !op.fixed_results;
  }

  void note_carried(const ir::Loop& loop) {
    if (!may_lose_values(program_.op(loop.op))) return;
    for (const ir::Carried& carried : loop.carried) {
      carried_[carried.argument] = carried;
      carried_[*carried.result] = carried;
    }
    ends_.emplace(*terminator(program_, loop.body), loop);
  }

  bool is_needed_anyway(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    if (op.results.empty()) return true;
    return !is_repeatable(program_, id) && !is_plain_load(op) && !only_makes_result(op);
  }

  /// Whether an op has no other effect than its result: products of registers, copies in shared
  /// memory.
  bool only_makes_result(const ir::Op& op) const {
    const bool of_tile = is_tensor(type_of(program_, op.results.front()));
    return (of_tile && mma_operands(op)) ||
           (op.kind == ir::OpKind::shared_alloc && !op.operands.empty());
  }

  /// Marks an op with its operands and the needs of its regions. For loops that may lose values,
  /// marks only the bounds.
  void need(ir::OpId id) {
    if (op_[id.index()]) return;
    op_[id.index()] = true;
    const ir::Op& op = program_.op(id);
    const bool is_end = ends_.contains(id);
    const std::size_t count =
        is_end ? 0 : (may_lose_values(op) && as_loop(program_, id) ? 3 : op.operands.size());
    for (std::size_t i = 0; i < count; ++i) need(op.operands[i]);
    for (const ir::RegionId region : op.regions) {
      for (const ir::BlockId block : program_.region(region).blocks) {
        const auto end = terminator(program_, block);
        if (end) need(*end);
      }
    }
  }

  void need(ir::ValueId value) {
    if (value_[value.index()]) return;
    value_[value.index()] = true;
    open_.push_back(value);
  }

  void spread(ir::ValueId value) {
    if (const auto op = program_.value(value).op) need(*op);
    const auto carried = carried_.find(value);
    if (carried == carried_.end()) return;
    need(carried->second.init);
    need(carried->second.argument);
    need(carried->second.yielded);
  }

  bool is_kept(const ir::Carried& carried) const { return value_[carried.argument.index()]; }

  bool instead(Copier& copier, ir::OpId id, ir::BlockId into) const {
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

  void write_loop(Copier& copier, const ir::Loop& loop, ir::BlockId into) const {
    const ir::Op& old = program_.op(loop.op);
    ir::Op op;
    op.name = old.name;
    op.attributes = old.attributes;
    for (std::size_t i = 0; i < 3; ++i) op.operands.push_back(copier.at(old.operands[i]));
    std::vector<ir::Carried> kept;
    for (const ir::Carried& carried : loop.carried) {
      if (!is_kept(carried)) continue;
      kept.push_back(carried);
      op.operands.push_back(copier.at(carried.init));
    }
    const ir::OpId made = copier.add(std::move(op), loop.op, into);
    ir::ProgramBuilder& builder = copier.builder();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const ir::ValueId result = copier.at(*kept[i].result);
      const std::string& name = program_.value(*kept[i].result).name;
      const std::string base = name.substr(0, name.find('#'));
      builder.set_name(result, kept.size() > 1 ? base + "#" + std::to_string(i) : base);
      builder.define_result(made, result);
    }
    const ir::BlockId block = builder.add_block(builder.add_region(made));
    define(copier, block, *loop.induction);
    for (const ir::Carried& carried : kept) define(copier, block, carried.argument);
    copier.copy_ops(program_.block(loop.body).ops, block);
  }

  void define(Copier& copier, ir::BlockId block, ir::ValueId argument) const {
    const ir::ValueId now = copier.at(argument);
    copier.builder().define_argument(block, now);
    copier.builder().set_location(now, program_.value(argument).location);
  }

  void write_end(Copier& copier, ir::OpId id, const ir::Loop& loop, ir::BlockId into) const {
    ir::Op op;
    op.name = program_.op(id).name;
    op.attributes = program_.op(id).attributes;
    for (const ir::Carried& carried : loop.carried) {
      if (is_kept(carried)) op.operands.push_back(copier.at(carried.yielded));
    }
    copier.add(std::move(op), id, into);
  }

  const ir::Program& program_;
  std::vector<bool> op_;     ///< whether an op is needed
  std::vector<bool> value_;  ///< whether a value has a reader
  std::vector<ir::ValueId> open_;
  std::map<ir::ValueId, ir::Carried>
      carried_;                        ///< for arguments and results of loops that may lose them
  std::map<ir::OpId, ir::Loop> ends_;  ///< scf.yield of such a loop: the loop
};

}  // namespace

ir::Program without_unread(const ir::Program& program) { return Remover(program).run(); }

}  // namespace twill::frontend::ttgir
