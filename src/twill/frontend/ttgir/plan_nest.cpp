#include "twill/frontend/ttgir/nest.h"

namespace twill::frontend::ttgir {
namespace {

class Planner {
 public:
  Planner(const ir::Program& program, const FlatLoop& flat, bool guarded, Terms& terms)
      : program_(program), flat_(flat), guarded_(guarded), terms_(terms) {
    plan_.flat = flat;
  }

  std::optional<NestPlan> plan() {
    if (!find_steps()) return std::nullopt;
    for (const ir::Carried& carried : flat_.loop.carried) note_index(carried);
    if (plan_.indices.empty()) return std::nullopt;
    return plan_;
  }

 private:
  bool is_outside(ir::ValueId value) const { return is_invariant(program_, flat_.loop, value); }

  const ir::Op* op_of(ir::ValueId value, ir::OpKind kind) const {
    const ir::Op* op = defining_op(program_, value);
    return op != nullptr && op->kind == kind ? op : nullptr;
  }

  /// Summand that `sum` adds to `value`; nullopt for other values.
  std::optional<ir::ValueId> added(ir::ValueId sum, ir::ValueId value) const {
    const ir::Op* op = op_of(sum, ir::OpKind::add);
    if (op == nullptr) return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
      if (op->operands[side] == value && is_outside(op->operands[1 - side])) {
        return op->operands[1 - side];
      }
    }
    return std::nullopt;
  }

  /// Whether the step may be positive: false if known to be 0 or less.
  bool goes_up(ir::ValueId step) const {
    const auto number = constant_integer(program_, step);
    return !number || *number > 0;
  }

  /// Whether the number is small enough for a loop's bound or step.
  static bool is_moderate(std::int64_t number) { return number > -(1 << 30) && number < 1 << 30; }

  /// Difference `upper - lower` in ceil((upper - lower) / step).
  std::optional<ir::ValueId> distance_of(ir::ValueId count, ir::ValueId step) {
    const ir::ValueId narrow = without_extension(program_, count);
    if (constant_integer(program_, step) == 1) return narrow;
    const ir::Op* op = op_of(narrow, ir::OpKind::sdiv_up);
    const bool divides = op != nullptr && terms_.of(op->operands[1]) == terms_.of(step);
    return divides ? std::optional(op->operands[0]) : std::nullopt;
  }

  /// Minuend of `lower` in `distance`; `distance` itself if `lower` is 0.
  std::optional<ir::ValueId> upper_of(ir::ValueId distance, Terms::Term lower) {
    const ir::Type type = type_of(program_, distance);
    if (lower == terms_.integer(0, type)) return distance;
    const ir::Op* op = op_of(distance, ir::OpKind::sub);
    if (op == nullptr || terms_.of(op->operands[1]) != lower) return std::nullopt;
    return op->operands[0];
  }

  // --- Steps ------------------------------------------------------------------------------------

  bool find_steps() {
    const ir::Carried& counter = flat_.loop.carried[flat_.counter];
    const auto number = constant_integer(program_, flat_.steps);
    const auto free = unguarded_steps(program_, flat_);
    if (!free && !(number && *number > 0)) return false;
    const ir::ValueId count = free && guarded_ ? *free : flat_.steps;
    plan_.counts = counter.argument;
    plan_.steps = {counter.init, count, 0, *flat_.loop.step};
    const bool counts_alike =
        type_of(program_, *flat_.loop.step) == type_of(program_, counter.init);
    if (free && !guarded_) return counts_alike;  // a tile without steps counts as one
    for (const auto& [value, merge] : flat_.at_first) {
      const auto bounds = counted_by(value, merge, count, number);
      if (!bounds || !counts_otherwise_unused()) continue;
      plan_.counts = value;
      plan_.steps = *bounds;
      return true;
    }
    return counts_alike;
  }

