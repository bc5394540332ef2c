#include "twill/run/role_steps.h"

#include <algorithm>

#include "twill/concurrent/assembly.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/plan/stores.h"
#include "twill/plan/text.h"

namespace twill::run {
namespace {

using concurrent::Frame;
using ir::OpKind;
using plan::Mechanism;
using plan::StepKind;

bool is_copy(const plan::Plan& plan, const plan::Step& step) {
  if (step.kind != StepKind::issue) return false;
  const Mechanism how = step.op ? plan.mechanisms[step.op->index()]
                                : plan.kernel->per_tile_ops[*step.per_tile_op].mechanism;
  return plan::is_copy(how);
}

bool is_product(const plan::Plan& plan, const plan::Step& step) {
  return step.kind == StepKind::issue && step.op &&
         plan.mechanisms[step.op->index()] == Mechanism::wgmma;
}

constexpr std::int64_t kLanes = 32;
constexpr std::size_t kMostReads = 64;  ///< most reads that are remembered

/// Whether other roles notice the op, or the op accesses shared memory.
bool is_shown(OpKind kind) {
  switch (kind) {
    case OpKind::barrier_wait:
    case OpKind::barrier_arrive:
    case OpKind::barrier_expect:
    case OpKind::copy_arrive:
    case OpKind::block_load_async:
    case OpKind::copy_async:
    case OpKind::wgmma:
    case OpKind::wgmma_wait:
    case OpKind::shared_store:
      return true;
    default:
      return false;
  }
}

/// Whether the op is inline assembly with a fence for the async proxy.
bool fences(const ir::Op& op) {
  if (op.kind != OpKind::inline_asm) return false;
  const concurrent::Assembly assembly = concurrent::read_assembly(op.symbol);
  return std::any_of(assembly.steps.begin(), assembly.steps.end(), [](const auto& step) {
    return step.kind == concurrent::AssemblyStep::Kind::fence;
  });
}

}  // namespace

bool is_loop_frame(const Frame& frame) {
  return frame.kind == Frame::Kind::loop || frame.kind == Frame::Kind::before ||
         frame.kind == Frame::Kind::after;
}

RoleSteps::RoleSteps(Comparison& all, const plan::Role& role)
    : all_(all), plan_(all.what.plan), role_(role) {
  for (std::size_t c = 0; c < plan_.channels.size(); ++c) {
    barriers_of_.push_back(plan::first_to_sender(plan_, plan::ChannelId(c)));
  }
  add_tile();
}

/// Whether the channel guards a box that one role stores.
bool RoleSteps::is_of_box(plan::ChannelId channel) const {
  const auto& buffers = plan_[channel].buffers;
  return !buffers.empty() && plan_[buffers.front()].staging &&
         plan_[buffers.front()].invariant_buffer;
}

void RoleSteps::place(const std::vector<plan::Step>& steps, std::int64_t window, bool is_per_tile) {
  for (const plan::Step& step : steps) {
    const bool of_tile = step.instance.from == plan::Instance::From::tile;
    const std::int64_t iteration =
        of_tile ? step.instance.offset : plan::iteration_of(step.instance, window, all_.trips);
    const std::int64_t before = of_tile ? tiles_ : tiles_ * all_.trips;
    steps_.push_back({&step, iteration, before + iteration, is_per_tile});
  }
}

void RoleSteps::add_tile() {
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  beside_before_ = beside_;
  place(role_.before, 0, true);
  for (const plan::PlacedStep& placed : plan::unrolled(role_.sections, all_.trips)) {
    steps_.push_back({placed.step, placed.iteration, tiles_ * all_.trips + placed.iteration});
  }
  place(role_.after, all_.trips, true);
  ++tiles_;
}

std::string RoleSteps::words(const Placed& placed) const {
  return plan::to_text(plan_, *placed.step) + " of iteration " + std::to_string(placed.iteration);
}

/// The box into which threads write in a step, for another role to store.
std::optional<plan::BufferId> RoleSteps::box_of(const plan::Step& step) const {
  if (step.kind != StepKind::stage || !step.per_tile_op) return std::nullopt;
  const plan::PerTileOp& op = plan_.kernel->per_tile_ops[*step.per_tile_op];
  return op.sender ? std::optional(op.buffers.front()) : std::nullopt;
}

/// The buffer in shared memory into which threads write in a step.
std::optional<plan::BufferId> RoleSteps::written_by(const plan::Step& step) const {
  if (!step.op) return box_of(step);
  const plan::Value& value = plan_.values[step.op->index()];
  if (step.kind == StepKind::stage) return value.staged;
  const Mechanism how = plan_.mechanisms[step.op->index()];
  const bool by_threads = how == Mechanism::threads || how == Mechanism::scoreboard;
  const bool computes = step.kind == StepKind::compute || step.kind == StepKind::issue;
  if (!computes || !by_threads || !value.home || hands_over_indices(*step.op)) return std::nullopt;
  return plan_[*value.home].residence == plan::Residence::shared ? value.home : std::nullopt;
}

/// Whether the text must have an op of its own for the step, at that place.
bool RoleSteps::shows(const Placed& placed) const {
  const plan::Step& step = *placed.step;
  const bool once = step.instance.from == plan::Instance::From::tile && all_.walks == 0;
  const bool boxed = step.op && plan_.mechanisms[step.op->index()] == Mechanism::bulk_store;
  if (boxed && step.kind == StepKind::stage) return false;
  const bool waits = step.kind == StepKind::wait || step.kind == StepKind::release;
  // The step is compared at the first of channels with common barriers.
  if (waits && barriers_of(*step.channel) != *step.channel) return false;
  switch (step.kind) {
    case StepKind::acquire:
      return !once || step.instance.offset == 1;
    case StepKind::release:
      return !once || is_of_box(*step.channel) || plan::gives_place_to_box(plan_, *step.channel);
    case StepKind::expect:
    case StepKind::commit:
    case StepKind::wait:
      return true;
    case StepKind::drain_groups:
      return step.queue == Mechanism::wgmma;
    default:
      if (is_copy(plan_, step)) return true;
      return (is_product(plan_, step) || written_by(step).has_value()) && !is_of_branch(placed);
  }
}

/// Checks a step that has no op of its own.
std::string RoleSteps::pass(const Placed& placed) {
  const plan::Step& step = *placed.step;
  if (placed.is_per_tile) return {};
  for (const Read& read : read_by(placed)) read_.push_back(read);
  while (read_.size() > kMostReads) read_.pop_front();
  if (step.kind == StepKind::fence && step.fence == plan::Fence::proxy && !fenced_) {
    return "the plan has \"" + words(placed) + "\" here, and the text has none";
  }
  return step.op ? check_computed(placed) : std::string();
}

/// Goes to the next step that has an op of its own.
std::string RoleSteps::to_next() {
  while (true) {
    while (next_ < steps_.size() && !shows(steps_[next_])) {
      std::string difference = pass(steps_[next_]);
      if (!difference.empty()) return difference;
      ++next_;
    }
    if (next_ < steps_.size() || all_.walks == 0 || behind_tiles_) return {};
    add_tile();
    const auto has_op = [&](const Placed& placed) { return shows(placed); };
    if (std::ranges::none_of(steps_, has_op)) return "the plan has no step any more";
  }
}

bool RoleSteps::is_beside(const concurrent::Role& state) const {
  const bool in_sections =
      std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(next_), steps_.end(),
                  [&](const Placed& placed) { return !placed.is_per_tile && shows(placed); });
  if (in_sections) return false;
  const auto count = std::count_if(state.frames.begin(), state.frames.end(), is_loop_frame);
  if (count <= all_.walks) return false;
  const auto inner = std::find_if(state.frames.rbegin(), state.frames.rend(), is_loop_frame);
  return inner->op != loop_;
}

