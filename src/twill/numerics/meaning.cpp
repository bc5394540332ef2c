#include "twill/numerics/meaning.h"

#include <algorithm>

#include "twill/execute/evaluate.h"
#include "twill/extract/cut.h"
#include "twill/ir/arrays.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"
#include "twill/ir/views.h"

namespace twill::numerics {

using ir::OpKind;

namespace {

tl::unexpected<Diagnostic> refuse(const ir::Program& program, ir::OpId op, const std::string& why) {
  return fail(ir::text_location(program, op),
              "cannot be run with numbers in the plan's order: " + program.op(op).name + " " + why +
                  ir::source_words(program, op));
}

/// Memory whose content an op of the loop replaces or extends.
std::optional<ir::ValueId> written_memory(const ir::Op& op) {
  if (op.kind == OpKind::tcgen05) return ir::mma_operands(op)->accumulator;
  const auto access = ir::memory_access(op);
  if (!access || !access->writes || access->space == ir::AccessSpace::global) return std::nullopt;
  return access->address;
}

}  // namespace

Result<Meaning> Meaning::of(const Kernel& kernel) {
  Meaning meaning;
  meaning.program_ = &kernel.program;
  meaning.origins_ = kernel.origins;
  TWILL_TRY_VOID(meaning.find_loop(kernel));
  const problem::Problem& problem = kernel.plan.problem;
  if (kernel.origins.size() != problem.ops().size()) {
    return fail({kernel.program.file()}, "the plan is not one of this kernel's");
  }
  meaning.inputs_.resize(problem.ops().size());
  for (const problem::Dependence& d : problem.dependences()) {
    if (!d.carries_value) continue;
    meaning.inputs_[d.to.index()].push_back({d.from, d.distance, d.in_place});
  }
  for (std::vector<Input>& inputs : meaning.inputs_) {
    for (Input& input : inputs) input.age = meaning.age_of(input.from);
  }
  TWILL_TRY(meaning.cut_, extract::cut_dimensions(kernel.program, kernel.loop));
  meaning.find_absorbed();
  meaning.find_unknown();
  if (meaning.condition_ && !meaning.is_known(*meaning.condition_)) {
    return refuse(kernel.program, kernel.loop, "goes on or ends by what it computes");
  }
  meaning.find_others();
  TWILL_TRY_VOID(meaning.find_things());
  meaning.find_two_sided(kernel.plan);
  return meaning;
}

/// Age of a moved value: iterations by which it is older than the op that moves it on.
int Meaning::age_of(OpId op) const {
  const std::vector<Input>& moved = inputs_[op.index()];
  return forwards(op) && !moved.empty() ? moved.front().distance : 0;
}

/// Finds the loop and the ops in it.
Result<void> Meaning::find_loop(const Kernel& kernel) {
  TWILL_TRY(body_, extract::straighten(*program_, kernel.loop));
  for (const extract::RareBranch& rare : body_.rare) {
    return refuse(*program_, rare.op, "is not always taken");
  }
  for (const ir::OpId id : ir::walk(*program_, kernel.loop)) {
    if (id == kernel.loop) continue;
    const ir::Op& op = program_->op(id);
    const bool waits = op.kind == OpKind::barrier_wait || op.kind == OpKind::copy_wait;
    if (waits) return refuse(*program_, id, "is of a loop that is pipelined already");
    if (op.kind == OpKind::while_loop) return refuse(*program_, id, "is not always taken");
    if (const auto memory = written_memory(op)) written_.insert(root(*memory));
    ops_.push_back(id);
  }
  if (loop().induction) return {};
  const auto end = loop().before ? ir::terminator(*program_, *loop().before) : std::nullopt;
  if (!end || program_->op(*end).operands.empty()) {
    return refuse(*program_, kernel.loop, "is no loop with a condition");
  }
  condition_ = program_->op(*end).operands[0];
  return {};
}

/// Finds loads of indices that each access repeats for itself.
void Meaning::find_absorbed() {
  std::set<ir::OpId> others;
  for (const extract::OpOrigin& origin : origins_) {
    for (const extract::Source& source : origin.sources) {
      (source.absorbed ? absorbed_ : others).insert(source.op);
    }
  }
  std::erase_if(absorbed_, [&](ir::OpId op) { return others.contains(op); });
}

/// Whether an op loads single values or indices from an array that the loop does not write. The
/// time of such a load does not matter.
bool Meaning::is_fixed_load(ir::OpId id) const {
  const auto access = ir::memory_access(program_->op(id));
  const bool loads =
      access && access->reads && !access->writes && access->result &&
      access->space == ir::AccessSpace::global && !access->by_descriptor &&
      (ir::type_of(*program_, *access->result)->shape.empty() || absorbed_.contains(id));
  return loads && std::none_of(ops_.begin(), ops_.end(), [&](ir::OpId other) {
           const auto it = ir::memory_access(program_->op(other));
           return it && it->writes && it->space == ir::AccessSpace::global &&
                  ir::may_meet(*program_, access->address, it->address);
         });
}

void Meaning::find_unknown() {
  const auto spoil = [&](ir::ValueId value) { return unknown_.insert(value).second; };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::OpId id : ops_) {
      const ir::Op& op = program_->op(id);
      bool known = execute::can_evaluate(op.kind) || is_fixed_load(id);
      for (const ir::ValueId operand : op.operands) {
        const bool memory = ir::type_of(*program_, operand)->kind == ir::TypeKind::memdesc;
        known = known && !memory && is_known(operand);
      }
      if (known) continue;
      for (const ir::ValueId result : op.results) changed = spoil(result) || changed;
    }
    for (const ir::Carried& carried : loop().carried) {
      if (!is_known(carried.yielded)) changed = spoil(carried.argument) || changed;
    }
    for (const ir::Forwarded& forwarded : loop().forwarded) {
      if (!is_known(forwarded.passed)) changed = spoil(forwarded.argument) || changed;
    }
  }
}

