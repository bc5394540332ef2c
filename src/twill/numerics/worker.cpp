#include "twill/numerics/worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/execute/evaluate.h"
#include "twill/ir/operands.h"

namespace twill::numerics {

using execute::Tile;

namespace {

constexpr double kSlack = 2e-6;  ///< cycles: the simulated machine's tolerance, and rounding

}  // namespace

Worker::Worker(LoopContext& context, std::vector<std::string>& hazards)
    : context_(context),
      meaning_(context.meaning()),
      plan_(context.plan()),
      slots_(context.plan()),
      hazards_(hazards) {
  std::map<std::pair<std::size_t, plan::Mechanism>, Queue> numbers;
  for (std::size_t v = 0; v < plan_.problem.ops().size(); ++v) {
    const plan::Mechanism how = plan_.mechanisms[v];
    const auto role = plan::role_of(plan_, OpId(v));
    if (!plan::is_asynchronous(how) || !role) {
      queues_.push_back(0);
      continue;
    }
    const Queue fresh = numbers.size() + 1;
    queues_.push_back(numbers.try_emplace({role->index(), how}, fresh).first->second);
  }
  keep(fill_before());
}

void Worker::keep(const Result<void>& result) {
  if (!result && !wrong_) wrong_ = result.error();
}

/// Fills loop-invariant buffers and initial copies that no step fills.
Result<void> Worker::fill_before() {
  const ir::Program& program = meaning_.program();
  std::set<ir::ValueId> filled;
  const std::size_t outsides = plan_.kernel ? plan_.kernel->per_tile_ops.size() : 0;
  for (std::size_t i = 0; i < outsides; ++i) {
    if (const auto root = context_.filled_by(i)) filled.insert(*root);
  }
  for (std::size_t i = 0; i < program.value_count(); ++i) {
    const ir::ValueId root(i);
    const auto buffer = context_.invariant_buffer(root);
    if (!buffer || filled.contains(root)) continue;
    const Box box = execute::whole(ir::type_of(program, root)->shape);
    TWILL_TRY(TilePtr tile, context_.before(root, box));
    slots_.add(slots_.of(*buffer, 0), root, {box, std::move(tile)});
  }
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    if (is_filled_by_step(plan::BufferId(b))) continue;
    TWILL_TRY_VOID(fill_initial(plan::BufferId(b)));
  }
  return {};
}

bool Worker::is_filled_by_step(plan::BufferId buffer) const {
  if (!plan_.kernel) return false;
  const auto& all = plan_.kernel->per_tile_ops;
  return std::any_of(all.begin(), all.end(), [&](const plan::PerTileOp& outside) {
    const auto& tensor = outside.tensor;
    return outside.when == plan::PerTileOp::When::before &&
           std::any_of(tensor.begin(), tensor.end(),
                       [&](const plan::TensorAccess& access) { return access.buffer == buffer; });
  });
}

/// Fills the initial copy of a loop-carried value.
Result<void> Worker::fill_initial(plan::BufferId buffer) {
  if (plan_[buffer].initial < 1) return {};
  for (const problem::Dependence& d : plan_.problem.dependences()) {
    if (!d.carries_value || d.distance == 0) continue;
    if (plan_.values[d.from.index()].home != buffer) continue;
    for (const Thing thing : meaning_.things(d.from)) {
      const Box box = meaning_.box(d.from, thing);
      TWILL_TRY(TilePtr tile, context_.initial(thing, box));
      if (tile) slots_.add(slots_.of(buffer, -1), thing, {box, std::move(tile)});
    }
  }
  return {};
}

std::string Worker::name(const Work& work) const {
  return fmt::format("{} [{}]", plan_.problem[work.op].name, work.iteration);
}

void Worker::note(const Work& work, const std::string& what) {
  if (hazards_.size() < kMostHazards) hazards_.push_back(name(work) + " " + what);
}

void Worker::note_missing(const Work& work, const Reader& reader) {
  for (const std::string& what : reader.missing()) note(work, "does not find " + what);
}

void Worker::push(Event::Kind kind, double time, std::size_t work) {
  events_.push({kind, time, events_so_far_++, work});
}