std::optional<Spot> RoleSteps::spot(const concurrent::Role& state, ir::ValueId value) const {
  const auto* view = std::get_if<execute::View>(&state.values.value(value));
  if (view == nullptr) return std::nullopt;
  const execute::Shape& shape = view->storage->shape;
  Spot made{view->storage.get(), 0, 1};
  if (shape.size() > view->shape.size() && shape[0] > 0) {
    made.depth = shape[0];
    made.slot = view->offset / (execute::size_of(shape) / shape[0]);
  }
  return made;
}

std::string RoleSteps::take(const concurrent::Role& state, ir::OpId id) {
  const ir::Op& op = all_.what.module.op(id);
  std::string difference;
  const auto predicate = ir::operand_in(op, ir::Role::predicate);
  const bool skipped = predicate && state.values.integer(id, *predicate).value_or(1) == 0;
  const bool shown = (is_shown(op.kind) || op.kind == OpKind::shared_load) && !skipped &&
                     !is_of_helpers(state, id) && !is_of_own_memory(state, id);
  const bool own = shown && !has_own_barrier(all_.what.module, all_.what.function, id);
  if (own) add_tail(state);
  const bool beside = own && is_beside(state);
  if (op.kind == OpKind::proxy_fence || fences(op)) fenced_ = true;
  if (op.kind == OpKind::shared_alloc) {
    if (const auto made = spot(state, op.results.front()))
      own_memory_.insert_or_assign(made->storage, id);
  }
  const bool reads = op.kind == OpKind::shared_load;
  const bool works = reads || op.kind == OpKind::shared_store || op.kind == OpKind::wgmma ||
                     op.kind == OpKind::wgmma_wait;
  const bool in_branch = own && !beside && works && is_in_branch(state);
  const bool around = in_branch || (own && !beside && works && is_around(op.kind));
  if (shown && (!own || (around && !in_branch))) note_aside(state, id);
  if (own && !beside && !around) difference = reads ? take_read(state, id) : match(state, id);
  if (around && reads) static_cast<void>(take_read(state, id));  // a read of a tile of the plan
  if (in_branch && op.kind == OpKind::wgmma) difference = check_in_branch(state, id);
  if (beside && op.kind == OpKind::barrier_wait) difference = take_beside(state, id);
  carry(state, id, around);
  return difference;
}

