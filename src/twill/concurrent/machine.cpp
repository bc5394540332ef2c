#include "twill/concurrent/machine.h"

#include <algorithm>

#include "twill/execute/evaluate.h"
#include "twill/execute/types.h"
#include "twill/ir/operands.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

constexpr std::int64_t kMostBehindFinding = 10'000;  ///< steps

/// Whether another role can go first at this op, with another outcome.
bool is_turning_point(OpKind kind) {
  const ir::OpClass of = ir::class_of(kind);
  return of == ir::OpClass::synchronization || of == ir::OpClass::copy ||
         of == ir::OpClass::product || of == ir::OpClass::store;
}

}  // namespace

Machine::Machine(const ir::Program& program, execute::Memory& memory, const execute::Launch& launch,
                 std::array<std::int64_t, 3> program_id, const Options& options, Findings& findings)
    : program_(program),
      memory_(memory),
      launch_(launch),
      program_id_(program_id),
      options_(options),
      findings_(findings),
      ledger_(program, findings),
      barriers_(program, findings),
      scratch_(program, memory, launch, program_id),
      draw_(options.order.seed) {}

std::size_t Machine::add_role(std::string name) {
  roles_.emplace_back(std::move(name),
                      execute::Interpreter(program_, memory_, launch_, program_id_));
  Role& role = roles_.back();
  for (std::size_t* agent : {&role.agent, &role.products.agent, &role.copies.agent,
                             &role.stores.agent, &role.tensor.agent}) {
    *agent = agents_++;
  }
  return roles_.size() - 1;
}

/// Fails for ops by which CTAs of a cluster affect each other.
Result<void> Machine::check_alone(ir::OpId function) const {
  const std::int64_t ctas = ir::launch_traits(program_).num_ctas.value_or(1);
  if (ctas > 1) {
    return execute::cannot(program_, function,
                           "runs in clusters of " + std::to_string(ctas) +
                               " CTAs, which is not followed: only what one CTA does is");
  }
  for (const ir::OpId id : ir::walk(program_, function)) {
    if (!program_.op(id).two_ctas) continue;
    return execute::cannot(program_, id, "is a product of two CTAs, which is not followed");
  }
  return {};
}

Result<void> Machine::run(ir::OpId function,
                          const std::map<ir::ValueId, execute::Value>& arguments) {
  if (!options_.checked) {
    TWILL_TRY_VOID(execute::check_types(program_, function));
    TWILL_TRY_VOID(check_alone(function));
  }
  const auto& regions = program_.op(function).regions;
  if (regions.empty() || program_.region(regions[0]).blocks.empty()) {
    return execute::cannot(program_, function, "has no body");
  }
  Role& role = roles_[add_role("default")];
  for (const auto& [value, what] : arguments) role.values.set(value, what);
  Frame frame;
  frame.op = function;
  frame.block = program_.region(regions[0]).blocks.front();
  enter(role, frame);
  const auto ran = run_roles();
  // A broken rule makes later results meaningless, such as an index beyond a ring's slots.
  if (!ran && findings_.empty()) return ran;
  if (ran && !stopped_) check_exit();
  return {};
}

Result<void> Machine::run_roles() {
  while (!stopped_) {
    if (options_.order.landing != Order::Landing::late) {
      TWILL_TRY_VOID(land_some(false));
    }
    const auto next = next_role();
    if (!next) {
      // Copies left over also land behind the end: the end may have come before a wait.
      TWILL_TRY(const bool landed, land_some(true));
      if (landed) continue;
      if (roles_.front().ended()) return {};
      report_deadlock();
      stopped_ = true;
      return {};
    }
    Role& role = roles_[*next];
    bool turns = false;
    while (!turns && !stopped_ && !role.ended()) {
      const bool behind_finding = !findings_.empty() && ++behind_finding_ > kMostBehindFinding;
      if (++steps_ > options_.most_steps || behind_finding) {
        return execute::cannot(program_, role.frames.back().op, "takes too many steps");
      }
      const Frame& frame = role.frames.back();
      const auto& ops = program_.block(frame.block).ops;
      const OpKind kind =
          frame.next < ops.size() ? program_.op(ops[frame.next]).kind : OpKind::yield;
      TWILL_TRY(const Progress progress, advance(*next));
      turns = progress == Progress::waits ||
              (is_turning_point(kind) &&
               (options_.order.random || options_.order.landing != Order::Landing::late));
    }
  }
  return {};
}

/// The next role that can go on; empty if all roles have ended or wait.
std::optional<std::size_t> Machine::next_role() {
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    const std::size_t role = (options_.order.first + i) % roles_.size();
    if (can_go(roles_[role])) able.push_back(role);
  }
  if (able.empty()) return std::nullopt;
  return options_.order.random ? able[draw_() % able.size()] : able.front();
}

bool Machine::can_go(const Role& role) const {
  if (role.ended() || role.children > 0) return false;
  if (!role.waits) return true;
  const Frame& frame = role.frames.back();
  const auto passes = may_pass(role, program_.block(frame.block).ops[frame.next]);
  return !passes || *passes;
}

/// Lets work land: one piece where the order requires a landing, or where `forced`.
Result<bool> Machine::land_some(bool forced) {
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    if (may_land(i)) able.push_back(i);
  }
  if (able.empty()) return false;
  const bool early = options_.order.landing == Order::Landing::early;
  if (!forced && !early && draw_() % 2 == 0) return false;
  const std::size_t index =
      options_.order.landing == Order::Landing::random ? able[draw_() % able.size()] : able.front();
  TWILL_TRY_VOID(land(index));
  return true;
}

