#include "twill/frontend/ttgir/nest.h"

#include <algorithm>
#include <set>
#include <vector>

#include "twill/frontend/ttgir/copy.h"

namespace twill::frontend::ttgir {
namespace {

/// Values to be carried by the loop over tiles, and by the loop over steps.
struct Carry {
  std::set<ir::ValueId> tiles;  ///< arguments of the flat loop
  std::set<ir::ValueId> steps;  ///< arguments of the flat loop, and merged values
};

/// Writes the nest, and notes values that must be carried but are not carried so far.
class NestWriter {
 public:
  NestWriter(const ir::Program& program, const NestPlan& plan, Terms& terms, const Carry& carry)
      : program_(program),
        plan_(plan),
        flat_(plan.flat),
        terms_(terms),
        carry_(carry),
        more_(carry),
        copier_(program) {
    for (const auto& [argument, index] : plan_.indices) skipped_.insert(*program_.value(index).op);
  }

  std::optional<ir::Program> write() {
    auto made = std::move(copier_).copy([this](ir::OpId op, ir::BlockId into) {
      if (op != flat_.loop.op) return false;
      write_nest(into);
      return true;
    });
    return failed_ ? std::nullopt : std::move(made);
  }

  bool failed() const { return failed_; }
  const Carry& wanted() const { return more_; }

 private:
  // --- Carried values ---------------------------------------------------------------------------

  const ir::Carried* carried_at(ir::ValueId argument) const {
    for (const ir::Carried& carried : flat_.loop.carried) {
      if (carried.argument == argument) return &carried;
    }
    return nullptr;
  }

  const Merge* merge_of(ir::ValueId value) const {
    const auto merge = flat_.at_first.find(value);
    return merge == flat_.at_first.end() ? nullptr : &merge->second;
  }

  bool is_outside(ir::ValueId value) const { return is_invariant(program_, flat_.loop, value); }

  /// Value in the next step of the same tile, for a value that changes from step to step.
  ir::ValueId next(ir::ValueId value) const {
    const Merge* merge = merge_of(value);
    const ir::Carried* carried = carried_at(merge != nullptr ? merge->elsewhere : value);
    if (carried == nullptr) return merge->elsewhere;  // defined outside of the loop
    const auto last = flat_.at_last.find(carried->yielded);
    return last == flat_.at_last.end() ? carried->yielded : last->second.elsewhere;
  }

  /// Value of a carried argument in the first step of the next tile.
  ir::ValueId left(const ir::Carried& carried) const {
    const auto last = flat_.at_last.find(carried.yielded);
    return last == flat_.at_last.end() ? carried.yielded : last->second.there;
  }

  /// Whether the value is equal at the begin of every tile.
  bool begins_alike(const ir::Carried& carried) {
    const ir::ValueId value = left(carried);
    return is_outside(value) && terms_.of(value) == terms_.of(carried.init);
  }

  // --- Where values are read --------------------------------------------------------------------

  /// Op of the body's block that defines a value, or contains its definition. nullopt for a value
  /// from outside, or an argument of the loop.
  std::optional<ir::OpId> made_by(ir::ValueId value) const {
    const ir::Value& it = program_.value(value);
    if (it.block == flat_.loop.body) return std::nullopt;
    std::optional<ir::OpId> at =
        it.op ? it.op : std::optional(program_.region(program_.block(*it.block).region).op);
    while (at && program_.op(*at).block != flat_.loop.body) at = parent(program_, *at);
    return at;
  }

  /// Maps `value` to its value in the first step, before the steps of a tile begin.
  void before(ir::ValueId value) {
    if (is_outside(value) || !ready_.insert(value).second) return;
    if (const Merge* merge = merge_of(value)) {
      before(merge->there);
      copier_.bind(value, copier_.at(merge->there));
      return;
    }
    const ir::Carried* carried = carried_at(value);
    if (value == flat_.counts()) return copier_.bind(value, copier_.at(carried->init));
    if (carried != nullptr) return void(more_.tiles.insert(value));
    const auto op = made_by(value);
    if (op && is_among(flat_.before, *op)) return;  // defined already
    compute(value, [this](ir::ValueId operand) { before(operand); });
  }

  /// Maps `value` to its value in the last step, after the steps.
  void after(ir::ValueId value) {
    if (is_outside(value)) return;
    for (const auto& [step, result] : results_) {
      if (next(step) == value) return copier_.bind(value, result);
    }
    if (const auto last = flat_.at_last.find(value); last != flat_.at_last.end()) {
      after(last->second.there);
      return copier_.bind(value, copier_.at(last->second.there));
    }
    const bool changes = merge_of(value) != nullptr || carried_at(value) != nullptr;
    if (changes && next(value) == value) return before(value);
    const auto op = made_by(value);
    if (changes) {
      failed_ = true;
    } else if (!again_.insert(value).second) {
      return;
    } else if (op && !is_among(flat_.before, *op) && !is_among(flat_.after, *op)) {
      for (const ir::ValueId step : changing()) {
        if (next(step) == value) return void(more_.steps.insert(step));
      }
      compute(value, [this](ir::ValueId operand) { after(operand); });
    }
  }

