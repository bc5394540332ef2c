#include <algorithm>

#include "twill/extract/contractor.h"

namespace twill::extract {
namespace {

using ir::AccessSpace;
using ir::OpKind;

/// Bits of global memory that a thread accesses at once.
constexpr std::int64_t kAccessBits = 128;

bool is_atomic(OpKind kind) {
  return kind == OpKind::atomic_update || kind == OpKind::atomic_compare;
}

bool is_reducing(OpKind kind) {
  return kind == OpKind::block_update || kind == OpKind::block_update_async;
}

Home home_of(const ir::Program& program, ir::ValueId memdesc) {
  const ir::Type type = ir::type_of(program, memdesc);
  if (type->kind != ir::TypeKind::memdesc) return Home::shared;
  return type->space == ir::MemorySpace::tensor ? Home::tensor : Home::shared;
}

}  // namespace

std::optional<TileOpId> Contractor::make_access(ir::OpId id, const ir::MemoryAccess& access) {
  if (access.destination) {
    return make_copy(id, access, *access.destination,
                     access.by_descriptor ? "tile_load" : "pointer_copy");
  }
  if (access.space != AccessSpace::global) {
    return access.writes ? make_move_in(id, access) : make_move_out(id, access);
  }
  if (access.writes) return make_store(id, access);
  if (!access.result || !is_tile(program(), *access.result)) return std::nullopt;
  if (access.by_descriptor) return make_copy(id, access, *access.result, "tile_load");
  if (only_fills_shared(*access.result)) {
    return make_copy(id, access, *access.result, "pointer_copy");
  }
  return make_load(id, access);
}

std::optional<TileOpId> Contractor::make_copy(ir::OpId id, const ir::MemoryAccess& access,
                                              ir::ValueId tile, const std::string& kind) {
  const ir::Type type = ir::type_of(program(), tile);
  TileOp copy;
  copy.action = Action::copy;
  copy.space = copy.result = axes_.space_of(tile);
  copy.result_bits = ir::element_bits(type);
  copy.pieces = {{kind, copy.result_bits, 1, "", 0}};
  copy.home = Home::shared;
  copy.one_warp = true;
  copy.words = {"load" + label_of(access.address)};
  const TileOpId made = add(id, std::move(copy));
  absorb_addresses(access, made);
  return made;
}

std::optional<TileOpId> Contractor::make_load(ir::OpId id, const ir::MemoryAccess& access) {
  TileOp load;
  load.action = Action::load;
  load.space = load.result = axes_.space_of(*access.result);
  load.result_bits = ir::element_bits(ir::type_of(program(), *access.result));
  load.pieces = {{"pointer_load", load.result_bits, 1, "", 0}};
  load.home = Home::registers;
  load.words = {"load"};
  const TileOpId made = add(id, std::move(load));
  absorb_addresses(access, made);
  return made;
}

/// Adds a store to global memory: by TMA from a staging buffer, or directly from registers.
std::optional<TileOpId> Contractor::make_store(ir::OpId id, const ir::MemoryAccess& access) {
  const ir::Op& op = program().op(id);
  if (!access.source) return std::nullopt;
  const ir::Type type = ir::type_of(program(), *access.source);
  const bool staged = type->kind == ir::TypeKind::tensor && access.by_descriptor;
  TileOp store;
  store.action = Action::store;
  store.space = axes_.space_of(*access.source);
  const int bits = ir::element_bits(type);
  if (access.by_descriptor) {
    store.pieces = {{is_reducing(op.kind) ? "tile_reduce_store" : "tile_store", bits, 1, "", 0}};
    store.words = {is_reducing(op.kind) ? "reduce_store" : "store"};
    store.one_warp = true;
  } else {
    store.pieces = {{is_atomic(op.kind) ? "atomic" : "pointer_store", bits, 1, "", 0}};
    store.words = {is_atomic(op.kind) ? "atomic" : "store"};
  }
  if (is_atomic(op.kind) && access.result && !program().value(*access.result).uses.empty()) {
    store.home = Home::registers;
    store.result = store.space;
    store.result_bits = bits;
  }
  std::optional<TileOpId> stage;
  if (staged) {
    TileOp staging;
    staging.action = Action::move;
    staging.space = staging.result = store.space;
    staging.result_bits = bits;
    staging.pieces = {{"smem_store", bits, 1, "", 0}};
    staging.home = Home::shared;
    staging.forwards = true;
    staging.words = {"stage"};
    staging.sources = {source_of(id)};
    stage = TileOpId(graph_.ops.size());
    graph_.ops.push_back(std::move(staging));
    read(*access.source, *stage);
  }
  const TileOpId made = add(id, std::move(store));
  if (stage) connect(graph_, {*stage, made, 0, Flow::value});
  if (!stage) read(*access.source, made);
  absorb_addresses(access, made);
  return made;
}

/// Adds a move from registers to shared or tensor memory. An allocation filled by an asynchronous
/// copy is the copy's target, and has no op of its own.
std::optional<TileOpId> Contractor::make_move_in(ir::OpId id, const ir::MemoryAccess& access) {
  if (!access.source) return std::nullopt;
  const Origin origin = origin_of(body_, *access.source);
  const auto from = origin.invariant ? std::nullopt : program().value(origin.value).op;
  if (from && !origin.transposed) {
    const auto made = make(*from);
    if (made && graph_.ops[made->index()].action == Action::copy) {
      made_[id] = made;
      return made;
    }
  }
  TileOp move;
  move.action = Action::move;
  move.home = home_of(program(), access.address);
  move.space = move.result = axes_.space_of(access.address);
  move.result_bits = ir::element_bits(ir::type_of(program(), access.address));
  const bool tensor = move.home == Home::tensor;
  move.pieces = {{tensor ? "tmem_store" : "smem_store", move.result_bits, 1, "", 0}};
  move.words = {tensor ? "tmem_store" : "smem_store"};
  const TileOpId made = add(id, std::move(move));
  if (from && origin.transposed) {
    // Stores in the transposed order; threads need no exchange.
    if (const auto source = make(*from)) {
      connect(graph_, {in_registers(*source, *from, false), made, origin.distance, Flow::value});
      return made;
    }
  }
  read(*access.source, made);
  return made;
}

std::optional<TileOpId> Contractor::make_move_out(ir::OpId id, const ir::MemoryAccess& access) {
  if (!access.result || !is_tile(program(), *access.result)) return std::nullopt;
  TileOp move;
  move.action = Action::move;
  move.space = move.result = axes_.space_of(*access.result);
  move.result_bits = ir::element_bits(ir::type_of(program(), *access.result));
  const bool tensor = home_of(program(), access.address) == Home::tensor;
  move.pieces = {{tensor ? "tmem_load" : "smem_load", move.result_bits, 1, "", 0}};
  move.home = Home::registers;
  move.words = {tensor ? "tmem_load" : "smem_load"};
  return add(id, std::move(move));
}

/// "_q" for a descriptor or pointer with a name of its own, such as %q_desc; else "".
std::string Contractor::label_of(ir::ValueId address) const {
  ir::ValueId base = origin_of(body_, address).value;
  std::set<ir::ValueId> seen;
  const ir::Op* op = ir::defining_op(program(), base);
  while (op &&
         (op->kind == OpKind::pointer_add || op->kind == OpKind::splat || is_view(op->kind)) &&
         !op->operands.empty() && seen.insert(base).second) {
    base = origin_of(body_, op->operands[0]).value;
    op = ir::defining_op(program(), base);
  }
  std::string name = op ? std::string() : program().value(base).name;
  for (const std::string_view tail : {"_desc", "_ptr", "_ptrs"}) {
    if (name.ends_with(tail)) name.resize(name.size() - tail.size());
  }
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool automatic = name.empty() || !letter(name[0]) || name.starts_with("arg") ||
                         name == "ptr" || name == "desc";
  return automatic || name.size() > 24 ? std::string() : "_" + name;
}

/// Whether every use of a loaded tile fills shared memory for products. Triton compiles such a load
/// to cp.async.
bool Contractor::only_fills_shared(ir::ValueId tile) const {
  const auto& uses = program().value(tile).uses;
  if (uses.empty()) return false;
  return std::all_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
    const ir::Op& op = program().op(use.op);
    if (op.kind == OpKind::shared_alloc) return true;
    return op.kind == OpKind::relayout && !op.results.empty() && only_fills_shared(op.results[0]);
  });
}

