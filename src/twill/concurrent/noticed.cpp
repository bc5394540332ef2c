#include "twill/concurrent/noticed.h"

#include <algorithm>
#include <map>

#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

/// Whether other roles can notice the op.
bool is_noticed(OpKind kind) {
  switch (ir::class_of(kind)) {
    case ir::OpClass::synchronization:
    case ir::OpClass::copy:
    case ir::OpClass::allocation:
      return true;
    default:
      break;
  }
  switch (kind) {
    case OpKind::warp_roles:
    case OpKind::wgmma:
    case OpKind::wgmma_wait:
    case OpKind::tcgen05:
    case OpKind::tcgen05_scaled:
    case OpKind::shared_load:
    case OpKind::shared_store:
    case OpKind::tensor_load:
    case OpKind::tensor_store:
    case OpKind::buffer_index:
    case OpKind::buffer_slice:
    case OpKind::tensor_slice:
    case OpKind::block_update_async:
    case OpKind::call:
    case OpKind::other:
    case OpKind::inline_asm:
      return true;
    default:
      return false;
  }
}

/// The op that defines a value in front of the roles, through captures.
const ir::Op* source_of(const ir::Program& program, ir::ValueId value) {
  while (const auto from = ir::captured(program, value)) value = *from;
  return ir::defining_op(program, value);
}

void note_read(const ir::Program& program, ir::OpId function, ir::OpId reader, ir::ValueId value,
               const std::map<ir::OpId, std::size_t>& place, Reads& reads) {
  const ir::Value& known = program.value(value);
  const ir::BlockId home = known.op ? program.op(*known.op).block : *known.block;
  std::optional<ir::OpId> at = reader;
  while (at && *at != function && program.op(*at).block != home) at = ir::parent(program, *at);
  if (!at || *at == function) {
    reads.elsewhere = true;
    return;
  }
  const std::size_t number = place.at(*at);
  reads.last = std::max(reads.last, number + 1);
  if (*at != reader) reads.within.insert(number);
}

}  // namespace

std::vector<Reads> reads_of(const ir::Program& program, ir::OpId function) {
  const auto ops = ir::walk(program, function);
  std::vector<Reads> reads(program.value_count());
  std::map<ir::OpId, std::size_t> place;
  for (const ir::OpId id : ops) {
    for (const ir::RegionId region : program.op(id).regions) {
      for (const ir::BlockId block : program.region(region).blocks) {
        std::size_t at = 0;
        for (const ir::OpId inner : program.block(block).ops) place[inner] = at++;
      }
    }
  }
  for (const ir::OpId id : ops) {
    for (const ir::ValueId value : program.op(id).operands) {
      note_read(program, function, id, value, place, reads[value.index()]);
    };
  }
  return reads;
}

std::optional<ir::OpId> condition_of(const ir::Program& program, ir::OpId id) {
  const auto loop = ir::as_loop(program, id);
  return loop && loop->before ? ir::terminator(program, *loop->before) : std::nullopt;
}

std::set<ir::OpId> idle_ops(const ir::Program& program, ir::OpId function) {
  const auto ops = ir::walk(program, function);
  std::set<ir::OpId> idle;
  std::set<ir::OpId> busy;
  for (const ir::OpId id : ops) {
    if (!is_noticed(program.op(id).kind)) continue;
    for (auto at = ir::parent(program, id); at && busy.insert(*at).second;) {
      at = ir::parent(program, *at);
    }
  }
  for (const ir::OpId id : ops) {
    const OpKind kind = program.op(id).kind;
    if (!ir::is_loop(kind) && kind != OpKind::branch) continue;
    if (busy.contains(id)) continue;
    idle.insert(id);
    if (const auto end = condition_of(program, id)) idle.insert(*end);
  }
  return idle;
}

bool is_read_from_changing(const ir::Program& program, ir::ValueId value) {
  const auto behind =
      reached_from(value, [&](ir::ValueId next) { return sources_of(program, next); });
  return std::ranges::any_of(behind, [&](ir::ValueId it) { return reads_changing(program, it); });
}

/// Whether the loop makes k * m iterations, and carries a counter that restarts at 0 after k - 1.
std::optional<TileCounter> tile_counter(const ir::Program& program, Forms& forms, ir::OpId id) {
  const auto loop = ir::as_loop(program, id);
  if (known_integer(program, *loop->lower) != 0) return std::nullopt;
  const ir::Op* const upper = source_of(program, *loop->upper);
  if (known_integer(program, *loop->step) != 1 || upper == nullptr) return std::nullopt;
  if (upper->kind != OpKind::mul || upper->operands.size() != 2) return std::nullopt;
  for (const ir::Carried& carried : loop->carried) {
    const ir::Op* const chosen = ir::defining_op(program, carried.yielded);
    if (chosen == nullptr || chosen->kind != OpKind::select) continue;
    if (known_integer(program, carried.init) != 0) continue;
    if (known_integer(program, chosen->operands[1]) != 0) continue;
    const ir::Value& condition = program.value(chosen->operands[0]);
    const ir::Op* const next = ir::defining_op(program, chosen->operands[2]);
    if (!condition.op || next == nullptr || next->kind != OpKind::add) continue;
    if (next->operands[0] != carried.argument) continue;
    if (known_integer(program, next->operands[1]) != 1) continue;
    const ir::Op& compared = program.op(*condition.op);
    if (compared.kind != OpKind::icmp || compared.predicate != 0) continue;
    if (compared.operands[0] != carried.argument) continue;
    LinearForm count = forms.of(compared.operands[1]);
    count.constant += 1;
    if (forms.of(upper->operands[0]) != count && forms.of(upper->operands[1]) != count) {
      continue;
    }
    if (forms.varies(count)) continue;
    return TileCounter{*condition.op, count};
  }
  return std::nullopt;
}

}  // namespace twill::concurrent