// --- Events -------------------------------------------------------------------------------------

void Worker::advance(double now) {
  while (!events_.empty() && events_.top().time <= now + kSlack) {
    const Event event = events_.top();
    events_.pop();
    if (!wrong_) happen(event);
  }
}

void Worker::happen(const Event& event) {
  Work& work = works_[event.work];
  switch (event.kind) {
    case Event::Kind::read:
      return check(work);
    case Event::Kind::done:
      return keep(finish(work));
    case Event::Kind::staged:
      slots_.end_write(*work.home, std::move(work.content), 0);
      return;
  }
}

void Worker::begins(OpId op, std::int64_t iteration, double now) {
  advance(now);
  if (wrong_) return;
  Work work;
  work.op = op;
  work.iteration = iteration;
  work.queue = queues_[op.index()];
  const auto home = plan_.values[op.index()].home;
  if (home) work.home = slots_.of(*home, iteration);
  keep(begin(work));
  under_way_[{op, iteration}] = works_.size();
  works_.push_back(std::move(work));
}

void Worker::ends(OpId op, std::int64_t iteration, double read, double done) {
  const auto found = under_way_.find({op, iteration});
  if (wrong_ || found == under_way_.end()) return;
  const Queue queue = queues_[op.index()];
  const bool in_order = plan_.mechanisms[op.index()] == plan::Mechanism::wgmma ||
                        plan_.mechanisms[op.index()] == plan::Mechanism::tcgen05;
  if (in_order) {
    double& last = last_done_[queue];
    done = last = std::max(last, done);
  }
  push(Event::Kind::read, std::min(read, done), found->second);
  push(Event::Kind::done, done, found->second);
  under_way_.erase(found);
}

void Worker::stages(OpId op, std::int64_t iteration, double now, double done) {
  advance(now);
  const plan::Value& value = plan_.values[op.index()];
  if (wrong_ || !value.home || !value.staged) return;
  Work work;
  work.op = op;
  work.iteration = iteration;
  work.home = slots_.of(*value.staged, iteration);
  for (const Thing thing : meaning_.things(op)) {
    const std::size_t from = slots_.of(*value.home, iteration);
    const Piece* piece = slots_.find(from, thing, 0);
    if (piece == nullptr) {
      note(work, "does not find its own value to stage in " + slots_.name(from));
    } else {
      work.content.emplace(thing, *piece);
    }
  }
  slots_.begin_write(*work.home, 0, false);
  push(Event::Kind::staged, done, works_.size());
  works_.push_back(std::move(work));
}

void Worker::around(const plan::Step& step, double now) {
  advance(now);
  const plan::PerTileOp& outside = plan_.kernel->per_tile_ops[*step.per_tile_op];
  if (!wrong_ && outside.when == plan::PerTileOp::When::before) {
    for (const plan::TensorAccess& access : outside.tensor) keep(fill_initial(access.buffer));
  }
  const auto root = context_.filled_by(*step.per_tile_op);
  if (wrong_ || !root || step.kind != plan::StepKind::issue) return;
  const Box box = execute::whole(ir::type_of(meaning_.program(), *root)->shape);
  const auto tile = context_.before(*root, box);
  if (!tile) return keep(tl::unexpected(tile.error()));
  slots_.put(slots_.of(*context_.invariant_buffer(*root), 0), {{*root, {box, *tile}}});
}

// --- Begin --------------------------------------------------------------------------------------

Result<void> Worker::begin(Work& work) {
  Reader reader(context_, slots_, work.op, work.iteration, work.queue);
  if (const TwoSided* const branch = meaning_.two_sided(work.op)) {
    const auto last = branch->last.find(meaning_.part(work.op));
    if (last != branch->last.end() && last->second == work.op) {
      if (meaning_.product(work.op)) {
        work.other_sides = branch;  // sums in flight are complete when this op is done
      } else {
        TWILL_TRY_VOID(do_other_sides(work, *branch));
      }
    } else {
      TWILL_TRY(const bool skipped, is_skipped_there(reader, work.op));
      if (skipped) return {};
    }
  }
  Result<void> result;
  if (const auto product = meaning_.product(work.op)) {
    result = begin_product(work, reader, *product);
  } else if (const auto store = meaning_.store(work.op)) {
    result = begin_store(work, reader, *store);
  } else {
    result = compute(work, reader);
  }
  note_missing(work, reader);
  work.readings.insert(work.readings.end(), reader.readings().begin(), reader.readings().end());
  return result;
}