void Contractor::absorb_addresses(const ir::MemoryAccess& access, TileOpId into) {
  std::set<ir::ValueId> seen;
  if (access.by_descriptor) {
    absorb_descriptor(access.address, into, seen);
  } else {
    absorb_address(access.address, into, seen);
  }
  for (ir::ValueId coordinate : access.coordinates) absorb_address(coordinate, into, seen);
  if (access.mask) absorb_address(*access.mask, into, seen);
}

/// Adds a descriptor made in the loop to an access that uses it.
void Contractor::absorb_descriptor(ir::ValueId value, TileOpId into, std::set<ir::ValueId>& seen) {
  const Origin origin = origin_of(body_, value);
  const auto from = origin.invariant ? std::nullopt : program().value(origin.value).op;
  if (!from || program().op(*from).kind != OpKind::make_descriptor) return;
  TileOp& user = graph_.ops[into.index()];
  user.pieces.push_back({"make_descriptor", 32, 1, "", 1});
  user.sources.push_back(source_of(*from));
  user.sources.back().absorbed = true;
  for (const ir::ValueId operand : program().op(*from).operands) {
    absorb_address(operand, into, seen);
  }
}

/// Adds index arithmetic to its access; each access computes shared parts for itself. The access
/// waits for a tile that the loop computes for other purposes.
void Contractor::absorb_address(ir::ValueId value, TileOpId into, std::set<ir::ValueId>& seen) {
  const Origin origin = origin_of(body_, value);
  if (origin.invariant || !seen.insert(origin.value).second) return;
  const auto from = program().value(origin.value).op;
  if (!from) return;
  const ir::Op& op = program().op(*from);
  const auto work = elementwise(program(), op);
  const auto access = ir::memory_access(op);
  TileOp& user = graph_.ops[into.index()];
  if (access && access->space == AccessSpace::global && access->result && !access->writes &&
      !access->by_descriptor) {
    const std::int64_t count = elements_of(axes_.space_of(*access->result));
    user.pieces.push_back({"pointer_load", 32, 1, "", count});
    user.sources.push_back(source_of(*from));
    user.sources.back().absorbed = true;
    absorb_address(access->address, into, seen);
    return;
  }
  if (!work && !is_free(op.kind) && is_tile(program(), origin.value)) {
    const auto made = make(*from);
    if (made && *made != into) {
      connect(graph_, {in_registers(*made, *from, false), into, origin.distance, Flow::value});
    }
    return;
  }
  if (work && is_tile(program(), origin.value)) {
    const std::int64_t all = elements_of(axes_.space_of(origin.value));
    const int bits = std::max(user.pieces[0].bits, 1);
    const bool tile = axes_.space_of(origin.value).size() > 1;
    const std::int64_t addresses = tile ? std::max<std::int64_t>(all * bits / kAccessBits, 1) : all;
    user.pieces.push_back({"int", 32, work->pieces[0].times, "", addresses});
    user.sources.push_back(source_of(*from));
    user.sources.back().absorbed = true;
  }
  for (ir::ValueId operand : op.operands) absorb_address(operand, into, seen);
}