  /// All values that steps can carry.
  std::vector<ir::ValueId> changing() const {
    std::vector<ir::ValueId> all;
    for (const auto& [value, merge] : flat_.at_first) all.push_back(value);
    for (const ir::Carried& carried : flat_.loop.carried) {
      if (!flat_.merged_at.contains(carried.argument) && carried.argument != flat_.counts()) {
        all.push_back(carried.argument);
      }
    }
    return all;
  }

  /// Computes an op of the body once more, outside of the steps.
  template <class Ready>
  void compute(ir::ValueId value, Ready ready) {
    const ir::Op* op = defining_op(program_, value);
    if (op == nullptr || op->block != flat_.loop.body || !is_computation(*op)) {
      failed_ = true;
      return;
    }
    for (const ir::ValueId operand : op->operands) ready(operand);
    copier_.copy_op(*program_.value(value).op, here_);
  }

  static bool is_among(const std::vector<ir::OpId>& ops, ir::OpId op) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  }

  /// Values that an op and its regions read.
  std::vector<ir::ValueId> reads(ir::OpId id) const {
    std::vector<ir::ValueId> all;
    for (const ir::OpId op : walk(program_, id)) {
      const auto& operands = program_.op(op).operands;
      all.insert(all.end(), operands.begin(), operands.end());
    }
    return all;
  }

  // --- Writing ----------------------------------------------------------------------------------

  void write_nest(ir::BlockId into) {
    copier_.make_names_unique();
    std::vector<const ir::Carried*> carried;
    for (const ir::Carried& each : flat_.loop.carried) {
      if (!carry_.tiles.contains(each.argument)) continue;
      if (plan_.indices.contains(each.argument)) continue;
      if (begins_alike(each)) {
        copier_.bind(each.argument, copier_.at(each.init));
      } else {
        carried.push_back(&each);
      }
    }
    std::vector<ir::ValueId> inits;
    for (const ir::Carried* each : carried) inits.push_back(copier_.at(each->init));
    const ir::OpId loop = add_loop(plan_.tiles, inits, into, false);
    for (const ir::Carried* each : carried) {
      copier_.add_result(loop, name_of(*each->result), type_of(program_, each->argument));
    }
    here_ = open(loop, *plan_.indices.begin());
    for (const ir::Carried* each : carried) copier_.bind(each->argument, argument(each->argument));
    write_before();
    write_steps();
    for (const ir::OpId branch : flat_.after) write_branch(branch, false);
    for (const ir::Carried* each : carried) after(left(*each));
    std::vector<ir::ValueId> yields;
    for (const ir::Carried* each : carried) yields.push_back(copier_.at(left(*each)));
    add_yield(here_, std::move(yields));
  }

  /// Name without a number: `%20#1` is one of several results there, and a single result here.
  std::string name_of(ir::ValueId value) const {
    std::string name = program_.value(value).name;
    std::replace(name.begin(), name.end(), '#', '_');
    return name;
  }

  ir::OpId add_loop(const Bounds& bounds, const std::vector<ir::ValueId>& inits, ir::BlockId into,
                    bool main) {
    ir::Op op;
    op.name = "scf.for";
    ir::ValueId upper;
    if (bounds.upper) {
      upper = copier_.at(*bounds.upper);
    } else {
      upper = add_constant(bounds.upper_number, type_of(program_, bounds.lower), into);
    }
    op.operands = {copier_.at(bounds.lower), upper, copier_.at(bounds.step)};
    op.operands.insert(op.operands.end(), inits.begin(), inits.end());
    if (main) op.attributes = program_.op(flat_.loop.op).attributes;
    return copier_.add(std::move(op), flat_.loop.op, into);
  }

  ir::ValueId add_constant(std::int64_t number, ir::Type type, ir::BlockId into) {
    return copier_.add_constant(number, type, flat_.loop.op, into);
  }

  /// Opens the body of a loop over tiles; its index replaces all equal values.
  ir::BlockId open(ir::OpId loop, const std::pair<const ir::ValueId, ir::ValueId>& index) {
    const ir::BlockId block = copier_.builder().add_block(copier_.builder().add_region(loop));
    here_ = block;
    const ir::Type type = type_of(program_, index.second);
    const ir::ValueId tile = copier_.add_argument(block, name_of(index.second), type);
    for (const auto& [argument, value] : plan_.indices) {
      copier_.bind(value, tile);
      if (!carry_.tiles.contains(argument)) continue;
      ir::Op op;
      op.name = "arith.subi";
      op.operands = {tile, copier_.at(plan_.tiles.step)};
      const ir::OpId made = copier_.add(std::move(op), *program_.value(value).op, block);
      copier_.bind(argument, copier_.add_result(made, name_of(argument), type));
    }
    return block;
  }

