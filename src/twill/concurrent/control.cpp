#include <algorithm>

#include "twill/concurrent/machine.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/trips.h"
#include "twill/ir/operands.h"

/// Loops, branches, and where roles begin and end.
namespace twill::concurrent {
namespace {

using ir::OpKind;

execute::Value integer_value(ir::Type type, std::int64_t value) {
  (void)type;
  return std::make_shared<const execute::Tile>(execute::Tile{{}, execute::Integers{value}});
}

}  // namespace

void Machine::enter(Role& role, Frame frame) {
  frame.next = 0;
  role.frames.push_back(frame);
}

/// Gives values new names, such as a block's arguments, together with the products in flight.
void Machine::forward(Role& role, std::span<const ir::ValueId> from,
                      std::span<const ir::ValueId> to) {
  std::vector<execute::Value> values;
  std::vector<std::optional<std::uint32_t>> in_flight;
  std::vector<std::optional<Number>> numbers;
  for (const ir::ValueId value : from) {
    values.push_back(role.values.value(value));
    const auto found = role.in_flight.find(value);
    in_flight.push_back(found == role.in_flight.end() ? std::nullopt
                                                      : std::optional(found->second));
    const auto number = role.numbers.find(value);
    numbers.push_back(number == role.numbers.end() ? std::nullopt : std::optional(number->second));
  }
  for (std::size_t i = 0; i < to.size() && i < values.size(); ++i) {
    role.values.set(to[i], values[i]);
    role.in_flight.erase(to[i]);
    if (in_flight[i]) role.in_flight[to[i]] = *in_flight[i];
    role.numbers.erase(to[i]);
    if (numbers[i]) role.numbers[to[i]] = *numbers[i];
  }
}

void Machine::count_trip(ir::OpId loop, std::int64_t trips) {
  std::int64_t& most = trips_[loop];
  most = std::max(most, trips);
}

Result<bool> Machine::control(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  switch (program_.op(id).kind) {
    case OpKind::for_loop: {
      TWILL_TRY_VOID(begin_loop(index, id));
      return true;
    }
    case OpKind::while_loop: {
      TWILL_TRY_VOID(begin_while(index, id));
      return true;
    }
    case OpKind::branch: {
      TWILL_TRY_VOID(begin_branch(index, id));
      return true;
    }
    case OpKind::warp_roles: {
      TWILL_TRY_VOID(begin_roles(index, id));
      return true;
    }
    case OpKind::yield:
    case OpKind::ret:
    case OpKind::jump:
    case OpKind::jump_if:
    case OpKind::roles_end:
    case OpKind::partition_end:
      return true;  // end_block checks the condition
    case OpKind::condition: {
      TWILL_TRY_VOID(end_condition(role, id));
      return true;
    }
    default:
      return false;
  }
}

Result<void> Machine::begin_loop(std::size_t index, ir::OpId id) {
  if (options_.guide != nullptr) return begin_followed_loop(index, id);
  Role& role = roles_[index];
  const auto loop = ir::as_loop(program_, id);
  if (!loop || !loop->induction) return execute::cannot(program_, id, "is no counting loop");
  Frame frame;
  frame.kind = Frame::Kind::loop;
  frame.op = id;
  frame.block = loop->body;
  TWILL_TRY(frame.induction, role.values.integer(id, *loop->lower));
  TWILL_TRY(frame.upper, role.values.integer(id, *loop->upper));
  TWILL_TRY(frame.step, role.values.integer(id, *loop->step));
  if (frame.step <= 0) return execute::cannot(program_, id, "has no positive step");
  std::vector<ir::ValueId> inits, arguments, results;
  for (const ir::Carried& carried : loop->carried) {
    inits.push_back(carried.init);
    arguments.push_back(carried.argument);
    if (carried.result) results.push_back(*carried.result);
  }
  forward(role, inits, arguments);
  count_trip(id, 0);
  if (frame.induction >= frame.upper) {
    forward(role, arguments, results);
    return {};
  }
  role.values.set(*loop->induction,
                  integer_value(ir::type_of(program_, *loop->induction), frame.induction));
  enter(role, frame);
  return {};
}

/// Ends the body of a loop: goes to the next iteration, or to the op behind the loop.
Result<void> Machine::end_iteration(Role& role) {
  Frame& frame = role.frames.back();
  const auto loop = ir::as_loop(program_, frame.op);
  const auto end = ir::terminator(program_, frame.block);
  std::vector<ir::ValueId> arguments, results;
  for (const ir::Carried& carried : loop->carried) {
    arguments.push_back(carried.argument);
    if (carried.result) results.push_back(*carried.result);
  }
  if (end) forward(role, program_.op(*end).operands, arguments);
  count_trip(frame.op, ++frame.iteration);
  if (frame.kind == Frame::Kind::after) {
    ++frame.position;
    frame.kind = Frame::Kind::before;
    frame.block = *loop->before;
    frame.next = 0;
    return {};
  }
  const bool goes_on = options_.guide != nullptr
                           ? next_followed_iteration(role, frame, *loop->induction)
                           : next_iteration(role, frame, *loop->induction);
  if (goes_on) {
    frame.next = 0;
    return {};
  }
  forward(role, arguments, results);
  role.frames.pop_back();
  return {};
}

/// Begins the next iteration of a loop with known bounds; false at its end.
bool Machine::next_iteration(Role& role, Frame& frame, ir::ValueId induction) {
  if (execute::trips_of(frame.induction, frame.upper, frame.step) <= 1) return false;
  frame.induction += frame.step;
  role.values.set(induction, integer_value(ir::type_of(program_, induction), frame.induction));
  return true;
}

Result<void> Machine::begin_while(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const auto loop = ir::as_loop(program_, id);
  if (!loop || !loop->before) return execute::cannot(program_, id, "is not known");
  if (options_.guide != nullptr && options_.guide->idle.contains(id)) {
    forget_results(role, id);
    return {};
  }
  for (const ir::Carried& carried : loop->carried) {
    forward(role, std::span(&carried.init, 1), std::span(&carried.argument, 1));
  }
  count_trip(id, 0);
  Frame frame;
  frame.kind = Frame::Kind::before;
  frame.op = id;
  frame.block = *loop->before;
  if (options_.guide != nullptr) {
    const CountedLoop& counted = options_.guide->whiles.at(id);
    frame.quantity = number_of(counted.form, counted.occurrence, scope_of(role)).id;
  }
  enter(role, frame);
  return {};
}

/// Evaluates the condition of a while loop: goes to its body, or to the op behind the loop.
Result<void> Machine::end_condition(Role& role, ir::OpId condition) {
  Frame& frame = role.frames.back();
  const auto loop = ir::as_loop(program_, frame.op);
  const bool asked = options_.guide != nullptr && options_.guide->asked_ends.contains(condition);
  bool again = asked && goes_on(*frame.quantity, frame.position);
  if (!asked) {
    TWILL_TRY(const std::int64_t holds,
              role.values.integer(condition, program_.op(condition).operands[0]));
    again = holds != 0;
  }
  for (const ir::Forwarded& forwarded : loop->forwarded) {
    const ir::ValueId to = again ? forwarded.argument : forwarded.result;
    forward(role, std::span(&forwarded.passed, 1), std::span(&to, 1));
  }
  if (!again) {
    if (frame.quantity) leave(*frame.quantity, options_.guide->whiles.at(frame.op).role);
    role.frames.pop_back();
    return {};
  }
  frame.kind = Frame::Kind::after;
  frame.block = loop->body;
  frame.next = 0;
  return {};
}

Result<void> Machine::begin_branch(std::size_t index, ir::OpId id) {
  Role& role = roles_[index];
  const ir::Op& op = program_.op(id);
  if (options_.guide != nullptr && options_.guide->idle.contains(id)) {
    forget_results(role, id);
    return {};
  }
  TWILL_TRY(const std::int64_t holds, role.values.integer(id, op.operands[0]));
  const auto block = ir::body(program_, id, holds != 0 ? 0 : 1);
  if (!block) {
    if (op.results.empty()) return {};
    return execute::cannot(program_, id, "has no such branch");
  }
  Frame frame;
  frame.kind = Frame::Kind::branch;
  frame.op = id;
  frame.block = *block;
  enter(role, frame);
  return {};
}

/// Begins the partitions. The role goes on in the region of the default warps. Each partition
/// becomes a role with the knowledge of this role.
Result<void> Machine::begin_roles(std::size_t index, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  const auto holder = ir::terminator(program_, *ir::body(program_, id, 1));
  const auto& captures = op.operands.empty() ? program_.op(*holder).operands : op.operands;
  const auto& regions = program_.op(*holder).regions;
  tick(roles_[index]);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::size_t added = add_role("partition" + std::to_string(i));
    Role& parent = roles_[index];
    Role& role = roles_[added];
    const ir::BlockId block = program_.region(regions[i]).blocks.front();
    const auto& arguments = program_.block(block).arguments;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      role.values.set(arguments[a], parent.values.value(captures[a]));
      const auto number = parent.numbers.find(captures[a]);
      if (number != parent.numbers.end()) role.numbers[arguments[a]] = number->second;
    }
    role.known = parent.known;
    if (i < op.warps.size()) role.warps = op.warps[i];
    role.parent = index;
    Frame frame;
    frame.kind = Frame::Kind::partition;
    frame.op = id;
    frame.block = block;
    enter(role, frame);
  }
  Frame frame;
  frame.kind = Frame::Kind::roles;
  frame.op = id;
  frame.block = *ir::body(program_, id, 0);
  enter(roles_[index], frame);
  return {};
}