/// Whether the layout of a register tile is free, since all its sources are loads. Hardware
/// determines the layout of a product's result.
bool Contractor::is_orientable(TileOpId op) const {
  const TileOp& made = graph_.ops[op.index()];
  if (made.result.size() < 2 || made.action == Action::load) return true;
  if (made.action == Action::move) return made.pieces[0].kind == "smem_load";
  return made.action == Action::elementwise && orientable_.contains(op);
}

/// The register tile of an op, in the orientation that its readers need.
TileOpId Contractor::in_registers(TileOpId op, ir::OpId id, bool transposed) {
  const TileOp& made = graph_.ops[op.index()];
  if (made.home == Home::registers) {
    return transposed && !is_orientable(op) ? through_shared(op, id, true) : op;
  }
  if (made.home != Home::shared) return op;
  const auto known = loaded_back_.find(op);
  if (known != loaded_back_.end()) return known->second;
  TileOp load;
  load.action = Action::move;
  load.space = load.result = made.result;
  load.result_bits = made.result_bits;
  load.pieces = {{"smem_load", made.result_bits, 1, "", 0}};
  load.home = Home::registers;
  load.words = {"smem_load"};
  load.forwards = true;
  load.sources = {source_of(id)};
  const TileOpId loaded(graph_.ops.size());
  graph_.ops.push_back(std::move(load));
  connect(graph_, {op, loaded, 0, Flow::value});
  loaded_back_[op] = loaded;
  return loaded;
}

}  // namespace twill::extract
