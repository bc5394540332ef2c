#include <algorithm>
#include <queue>

#include "twill/extract/contractor.h"
#include "twill/extract/memory_order.h"

namespace twill::extract {
namespace {

using ir::OpKind;

bool is_allocation(OpKind kind) { return ir::class_of(kind) == ir::OpClass::allocation; }

}  // namespace

/// Allocation that a memdesc is a view of.
ir::ValueId Contractor::buffer_of(ir::ValueId memdesc) const {
  ir::ValueId root = origin_of(body_, memdesc).value;
  const ir::Op* op = ir::defining_op(program(), root);
  while (op && is_view(op->kind) && !op->operands.empty()) {
    root = op->operands[0];
    op = ir::defining_op(program(), root);
  }
  return root;
}

void Contractor::collect(ir::OpId id, TileOpId op, Accesses& accesses) const {
  const ir::Op& ir_op = program().op(id);
  const bool rare = graph_.ops[op.index()].action == Action::conditional;
  const auto note = [&](ir::ValueId memdesc, Access access) {
    if (ir::type_of(program(), memdesc)->kind != ir::TypeKind::memdesc) return;
    access.op = op;
    if (rare) access = {op, true, false, false};
    accesses[buffer_of(memdesc)].push_back(access);
  };
  if (const auto product = ir::mma_operands(ir_op)) {
    note(product->a, {op, true, false, false});
    note(product->b, {op, true, false, false});
    if (product->a_scale) note(*product->a_scale, {op, true, false, false});
    if (product->b_scale) note(*product->b_scale, {op, true, false, false});
    const auto flag = product->use_accumulator
                          ? ir::constant_integer(program(), *product->use_accumulator)
                          : std::nullopt;
    const bool fresh = flag && *flag == 0;
    note(product->accumulator, {op, false, true, !fresh});
    return;
  }
  if (const auto access = ir::memory_access(ir_op)) {
    if (access->destination) note(*access->destination, {op, false, true, false});
    if (access->space != ir::AccessSpace::global) {
      note(access->address, {op, access->reads, access->writes, false});
    }
    if (access->source) note(*access->source, {op, true, false, false});
    return;
  }
  for (ir::ValueId operand : ir_op.operands) note(operand, {op, true, false, false});
}

void Contractor::connect_buffers() {
  std::vector<std::pair<ir::OpId, TileOpId>> touching;
  for (ir::OpId id : body_.ops) {
    const auto made = made_.find(id);
    if (made == made_.end() || !made->second) continue;
    const auto product = promoted_.find(id);
    touching.emplace_back(id, product == promoted_.end() ? *made->second : product->second);
  }
  for (const RareBranch& rare : body_.rare) {
    for (ir::OpId id : rare.ops) touching.emplace_back(id, *made_.at(rare.op));
  }
  std::sort(touching.begin(), touching.end());
  Accesses accesses;
  for (const auto& [id, op] : touching) collect(id, op, accesses);
  for (const auto& [buffer, list] : accesses) {
    const bool outside = ir::is_invariant(program(), body_.loop, buffer);
    const bool written =
        std::any_of(list.begin(), list.end(), [](const Access& access) { return access.writes; });
    if (!written) continue;
    const Access& first = list.front();
    connect_versions(list, outside && (first.reads || first.accumulates));
  }
  note_invariant_buffers(accesses);
}

/// Simulates the accesses of two iterations and connects the accesses of the second iteration. A
/// buffer whose content is carried to the next iteration is updated in place, in the order of the
/// text. Every other write starts a new value, of which several copies may exist.
void Contractor::connect_versions(const std::vector<Access>& accesses, bool carried) {
  struct At {
    TileOpId op;
    int iteration = 0;
  };
  std::optional<At> writer;
  std::vector<At> readers;
  for (int iteration = 0; iteration < 2; ++iteration) {
    const auto link = [&](const At& from, TileOpId to, Flow flow) {
      if (iteration == 0 || (from.op == to && from.iteration == iteration)) return;
      connect(graph_, {from.op, to, iteration - from.iteration, flow});
    };
    for (const Access& access : accesses) {
      if (access.reads && writer) link(*writer, access.op, Flow::value);
      if (access.reads) readers.push_back({access.op, iteration});
      if (!access.writes) continue;
      for (const At& reader : readers) {
        if (carried) link(reader, access.op, Flow::order);
      }
      if (writer && access.accumulates) link(*writer, access.op, Flow::in_place);
      if (writer && !access.accumulates && carried) link(*writer, access.op, Flow::order);
      writer = At{access.op, iteration};
      readers.clear();
    }
  }
  if (!carried || !writer) return;
  for (const Access& access : accesses) {
    if (!access.writes) continue;
    graph_.ops[access.op.index()].holds_memory = access.op == writer->op;
    name_rescale(access.op);
  }
  connect(graph_, {writer->op, writer->op, 1, Flow::in_place});
}

/// Names the op that scales an accumulator between a load from memory and the store back.
void Contractor::name_rescale(TileOpId store) {
  if (graph_.ops[store.index()].action != Action::move) return;
  for (const TileEdge& edge : graph_.edges) {
    TileOp& from = graph_.ops[edge.from.index()];
    if (edge.to == store && from.words == std::vector<std::string>{"mul"}) from.words = {"rescale"};
  }
}

/// The ops that carry out an access to global memory.
std::vector<TileOpId> Contractor::ops_doing(ir::OpId id) const {
  const auto known = made_.find(id);
  if (known != made_.end() && known->second) return {*known->second};
  std::vector<TileOpId> found;
  for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
    if (graph_.ops[op].forwards) continue;
    const std::vector<Source>& sources = graph_.ops[op].sources;
    const bool does = std::any_of(sources.begin(), sources.end(),
                                  [&](const Source& source) { return source.op == id; });
    if (does) found.emplace_back(op);
  }
  return found;
}

