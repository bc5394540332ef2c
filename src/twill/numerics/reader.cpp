#include "twill/numerics/reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/execute/evaluate.h"
#include "twill/extract/body.h"
#include "twill/ir/operands.h"

namespace twill::numerics {

using execute::Tile;
using ir::OpKind;

namespace {

bool is_memory(const ir::Program& program, ir::ValueId value) {
  return ir::type_of(program, value)->kind == ir::TypeKind::memdesc;
}

bool is_allocation(OpKind kind) { return ir::class_of(kind) == ir::OpClass::allocation; }

Tile nothing(const ir::Program& program, ir::ValueId value, const Box& box) {
  const ir::Type type = ir::type_of(program, value);
  const ir::Type element = type->element != nullptr ? type->element : type;
  return execute::poison(execute::shape_of(box), element->kind == ir::TypeKind::floating);
}

std::int64_t count(const Box& box) { return execute::size_of(execute::shape_of(box)); }

}  // namespace

Result<TilePtr> Reader::operand(ir::ValueId value, int distance, const Box& box) {
  return is_memory(meaning_.program(), value) ? content(value, distance, box)
                                              : this->value(value, distance, box);
}

Result<std::int64_t> Reader::integer(ir::ValueId value) {
  TWILL_TRY(const TilePtr tile, this->value(value, 0, {}));
  if (tile->is_floating() || tile->size() != 1) return lost(value);
  return tile->integers()[0];
}

Result<TilePtr> Reader::on_other_side(ir::ValueId value, const Box& box) {
  const bool before = std::exchange(on_other_side_, true);
  auto tile = operand(value, 0, box);
  on_other_side_ = before;
  return tile;
}

Result<TilePtr> Reader::value(ir::ValueId value, int distance, const Box& box) {
  std::vector<Piece>& known = known_[{value, distance}];
  for (const Piece& piece : known) {
    if (piece.box == box) return piece.tile;
  }
  TWILL_TRY(TilePtr tile, find(value, distance, box));
  known_[{value, distance}].push_back({box, tile});
  return tile;
}

Result<TilePtr> Reader::find(ir::ValueId value, int distance, const Box& box) {
  if (meaning_.is_outside(value)) return context_.before(value, box);
  if (const ir::Carried* it = meaning_.carried(value)) {
    if (!meaning_.is_known(value)) return carried(*it, distance, box);
  }
  const auto made = meaning_.program().value(value).op;
  if (const auto passed = meaning_.renamed(value); passed && !made) {
    return this->value(*passed, distance, box);
  }
  if (made && meaning_.program().op(*made).kind == OpKind::branch) {
    return chosen(value, distance, box);
  }
  if (made && op_ && distance == 0 && meaning_.makes(*op_, *made)) {
    return computed(*made, value, distance, box);
  }
  const std::vector<Input> from = holders(value, distance);
  if (!from.empty()) return gather(value, from, box);
  if (meaning_.is_known(value)) {
    if (distance > iteration_) return lost(value);
    TWILL_TRY(const TilePtr tile, context_.pure(value, iteration_ - distance));
    return share(execute::crop(*tile, box));
  }
  if (!made || !makers(value).empty()) return lost(value);
  return computed(*made, value, distance, box);
}

/// Finds the result of a branch. If an op of the plan makes it: the value that this op left.
/// Otherwise the value that the condition chooses.
Result<TilePtr> Reader::chosen(ir::ValueId result, int distance, const Box& box) {
  if (const TilePtr kept = context_.kept(result, iteration_ - distance, box)) return kept;
  const Thing thing = meaning_.behind_renaming(result);
  const auto made = meaning_.program().value(thing).op;
  const bool here = made && op_ && distance == 0 && meaning_.makes(*op_, *made);
  if (!here && meaning_.is_made_inside(result) && !makers(thing).empty()) {
    return value(thing, distance, box);
  }
  const ir::OpId branch = *meaning_.program().value(result).op;
  TWILL_TRY(const TilePtr condition,
            value(meaning_.program().op(branch).operands[0], distance, Box()));
  if (condition->is_floating() || condition->size() != 1) return lost(result);
  const auto yielded = meaning_.yielded_by(result, condition->integers()[0] != 0);
  return yielded ? value(*yielded, distance, box) : Result<TilePtr>(lost(result));
}

/// Finds a carried value: of the iteration before; for the first iteration, from before the loop.
Result<TilePtr> Reader::carried(const ir::Carried& carried, int distance, const Box& box) {
  if (distance < iteration_) return value(carried.yielded, distance + 1, box);
  for (const Input& input : op_ ? meaning_.inputs(*op_) : std::vector<Input>()) {
    for (const Thing thing : meaning_.things(input.from)) {
      // Initial copy of the value, if the plan has one.
      if (input.value_distance() == distance + 1 && meaning_.yielded_as(thing) == &carried) {
        return gather(thing, holders(thing, distance + 1), box);
      }
    }
  }
  return context_.before(carried.init, box);
}

Result<TilePtr> Reader::computed(ir::OpId made, ir::ValueId value, int distance, const Box& box) {
  const ir::Program& program = meaning_.program();
  const ir::Op& op = program.op(made);
  if (op.kind == OpKind::shared_load || op.kind == OpKind::tensor_load) {
    return content(op.operands[0], distance, box);
  }
  const auto access = ir::memory_access(op);
  if (access && access->space == ir::AccessSpace::global) return load(made, distance, box);
  // Lost product: one without an op of the plan is on the unplanned side of a branch.
  const bool multiplies = ir::mma_operands(op).has_value();
  if ((multiplies && !on_other_side_) || !execute::can_evaluate(op.kind)) return lost(value);
  std::vector<TilePtr> operands;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Box part = execute::operand_box(program, made, i, box);
    TWILL_TRY(TilePtr tile, operand(op.operands[i], distance, part));
    operands.push_back(std::move(tile));
  }
  TWILL_TRY(Tile tile, execute::evaluate(program, made, operands, box, program.value(value).index));
  return share(std::move(tile));
}

