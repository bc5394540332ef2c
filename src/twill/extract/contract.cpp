#include "twill/extract/contract.h"

#include <algorithm>

#include "twill/extract/branches.h"
#include "twill/extract/contractor.h"
#include "twill/ir/source_words.h"

namespace twill::extract {
namespace {

using ir::OpKind;

/// Whether an op is left out: barriers, fences and tokens, which the schedule creates itself, and
/// remarks.
bool is_left_out(OpKind kind) {
  const ir::OpClass of = ir::class_of(kind);
  return of == ir::OpClass::synchronization || of == ir::OpClass::remark;
}

/// Whether an op occurs only in loops that a pipeliner has already transformed.
bool is_pipelined(OpKind kind) {
  return kind == OpKind::barrier_wait || kind == OpKind::barrier_arrive ||
         kind == OpKind::copy_wait;
}

bool is_register_shuffle(OpKind kind) {
  return kind == OpKind::join || kind == OpKind::split || kind == OpKind::cat;
}

bool works_on_tiles(const ir::Program& program, const ir::Op& op) {
  const auto tile = [&](ir::ValueId value) { return is_tile(program, value); };
  return std::any_of(op.operands.begin(), op.operands.end(), tile) ||
         std::any_of(op.results.begin(), op.results.end(), tile);
}

bool is_row_vector(ir::Type type) {
  const auto is_long = [](std::int64_t extent) { return extent > 1; };
  return std::count_if(type->shape.begin(), type->shape.end(), is_long) < 2;
}

/// Whether a tile from before the loop is recomputed at each use. Such a tile is made of row
/// vectors and scalars alone, by views and index arithmetic.
bool is_made_anew(const ir::Program& program, ir::ValueId value) {
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> open = {value};
  while (!open.empty()) {
    const ir::ValueId tile = open.back();
    open.pop_back();
    const ir::Type type = ir::type_of(program, tile);
    if (!seen.insert(tile).second || is_row_vector(type)) continue;
    const ir::Op* op = ir::defining_op(program, tile);
    if (op == nullptr) return false;
    const auto known = elementwise(program, *op);
    const bool is_index = known && known->unit == Unit::core && type->element &&
                          type->element->kind != ir::TypeKind::floating;
    if (!is_index && !is_view(op->kind) && !is_free(op->kind)) return false;
    open.insert(open.end(), op->operands.begin(), op->operands.end());
  }
  return true;
}

}  // namespace

bool is_pipelined(const Body& body) {
  return std::any_of(body.ops.begin(), body.ops.end(),
                     [&](ir::OpId id) { return is_pipelined(body.program->op(id).kind); });
}

TileGraph contract(const Body& body) { return Contractor(body).run(); }

TileGraph Contractor::run() {
  graph_.axes = axes_.table();
  graph_.warnings = body_.warnings;
  for (ir::OpId id : body_.ops) {
    if (is_root(id)) make(id);
  }
  if (is_pipelined(body_)) {
    graph_.warnings.push_back({ir::text_location(program(), body_.loop.op),
                               "the loop is already pipelined: its rings count as single buffers",
                               "", "use the TTGIR from before Triton's scheduling passes"});
  }
  for (const ir::Carried& carried : body_.loop.carried) {
    const bool leaves = carried.result && !program().value(*carried.result).uses.empty();
    if (leaves && ir::is_tensor(ir::type_of(program(), carried.yielded))) {
      producers_of(carried.yielded);
    }
  }
  for (const ir::Forwarded& forwarded : body_.loop.forwarded) {
    const bool leaves = !program().value(forwarded.result).uses.empty();
    if (leaves && ir::is_tensor(ir::type_of(program(), forwarded.passed))) {
      producers_of(forwarded.passed);
    }
  }
  for (const RareBranch& rare : body_.rare) make_conditional(rare);
  read_conditions();
  connect_buffers();
  connect_memory();
  note_staging();
  sort_by_text();
  return std::move(graph_);
}

/// Whether an op has an effect besides its results. All other ops are contracted only for their
/// readers.
bool Contractor::is_root(ir::OpId id) const {
  const ir::Op& op = program().op(id);
  if (ir::mma_operands(op)) return true;
  if (const auto access = ir::memory_access(op)) {
    return access->writes || access->destination.has_value();
  }
  if (is_left_out(op.kind) || is_view(op.kind) || is_free(op.kind)) return false;
  return op.kind == OpKind::other && works_on_tiles(program(), op);
}

std::optional<TileOpId> Contractor::make(ir::OpId id) {
  const auto known = made_.find(id);
  if (known != made_.end()) return known->second;
  made_[id] = std::nullopt;
  const ir::Op& op = program().op(id);
  if (ir::mma_operands(op)) return make_product(id);
  if (const auto access = ir::memory_access(op)) return make_access(id, *access);
  if (!works_on_tiles(program(), op) || is_left_out(op.kind)) return std::nullopt;
  if (ir::class_of(op.kind) == ir::OpClass::reduction) return make_reduction(id);
  if (const auto work = elementwise(program(), op)) return make_elementwise(id, *work);
  if (is_register_shuffle(op.kind)) {
    return make_elementwise(id, {Unit::core, {{"int", 32, 1, "", 0}}, "pack"});
  }
  return make_unknown(id);
}

Source Contractor::source_of(ir::OpId id) const {
  const ir::Op& op = program().op(id);
  return {id, {program().file(), op.line, op.column}, ir::op_words(program(), id)};
}

TileOpId Contractor::add(ir::OpId id, TileOp op) {
  const TileOpId made(graph_.ops.size());
  if (op.sources.empty()) op.sources.push_back(source_of(id));
  op.branch = branch_around(body_, id);
  graph_.ops.push_back(std::move(op));
  made_[id] = made;
  return made;
}

std::optional<TileOpId> Contractor::make_elementwise(ir::OpId id, const Elementwise& work) {
  const ir::Op& op = program().op(id);
  if (op.results.empty() || !is_tile(program(), op.results[0])) return std::nullopt;
  TileOp tile;
  tile.action = Action::elementwise;
  tile.unit = work.unit;
  tile.pieces = work.pieces;
  tile.space = tile.result = axes_.space_of(op.results[0]);
  tile.result_bits = ir::element_bits(ir::type_of(program(), op.results[0]));
  tile.home = Home::registers;
  const auto invariant = [&](ir::ValueId value) {
    const Origin origin = origin_of(body_, value);
    const ir::Op* from = ir::defining_op(program(), origin.value);
    return origin.invariant || (from && is_free(from->kind));
  };
  const bool scales =
      op.kind == OpKind::fmul && std::any_of(op.operands.begin(), op.operands.end(), invariant);
  tile.words.push_back(scales ? std::string("scale") : work.word);
  const TileOpId made = add(id, std::move(tile));
  bool orientable = true;
  for (ir::ValueId operand : op.operands) {
    for (const From& from : producers_of(operand)) {
      connect(graph_, {from.op, made, from.distance, Flow::value});
      orientable = orientable && from.distance == 0 && is_orientable(from.op);
    }
  }
  if (orientable) orientable_.insert(made);
  return made;
}

std::optional<TileOpId> Contractor::make_reduction(ir::OpId id) {
  const ir::Op& op = program().op(id);
  const auto reduction = ir::reduction(program(), id);
  if (!reduction || reduction->sources.empty()) return make_unknown(id);
  const ir::ValueId source = reduction->sources[0];
  const Elementwise work = combination(program(), id);
  TileOp tile;
  tile.action = Action::reduction;
  tile.pieces = work.pieces;
  tile.space = axes_.space_of(source);
  const auto rank = ir::type_of(program(), source)->shape.size();
  const auto axis = static_cast<std::size_t>(std::max(reduction->axis, 0));
  if (axis < rank) tile.reduced = find_axis(tile.space, axes_.extent_of(source, axis).axis);
  tile.words.push_back((axis + 1 == rank ? "row_" : "column_") + work.word);
  tile.home = Home::registers;
  for (ir::ValueId result : op.results) {
    tile.result = axes_.space_of(result);
    tile.result_bits += ir::element_bits(ir::type_of(program(), result));
  }
  const TileOpId made = add(id, std::move(tile));
  for (ir::ValueId value : reduction->sources) read(value, made);
  return made;
}

std::optional<TileOpId> Contractor::make_unknown(ir::OpId id) {
  const ir::Op& op = program().op(id);
  TileOp tile;
  tile.action = Action::unknown;
  tile.pieces = {{op.name, 32, 1, "", 0}};
  tile.words = {op.name.substr(op.name.find('.') + 1)};
  const auto widest = [&](ir::ValueId value) {
    if (!is_tile(program(), value)) return;
    Space space = axes_.space_of(value);
    if (elements_of(space) > elements_of(tile.space)) tile.space = std::move(space);
  };
  for (ir::ValueId value : op.operands) widest(value);
  for (ir::ValueId value : op.results) {
    widest(value);
    if (!ir::is_tensor(ir::type_of(program(), value))) continue;
    tile.home = Home::registers;
    tile.result = axes_.space_of(value);
    tile.result_bits += ir::element_bits(ir::type_of(program(), value));
  }
  const TileOpId made = add(id, std::move(tile));
  for (ir::ValueId value : op.operands) read(value, made);
  return made;
}

void Contractor::make_conditional(const RareBranch& rare) {
  TileOp tile;
  tile.action = Action::conditional;
  tile.words = {"epilogue"};
  tile.sources.push_back(source_of(rare.op));
  for (ir::OpId id : rare.ops) tile.sources.push_back(source_of(id));
  const TileOpId made = add(rare.op, std::move(tile));
  for (ir::OpId id : rare.ops) {
    for (ir::ValueId operand : program().op(id).operands) {
      const auto from = program().value(operand).op;
      const bool inner =
          from && std::find(rare.ops.begin(), rare.ops.end(), *from) != rare.ops.end();
      if (!inner && ir::is_tensor(ir::type_of(program(), operand))) read(operand, made);
    }
  }
}

/// Makes ops in a branch wait for the branch's condition, if the loop computes the condition from
/// tiles.
void Contractor::read_conditions() {
  for (std::size_t made = 0; made < graph_.ops.size(); ++made) {  // conditions may add ops
    const TileOp& op = graph_.ops[made];
    const auto under = op.forwards ? body_.under.end() : body_.under.find(op.sources[0].op);
    if (under == body_.under.end()) continue;
    for (ir::ValueId condition : under->second) read(condition, TileOpId(made));
  }
}

std::vector<Contractor::From> Contractor::producers_of(ir::ValueId value) {
  Gathered out;
  gather(value, 0, false, out);
  return std::move(out.from);
}

void Contractor::gather(ir::ValueId value, int distance, bool decides, Gathered& out) {
  const Origin origin = origin_of(body_, value);
  for (const Decision& decision : origin.decisions) {
    if (!out.decisions.insert(decision.condition).second) continue;
    gather(decision.condition, distance + decision.distance, true, out);
  }
  for (const BranchValue& other : origin.alternatives) {
    if (!out.alternatives.insert(other.value).second) continue;
    gather(other.value, distance + other.distance, true, out);
  }
  if (origin.invariant) return note_invariant(origin.value);
  const auto from = program().value(origin.value).op;
  if (!from || !out.seen.insert(origin.value).second) return;
  const ir::Op& op = program().op(*from);
  if (is_free(op.kind) || !works_on_tiles(program(), op)) {
    for (ir::ValueId operand : read_by(program(), *from)) {
      gather(operand, distance + origin.distance, decides, out);
    }
    return;
  }
  const auto made = make(*from);
  if (!made) return;
  out.from.push_back(
      {in_registers(*made, *from, origin.transposed), distance + origin.distance, decides});
}

void Contractor::read(ir::ValueId value, TileOpId by, Flow flow) {
  // Buffers are handled in buffers.cpp.
  if (ir::type_of(program(), value)->kind == ir::TypeKind::memdesc) return;
  for (const From& from : producers_of(value)) {
    connect(graph_, {from.op, by, from.distance, from.decides ? Flow::value : flow});
  }
}

/// Notes a register tile from before the loop, which takes registers all the time. Row vectors and
/// tiles that are recomputed at each use do not count.
void Contractor::note_invariant(ir::ValueId value) {
  ir::ValueId real = value;
  const ir::Op* op = ir::defining_op(program(), real);
  while (op && is_view(op->kind) && !op->operands.empty()) {
    real = op->operands[0];
    op = ir::defining_op(program(), real);
  }
  if (!op || is_free(op->kind) || !ir::is_tensor(ir::type_of(program(), real))) return;
  if (ir::memory_access(*op) && op->kind != OpKind::load && op->kind != OpKind::block_load &&
      op->kind != OpKind::shared_load) {
    return;
  }
  Space space = axes_.space_of(value);
  if (space.size() < 2 || is_made_anew(program(), real) || !noted_.insert(real).second) return;
  const auto id = program().value(real).op;
  graph_.invariant_buffers.push_back({source_of(*id).text, Home::registers, std::move(space),
                                      ir::element_bits(ir::type_of(program(), real)),
                                      "register tile made before the loop", *id, false});
}

}  // namespace twill::extract
