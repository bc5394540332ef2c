#include <algorithm>

#include "twill/concurrent/machine.h"
#include "twill/execute/evaluate.h"
#include "twill/ir/operands.h"

/// Runs with unknown arguments: results that depend on arguments become questions.
namespace twill::concurrent {
namespace {

using ir::OpKind;

bool is_missing(const execute::Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

execute::Value integer_of(std::int64_t value) {
  return std::make_shared<const execute::Tile>(execute::Tile{{}, execute::Integers{value}});
}

}  // namespace

Result<void> Machine::start(ir::OpId function) {
  TWILL_TRY_VOID(check_alone(function));
  const auto& regions = program_.op(function).regions;
  if (regions.empty() || program_.region(regions[0]).blocks.empty()) {
    return execute::cannot(program_, function, "has no body");
  }
  Role& role = roles_[add_role("default")];
  Frame frame;
  frame.op = function;
  frame.block = program_.region(regions[0]).blocks.front();
  enter(role, frame);
  return {};
}

/// Lets roles go on as far as possible without an answer, then lets work in flight land, and only
/// then asks a question. So roles stay close together.
Result<std::optional<Question>> Machine::follow() {
  while (!stopped_) {
    const auto next = next_guided_role();
    if (next) {
      const Role& role = roles_[*next];
      do {
        TWILL_TRY_VOID(advance(*next));
        if (++steps_ > options_.most_steps) {
          return execute::cannot(program_, role.frames.back().op, "takes too many steps");
        }
      } while (!stopped_ && can_go(role) && !question_of(role));
      continue;
    }
    TWILL_TRY(const bool landed, land_some(true));
    if (landed) continue;
    if (roles_.front().ended()) {
      check_exit();
      return std::nullopt;
    }
    for (const Role& role : roles_) {
      if (!can_go(role)) continue;
      if (auto question = question_of(role)) return question;
    }
    report_deadlock();
    stopped_ = true;
  }
  return std::nullopt;
}

/// The first role that can go on without an answer.
std::optional<std::size_t> Machine::next_guided_role() {
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    if (can_go(roles_[i]) && !question_of(roles_[i])) return i;
  }
  return std::nullopt;
}

const OpenNumber& Machine::quantity(const Question& question) {
  return *quantities_.find(question.quantity);
}

void Machine::answer(const Question& question, bool more) {
  OpenNumber* quantity = quantities_.find(question.quantity);
  if (quantity != nullptr) assume(*quantity, question.threshold, more);
}

/// Scope of the role at this point; `through` is a loop that opens no scope.
Scope Machine::scope_of(const Role& role, const std::optional<ir::OpId>& through) const {
  for (auto frame = role.frames.rbegin(); frame != role.frames.rend(); ++frame) {
    if (frame->quantity && frame->op != through)
      return std::pair(*frame->quantity, frame->position);
  }
  return std::nullopt;
}

OpenNumber& Machine::number_of(std::size_t form, std::size_t occurrence, const Scope& scope) {
  OpenNumber& number = quantities_.get(form, occurrence, scope);
  if (form == options_.guide->zero) {
    assume(number, -1, true);
    assume(number, 0, false);
  }
  const auto least = options_.guide->more_than.find(form);
  if (least != options_.guide->more_than.end()) assume(number, least->second, true);
  return number;
}

/// The quantity that answers whether `id` exceeds the threshold: the quantity itself, or the
/// quantity that all iterations of the loops around share. Null if the answer is not known.
const OpenNumber* Machine::known_about(std::size_t id, std::int64_t threshold) {
  const OpenNumber* number = quantities_.find(id);
  if (number == nullptr) return number;
  if (!number->scope && !options_.guide->recurs.contains(number->form)) return number;
  const auto steady = options_.guide->steady.find(number->form);
  if (steady == options_.guide->steady.end()) return number;
  const OpenNumber& shared = number_of(number->form, kEverywhere, std::nullopt);
  if (threshold < steady->second || shared.at_most) return &shared;
  const auto above = shared.above;
  OpenNumber* here = quantities_.find(id);
  if (above) assume(*here, *above, true);
  return here;
}

/// Question about a quantity and a threshold; empty if the answer is known.
std::optional<Question> Machine::asks(std::size_t id, std::int64_t threshold, ir::OpId op) {
  const OpenNumber* quantity = known_about(id, threshold);
  if (quantity == nullptr || is_more(*quantity, threshold)) return std::nullopt;
  return Question{quantity->id, threshold, op};
}

/// Scope of a draw's quantities, if the role has the draw.
Scope Machine::scope_of_draw(const Role& role, const std::optional<ir::ValueId>& drawn) const {
  const auto found = drawn ? role.numbers.find(*drawn) : role.numbers.end();
  if (found == role.numbers.end() || !found->second.draw) return std::nullopt;
  return std::pair(kDrawn, static_cast<std::int64_t>(*found->second.draw));
}

/// The counted loop, and its scope: the scope of a draw where the loop depends on a draw.
const CountedLoop& Machine::counted(const Role& role, ir::OpId loop, Scope& scope) const {
  const auto drawn = options_.guide->drawn_loops.find(loop);
  if (drawn != options_.guide->drawn_loops.end()) {
    scope = scope_of_draw(role, drawn->second.drawn);
    if (scope) return drawn->second;
  }
  const CountedLoop& it = options_.guide->loops.at(loop);
  scope = scope_of(role, it.unrolled);
  return it;
}

/// Occurrence of the loop that the role has reached.
std::size_t Machine::occurrence_of(const Role& role, const CountedLoop& loop) const {
  if (!loop.unrolled) return loop.occurrence;
  const auto around = std::ranges::find_if(
      role.frames, [&](const Frame& frame) { return frame.op == *loop.unrolled; });
  const auto iteration = around == role.frames.end() ? 0 : around->iteration;
  return loop.occurrence + static_cast<std::size_t>(iteration) * loop.stride;
}

const Condition& Machine::condition_at(const Role& role, ir::OpId op) const {
  const auto drawn = options_.guide->drawn_conditions.find(op);
  const bool has = drawn != options_.guide->drawn_conditions.end() &&
                   scope_of_draw(role, drawn->second.drawn).has_value();
  return has ? drawn->second : options_.guide->conditions.at(op);
}

/// The quantity and the threshold of a condition, at the position of the role.
std::pair<std::size_t, std::int64_t> Machine::asked_by(const Role& role, ir::OpId op) {
  const Condition& condition = condition_at(role, op);
  for (const Frame& frame : role.frames) {
    if (condition.inside && frame.op == *condition.inside && frame.quantity) {
      return {*frame.quantity, frame.position + condition.threshold};
    }
  }
  const Scope draw = scope_of_draw(role, condition.drawn);
  const OpenNumber& quantity =
      number_of(condition.form, condition.occurrence, draw ? draw : scope_of(role));
  return {quantity.id, condition.threshold};
}

/// Question whether a tile has more iterations, at an op where the states differ by the answer.
std::optional<Question> Machine::asks_about_tile(const Role& role, ir::OpId op) {
  const auto found = options_.guide->last_of_tile.find(op);
  if (found == options_.guide->last_of_tile.end()) return std::nullopt;
  for (const Frame& frame : role.frames) {
    if (frame.op != found->second || frame.in_tile >= options_.guide->told_apart) continue;
    const std::size_t count = options_.guide->wraps.at(frame.op).count;
    return Question{number_of(count, kEverywhere, std::nullopt).id, frame.in_tile + 1, op};
  }
  return std::nullopt;
}

/// Outcome of a condition; nullopt if a question must be answered first.
std::optional<bool> Machine::holds(const Role& role, ir::OpId op) {
  const Condition& condition = condition_at(role, op);
  if (condition.always) return condition.always;
  if (const auto tile = asks_about_tile(role, op)) {
    const auto more = is_more(*quantities_.find(tile->quantity), tile->threshold);
    return more ? std::optional(*more == condition.negated) : std::nullopt;
  }
  const auto [id, threshold] = asked_by(role, op);
  auto more = is_more(*known_about(id, threshold), threshold);
  if (more && *more && condition.exact) {
    more = is_more(*known_about(id, threshold + 1), threshold + 1);
    if (more) more = !*more;
  }
  if (more) more = *more != condition.negated;
  return more;
}

std::optional<Question> Machine::question_of(const Role& role) {
  const Frame& frame = role.frames.back();
  const auto& ops = program_.block(frame.block).ops;
  if (frame.next >= ops.size()) {
    if (frame.kind != Frame::Kind::loop || !frame.quantity) return std::nullopt;
    if (is_within_tile(role, frame)) return std::nullopt;
    return asks(*frame.quantity, frame.position + frame.step, frame.op);
  }
  const ir::OpId op = ops[frame.next];
  const auto loop = options_.guide->loops.find(op);
  if (loop != options_.guide->loops.end() && !options_.guide->idle.contains(op)) {
    Scope scope;
    const CountedLoop& it = counted(role, op, scope);
    return asks(number_of(it.form, occurrence_of(role, it), scope).id, it.first, op);
  }
  if (options_.guide->asked_ends.contains(op)) return asks(*frame.quantity, frame.position, op);
  const auto found = options_.guide->conditions.find(op);
  if (found == options_.guide->conditions.end() || knows_operands(role, op)) return std::nullopt;
  if (holds(role, op)) return std::nullopt;
  if (const auto tile = asks_about_tile(role, op)) return tile;
  const auto [id, threshold] = asked_by(role, op);
  const bool second = is_more(*known_about(id, threshold), threshold).has_value();
  const std::int64_t asked = threshold + (second ? 1 : 0);
  return Question{known_about(id, asked)->id, asked, op};
}

/// Whether a loop over the iterations of all tiles is in the middle of a tile. Then the loop goes
/// on.
bool Machine::is_within_tile(const Role& role, const Frame& frame) {
  const auto wrap = options_.guide->wraps.find(frame.op);
  if (wrap == options_.guide->wraps.end() || holds(role, wrap->second.condition) != false)
    return false;
  const std::int64_t position = frame.position + frame.step;
  const std::size_t asked = known_about(*frame.quantity, position)->id;
  assume(*quantities_.find(asked), position, true);
  return true;
}

bool Machine::knows_operands(const Role& role, ir::OpId id) const {
  const ir::Op& op = program_.op(id);
  if (!execute::can_evaluate(op.kind)) return false;
  return std::none_of(op.operands.begin(), op.operands.end(),
                      [&](ir::ValueId operand) { return is_missing(role.values.value(operand)); });
}

void Machine::forget_results(Role& role, ir::OpId op) {
  for (const ir::ValueId result : program_.op(op).results) {
    role.values.set(result, std::monostate());
    role.numbers.erase(result);
  }
}

/// Notes that the role is behind its loop of the quantity.
void Machine::leave(std::size_t id, std::size_t role) {
  OpenNumber* quantity = quantities_.find(id);
  if (quantity != nullptr) quantity->left |= std::uint64_t{1} << role;
}

bool Machine::goes_on(std::size_t id, std::int64_t position) {
  const OpenNumber* quantity = known_about(id, position);
  return quantity != nullptr && is_more(*quantity, position).value_or(false);
}

Result<void> Machine::begin_followed_loop(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const auto loop = ir::as_loop(program_, id);
  if (!loop || !loop->induction || !options_.guide->loops.contains(id)) {
    return execute::cannot(program_, id, "is no counting loop");
  }
  if (options_.guide->idle.contains(id)) {
    forget_results(role, id);
    return {};
  }
  Scope scope;
  const CountedLoop& counted = this->counted(role, id, scope);
  Frame frame;
  frame.kind = Frame::Kind::loop;
  frame.op = id;
  frame.block = loop->body;
  const std::size_t quantity = number_of(counted.form, occurrence_of(role, counted), scope).id;
  frame.quantity = quantity;
  frame.position = counted.first;
  frame.step = counted.step;
  std::vector<ir::ValueId> inits, arguments, results;
  for (const ir::Carried& carried : loop->carried) {
    inits.push_back(carried.init);
    arguments.push_back(carried.argument);
    if (carried.result) results.push_back(*carried.result);
  }
  forward(role, inits, arguments);
  count_trip(id, 0);
  if (!goes_on(quantity, counted.first)) {
    leave(quantity, counted.role);
    forward(role, arguments, results);
    return {};
  }
  const auto lower = role.values.integer(id, *loop->lower);
  const bool counts = lower.has_value() && known_integer(program_, *loop->step).has_value();
  role.values.set(*loop->induction, counts && options_.guide->needed[loop->induction->index()]
                                        ? integer_of(*lower)
                                        : execute::Value());
  std::size_t number = 0;
  for (const Shift& shift : options_.guide->shifts) {
    if (shift.loops.contains(id)) role.shifted.erase(number);
    ++number;
  }
  enter(role, frame);
  return {};
}

/// Begins the next iteration of a loop whose trip count is asked for; false at its end.
bool Machine::next_followed_iteration(Role& role, Frame& frame, ir::ValueId induction) {
  const auto wrap = options_.guide->wraps.find(frame.op);
  if (wrap != options_.guide->wraps.end()) {
    const bool last = holds(role, wrap->second.condition).value_or(false);
    frame.in_tile = last ? 0 : std::min(frame.in_tile + 1, options_.guide->told_apart);
  }
  frame.position += frame.step;
  if (goes_on(*frame.quantity, frame.position)) {
    const auto now = role.values.integer(frame.op, induction);
    if (now) role.values.set(induction, integer_of(*now + frame.step));
    return true;
  }
  leave(*frame.quantity, options_.guide->loops.at(frame.op).role);
  return false;
}

/// Value of a loop's quantity, once the loop has ended. Bounds of a loop without an iteration are
/// taken to be equal.
std::optional<std::int64_t> Machine::exact_value(const Role& role, ir::OpId op, ir::ValueId value) {
  const auto found = options_.guide->valued.find(value);
  if (found == options_.guide->valued.end()) return std::nullopt;
  for (const auto& [loop, counted] : options_.guide->loops) {
    if (counted.form != found->second.first || loop.index() > op.index()) continue;
    const Scope scope = scope_of(role, counted.unrolled);
    const std::size_t id = number_of(counted.form, counted.occurrence, scope).id;
    const OpenNumber* number = known_about(id, INT64_MAX);
    if (!number->at_most) continue;
    const bool none = *number->at_most <= counted.first;
    if (!none && (!number->above || *number->above + 1 != *number->at_most)) continue;
    return (none ? counted.first : *number->at_most) + found->second.second;
  }
  return std::nullopt;
}

/// Computes integers that decide steps of roles. All other values stay unknown.
Result<void> Machine::compute_needed(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  std::vector<ir::ValueId> lent;
  for (const ir::ValueId operand : op.operands) {
    if (!is_missing(role.values.value(operand))) continue;
    const auto exact = exact_value(role, id, operand);
    if (!exact) continue;
    role.values.set(operand, integer_of(*exact));
    lent.push_back(operand);
  }
  const Result<void> computed = compute_known(role, id);
  for (const ir::ValueId value : lent) role.values.set(value, std::monostate());
  return computed;
}

Result<void> Machine::compute_known(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  bool known = knows_operands(role, id);
  for (const ir::ValueId result : op.results) {
    const ir::Type type = ir::type_of(program_, result);
    known =
        known && (type->kind == ir::TypeKind::memdesc ||
                  (type->kind != ir::TypeKind::tensor && options_.guide->needed[result.index()]));
  }
  if (known && !op.results.empty()) {
    TWILL_TRY_VOID(check_shifted(role, id));
    for (const ir::ValueId result : op.results) role.numbers.erase(result);
    return role.values.step(id);
  }
  forget_results(role, id);
  follow_number(role, id);
  if (!options_.guide->conditions.contains(id)) return {};
  if (op.kind == OpKind::select && number_in(role, op.results[0])) return {};
  const auto condition = holds(role, id);
  if (condition) role.values.set(op.results[0], integer_of(*condition ? 1 : 0));
  return {};
}

/// Fails if the op needs an unknown number.
Result<void> Machine::check_needed(const Role& role, ir::OpId id) const {
  const auto deciding = options_.guide->decides.find(id);
  if (deciding == options_.guide->decides.end()) return {};
  const ir::Op& op = program_.op(id);
  for (const ir::ValueId value : deciding->second) {
    if (!is_missing(role.values.value(value))) continue;
    return fail(ir::text_location(program_, id),
                "cannot be followed: what " + op.name + " does depends on %" +
                    program_.value(value).name + ", of which nothing is known",
                "slots, phases and predicates must follow from iterations; `twill run` checks one "
                "number of iterations after the other");
  }
  return {};
}

/// Fails if the op may distinguish states that count as alike. Operands shifted by whole periods
/// must give the same result.
Result<void> Machine::check_shifted(const Role& role, ir::OpId id) const {
  const auto found = options_.guide->shifted.find(id);
  if (found == options_.guide->shifted.end()) return {};
  const ir::Op& op = program_.op(id);
  for (const std::size_t number : found->second) {
    if (number != kAlways && !role.shifted.contains(number)) continue;
    static const std::map<ir::ValueId, std::int64_t> kNone;
    const auto& by = number == kAlways ? kNone : options_.guide->shifts[number].by;
    const auto part = [&](std::size_t i) {
      const auto at = by.find(op.operands[i]);
      return at == by.end() ? 0 : at->second;
    };
    TWILL_TRY(const std::int64_t x, role.values.integer(id, op.operands[0]));
    if (op.kind != OpKind::icmp && x >= 0) continue;
    TWILL_TRY(const std::int64_t y, role.values.integer(id, op.operands[1]));
    if (op.kind == OpKind::icmp && (part(0) > part(1) ? x > y : y > x)) continue;
    return fail(ir::text_location(program_, id),
                "cannot be followed: " + op.name + " tells apart counters that go on for ever",
                "`twill run` checks one number of iterations after the other");
  }
  return {};
}

}  // namespace twill::concurrent