/// Notes a replacement, also for the sums of a product: values scaled or copied to such a place
/// stay there.
void Meaning::note_other(Thing thing, const Other& other) {
  const auto is_same = [&](const Other& it) {
    return it.yielded == other.yielded && it.with.condition == other.with.condition;
  };
  while (!is_outside(thing) && carried(thing) == nullptr) {
    std::vector<Other>& known = others_[thing];
    if (std::any_of(known.begin(), known.end(), is_same)) return;
    known.push_back(other);
    const ir::Op* op = ir::defining_op(*program_, thing);
    const auto product = op != nullptr ? ir::mma_operands(*op) : std::nullopt;
    if (!product) return;
    thing = behind_renaming(product->accumulator);
  }
}

/// Finds the values that replace results of branches that are not taken.
void Meaning::find_others() {
  for (const ir::OpId id : ops_) {
    if (program_->op(id).kind != OpKind::branch) continue;
    for (const ir::ValueId result : program_->op(id).results) {
      const auto chosen = renamed(result);
      if (!chosen) continue;
      for (const bool holds : {true, false}) {
        const auto it = yielded_by(result, holds);
        if (!it || *it == *chosen) continue;
        note_other(behind_renaming(*chosen), {{program_->op(id).operands[0], !holds}, *it});
      }
    }
  }
}

/// Outermost branch of the loop around an op; the op itself if there is none.
ir::OpId Meaning::outermost_branch(ir::OpId op) const {
  ir::OpId outermost = op;
  for (auto at = ir::parent(*program_, op); at && *at != loop().op;
       at = ir::parent(*program_, *at)) {
    if (program_->op(*at).kind == OpKind::branch) outermost = *at;
  }
  return outermost;
}

/// Finds the branches that have work on both sides, and the last op of each in the schedule.
void Meaning::find_two_sided(const plan::Plan& plan) {
  for (const auto& [branch, ops] : body_.other_branch) two_sided_[outermost_branch(branch)];
  const auto issue = [&](OpId op) { return plan.schedule.ops[op.index()].issue; };
  for (std::size_t v = 0; v < origins_.size(); ++v) {
    const OpId op(v);
    if (origins_[v].forwards || plan::is_copy(plan.mechanisms[v])) continue;
    for (const ir::OpId made : made_[v]) {
      const ir::OpId top = outermost_branch(made);
      const auto found = two_sided_.find(top);
      if (found == two_sided_.end() || top == made) continue;
      auto& branch_ops = found->second.ops;
      auto& last = found->second.last;
      if (branch_ops.empty() || branch_ops.back() != op) branch_ops.push_back(op);
      const auto [at, is_new] = last.emplace(origins_[v].part, op);
      if (!is_new && issue(op) > issue(at->second)) at->second = op;
    }
  }
  for (auto& [top, branch] : two_sided_) {
    if (branch.last.size() > 1) branch.last.erase(-1);
    for (const ir::Carried& it : loop().carried) {
      const bool here = program_->value(it.yielded).op == top;
      if (here && !is_known(it.yielded) && !is_made(behind_renaming(it.yielded))) {
        branch.kept.push_back(it.yielded);
      }
    }
  }
}