std::string RoleSteps::match(const concurrent::Role& state, ir::OpId id) {
  const ir::Op& op = all_.what.module.op(id);
  if (arrives_next_) {
    const Placed& placed = steps_[next_ - 1];
    const bool fit = fits_barrier(state, id, placed);
    arrives_next_ = false;
    if (fit) return {};
    return "the copies of \"" + words(placed) + "\" arrive elsewhere";
  }
  // The loop of a role without a prologue also waits where nothing is in flight.
  if (op.kind == OpKind::wgmma_wait && open_products_ <= op.count.value_or(0)) return {};
  // A role with several parts of a tile writes each part into the box.
  const bool filled = op.kind == OpKind::shared_store && next_ > 0 &&
                      box_of(*steps_[next_ - 1].step) && fits(state, id, steps_[next_ - 1]);
  if (filled) return {};
  std::string difference = to_next();
  while (difference.empty() && next_ < steps_.size() && op.kind != OpKind::wgmma_wait &&
         steps_[next_].step->kind == StepKind::drain_groups &&
         open_products_ <= steps_[next_].step->pending) {
    ++next_;
    difference = to_next();
  }
  if (!difference.empty()) return difference;
  if (next_ == steps_.size()) return "the plan has no step any more";
  const Placed& placed = steps_[next_];
  if (!fits(state, id, placed)) return "the plan has \"" + words(placed) + "\" here";
  const auto loops = std::count_if(state.frames.begin(), state.frames.end(), is_loop_frame);
  if (!placed.is_per_tile && !loop_ && loops > all_.walks) {
    loop_ = std::find_if(state.frames.rbegin(), state.frames.rend(), is_loop_frame)->op;
  }
  computed_.clear();
  read_here_.clear();
  fenced_ = false;
  ++next_;
  return {};
}

bool RoleSteps::fits(const concurrent::Role& state, ir::OpId id, const Placed& placed) {
  const ir::Op& op = all_.what.module.op(id);
  switch (op.kind) {
    case OpKind::block_load_async:
    case OpKind::copy_async:
      return fits_copy(state, id, placed);
    case OpKind::wgmma:
      return fits_product(state, id, placed);
    case OpKind::wgmma_wait: {
      const plan::Step& step = *placed.step;
      if (step.kind != StepKind::drain_groups || op.count != step.pending) return false;
      open_products_ = std::min<std::int64_t>(open_products_, step.pending);
      return true;
    }
    case OpKind::shared_store:
      return fits_write(state, id, placed);
    default:
      return fits_barrier(state, id, placed);
  }
}