/// Register results of synchronous ops are available at once: readers follow in program order.
Result<void> Worker::compute(Work& work, Reader& reader) {
  for (const Thing thing : meaning_.things(work.op)) {
    const Box box = meaning_.box(work.op, thing);
    TWILL_TRY(TilePtr tile, make(work, reader, thing, box));
    work.content.emplace(thing, Piece{box, std::move(tile)});
  }
  if (!work.home) return {};
  const plan::BufferId home = *plan_.values[work.op.index()].home;
  if (work.queue == 0 && plan_[home].residence == plan::Residence::registers) {
    slots_.put(*work.home, std::move(work.content));
    return {};
  }
  slots_.begin_write(*work.home, work.queue, false);
  work.writing = true;
  return {};
}

/// Whether an op of the text is in a branch that this iteration does not take.
Result<bool> Worker::is_skipped(Reader& reader, ir::OpId made) const {
  for (const Under& under : meaning_.under(made)) {
    TWILL_TRY(const std::int64_t holds, reader.integer(under.condition));
    if ((holds != 0) != under.holds) return true;
  }
  return false;
}

/// Whether this iteration skips all operations of an op of the plan, since they are in branches
/// that are not taken.
Result<bool> Worker::is_skipped_there(Reader& reader, OpId op) const {
  for (const ir::OpId made : meaning_.made(op)) {
    TWILL_TRY(const bool skipped, is_skipped(reader, made));
    if (!skipped) return false;
  }
  return true;
}

/// Computes sides without ops of the plan, if this iteration takes them. Puts their values where
/// readers look for the planned side's values.
Result<void> Worker::do_other_sides(const Work& work, const TwoSided& branch) {
  Reader reader(context_, slots_, work.op, work.iteration, work.queue);
  reader.look_on_other_side();
  std::map<std::size_t, Content> left;
  for (const OpId op : branch.ops) {
    const auto home = plan_.values[op.index()].home;
    const bool mine = meaning_.part(op) < 0 || meaning_.part(op) == meaning_.part(work.op);
    if (op == work.op || !home || !mine) continue;
    if (slots_.of(*home, work.iteration) == work.home) continue;  // the op's own result goes there
    TWILL_TRY(const bool skipped, is_skipped_there(reader, op));
    for (const Thing thing : meaning_.things(op)) {
      if (!skipped) continue;
      TWILL_TRY(const auto other, other_than(thing, reader));
      if (!other) continue;
      const Box box = meaning_.box(op, thing);
      TWILL_TRY(TilePtr tile, reader.operand(*other, 0, box));
      left[slots_.of(*home, work.iteration)].emplace(thing, Piece{box, std::move(tile)});
    }
  }
  for (const ir::ValueId result : branch.kept) {
    const auto box = meaning_.box_beside(work.op, result);
    if (!box) continue;
    TWILL_TRY(TilePtr tile, reader.operand(result, 0, *box));
    context_.keep(result, work.iteration, {*box, std::move(tile)});
  }
  note_missing(work, reader);
  for (auto& [slot, content] : left) slots_.put(slot, std::move(content));
  return {};
}

/// Nearest op whose result is overwritten by the result of `op`.
std::optional<Input> Worker::in_place(OpId op) const {
  std::optional<Input> before;
  for (const Input& input : meaning_.inputs(op)) {
    const bool nearer = !before || input.distance < before->distance ||
                        (input.distance == before->distance && before->from < input.from);
    if (input.in_place && nearer) before = input;
  }
  return before;
}

/// Finds the value that replaces a thing on the sides that this iteration takes; nullopt if the
/// iteration takes the thing's side.
Result<std::optional<ir::ValueId>> Worker::other_than(Thing thing, Reader& reader) const {
  for (const Other& other : meaning_.others(thing)) {
    TWILL_TRY(const std::int64_t holds, reader.integer(other.with.condition));
    if ((holds != 0) != other.with.holds) return other.yielded;
  }
  return std::nullopt;
}