  ir::ValueId argument(ir::ValueId like) {
    return copier_.add_argument(here_, name_of(like), type_of(program_, like));
  }

  void add_yield(ir::BlockId block, std::vector<ir::ValueId> values) {
    ir::Op op;
    op.name = "scf.yield";
    op.operands = std::move(values);
    copier_.add(std::move(op), *terminator(program_, flat_.loop.body), block);
  }

  void write_before() {
    for (const ir::OpId branch : flat_.before) {
      write_branch(branch, true);
      for (const ir::ValueId result : program_.op(branch).results) {
        const ir::ValueId there = flat_.at_first.at(result).there;
        if (program_.value(there).op && made_by(there) == branch) before(result);
      }
    }
  }

  void write_branch(ir::OpId branch, bool first) {
    const std::vector<ir::OpId>& ops = program_.block(*ir::body(program_, branch, 0)).ops;
    for (const ir::OpId op : ops) {
      if (op == ops.back() || skipped_.contains(op)) continue;
      for (const ir::ValueId operand : reads(op)) {
        if (made_by(operand) == branch) continue;
        first ? before(operand) : after(operand);
      }
      copier_.copy_op(op, here_);
    }
  }

  /// Ops of a step without unread computations.
  std::set<ir::OpId> live() const {
    std::set<ir::OpId> found;
    std::vector<ir::OpId> open;
    for (const ir::OpId op : flat_.body) {
      if (!is_computation(program_.op(op))) open.push_back(op);
    }
    const auto read = [&](ir::ValueId value) {
      const auto op = program_.value(value).op;
      if (op && is_among(flat_.body, *op)) open.push_back(*op);
    };
    for (const ir::ValueId step : carry_.steps) read(next(step));
    while (!open.empty()) {
      const ir::OpId op = open.back();
      open.pop_back();
      if (!found.insert(op).second) continue;
      for (const ir::ValueId operand : reads(op)) read(operand);
    }
    return found;
  }

  /// Makes a value available to the steps, as a carried or an invariant value.
  void enter(ir::ValueId value) {
    const bool changes = merge_of(value) != nullptr || carried_at(value) != nullptr;
    if (!changes || value == plan_.counts) return;
    if (value == flat_.counts() || flat_.merged_at.contains(value)) {
      failed_ = true;
    } else if (next(value) == value) {
      before(value);
    } else {
      more_.steps.insert(value);
    }
  }

  void write_steps() {
    const std::set<ir::OpId> ops = live();
    for (const ir::OpId op : ops) {
      for (const ir::ValueId operand : reads(op)) enter(operand);
    }
    for (const ir::ValueId step : carry_.steps) enter(next(step));
    std::vector<ir::ValueId> inits;
    for (const ir::ValueId step : carry_.steps) {
      before(step);
      inits.push_back(copier_.at(step));
    }
    const ir::OpId loop = add_loop(plan_.steps, inits, here_, true);
    for (const ir::ValueId step : carry_.steps) {
      const Merge* merge = merge_of(step);
      const ir::Carried* carried = carried_at(merge != nullptr ? merge->elsewhere : step);
      const ir::ValueId like = carried != nullptr ? *carried->result : step;
      results_[step] = copier_.add_result(loop, name_of(like) + "_", type_of(program_, step));
    }
    const ir::BlockId tile = here_;
    here_ = copier_.builder().add_block(copier_.builder().add_region(loop));
    copier_.bind(plan_.counts, argument(plan_.counts));
    for (const ir::ValueId step : carry_.steps) copier_.bind(step, argument(step));
    for (const ir::OpId op : flat_.body) {
      if (ops.contains(op)) copier_.copy_op(op, here_);
    }
    std::vector<ir::ValueId> yields;
    for (const ir::ValueId step : carry_.steps) yields.push_back(copier_.at(next(step)));
    add_yield(here_, std::move(yields));
    here_ = tile;
  }

  const ir::Program& program_;
  const NestPlan& plan_;
  const FlatLoop& flat_;
  Terms& terms_;
  const Carry& carry_;
  Carry more_;
  Copier copier_;
  ir::BlockId here_;             ///< block being written
  std::set<ir::OpId> skipped_;   ///< ops that compute the tile's index
  std::set<ir::ValueId> ready_;  ///< values mapped to values before the steps
  std::set<ir::ValueId> again_;  ///< values mapped to values after the steps
  /// Results of the loop over steps, by its carried values.
  std::map<ir::ValueId, ir::ValueId> results_;
  bool failed_ = false;
};

}  // namespace

std::optional<ir::Program> with_nest(const ir::Program& program, const NestPlan& plan,
                                     Terms& terms) {
  Carry carry;
  for (;;) {
    NestWriter writer(program, plan, terms, carry);
    auto made = writer.write();
    if (writer.failed()) return std::nullopt;
    const Carry& wanted = writer.wanted();
    if (wanted.tiles == carry.tiles && wanted.steps == carry.steps) return made;
    carry = wanted;
  }
}

}  // namespace twill::frontend::ttgir