bool RoleSteps::fits_barrier(const concurrent::Role& state, ir::OpId id, const Placed& placed) {
  const ir::Op& op = all_.what.module.op(id);
  const plan::Step& step = *placed.step;
  const auto value = ir::operand_in(op, ir::Role::barrier);
  const auto at = value ? spot(state, *value) : std::nullopt;
  if (!at || !step.channel) return false;
  const plan::Channel& channel = plan_[*step.channel];
  const bool empty = step.kind == StepKind::acquire || step.kind == StepKind::release;
  const auto kind = empty ? Bindings::Kind::empty : Bindings::Kind::full;
  const plan::ChannelId bound = barriers_of(*step.channel);
  const std::int64_t instance = placed.instance + used_beside(*step.channel);
  if (!all_.bindings.agree(kind, bound.index(), channel.depth, instance, *at)) {
    return false;
  }
  const std::int64_t phase = instance / channel.depth;
  switch (op.kind) {
    case OpKind::barrier_wait: {
      if (step.kind != StepKind::acquire && step.kind != StepKind::wait) return false;
      const auto parity = ir::operand_in(op, ir::Role::phase);
      const std::int64_t first = empty ? channel.empty_parity : channel.full_parity;
      if (!empty) held_[*step.channel].waited = instance + 1;
      return parity && state.values.integer(id, *parity).value_or(-1) == ((phase + first) & 1);
    }
    case OpKind::barrier_expect:
      if (step.kind != StepKind::expect || op.count != channel.bytes) return false;
      all_.bindings.arrive(at->storage, instance, 1);
      return true;
    case OpKind::copy_arrive:
      if (!arrives_next_) return false;
      all_.bindings.arrive(at->storage, instance, kLanes * state.warps);
      return true;
    default: {
      // Copies in small pieces go through registers: the role itself then arrives.
      const bool copied = arrives_next_;
      if (step.kind != StepKind::commit && step.kind != StepKind::release && !copied) return false;
      if (step.kind == StepKind::release) held_[*step.channel].released = instance + 1;
      all_.bindings.arrive(at->storage, instance, op.count.value_or(1));
      return true;
    }
  }
}

bool RoleSteps::fits_copy(const concurrent::Role& state, ir::OpId id, const Placed& placed) {
  const auto access = ir::memory_access(all_.what.module.op(id));
  const plan::Step& step = *placed.step;
  if (!is_copy(plan_, step) || !access || !access->destination) return false;
  const bool by_threads = all_.what.module.op(id).kind == OpKind::copy_async;
  const plan::BufferId buffer = step.op
                                    ? *plan_.values[step.op->index()].home
                                    : plan_.kernel->per_tile_ops[*step.per_tile_op].buffers.front();
  const auto at = spot(state, *access->destination);
  if (!at || !all_.bindings.agree(Bindings::Kind::buffer, buffer.index(), plan_[buffer].depth,
                                  placed.instance + used_beside(buffer), *at)) {
    return false;
  }
  const ir::Type type = ir::type_of(all_.what.module, *access->destination);
  if (step.op && !by_threads && ir::byte_size(type) != plan::bytes_brought(plan_, *step.op)) {
    return false;
  }
  arrives_next_ = by_threads;
  if (by_threads) return true;
  const auto full = access->barrier ? spot(state, *access->barrier) : std::nullopt;
  return full && all_.bindings.agree(Bindings::Kind::full, step.channel->index(),
                                     plan_[*step.channel].depth,
                                     placed.instance + used_beside(*step.channel), *full);
}

/// Whether this role writes the buffer.
bool RoleSteps::writes(plan::BufferId buffer) const {
  const auto& steps = role_.sections.steady;
  return std::any_of(steps.begin(), steps.end(),
                     [&](const plan::Step& step) { return written_by(step) == buffer; });
}

/// Copies in shared memory from which a step reads values.
std::vector<RoleSteps::Read> RoleSteps::read_by(const Placed& placed) const {
  std::vector<Read> reads;
  const plan::Step& step = *placed.step;
  if (!step.op) return reads;
  const std::int64_t first = placed.instance - placed.iteration;
  for (const problem::Dependence& it : plan_.problem.dependences()) {
    if (it.to != *step.op || !it.carries_value || placed.iteration < it.distance) continue;
    const auto buffer = plan::read_from(plan_, it.from, *step.op);
    if (!buffer || plan_[*buffer].residence != plan::Residence::shared) continue;
    const std::int64_t iteration = placed.iteration - it.distance;
    reads.push_back({*buffer, first + iteration + used_beside(*buffer), it.from, iteration});
  }
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const auto& readers = plan_.buffers[i].readers;
    if (std::find(readers.begin(), readers.end(), *step.op) == readers.end()) continue;
    reads.push_back({plan::BufferId(i), tiles_ - 1, std::nullopt, 0});
  }
  return reads;
}

bool RoleSteps::fits_read(const Read& read, const Spot& at) {
  const auto own = own_memory_.find(at.storage);
  if (own != own_memory_.end()) {
    return !read.value &&
           own_copies_.emplace(own->second, read.buffer).first->second == read.buffer;
  }
  return all_.bindings.agree(Bindings::Kind::buffer, read.buffer.index(), plan_[read.buffer].depth,
                             read.instance, at);
}