/// Finds a value for a thing whose op is skipped: the value that the branch yields, otherwise the
/// previous contents of its place, otherwise none.
Result<TilePtr> Worker::instead(const Work& work, Reader& reader, Thing thing,
                                const Box& box) const {
  TWILL_TRY(const auto other, other_than(thing, reader));
  if (other) {
    if (auto tile = reader.on_other_side(*other, box)) return tile;
  }
  if (const auto before = in_place(work.op)) {
    const auto& things = meaning_.things(before->from);
    const Thing there =
        meaning_.has(before->from, thing) || things.empty() ? thing : things.front();
    return reader.gather(there, {*before}, box);
  }
  const ir::Type type = ir::type_of(meaning_.program(), thing);
  const ir::Type element = type->element != nullptr ? type->element : type;
  return share(execute::poison(execute::shape_of(box), element->kind == ir::TypeKind::floating));
}

Result<TilePtr> Worker::make(const Work& work, Reader& reader, Thing thing, const Box& box) {
  const ir::Program& program = meaning_.program();
  if (meaning_.forwards(work.op)) {
    return reader.gather(thing, reader.holders(thing, std::nullopt), box);
  }
  if (const auto made = meaning_.maker(work.op, thing)) {
    TWILL_TRY(const bool skipped, is_skipped(reader, *made));
    if (skipped) return instead(work, reader, thing, box);
  }
  if (ir::type_of(program, thing)->kind != ir::TypeKind::memdesc) {
    return reader.value(thing, 0, box);
  }
  // Source of a memory that several ops of the text write: the last of these ops.
  std::optional<ir::ValueId> source;
  for (const ir::OpId made : meaning_.made(work.op)) {
    const auto access = ir::memory_access(program.op(made));
    const bool writes = access && access->writes && access->source &&
                        access->space != ir::AccessSpace::global &&
                        meaning_.root(access->address) == thing;
    if (writes && access->predicate) {
      TWILL_TRY(const std::int64_t holds, reader.integer(*access->predicate));
      if (holds == 0) return execute::cannot(program, made, "is skipped, which is not known");
    }
    if (writes) source = access->source;
  }
  if (!source) return reader.content(thing, 0, box);
  return reader.value(*source, 0, box);
}

Result<void> Worker::begin_product(Work& work, Reader& reader, ir::OpId made) {
  const ir::Program& program = meaning_.program();
  const ir::MmaOperands operands = *ir::mma_operands(program.op(made));
  if (operands.a_scale) return execute::cannot(program, made, "has scales, which are not known");
  const Thing thing = operands.result ? *operands.result : meaning_.root(operands.accumulator);
  Product product;
  product.made = made;
  product.thing = thing;
  product.box = meaning_.box(work.op, thing);
  const std::size_t rank = product.box.size();
  if (rank < 2 || !work.home) return execute::cannot(program, made, "has no place for its result");
  // Range in the contracted dimension: the whole dimension, or the op's share.
  const execute::Range depth = meaning_.rows(work.op, operands.a, rank - 1);
  Box a(product.box.begin(), product.box.end() - 2), b = a;
  a.insert(a.end(), {product.box[rank - 2], depth});
  b.insert(b.end(), {depth, product.box[rank - 1]});
  TWILL_TRY(product.skipped, is_skipped(reader, made));
  if (!product.skipped) {
    TWILL_TRY(product.a, reader.operand(operands.a, 0, a));
    TWILL_TRY(product.b, reader.operand(operands.b, 0, b));
  }
  if (operands.predicate && !product.skipped) {
    TWILL_TRY(const std::int64_t holds, reader.integer(*operands.predicate));
    if (holds == 0) return execute::cannot(program, made, "is skipped, which is not known");
  }
  const bool other_sums = product.skipped && work.other_sides != nullptr;
  if (!other_sums) {
    TWILL_TRY_VOID(begin_sums(work, reader, product));
  }
  if (product.skipped && !product.in_slot && !other_sums) {
    TWILL_TRY(const TilePtr sums, instead(work, reader, thing, product.box));
    product.sums = *sums;
  }
  slots_.begin_write(*work.home, work.queue, product.in_slot == work.home || other_sums);
  if (product.in_slot) product.changes = slots_.changes(*product.in_slot, work.queue);
  work.writing = true;
  work.product = std::move(product);
  return {};
}

