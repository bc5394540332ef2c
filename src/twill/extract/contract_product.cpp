#include <algorithm>

#include "twill/extract/contractor.h"
#include "twill/ir/source_words.h"

namespace twill::extract {
namespace {

using ir::OpKind;

/// Depth of an 8-bit wgmma. Low-precision sums may be promoted after each instruction.
constexpr std::int64_t kFp8Step = 32;

bool is_tcgen05(OpKind kind) { return kind == OpKind::tcgen05 || kind == OpKind::tcgen05_scaled; }

/// Number of times that an fp8 product on Hopper adds its low-precision sums to the accumulator on
/// the CUDA cores; 0: never.
std::int64_t promotions(const ir::Op& op, std::int64_t k, int bits) {
  if (op.kind != OpKind::wgmma || bits != 8) return 0;
  const auto limit = op.exact_every;
  if (!limit || *limit > k) return 0;
  const std::int64_t step = std::max(*limit, kFp8Step);
  return (k + step - 1) / step;
}

/// Whether the product ignores the accumulator's old content.
bool starts_fresh(const ir::Program& program, const ir::MmaOperands& operands) {
  if (operands.use_accumulator) {
    const auto flag = ir::constant_integer(program, *operands.use_accumulator);
    if (flag && *flag == 0) return true;
  }
  const auto number = ir::constant_number(program, operands.accumulator);
  return number && *number == 0;
}

}  // namespace

std::optional<TileOpId> Contractor::make_product(ir::OpId id) {
  const ir::Op& op = program().op(id);
  const ir::MmaOperands operands = *ir::mma_operands(op);
  const ir::Type a = ir::type_of(program(), operands.a), b = ir::type_of(program(), operands.b);
  const ir::Type d = ir::type_of(program(), operands.accumulator);
  const std::size_t rank = d->shape.size();
  if (rank < 2 || a->shape.size() != rank) return make_unknown(id);

  TileOp tile;
  tile.action = Action::product;
  tile.space = {axes_.extent_of(operands.accumulator, rank - 2),
                axes_.extent_of(operands.accumulator, rank - 1),
                axes_.extent_of(operands.a, rank - 1)};
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) batch *= std::max<std::int64_t>(d->shape[i], 1);
  const int bits = std::max(ir::element_bits(a), ir::element_bits(b));
  tile.pieces = {{"mma", bits, batch, "", 0}};
  tile.result = axes_.space_of(operands.accumulator);
  tile.result_bits = ir::element_bits(d);
  tile.home = is_tcgen05(op.kind) ? Home::tensor : Home::registers;
  tile.one_warp = is_tcgen05(op.kind);
  tile.words = {"mma"};
  const std::int64_t additions = promotions(op, tile.space[2].size, bits);
  const TileOpId made = add(id, std::move(tile));

  std::string a_side, b_side;
  read_operand(id, operands.a, made, a_side);
  read_operand(id, operands.b, made, b_side);
  graph_.ops[made.index()].pieces[0].form = a_side + (b_side == "R" ? "S" : b_side);
  if (op.kind == OpKind::mma || op.kind == OpKind::mma_scaled) {
    graph_.warnings.push_back({ir::text_location(program(), id),
                               op.name + ir::source_words(program(), id) +
                                   ": no asynchronous product, and priced like one",
                               "", ""});
  }
  if (operands.a_scale) read(*operands.a_scale, made);
  if (operands.b_scale) read(*operands.b_scale, made);
  if (is_tcgen05(op.kind)) return made;
  if (additions > 0) return promote(id, made, additions);
  read_accumulator(id, operands, made);
  return made;
}

/// Sets `side` to the operand's source: "S" shared memory, "T" tensor memory, "R" registers.
void Contractor::read_operand(ir::OpId id, ir::ValueId operand, TileOpId product,
                              std::string& side) {
  const ir::Type type = ir::type_of(program(), operand);
  if (type->kind == ir::TypeKind::memdesc) {
    side = type->space == ir::MemorySpace::tensor ? "T" : "S";
    return;
  }
  side = "R";
  const Origin origin = origin_of(body_, operand);
  const auto from = origin.invariant ? std::nullopt : program().value(origin.value).op;
  const int bits = ir::element_bits(type);
  if (from && origin.transposed && bits == 16) {
    const auto made = make(*from);
    if (made && graph_.ops[made->index()].home == Home::registers && !is_orientable(*made)) {
      // Transposes the operand by way of shared memory, from which the product reads.
      connect(graph_, {through_shared(*made, id, false), product, origin.distance, Flow::value});
      side = "S";
      return;
    }
  }
  for (const From& producer : producers_of(operand)) {
    TileOpId source = producer.op;
    const TileOp& made = graph_.ops[source.index()];
    const bool arithmetic = made.action == Action::elementwise || made.action == Action::product;
    if (arithmetic && bits != 16 && !producer.decides) {
      TileOp shuffle;
      shuffle.action = Action::move;
      shuffle.pieces = {{"shuffle", bits, 1, "", 0}};
      shuffle.space = shuffle.result = made.result;
      shuffle.result_bits = bits;
      shuffle.home = Home::registers;
      shuffle.forwards = true;
      shuffle.words = {"shuffle"};
      shuffle.sources = made.sources;
      const TileOpId moved(graph_.ops.size());
      graph_.ops.push_back(std::move(shuffle));
      connect(graph_, {source, moved, 0, Flow::value});
      source = moved;
    }
    connect(graph_, {source, product, producer.distance, Flow::value});
  }
}