bool RoleSteps::is_product_step(const Placed& placed) const {
  return is_product(plan_, *placed.step);
}

bool RoleSteps::fits_product(const concurrent::Role& state, ir::OpId id, const Placed& placed) {
  if (!is_product(plan_, *placed.step)) return false;
  const auto operands = ir::mma_operands(all_.what.module.op(id));
  std::vector<Spot> spots;
  for (const ir::ValueId operand : {operands->a, operands->b}) {
    if (const auto at = spot(state, operand)) spots.push_back(*at);
  }
  const std::vector<Read> reads = read_by(placed);
  const auto known = [&](const Spot& at) {
    return std::ranges::any_of(reads, [&](const Read& it) { return fits_read(it, at); });
  };
  // Values that the role has written itself may still be in its registers.
  const auto made = made_in_.find(operands->a);
  const auto held = [&](const Read& read) {
    return read.value && writes(read.buffer) && made != made_in_.end() &&
           (made->second == read.iteration ||
            is_made_of(*read.value, read.iteration, made->second));
  };
  const auto done = [&](const Read& read) {  // read by the product, or before the product
    const auto fits_it = [&](const Spot& at) { return fits_read(read, at); };
    return std::any_of(spots.begin(), spots.end(), fits_it) ||
           std::any_of(read_here_.begin(), read_here_.end(), fits_it) || held(read);
  };
  ++open_products_;
  return std::all_of(spots.begin(), spots.end(), known) &&
         std::all_of(reads.begin(), reads.end(), done);
}

bool RoleSteps::fits_write(const concurrent::Role& state, ir::OpId id, const Placed& placed) {
  const auto address = ir::operand_in(all_.what.module.op(id), ir::Role::address);
  auto at = address ? spot(state, *address) : std::nullopt;
  std::optional<plan::BufferId> buffer = written_by(*placed.step);
  if (at && box_of(*placed.step)) *at = {at->storage, 0, 1};  // the box may lie anywhere in a ring
  // A copy in small pieces goes through registers.
  if (is_copy(plan_, *placed.step) && placed.step->op) {
    buffer = plan_.values[placed.step->op->index()].home;
    arrives_next_ = true;
  }
  return at && buffer &&
         all_.bindings.agree(Bindings::Kind::buffer, buffer->index(), plan_[*buffer].depth,
                             placed.instance + used_beside(*buffer), *at);
}

/// Checks a read of shared memory by threads for a step that comes next.
std::string RoleSteps::take_read(const concurrent::Role& state, ir::OpId id) {
  const ir::Op& op = all_.what.module.op(id);
  const auto address = ir::operand_in(op, ir::Role::address);
  const auto at = address ? spot(state, *address) : std::nullopt;
  if (!at) return {};
  read_here_.push_back(*at);
  for (std::size_t i = next_; i < steps_.size(); ++i) {
    const Placed& placed = steps_[i];
    for (const Read& read : read_by(placed)) {
      if (!fits_read(read, *at)) continue;
      if (read.value) made_in_[op.results.front()] = read.iteration;
      return {};
    }
    if (placed.is_per_tile) return {};
    const bool drains = placed.step->kind == StepKind::drain_groups;
    if (!drains && shows(placed) && !written_by(*placed.step) && !is_product(plan_, *placed.step))
      break;
  }
  // A step's reads may be repeated until the slot belongs to another step.
  for (auto read = read_.rbegin(); read != read_.rend(); ++read) {
    if (!fits_read(*read, *at)) continue;
    if (read->value) made_in_[op.results.front()] = read->iteration;
    return {};
  }
  return "no step of the plan reads that here";
}

std::string RoleSteps::end() {
  for (; next_ < steps_.size(); ++next_) {
    const Placed& placed = steps_[next_];
    if (is_left(placed)) return "the plan goes on with \"" + words(placed) + "\"";
    std::string difference = pass(placed);
    if (!difference.empty()) return difference;
  }
  const bool goes_on = !behind_tiles_ && std::any_of(role_.tail.begin(), role_.tail.end(),
                                                     [&](const plan::Step& step) {
                                                       return is_left({&step, 0, 0, true});
                                                     });
  return goes_on ? "the plan goes on after the last tile" : std::string();
}

}  // namespace twill::run