/// Orders accesses to the same places of global memory by the text.
void Contractor::connect_memory() {
  for (const MemoryOrder& order : memory_orders(body_)) {
    const std::vector<TileOpId> first = ops_doing(order.first), second = ops_doing(order.second);
    if (first.empty() || second.empty()) graph_.unkept.emplace_back(order.first, order.second);
    for (const TileOpId from : first) {
      for (const TileOpId to : second) {
        if (from == to && order.distance == 0) continue;
        connect(graph_, {from, to, order.distance, Flow::memory});
      }
    }
  }
}

/// Notes memory that the loop neither makes nor changes, and that is needed in or after the loop.
void Contractor::note_invariant_buffers(const Accesses& accesses) {
  const ir::OpId loop = body_.loop.op;
  const auto function = ir::enclosing(program(), loop, OpKind::function);
  const std::vector<ir::OpId> all = ir::walk(program(), function.value_or(program().module()));
  for (ir::OpId id : all) {
    const ir::Op& op = program().op(id);
    if (!(id < loop)) break;
    if (!is_allocation(op.kind) || op.results.empty()) continue;
    const auto holder = ir::parent(program(), id);
    if (holder && !ir::is_inside(program(), loop, *holder)) continue;
    const ir::ValueId buffer = op.results[0];
    const auto known = accesses.find(buffer);
    const bool in_loop = known != accesses.end();
    const bool written = in_loop && std::any_of(known->second.begin(), known->second.end(),
                                                [](const Access& a) { return a.writes; });
    const auto& uses = program().value(buffer).uses;
    const bool later =
        std::any_of(uses.begin(), uses.end(), [&](const ir::Use& use) { return loop < use.op; });
    if (written || (!in_loop && !later)) continue;
    const ir::Type type = ir::type_of(program(), buffer);
    Space space;
    for (std::int64_t extent : type->shape) {
      space.push_back({AxisId(), std::max<std::int64_t>(extent, 1)});
    }
    graph_.invariant_buffers.push_back(
        {source_of(id).text, type->space == ir::MemorySpace::tensor ? Home::tensor : Home::shared,
         std::move(space), ir::element_bits(type),
         in_loop ? "read in every iteration" : "needed after the loop", id, false});
  }
}

/// Reserves the staging buffer of stores after the loop. In a persistent kernel these stores
/// overlap the next tile's loads, so the buffer cannot reuse the rings. Only the largest buffer
/// counts, since the stores follow each other.
void Contractor::note_staging() {
  std::vector<ir::OpId> candidates;
  for (const RareBranch& rare : body_.rare) {
    candidates.insert(candidates.end(), rare.ops.begin(), rare.ops.end());
  }
  if (body_.loop.outer) {
    for (ir::OpId id : ir::walk(program(), *body_.loop.outer)) {
      if (!ir::is_inside(program(), id, body_.loop.op)) candidates.push_back(id);
    }
  }
  std::optional<InvariantBuffer> largest;
  for (ir::OpId id : candidates) {
    const auto access = ir::memory_access(program().op(id));
    if (!access || !access->writes || !access->by_descriptor || !access->source) continue;
    const ir::Type type = ir::type_of(program(), *access->source);
    if (type->kind != ir::TypeKind::tensor) continue;
    InvariantBuffer staging{source_of(id).text,
                            Home::shared,
                            {},
                            ir::element_bits(type),
                            "staging of a store that overlaps the next tile",
                            std::nullopt,
                            true};
    for (std::int64_t extent : type->shape) {
      staging.space.push_back({AxisId(), std::max<std::int64_t>(extent, 1)});
    }
    if (!largest ||
        elements_of(staging.space) * staging.bits > elements_of(largest->space) * largest->bits) {
      largest = std::move(staging);
    }
  }
  if (largest) graph_.invariant_buffers.push_back(*std::move(largest));
}

/// Sorts ops by the text, as far as their operands allow. Helpers such as staging stores take the
/// line of their op.
void Contractor::sort_by_text() {
  const std::size_t count = graph_.ops.size();
  std::vector<std::vector<std::size_t>> readers(count);
  std::vector<std::size_t> waiting(count, 0);
  for (const TileEdge& edge : graph_.edges) {
    if (edge.distance != 0 || edge.from == edge.to) continue;
    readers[edge.from.index()].push_back(edge.to.index());
    ++waiting[edge.to.index()];
  }
  using Key = std::pair<ir::OpId, std::size_t>;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
  const auto push = [&](std::size_t op) { ready.push({graph_.ops[op].sources[0].op, op}); };
  for (std::size_t op = 0; op < count; ++op) {
    if (waiting[op] == 0) push(op);
  }
  std::vector<std::size_t> place(count, count);
  TileGraph sorted = graph_;
  sorted.ops.clear();
  sorted.edges.clear();
  while (!ready.empty()) {
    const std::size_t op = ready.top().second;
    ready.pop();
    place[op] = sorted.ops.size();
    sorted.ops.push_back(graph_.ops[op]);
    for (std::size_t reader : readers[op]) {
      if (--waiting[reader] == 0) push(reader);
    }
  }
  for (std::size_t op = 0; op < count; ++op) {
    if (place[op] != count) continue;  // part of a circuit of distance 0, which `pose` refuses
    place[op] = sorted.ops.size();
    sorted.ops.push_back(graph_.ops[op]);
  }
  for (const TileEdge& edge : graph_.edges) {
    sorted.edges.push_back({TileOpId(place[edge.from.index()]), TileOpId(place[edge.to.index()]),
                            edge.distance, edge.flow});
  }
  graph_ = std::move(sorted);
}

}  // namespace twill::extract