/// Whether an op of the plan leaves this value.
bool Meaning::is_made(Thing thing) const {
  for (std::size_t v = 0; v < origins_.size(); ++v) {
    if (!origins_[v].forwards && has(OpId(v), thing)) return true;
  }
  return false;
}

const TwoSided* Meaning::two_sided(OpId op) const {
  for (const auto& [top, branch] : two_sided_) {
    if (std::find(branch.ops.begin(), branch.ops.end(), op) != branch.ops.end()) return &branch;
  }
  return nullptr;
}

Result<void> Meaning::find_things() {
  std::map<std::pair<ir::OpId, int>, OpId> products;
  for (std::size_t v = 0; v < origins_.size(); ++v) {
    made_.emplace_back();
    things_.emplace_back();
    const extract::OpOrigin& origin = origins_[v];
    if (origin.forwards) continue;
    for (const extract::Source& source : origin.sources) made_[v].insert(source.op);
    for (const ir::OpId made : made_[v]) {
      if (!ir::mma_operands(program_->op(made))) continue;
      if (!products.emplace(std::pair(made, origin.part), OpId(v)).second) {
        return refuse(*program_, made, "adds up its sums in another op");
      }
    }
  }
  for (std::size_t v = 0; v < origins_.size(); ++v) {
    for (const ir::OpId made : made_[v]) add_things(OpId(v), made);
    // Things to keep: any reader can compute a pure value, so an op keeps one only if it has no
    // other thing.
    const auto real = [&](Thing thing) { return !is_known(thing); };
    if (std::any_of(things_[v].begin(), things_[v].end(), real)) {
      std::erase_if(things_[v], [&](Thing thing) { return is_known(thing); });
    }
    if (!origins_[v].forwards) continue;
    for (const Input& input : inputs_[v]) {  // inputs come before the ops that read them
      for (const Thing thing : things_[input.from.index()]) {
        if (!has(OpId(v), thing)) things_[v].push_back(thing);
      }
    }
  }
  return {};
}

void Meaning::add_things(OpId op, ir::OpId made) {
  const ir::Op& it = program_->op(made);
  if (const auto memory = written_memory(it)) things_[op.index()].push_back(root(*memory));
  const bool reduces = it.kind == OpKind::reduce;  // from a vector to a scalar
  for (const ir::ValueId result : it.results) {
    const bool tile = ir::is_tensor(ir::type_of(*program_, result));
    if (tile || reduces) things_[op.index()].push_back(result);
  }
}

std::optional<ir::OpId> Meaning::product(OpId op) const {
  for (const ir::OpId made : made_[op.index()]) {
    if (ir::mma_operands(program_->op(made))) return made;
  }
  return std::nullopt;
}

std::optional<ir::OpId> Meaning::store(OpId op) const {
  for (const ir::OpId made : made_[op.index()]) {
    const auto access = ir::memory_access(program_->op(made));
    if (access && access->writes && access->space == ir::AccessSpace::global) return made;
  }
  return std::nullopt;
}

std::vector<Under> Meaning::under(ir::OpId made) const {
  std::vector<Under> found;
  for (auto at = ir::parent(*program_, made); at && *at != loop().op;
       at = ir::parent(*program_, *at)) {
    if (program_->op(*at).kind != OpKind::branch) continue;
    const auto first = ir::body(*program_, *at, 0);
    const std::vector<ir::OpId>& tops = program_->block(*first).ops;
    const bool holds = std::any_of(tops.begin(), tops.end(), [&](ir::OpId top) {
      return ir::is_inside(*program_, made, top);
    });
    found.insert(found.begin(), {program_->op(*at).operands[0], holds});
  }
  return found;
}

std::optional<ir::OpId> Meaning::maker(OpId op, Thing thing) const {
  const auto made = program_->value(thing).op;
  if (made && makes(op, *made)) return made;
  for (const ir::OpId it : made_[op.index()]) {
    const auto memory = written_memory(program_->op(it));
    if (memory && root(*memory) == thing) return it;
  }
  return std::nullopt;
}

const std::vector<Other>& Meaning::others(Thing thing) const {
  static const std::vector<Other> none;
  const auto found = others_.find(thing);
  return found == others_.end() ? none : found->second;
}

std::optional<ir::ValueId> Meaning::yielded_by(ir::ValueId result, bool holds) const {
  const auto made = program_->value(result).op;
  if (!made || program_->op(*made).kind != OpKind::branch) return std::nullopt;
  const auto block = ir::body(*program_, *made, holds ? 0 : 1);
  const auto end = block ? ir::terminator(*program_, *block) : std::nullopt;
  const std::size_t index = program_->value(result).index;
  if (!end || index >= program_->op(*end).operands.size()) return std::nullopt;
  return program_->op(*end).operands[index];
}