Result<execute::Descriptor> Reader::descriptor(ir::ValueId value, int distance) {
  const ir::Program& program = meaning_.program();
  if (meaning_.is_outside(value)) {
    const auto* known = std::get_if<execute::Descriptor>(&context_.outside().value(value));
    return known != nullptr ? Result<execute::Descriptor>(*known) : lost(value);
  }
  const ir::Op* op = ir::defining_op(program, value);
  if (op == nullptr || op->kind != OpKind::make_descriptor) return lost(value);
  const auto integer = [&](ir::ValueId operand) -> Result<std::int64_t> {
    TWILL_TRY(const TilePtr tile, this->value(operand, distance, {}));
    if (tile->is_floating() || tile->size() != 1) return lost(operand);
    return tile->integers()[0];
  };
  return execute::made_descriptor(program, *program.value(value).op, context_.outside().memory(),
                                  integer);
}

Result<TilePtr> Reader::load(ir::OpId made, int distance, const Box& box) {
  const ir::Program& program = meaning_.program();
  const ir::Op& op = program.op(made);
  const auto access = ir::memory_access(op);
  std::optional<execute::Descriptor> known;
  if (access->by_descriptor) {
    TWILL_TRY(known, descriptor(access->address, distance));
  }
  const execute::Descriptor* descriptor = known ? &*known : nullptr;
  const auto lookup = [&](ir::ValueId value) -> Result<TilePtr> {
    const bool scalar = ir::type_of(program, value)->shape.empty();
    return this->value(value, distance, scalar ? Box() : box);
  };
  TWILL_TRY(Tile tile,
            execute::read_global(program, made, context_.outside().memory(), descriptor, lookup));
  if (descriptor == nullptr) return share(std::move(tile));
  tile.shape = ir::type_of(program, op.results[0])->shape;
  return share(execute::crop(tile, box));
}

Result<TilePtr> Reader::content(ir::ValueId memdesc, int distance, const Box& box) {
  const ir::Program& program = meaning_.program();
  const auto made = program.value(memdesc).op;
  if (!made) return lost(memdesc);
  const ir::Op& op = program.op(*made);
  if (is_allocation(op.kind)) return allocated(*made, memdesc, distance, box);
  if (op.kind != OpKind::buffer_transpose && op.kind != OpKind::buffer_reshape) {
    return lost(memdesc);
  }
  const Box part = execute::operand_box(program, *made, 0, box);
  TWILL_TRY(const TilePtr from, content(op.operands[0], distance, part));
  TWILL_TRY(Tile tile, execute::evaluate(program, *made, std::vector{from}, box));
  return share(std::move(tile));
}