Result<void> Machine::end_block(std::size_t index) {
  Role& role = roles_[index];
  const Frame frame = role.frames.back();
  const auto end = ir::terminator(program_, frame.block);
  switch (frame.kind) {
    case Frame::Kind::loop:
    case Frame::Kind::after:
      return end_iteration(role);
    case Frame::Kind::before:
      return execute::cannot(program_, frame.op, "has no condition");
    case Frame::Kind::branch:
      role.frames.pop_back();
      if (end) forward(role, program_.op(*end).operands, program_.op(frame.op).results);
      return {};
    case Frame::Kind::roles: {
      std::size_t open = 0;
      for (const Role& other : roles_) open += other.parent == index && !other.ended() ? 1U : 0U;
      if (open > 0) {
        role.children = open;
        return {};
      }
      for (const Role& other : roles_) {
        if (other.parent == index) role.known.join(other.known);
      }
      role.frames.pop_back();
      if (end) forward(role, program_.op(*end).operands, program_.op(frame.op).results);
      return {};
    }
    case Frame::Kind::partition:
    case Frame::Kind::function:
      return end_function_block(role);
  }
  return {};
}

/// Goes to the successor of a block of a function or a partition, or ends the function or
/// partition.
Result<void> Machine::end_function_block(Role& role) {
  Frame& frame = role.frames.back();
  const auto end = ir::terminator(program_, frame.block);
  const ir::Op* op = end ? &program_.op(*end) : nullptr;
  if (op == nullptr || op->successors.empty()) {
    role.frames.pop_back();
    if (role.parent) end_role(*role.parent);
    return {};
  }
  bool first = true;
  if (op->kind == OpKind::jump_if) {
    TWILL_TRY(const std::int64_t holds, role.values.integer(*end, op->operands[0]));
    first = holds != 0;
  }
  const auto passed = op->kind == OpKind::jump
                          ? std::span<const ir::ValueId>(op->operands)
                          : ir::operands_in(*op, first ? ir::Role::taken : ir::Role::otherwise);
  const ir::BlockId next = op->successors[first ? 0 : 1];
  forward(role, passed, program_.block(next).arguments);
  frame.block = next;
  frame.next = 0;
  return {};
}

/// Notes the end of a child of this role.
void Machine::end_role(std::size_t parent) {
  Role& role = roles_[parent];
  if (role.children > 0) --role.children;
}

}  // namespace twill::concurrent