bool Meaning::is_made_inside(ir::ValueId result) const {
  const auto made = program_->value(behind_renaming(result)).op;
  return made && ir::is_inside(*program_, *made, *program_->value(result).op);
}

bool Meaning::is_decided(ir::ValueId tile) const {
  std::set<ir::ValueId> seen;
  while (seen.insert(tile).second) {
    const ir::Op* op = ir::defining_op(*program_, tile);
    const auto other_name = renamed(tile);
    const ir::Carried* it = carried(tile);
    if (other_name && op != nullptr && !is_made_inside(tile)) return true;
    if (other_name) {
      tile = *other_name;
    } else if (it != nullptr) {
      tile = it->yielded;
    } else if (op != nullptr && ir::is_renaming(op->kind)) {
      tile =
          op->operands[std::min<std::size_t>(program_->value(tile).index, op->operands.size() - 1)];
    } else {
      return false;
    }
  }
  return false;
}

std::optional<ir::ValueId> Meaning::renamed(ir::ValueId value) const {
  const auto found = body_.renamed.find(value);
  return found == body_.renamed.end() ? std::nullopt : std::optional(found->second);
}

bool Meaning::has(OpId op, Thing thing) const {
  const auto& things = things_[op.index()];
  return std::find(things.begin(), things.end(), thing) != things.end();
}

execute::Range Meaning::rows(OpId op, ir::ValueId value, std::size_t dimension) const {
  const extract::OpOrigin& origin = origins_[op.index()];
  const auto cut = cut_.find(value);
  const bool part = origin.row_end > 0 && cut != cut_.end() && cut->second == dimension;
  if (part) return {origin.row_begin, origin.row_end};
  return {0, ir::type_of(*program_, value)->shape[dimension]};
}

Box Meaning::box(OpId op, Thing thing) const {
  Box box;
  for (std::size_t d = 0; d < ir::type_of(*program_, thing)->shape.size(); ++d) {
    box.push_back(rows(op, thing, d));
  }
  return box;
}

std::optional<Box> Meaning::box_beside(OpId op, ir::ValueId value) const {
  const execute::Shape& shape = ir::type_of(*program_, value)->shape;
  if (part(op) < 0) return execute::whole(shape);
  if (cut_.contains(value)) return box(op, value);
  for (const Thing thing : things(op)) {
    if (ir::type_of(*program_, thing)->shape == shape) return box(op, thing);
  }
  return std::nullopt;
}

ir::ValueId Meaning::root(ir::ValueId memdesc) const {
  const ir::Op* op = ir::defining_op(*program_, memdesc);
  while (op != nullptr && extract::is_view(op->kind) && !op->operands.empty()) {
    memdesc = op->operands[0];
    op = ir::defining_op(*program_, memdesc);
  }
  return memdesc;
}

bool Meaning::is_left(ir::ValueId root) const {
  if (!is_outside(root) || !is_written(root)) return false;
  const auto& uses = program_->value(root).uses;
  return std::any_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
    return loop().op < use.op && !ir::is_inside(*program_, use.op, loop().op);
  });
}

bool Meaning::is_outside(ir::ValueId value) const {
  return ir::is_invariant(*program_, loop(), value);
}

const ir::Carried* Meaning::carried(ir::ValueId argument) const {
  for (const ir::Carried& carried : loop().carried) {
    if (carried.argument == argument) return &carried;
  }
  return nullptr;
}

ir::ValueId Meaning::behind_renaming(ir::ValueId value) const {
  while (true) {
    if (const auto other_name = renamed(value)) {
      value = *other_name;
      continue;
    }
    const ir::Op* op = ir::defining_op(*program_, value);
    if (op == nullptr || !ir::is_renaming(op->kind)) return value;
    const std::size_t index = program_->value(value).index;
    value = op->operands[std::min(index, op->operands.size() - 1)];
  }
}

ir::ValueId Meaning::made_as(ir::ValueId tile) const {
  std::set<ir::ValueId> seen;
  while (seen.insert(tile).second) {
    tile = behind_renaming(tile);
    if (const ir::Carried* it = carried(tile)) tile = it->yielded;
  }
  return tile;
}

const ir::Carried* Meaning::yielded_as(Thing thing) const {
  for (const ir::Carried& carried : loop().carried) {
    if (behind_renaming(carried.yielded) == thing) return &carried;
  }
  return nullptr;
}

}  // namespace twill::numerics