/// Whether the sums are floating-point numbers; otherwise they are integers.
bool Worker::adds_numbers(const Product& product) const {
  const ir::Type type = ir::type_of(meaning_.program(), product.thing);
  return (type->element != nullptr ? type->element : type)->kind == ir::TypeKind::floating;
}

/// Finds the addend of the product: zero, the contents of its result's place at its end, or a tile
/// read at its begin.
Result<void> Worker::begin_sums(Work& work, Reader& reader, Product& product) {
  const ir::Program& program = meaning_.program();
  const ir::MmaOperands operands = *ir::mma_operands(program.op(product.made));
  const auto zero = ir::constant_number(program, operands.accumulator);
  bool fresh = zero && *zero == 0;
  const std::optional<Input> before = in_place(work.op);
  // A later part of a sum begins where the part before it ends.
  const bool chained =
      before && before->distance == 0 && meaning_.makes(before->from, product.made);
  if (operands.use_accumulator && !chained) {
    TWILL_TRY(const std::int64_t use, reader.integer(*operands.use_accumulator));
    fresh = fresh || use == 0;
  }
  if (fresh && !chained) {
    Tile sums = execute::poison(execute::shape_of(product.box), adds_numbers(product));
    if (sums.is_floating()) {
      std::ranges::fill(sums.numbers(), 0.0F);
    } else {
      std::ranges::fill(sums.integers(), 0);
    }
    product.sums = std::move(sums);
    return {};
  }
  if (!before || (!chained && meaning_.is_decided(operands.accumulator))) {
    TWILL_TRY(const TilePtr sums, reader.operand(operands.accumulator, 0, product.box));
    product.sums = *sums;
    return {};
  }
  // Thing of the op before, which may leave several tiles, such as a product and its addend.
  const auto& things = meaning_.things(before->from);
  Thing thing = chained ? product.thing : meaning_.made_as(operands.accumulator);
  if (!meaning_.has(before->from, thing)) thing = product.thing;
  if (!meaning_.has(before->from, thing) && !things.empty()) thing = things.front();
  const std::int64_t iteration = work.iteration - before->distance;
  const auto buffer = context_.buffer(before->from, work.op);
  if (buffer && buffer == plan_.values[work.op.index()].home &&
      (iteration >= 0 || plan_[*buffer].initial >= -iteration)) {
    product.in_slot = slots_.of(*buffer, iteration);
    product.in_thing = thing;
    return {};
  }
  TWILL_TRY(const TilePtr sums, reader.gather(thing, {*before}, product.box));
  product.sums = *sums;
  return {};
}

Result<void> Worker::begin_store(Work& work, Reader& reader, ir::OpId made) {
  const ir::Program& program = meaning_.program();
  const ir::MemoryAccess access = *ir::memory_access(program.op(made));
  if (!access.source) return execute::cannot(program, made, "stores no tile");
  TWILL_TRY(const bool skipped, is_skipped(reader, made));
  if (skipped) return {};
  Store store;
  store.made = made;
  store.source = *access.source;
  store.box = meaning_.box(work.op, store.source);
  TWILL_TRY(store.tile, reader.operand(store.source, 0, store.box));
  if (access.by_descriptor) {
    TWILL_TRY(store.descriptor, reader.descriptor(access.address, 0));
  }
  for (const ir::ValueId value : program.op(made).operands) {
    const ir::Type type = ir::type_of(program, value);
    const bool needed = value != store.source && type->kind != ir::TypeKind::tensordesc &&
                        type->kind != ir::TypeKind::token;
    if (!needed) continue;
    TWILL_TRY(store.operands[value],
              reader.value(value, 0, type->shape.empty() ? Box() : store.box));
  }
  if (access.result && !program.value(*access.result).uses.empty()) {
    return execute::cannot(program, made, "returns what was there before, which is not known here");
  }
  work.store = std::move(store);
  return {};
}

}  // namespace twill::numerics