void Contractor::read_accumulator(ir::OpId id, const ir::MmaOperands& operands, TileOpId product) {
  if (starts_fresh(program(), operands)) return;
  const Origin origin = origin_of(body_, operands.accumulator);
  if (origin.invariant) return read(operands.accumulator, product);
  const ir::Op* from = ir::defining_op(program(), origin.value);
  if (from && program().value(origin.value).op != id && from->kind == OpKind::fmul) {
    for (const From& scaled : producers_of(operands.accumulator)) {
      if (!scaled.decides) graph_.ops[scaled.op.index()].words = {"rescale"};
    }
  }
  if (!is_spread(operands.accumulator, product)) {
    return read(operands.accumulator, product, Flow::in_place);
  }
  // An addition reads a vector directly; the tensor core needs the whole tile.
  if (graph_.ops[product.index()].action != Action::product) {
    return read(operands.accumulator, product);
  }
  const TileOpId tile = spread(operands.accumulator, id, product);
  connect(graph_, {tile, product, 0, Flow::in_place});
}

/// Whether a value is smaller than the tile of `by`, like a broadcast vector.
bool Contractor::is_spread(ir::ValueId value, TileOpId by) {
  const std::vector<From> made_by = producers_of(value);
  const std::int64_t whole = elements_of(graph_.ops[by.index()].result);
  return std::any_of(made_by.begin(), made_by.end(), [&](const From& from) {
    return !from.decides && elements_of(graph_.ops[from.op.index()].result) < whole;
  });
}

/// The op that produces a value, seen through views. Precondition: the value is not invariant.
std::optional<ir::OpId> Contractor::maker_of(ir::ValueId value) const {
  while (true) {
    const auto renamed = body_.renamed.find(value);
    const auto carried = body_.carried.find(value);
    if (renamed != body_.renamed.end()) {
      value = renamed->second;
    } else if (carried != body_.carried.end()) {
      value = carried->second;
    } else {
      return program().value(value).op;
    }
  }
}

/// Expands a broadcast value to a tile in the registers of the product that adds to it.
TileOpId Contractor::spread(ir::ValueId value, ir::OpId id, TileOpId product) {
  TileOp tile;
  tile.action = Action::elementwise;
  tile.pieces = {{"int", 32, 1, "", 0}};
  tile.space = tile.result = graph_.ops[product.index()].result;
  tile.result_bits = graph_.ops[product.index()].result_bits;
  tile.home = Home::registers;
  tile.words = {"broadcast"};
  tile.sources = {source_of(maker_of(value).value_or(id))};
  const TileOpId made(graph_.ops.size());
  graph_.ops.push_back(std::move(tile));
  read(value, made);
  return made;
}

/// Adds the product to the accumulator on the CUDA cores. Returns the op for readers of the
/// product.
TileOpId Contractor::promote(ir::OpId id, TileOpId product, std::int64_t additions) {
  const ir::MmaOperands operands = *ir::mma_operands(program().op(id));
  TileOp sum;
  sum.action = Action::elementwise;
  sum.pieces = {{"add", 32, additions, "", 0}};
  sum.space = sum.result = graph_.ops[product.index()].result;
  sum.result_bits = 32;
  sum.home = Home::registers;
  sum.words = {"promote"};
  const TileOpId made = add(id, std::move(sum));
  promoted_[id] = product;
  connect(graph_, {product, made, 0, Flow::value});
  read_accumulator(id, operands, made);
  return made;
}

/// Stores a register tile to shared memory, for other threads to read. With `load_back`, also loads
/// the tile into registers in the other order.
TileOpId Contractor::through_shared(TileOpId from, ir::OpId id, bool load_back) {
  const auto known = exchanged_.find(from);
  TileOpId stored;
  if (known != exchanged_.end()) {
    stored = known->second;
  } else {
    TileOp store;
    store.action = Action::move;
    store.space = store.result = graph_.ops[from.index()].result;
    store.result_bits = graph_.ops[from.index()].result_bits;
    store.pieces = {{"smem_store", store.result_bits, 1, "", 0}};
    store.home = Home::shared;
    store.forwards = true;
    store.words = {"smem_store"};
    store.sources = {source_of(id)};
    stored = TileOpId(graph_.ops.size());
    graph_.ops.push_back(std::move(store));
    connect(graph_, {from, stored, 0, Flow::value});
    exchanged_[from] = stored;
  }
  return load_back ? in_registers(stored, id, false) : stored;
}

}  // namespace twill::extract