/// Executes the role's next op, or finds that the role has to wait.
Result<Machine::Progress> Machine::advance(std::size_t index) {
  Role& role = roles_[index];
  Frame& frame = role.frames.back();
  const auto& ops = program_.block(frame.block).ops;
  if (frame.next >= ops.size()) {
    TWILL_TRY_VOID(end_block(index));
    return role.children > 0 ? Progress::waits : Progress::goes_on;
  }
  const ir::OpId op = ops[frame.next];
  if (options_.guide != nullptr) {
    TWILL_TRY_VOID(check_needed(role, op));
  }
  TWILL_TRY(const bool passes, may_pass(role, op));
  role.waits = !passes;
  if (!passes) return Progress::waits;
  ++frame.next;
  TWILL_TRY_VOID(step(index, op));
  if (role.synchronizes) return Progress::waits;
  if (options_.watch) options_.watch(index, roles_[index], op);
  return role.children > 0 ? Progress::waits : Progress::goes_on;
}

Result<void> Machine::step(std::size_t index, ir::OpId op) {
  check_in_flight(roles_[index], op);
  TWILL_TRY(const bool controls, control(index, op));
  if (controls) return {};
  TWILL_TRY(const bool synchronizes, synchronize(index, op));
  if (synchronizes) return {};
  TWILL_TRY(const bool transfers, transfer(index, op));
  if (transfers) return {};
  return compute(roles_[index], op);
}

std::string Machine::plight(const Role& role) const {
  if (role.children > 0) return {};
  const Frame& frame = role.frames.back();
  const ir::OpId op = program_.block(frame.block).ops[frame.next];
  if (role.synchronizes) {
    const Barrier& barrier = named_barrier(role.synchronizes->first);
    return role.where() + " waits at line " + std::to_string(program_.op(op).line) + " at " +
           barrier.name + ", where " + std::to_string(barrier.count - barrier.pending) + " of " +
           std::to_string(barrier.count) + " threads are";
  }
  const auto value = ir::operand_in(program_.op(op), ir::Role::barrier);
  const auto view = value ? view_of(role, op, *value) : Result<execute::View>(execute::View());
  std::string text = role.where() + " waits at line " + std::to_string(program_.op(op).line);
  if (!view) return text;
  for (const auto& [place, barrier] : barriers_.all()) {
    if (place != std::pair(static_cast<const execute::Tile*>(view->storage.get()), view->offset)) {
      continue;
    }
    text += " for phase " + std::to_string(barrier.completed) + " of " + barrier.name +
            ", which has " + std::to_string(barrier.count - barrier.pending) + " of " +
            std::to_string(barrier.count) + " arrivals";
    if (barrier.bytes > 0) text += " and waits for " + std::to_string(barrier.bytes) + " bytes";
    if (barrier.bytes < 0) {
      text += " and " + std::to_string(-barrier.bytes) + " bytes more than expected";
    }
    const auto& last = barrier.arrivals.empty() ? barrier.previous : barrier.arrivals;
    if (!last.empty()) {
      text += ", the last at line " + std::to_string(program_.op(last.back().op).line);
    }
  }
  return text;
}

void Machine::report_deadlock() {
  std::string all;
  std::optional<ir::OpId> first;
  for (const Role& role : roles_) {
    if (role.ended()) continue;
    const std::string text = plight(role);
    if (text.empty()) continue;
    all += (all.empty() ? "" : "; ") + text;
    const Frame& frame = role.frames.back();
    if (!first) first = program_.block(frame.block).ops[frame.next];
  }
  if (first) findings_.add({Rule::deadlock, *first, std::nullopt, "nobody can go on: " + all});
}

/// Reports work in flight that no role knows to have ended.
void Machine::check_exit() {
  Knowledge known = roles_.front().known;
  for (const Role& role : roles_) known.join(role.known);
  const auto check = [&](const Role& role, const Queue& queue, std::initializer_list<OpKind> kinds,
                         const char* what) {
    if (known.done.covers(queue.agent, queue.issued)) return;
    const std::uint32_t open = queue.issued - known.done.at(queue.agent);
    ir::OpId last;
    for (const ir::OpId op : ir::walk(program_, program_.module())) {
      if (std::ranges::find(kinds, program_.op(op).kind) != kinds.end()) last = op;
    }
    findings_.add(
        {Rule::exit, last, std::nullopt,
         role.name + " ends and has not waited for " + std::to_string(open) + " " + what});
  };
  for (const Role& role : roles_) {
    check(role, role.products, {OpKind::wgmma}, "of its products");
    check(role, role.stores,
          {OpKind::block_store_async, OpKind::block_update_async, OpKind::block_scatter_async},
          "of its bulk stores");
    check(role, role.copies, {OpKind::copy_async}, "of its copies");
    check(role, role.tensor, {OpKind::tcgen05, OpKind::tcgen05_scaled, OpKind::tensor_copy},
          "of its products in tensor memory");
  }
  for (const auto& [visit, buffer] : loads_) {
    if (known.done.covers(visit.agent, visit.time)) continue;
    findings_.add(
        {Rule::exit, visit.op, std::nullopt,
         "the CTA ends and nobody has waited for the copy into " + buffer + " by " + *visit.by});
  }
}

}  // namespace twill::concurrent
