#include <algorithm>

#include "twill/execute/evaluate.h"
#include "twill/execute/trips.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"
#include "twill/numerics/reader.h"

namespace twill::numerics {

using execute::Box;
using execute::Tile;

namespace {

constexpr std::int64_t kMostTrips = 10'000;

}  // namespace

LoopContext::LoopContext(const Meaning& meaning, const plan::Plan& plan,
                         execute::Interpreter& outside)
    : meaning_(meaning), plan_(plan), outside_(outside) {
  find_invariant_buffers();
}

/// Evaluates the condition of a while loop until it fails, to count the trips.
Result<void> LoopContext::count_trips() {
  for (trips_ = 0; trips_ <= kMostTrips; ++trips_) {
    TWILL_TRY(const TilePtr goes_on, pure(*meaning_.condition(), trips_));
    if (goes_on->is_floating() || goes_on->size() != 1) break;
    if (goes_on->integers()[0] == 0) return {};
  }
  return execute::cannot(meaning_.program(), meaning_.loop().op, "has too many trips");
}

Result<void> LoopContext::start() {
  if (meaning_.condition()) return count_trips();
  const ir::Loop& loop = meaning_.loop();
  TWILL_TRY(lower_, outside_.integer(loop.op, *loop.lower));
  TWILL_TRY(const std::int64_t upper, outside_.integer(loop.op, *loop.upper));
  TWILL_TRY(step_, outside_.integer(loop.op, *loop.step));
  if (step_ <= 0) return execute::cannot(meaning_.program(), loop.op, "has no positive step");
  const std::uint64_t trips = execute::trips_of(lower_, upper, step_);
  if (trips > kMostTrips) {
    return execute::cannot(meaning_.program(), loop.op, "has too many trips");
  }
  trips_ = static_cast<std::int64_t>(trips);
  return {};
}

Result<TilePtr> LoopContext::before(ir::ValueId value, const Box& box) {
  TWILL_TRY(const TilePtr tile, outside_.tile(meaning_.loop().op, value));
  if (tile->shape.size() != box.size()) return tile;
  return share(execute::crop(*tile, box));
}

Result<TilePtr> LoopContext::pure(ir::ValueId value, std::int64_t iteration) {
  const ir::Program& program = meaning_.program();
  const Box box = execute::whole(ir::type_of(program, value)->shape);
  if (meaning_.is_outside(value)) return before(value, box);
  if (value == meaning_.loop().induction) {
    return share({{}, execute::Integers{lower_ + iteration * step_}});
  }
  const auto known = known_.find({value, iteration});
  if (known != known_.end()) return known->second;
  TilePtr found;
  if (const ir::Carried* carried = meaning_.carried(value)) {
    TWILL_TRY(found,
              iteration == 0 ? before(carried->init, box) : pure(carried->yielded, iteration - 1));
  } else if (const auto passed = meaning_.renamed(value)) {
    TWILL_TRY(found, pure(*passed, iteration));
  } else {
    TWILL_TRY(found, computed(value, iteration));
  }
  known_.emplace(std::pair(value, iteration), found);
  return found;
}

Result<TilePtr> LoopContext::computed(ir::ValueId value, std::int64_t iteration) {
  const ir::Program& program = meaning_.program();
  const ir::OpId op = *program.value(value).op;
  if (ir::memory_access(program.op(op))) {
    TWILL_TRY(Tile tile,
              execute::read_global(program, op, outside_.memory(), nullptr,
                                   [&](ir::ValueId operand) { return pure(operand, iteration); }));
    return share(std::move(tile));
  }
  std::vector<TilePtr> operands;
  for (const ir::ValueId operand : program.op(op).operands) {
    TWILL_TRY(TilePtr tile, pure(operand, iteration));
    operands.push_back(std::move(tile));
  }
  TWILL_TRY(Tile tile, execute::evaluate(program, op, operands,
                                         execute::whole(ir::type_of(program, value)->shape),
                                         program.value(value).index));
  return share(std::move(tile));
}

Result<TilePtr> LoopContext::initial(Thing thing, const Box& box) {
  if (ir::type_of(meaning_.program(), thing)->kind == ir::TypeKind::memdesc) {
    if (!meaning_.is_outside(thing)) return TilePtr();
    return before(thing, box);
  }
  const ir::Carried* carried = meaning_.yielded_as(thing);
  if (carried == nullptr) return TilePtr();
  return before(carried->init, box);
}

std::optional<BufferId> LoopContext::buffer(OpId made, std::optional<OpId> reader) {
  if (!reader) return plan_.values[made.index()].home;
  const auto [place, fresh] = buffers_.try_emplace({made, *reader}, std::nullopt);
  if (fresh) place->second = plan::read_from(plan_, made, *reader);
  return place->second;
}

/// Finds loop-invariant buffers. They have the allocation's name, and the steps that fill them have
/// the copy's name.
void LoopContext::find_invariant_buffers() {
  const ir::Program& program = meaning_.program();
  std::map<std::pair<int, int>, ir::OpId> by_place;
  const auto function = ir::enclosing(program, meaning_.loop().op, ir::OpKind::function);
  for (const ir::OpId op : ir::walk(program, function.value_or(program.module()))) {
    by_place.try_emplace({program.op(op).line, program.op(op).column}, op);
    if (program.op(op).results.empty()) continue;
    const std::string name = ir::op_words(program, op);
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      const plan::Buffer& buffer = plan_.buffers[b];
      if (!buffer.invariant_buffer || buffer.staging || buffer.name != name) continue;
      invariant_buffers_.emplace(program.op(op).results[0], BufferId(b));
    }
  }
  if (!plan_.kernel) return;
  for (std::size_t i = 0; i < plan_.kernel->per_tile_ops.size(); ++i) {
    const plan::PerTileOp& outside = plan_.kernel->per_tile_ops[i];
    if (!plan::is_copy(outside.mechanism) || outside.buffers.empty()) continue;
    for (const auto& [root, buffer] : invariant_buffers_) {
      if (buffer == outside.buffers.front()) filled_.emplace(i, root);
    }
  }
}

std::optional<BufferId> LoopContext::invariant_buffer(ir::ValueId root) const {
  const auto found = invariant_buffers_.find(root);
  return found == invariant_buffers_.end() ? std::nullopt : std::optional(found->second);
}

void LoopContext::keep(ir::ValueId result, std::int64_t iteration, Piece piece) {
  constexpr std::int64_t kIterations = 8;  // more iterations than any read looks back
  kept_.erase({result, iteration - kIterations});
  std::vector<Piece>& pieces = kept_[{result, iteration}];
  std::erase_if(pieces, [&](const Piece& other) { return other.box == piece.box; });
  pieces.push_back(std::move(piece));
}

TilePtr LoopContext::kept(ir::ValueId result, std::int64_t iteration, const Box& box) const {
  const auto found = kept_.find({result, iteration});
  if (found == kept_.end()) return nullptr;
  const std::vector<Piece>& pieces = found->second;
  Tile tile = execute::poison(execute::shape_of(box), pieces.front().tile->is_floating());
  std::int64_t covered = 0;
  for (const Piece& piece : pieces) {
    const Box part = execute::common(box, piece.box);
    if (execute::is_empty(part)) continue;
    covered += execute::size_of(execute::shape_of(part));
    execute::paste(tile, box, *piece.tile, piece.box);
  }
  return covered < execute::size_of(tile.shape) ? nullptr : share(std::move(tile));
}

std::optional<ir::ValueId> LoopContext::filled_by(std::size_t outside) const {
  const auto found = filled_.find(outside);
  return found == filled_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace twill::numerics