  /// Bounds of a loop with `count` iterations whose index equals the merged value.
  std::optional<Bounds> counted_by(ir::ValueId value, const Merge& merge, ir::ValueId count,
                                   std::optional<std::int64_t> number) {
    if (!is_outside(merge.there)) return std::nullopt;
    for (const ir::Carried& carried : flat_.loop.carried) {
      const auto step = added(carried.yielded, value);
      if (carried.argument != merge.elsewhere || !step) continue;
      Bounds bounds{merge.there, std::nullopt, 0, *step};
      const auto from = constant_integer(program_, merge.there);
      const auto by = constant_integer(program_, *step);
      if (!goes_up(*step)) return std::nullopt;
      if (number) {
        if (!from || !by || !is_moderate(*from) || !is_moderate(*number) || !is_moderate(*by)) {
          return std::nullopt;
        }
        bounds.upper_number = *from + *number * *by;
        const bool fits = is_moderate(bounds.upper_number) && type_of(program_, value)->bits >= 32;
        return fits ? std::optional(bounds) : std::nullopt;
      }
      const auto distance = distance_of(count, *step);
      bounds.upper = distance ? upper_of(*distance, terms_.of(merge.there)) : std::nullopt;
      const bool fits =
          bounds.upper && type_of(program_, *bounds.upper) == type_of(program_, value);
      return fits ? std::optional(bounds) : std::nullopt;
    }
    return std::nullopt;
  }

  /// Whether only its own conditions and successor read the counter.
  bool counts_otherwise_unused() const {
    for (const ir::Use& use : program_.value(flat_.counts()).uses) {
      const ir::Op& op = program_.op(use.op);
      const bool own = op.results.size() == 1 &&
                       (flat_.first.contains(op.results[0]) || flat_.last.contains(op.results[0]));
      const ir::Op* wraps = defining_op(program_, flat_.loop.carried[flat_.counter].yielded);
      const bool next = op.results.size() == 1 && wraps->operands[2] == op.results[0];
      if (!own && !next) return false;
    }
    return true;
  }

  // --- Tiles ------------------------------------------------------------------------------------

  /// Value of a carried argument at the begin of the next tile.
  ir::ValueId left(const ir::Carried& carried) const {
    const auto last = flat_.at_last.find(carried.yielded);
    const ir::ValueId value = last != flat_.at_last.end() ? last->second.there : carried.yielded;
    const auto first = flat_.at_first.find(value);
    const auto enters = flat_.merged_at.find(carried.argument);
    const bool keeps =
        first != flat_.at_first.end() && enters != flat_.merged_at.end() && enters->second == value;
    return keeps ? first->second.there : value;
  }

  /// Notes the argument if it is the tile's index, one step behind.
  void note_index(const ir::Carried& carried) {
    const ir::ValueId next = left(carried);
    const auto step = added(next, carried.argument);
    if (!step || !goes_up(*step)) return;
    const auto last = flat_.at_last.find(carried.yielded);
    const ir::ValueId within =
        last != flat_.at_last.end() ? last->second.elsewhere : carried.yielded;
    const auto merged = flat_.merged_at.find(carried.argument);
    const bool stays =
        merged == flat_.merged_at.end() ? within == carried.argument : within == merged->second;
    if (!stays) return;
    const ir::Type type = type_of(program_, carried.argument);
    const Terms::Term lower = terms_.plus(terms_.of(carried.init), terms_.of(*step), type);
    const auto distance = distance_of(flat_.tiles, *step);
    const auto upper = distance ? upper_of(*distance, lower) : std::nullopt;
    if (!upper || type_of(program_, *upper) != type) return;
    const auto from = lower_value(*distance, *upper, type);
    if (!from) return;
    if (plan_.indices.empty()) plan_.tiles = {*from, *upper, 0, *step};
    plan_.indices.emplace(carried.argument, next);
  }

  std::optional<ir::ValueId> lower_value(ir::ValueId distance, ir::ValueId upper,
                                         ir::Type type) const {
    if (upper != distance) return defining_op(program_, distance)->operands[1];
    const ir::ValueId zero = *flat_.loop.lower;
    return type_of(program_, zero) == type ? std::optional(zero) : std::nullopt;
  }

  const ir::Program& program_;
  const FlatLoop& flat_;
  const bool guarded_;
  Terms& terms_;
  NestPlan plan_;
};

}  // namespace

std::optional<NestPlan> plan_nest(const ir::Program& program, const FlatLoop& flat, bool guarded,
                                  Terms& terms) {
  return Planner(program, flat, guarded, terms).plan();
}

std::optional<ir::ValueId> unguarded_steps(const ir::Program& program, const FlatLoop& flat) {
  const ir::Op* op = defining_op(program, flat.steps);
  if (op == nullptr || op->kind != ir::OpKind::smax) return std::nullopt;
  for (const std::size_t side : {1U, 0U}) {
    if (constant_integer(program, op->operands[side]) == 1) return op->operands[1 - side];
  }
  return std::nullopt;
}

}  // namespace twill::frontend::ttgir