Result<TilePtr> Reader::allocated(ir::OpId made, ir::ValueId memdesc, int distance,
                                  const Box& box) {
  const ir::Program& program = meaning_.program();
  const ir::Op& op = program.op(made);
  if (meaning_.is_outside(memdesc)) {
    if (meaning_.is_written(memdesc)) {
      const std::vector<Input> from = holders(memdesc, std::nullopt);
      return from.empty() ? Result<TilePtr>(lost(memdesc)) : gather(memdesc, from, box);
    }
    const auto buffer = context_.invariant_buffer(memdesc);
    if (!buffer) return context_.before(memdesc, box);
    const std::size_t slot = slots_.of(*buffer, 0);
    readings_.push_back({slot, slots_.changes(slot, queue_)});
    const Piece* piece = slots_.find(slot, memdesc, queue_);
    if (piece != nullptr) return share(execute::crop(*piece->tile, box));
    missing_.push_back(slots_.name(slot));
    return share(nothing(program, memdesc, box));
  }
  const auto source = ir::operand_in(op, ir::Role::source);
  const bool here = op_ && distance == 0 && meaning_.makes(*op_, made);
  if (!here) {
    // Contents written without a source come from the last writer.
    const std::vector<Input> from =
        holders(memdesc, source ? std::optional(distance) : std::nullopt);
    if (!from.empty()) return gather(memdesc, from, box);
  }
  if (!source) return lost(memdesc);
  return value(*source, distance, box);
}

std::vector<Input> Reader::makers(Thing thing) const {
  std::vector<Input> all;
  const std::size_t ops = context_.plan().problem.ops().size();
  for (std::size_t v = 0; v < ops; ++v) {
    if (!meaning_.forwards(OpId(v)) && meaning_.has(OpId(v), thing)) all.push_back({OpId(v), 0});
  }
  return all;
}

std::vector<Input> Reader::holders(Thing thing, std::optional<int> distance) const {
  std::vector<Input> all;
  if (!op_) {
    all = makers(thing);
    if (!is_memory(meaning_.program(), thing)) return distance == 0 ? all : std::vector<Input>();
    // Last writer, where several ops write one place.
    ir::OpId last(0);
    for (const Input& input : all) last = std::max(last, *meaning_.made(input.from).rbegin());
    std::erase_if(all, [&](const Input& input) { return !meaning_.makes(input.from, last); });
    return all;
  }
  for (const Input& input : meaning_.inputs(*op_)) {
    if (meaning_.has(input.from, thing)) all.push_back(input);
  }
  const auto is_there = [&](const Input& input) {
    return !distance || input.value_distance() == *distance;
  };
  if (on_other_side_ && std::none_of(all.begin(), all.end(), is_there)) {
    all = makers(thing);
    for (Input& input : all) input.distance = distance.value_or(0);
  }
  if (!distance && !all.empty()) {
    const auto nearer = [](const Input& a, const Input& b) {
      return a.value_distance() < b.value_distance();
    };
    distance = std::min_element(all.begin(), all.end(), nearer)->value_distance();
  }
  std::erase_if(all, [&](const Input& input) { return input.value_distance() != *distance; });
  return all;
}

Result<TilePtr> Reader::gather(Thing thing, const std::vector<Input>& from, const Box& box) {
  Tile tile = nothing(meaning_.program(), thing, box);
  std::int64_t covered = 0;
  for (const Input& input : from) {
    const Box part = execute::common(box, meaning_.box(input.from, thing));
    if (execute::is_empty(part)) continue;
    covered += count(part);
    const std::int64_t iteration = iteration_ - input.distance;
    const auto buffer = context_.buffer(input.from, op_);
    const bool early = iteration < 0;
    const bool kept = buffer && (!early || context_.plan()[*buffer].initial >= -iteration);
    if (early && !kept) {
      TWILL_TRY(const TilePtr first, context_.initial(thing, part));
      if (!first) return lost(thing);
      execute::paste(tile, box, *first, part);
      continue;
    }
    if (!buffer) return lost(thing);
    const std::size_t slot = slots_.of(*buffer, iteration);
    if (queue_ != 0 || context_.plan()[*buffer].residence != plan::Residence::registers) {
      readings_.push_back({slot, slots_.changes(slot, queue_)});
    }
    const Piece* piece = slots_.find(slot, thing, queue_);
    if (piece != nullptr) {
      execute::paste(tile, box, *piece->tile, piece->box);
    } else {
      missing_.push_back(fmt::format("{} [{}] in {}", context_.plan().problem[input.from].name,
                                     iteration, slots_.name(slot)));
    }
  }
  if (covered < count(box)) return lost(thing);
  return share(std::move(tile));
}

tl::unexpected<Diagnostic> Reader::lost(ir::ValueId value) const {
  const ir::Program& program = meaning_.program();
  const auto made = program.value(value).op;
  const std::string who = op_ ? context_.plan().problem[*op_].name : "what follows the loop";
  return fail(ir::text_location(program, made.value_or(meaning_.loop().op)),
              fmt::format("cannot be run with numbers in the plan's order: {} needs %{}, and no "
                          "dependence brings it",
                          who, program.value(value).name));
}

}  // namespace twill::numerics
