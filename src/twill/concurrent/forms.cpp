#include "twill/concurrent/forms.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "twill/ir/arrays.h"
#include "twill/ir/op_types.h"
#include "twill/ir/passing.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

constexpr std::size_t kDeepest = 500;      ///< most values that the search for a form visits
constexpr std::int64_t kMostUnrolled = 8;  ///< iterations of a loop that are numbered one by one

LinearForm constant_form(std::int64_t value) { return {value, {}}; }

LinearForm scaled(const LinearForm& form, std::int64_t by) { return plus({}, form, by); }

/// A conversion that keeps the number. A cast of an index to few bits cuts it.
bool keeps_number(const ir::Program& program, const ir::Op& op) {
  return op.kind == OpKind::sext ||
         (op.kind == OpKind::index_cast && is_wide(ir::type_of(program, op.results[0])));
}

/// Result of an op on two known integers; nullopt for other ops, and where the result is undefined.
std::optional<std::int64_t> made_of(OpKind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case OpKind::smin:
      return std::min(a, b);
    case OpKind::smax:
      return std::max(a, b);
    case OpKind::sdiv:
      return b > 0 ? std::optional(a / b) : std::nullopt;
    case OpKind::srem:
      return b > 0 ? std::optional(a % b) : std::nullopt;
    case OpKind::sdiv_up:
      return a >= 0 && b > 0 ? std::optional(a / b + (a % b > 0 ? 1 : 0)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Whether operands, and the fields in the key of an atom, determine the results.
bool follows_from_key(OpKind kind) {
  const ir::OpClass of = ir::class_of(kind);
  return of == ir::OpClass::elementwise || kind == OpKind::program_id ||
         kind == OpKind::program_count;
}

}  // namespace

bool is_wide(ir::Type type) {
  constexpr int kBits = 32;
  const bool narrow = type->kind == ir::TypeKind::integer && type->bits < kBits;
  return !narrow && (ir::is_whole(type) || type->kind == ir::TypeKind::pointer);
}

LinearForm plus(LinearForm a, const LinearForm& b, std::int64_t times) {
  a.constant += times * b.constant;
  for (const auto& [atom, coefficient] : b.terms) {
    if ((a.terms[atom] += times * coefficient) == 0) a.terms.erase(atom);
  }
  return a;
}

std::size_t role_of(const ir::Program& program, ir::OpId op) {
  for (auto holder = ir::parent(program, op); holder; holder = ir::parent(program, op)) {
    if (program.op(*holder).kind == OpKind::warp_partitions) {
      const ir::RegionId region = program.block(program.op(op).block).region;
      const auto& regions = program.op(*holder).regions;
      return static_cast<std::size_t>(std::find(regions.begin(), regions.end(), region) -
                                      regions.begin()) +
             1;
    }
    op = *holder;
  }
  return 0;
}

bool is_in_loop(const ir::Program& program, ir::OpId op) {
  return ir::enclosing(program, op, OpKind::for_loop) ||
         ir::enclosing(program, op, OpKind::while_loop);
}

void add_sources(const ir::Program& program, ir::ValueId value, std::vector<ir::ValueId>& todo) {
  if (const auto from = ir::captured(program, value)) {
    todo.push_back(*from);
    return;
  }
  const ir::Value& known = program.value(value);
  const ir::OpId op = known.op ? *known.op : program.region(program.block(*known.block).region).op;
  if (program.op(op).kind == OpKind::function) return;
  const auto& operands = program.op(op).operands;
  todo.insert(todo.end(), operands.begin(), operands.end());
  for (const ir::OpId inner : ir::walk(program, op)) {
    if (inner == op || program.op(inner).kind != OpKind::yield) continue;
    const auto& yielded = program.op(inner).operands;
    todo.insert(todo.end(), yielded.begin(), yielded.end());
  }
}

std::set<ir::ValueId> reached_from(
    ir::ValueId value, const std::function<std::vector<ir::ValueId>(ir::ValueId)>& next) {
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> todo = {value};
  while (!todo.empty()) {
    const ir::ValueId reached = todo.back();
    todo.pop_back();
    if (!seen.insert(reached).second) continue;
    const auto from = next(reached);
    todo.insert(todo.end(), from.begin(), from.end());
  }
  return seen;
}

std::optional<std::int64_t> known_integer(const ir::Program& program, ir::ValueId value) {
  if (const auto from = ir::captured(program, value)) return known_integer(program, *from);
  const ir::Op* op = ir::defining_op(program, value);
  for (; op != nullptr && keeps_number(program, *op); op = ir::defining_op(program, value)) {
    value = op->operands[0];
  }
  if (!ir::is_whole(ir::type_of(program, value))) return std::nullopt;
  return ir::constant_integer(program, value);
}

Forms::Forms(const ir::Program& program, ir::OpId function)
    : program_(program), function_(function) {
  for (const ir::Loop& loop : ir::loops(program, function)) {
    if (loop.induction) add_loop(loop);
    if (loop.before) add_while(loop);
  }
  unroll_loops();
}

std::size_t Forms::atom(const std::string& key, bool varies) {
  const auto [place, added] = atoms_.try_emplace(key, atoms_.size());
  if (added) varies_.push_back(varies);
  return place->second;
}

bool Forms::varies(const LinearForm& form) const {
  return std::any_of(form.terms.begin(), form.terms.end(),
                     [&](const auto& term) { return varies_[term.first]; });
}

bool Forms::is_at_least_zero(const LinearForm& form) const {
  return form.constant >= 0 && std::ranges::all_of(form.terms, [&](const auto& term) {
           return term.second > 0 && at_least_zero_.contains(term.first);
         });
}

std::size_t Forms::number(const LinearForm& form) {
  const auto [place, added] = numbers_.try_emplace(form, by_number_.size());
  if (added) by_number_.push_back(&place->first);
  return place->second;
}

std::string Forms::text(const LinearForm& form) { return "f" + std::to_string(number(form)); }

LinearForm Forms::unique(ir::ValueId value) {
  const ir::Value& known = program_.value(value);
  const ir::OpId at =
      known.op ? *known.op : program_.region(program_.block(*known.block).region).op;
  const bool varies = ir::is_loop(program_.op(at).kind) || is_in_loop(program_, at);
  return {0, {{atom("value " + std::to_string(value.index()), varies), 1}}};
}

std::optional<ir::OpId> Forms::loop_of(std::size_t position) const {
  const auto found = positions_.find(position);
  return found == positions_.end() ? std::nullopt : std::optional(found->second);
}

/// Quantity of a loop whose step is not known, such as the number of programs: the number of units
/// of the step between the bounds. Loops over every tile and over every second tile have the same
/// quantity, whatever their first index is.
LinearForm Forms::in_units(const LinearForm& lower, const LinearForm& upper, const LinearForm& step,
                           CountedLoop& made) {
  std::int64_t times = std::abs(step.constant);
  for (const auto& [atom, coefficient] : step.terms) times = std::gcd(times, coefficient);
  LinearForm unit = step;
  unit.constant /= times;
  for (auto& [atom, coefficient] : unit.terms) coefficient /= times;
  const auto [atom, coefficient] = *unit.terms.begin();
  const auto in_lower = lower.terms.find(atom);
  made.first = in_lower == lower.terms.end() ? 0 : in_lower->second / coefficient;
  made.step = times;
  const LinearForm base = plus(lower, unit, -made.first);
  const bool varying = varies(base) || varies(upper) || varies(unit);
  const std::string words = text(base) + " " + text(upper) + " " + text(unit);
  return {0, {{this->atom("units " + words, varying), 1}}};
}

/// Adds the quantity of a loop, and the form of its induction variable.
void Forms::add_loop(const ir::Loop& loop) {
  const LinearForm lower = of(*loop.lower), upper = of(*loop.upper);
  const auto step = known_integer(program_, *loop.step);
  CountedLoop made;
  LinearForm quantity, induction;
  const std::string in_words = text(lower) + " " + text(upper) + " " + text(of(*loop.step));
  if (step && *step > 0) {
    LinearForm start = lower;
    start.constant = 0;
    quantity = plus(upper, start, -1);
    made.first = lower.constant - quantity.constant;
    made.step = *step;
    induction = start;
    induction.constant = quantity.constant;
    quantity.constant = 0;
  } else {
    const LinearForm by = of(*loop.step);
    const bool varying = varies(lower) || varies(upper) || varies(by);
    quantity = by.is_constant() ? LinearForm{0, {{atom("trips " + in_words, varying), 1}}}
                                : in_units(lower, upper, by, made);
  }
  made.form = number(quantity);
  made.role = role_of(program_, loop.op);
  made.occurrence = counts_[{made.role, made.form}]++;
  made.position =
      atom("position " + std::to_string(made.form) + " " + std::to_string(made.occurrence), true);
  positions_.try_emplace(made.position, loop.op);
  induction.terms[made.position] += 1;
  if (!step || *step <= 0) {
    induction = {
        0, {{atom("induction " + in_words + " " + std::to_string(made.occurrence), true), 1}}};
  }
  memo_[*loop.induction] = induction;
  loops_.emplace(loop.op, made);
}

/// Numbers occurrences anew where a loop of a few iterations holds loops. A role may go over the
/// same blocks twice in one loop or in two.
void Forms::unroll_loops() {
  std::map<ir::OpId, std::vector<CountedLoop*>> inside;
  for (auto& [op, loop] : loops_) {
    auto around = ir::parent(program_, op);
    while (around && !ir::is_loop(program_.op(*around).kind))
      around = ir::parent(program_, *around);
    const auto found = around ? loops_.find(*around) : loops_.end();
    const bool is_known = found != loops_.end() && form(found->second.form).is_constant();
    const std::int64_t times =
        is_known ? (found->second.step - 1 - found->second.first) / found->second.step : 0;
    if (times < 2 || times > kMostUnrolled) continue;
    loop.unrolled = around;
    loop.times = static_cast<std::size_t>(times);
    inside[*around].push_back(&loop);
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> next;  // occurrence, by role and form
  for (auto& [op, loop] : loops_) {
    std::size_t& number = next[{loop.role, loop.form}];
    if (loop.unrolled && loop.stride > 0) continue;
    if (!loop.unrolled) {
      loop.occurrence = number++;
      continue;
    }
    auto& all = inside[*loop.unrolled];
    const std::size_t form = loop.form;
    const auto alike = [form](const CountedLoop* it) { return it->form == form; };
    const auto stride = static_cast<std::size_t>(std::ranges::count_if(all, alike));
    std::size_t place = number;
    for (CountedLoop* it : all) {
      if (!alike(it)) continue;
      it->occurrence = place++;
      it->stride = stride;
    }
    number += stride * loop.times;
  }
}

LinearForm Forms::of(ir::ValueId value) {
  if (const auto found = memo_.find(value); found != memo_.end()) return found->second;
  if (computed_.size() > kDeepest) return unique(value);
  memo_[value] = unique(value);  // for a loop that carries the value to itself
  computed_.push_back(value);
  LinearForm form = compute(value);
  computed_.pop_back();
  memo_[value] = form;
  return form;
}

LinearForm Forms::compute(ir::ValueId value) {
  if (const auto from = ir::captured(program_, value)) return of(*from);
  const ir::Type type = ir::type_of(program_, value);
  if (!ir::is_whole(type) && type->kind != ir::TypeKind::pointer) return unique(value);
  if (const auto constant = known_integer(program_, value)) return constant_form(*constant);
  return program_.value(value).op ? of_op(value) : of_argument(value);
}

LinearForm Forms::of_argument(ir::ValueId value) {
  const ir::Value& known = program_.value(value);
  const auto loop = ir::as_loop(program_, program_.region(program_.block(*known.block).region).op);
  return loop ? carried(*loop, value) : unique(value);
}

/// Form of a sum, or of a product by a constant; nullopt for other ops.
std::optional<LinearForm> Forms::of_sum(const ir::Op& op) {
  const bool adds = op.kind == OpKind::add || op.kind == OpKind::sub;
  const bool scales = op.kind == OpKind::mul || op.kind == OpKind::shl;
  if (!adds && !scales) return std::nullopt;
  if (op.operands.size() != 2 || !is_wide(ir::type_of(program_, op.results[0]))) {
    return std::nullopt;
  }
  const LinearForm a = of(op.operands[0]), b = of(op.operands[1]);
  if (adds) return plus(a, b, op.kind == OpKind::add ? 1 : -1);
  if (op.kind == OpKind::shl) {
    const bool known = b.is_constant() && b.constant >= 0 && b.constant <= 30;
    return known ? std::optional(scaled(a, std::int64_t{1} << b.constant)) : std::nullopt;
  }
  if (a.is_constant()) return scaled(b, a.constant);
  return b.is_constant() ? std::optional(scaled(a, b.constant)) : std::nullopt;
}

LinearForm Forms::of_op(ir::ValueId value) {
  const ir::Op& op = program_.op(*program_.value(value).op);
  if (const auto loop = ir::as_loop(program_, *program_.value(value).op)) {
    return carried(*loop, value);
  }
  if (const auto sum = of_sum(op)) return *sum;
  if (keeps_number(program_, op)) return of(op.operands[0]);
  if (op.operands.size() == 2) {
    const LinearForm a = of(op.operands[0]), b = of(op.operands[1]);
    const auto made = a.is_constant() && b.is_constant() ? made_of(op.kind, a.constant, b.constant)
                                                         : std::nullopt;
    if (made) return constant_form(*made);
  }
  if (const auto quotient = divided(op)) return *quotient;
  if (!follows_from_key(op.kind) && !ir::reads_what_stays(program_, *program_.value(value).op))
    return unique(value);
  std::string key = "op " + std::to_string(static_cast<int>(op.kind)) + " " +
                    std::to_string(op.predicate.value_or(-1)) + " " +
                    std::to_string(op.axis.value_or(-1)) + " " + ir::type_of(program_, value)->text;
  bool varying = false;
  for (const ir::ValueId from : op.operands) {
    const LinearForm form = of(from);
    key += " " + text(form);
    varying = varying || varies(form);
  }
  const std::size_t made = atom(key, varying);
  const bool counts_programs = op.kind == OpKind::program_id || op.kind == OpKind::program_count;
  if (counts_programs) at_least_zero_.insert(made);
  return {0, {{made, 1}}};
}

/// Form of a quotient or a remainder of a sum whose terms the divisor divides. Division rounds
/// towards zero, so the constant's share is only known where the sum is at least 0.
std::optional<LinearForm> Forms::divided(const ir::Op& op) {
  if (op.operands.size() != 2) return std::nullopt;
  const bool remains = op.kind == OpKind::srem || op.kind == OpKind::urem;
  const bool divides = op.kind == OpKind::sdiv || op.kind == OpKind::udiv;
  const bool shifts = op.kind == OpKind::ashr || op.kind == OpKind::lshr;
  if (!remains && !divides && !shifts) return std::nullopt;
  const LinearForm by = of(op.operands[1]), from = of(op.operands[0]);
  if (!by.is_constant() || by.constant < 0 || (shifts && by.constant > 30)) return std::nullopt;
  const std::int64_t divisor = shifts ? std::int64_t{1} << by.constant : by.constant;
  if (divisor == 0 || from.is_constant()) return std::nullopt;
  LinearForm quotient;
  for (const auto& [term, coefficient] : from.terms) {
    if (coefficient % divisor != 0) return std::nullopt;
    quotient.terms[term] = coefficient / divisor;
  }
  const bool is_exact = from.constant % divisor == 0;
  const bool is_signed =
      op.kind != OpKind::udiv && op.kind != OpKind::lshr && op.kind != OpKind::urem;
  if (!is_at_least_zero(from) && (!is_exact || !is_signed)) return std::nullopt;
  if (remains) return constant_form(from.constant % divisor);
  quotient.constant = from.constant / divisor;
  return quotient;
}

}  // namespace twill::concurrent
