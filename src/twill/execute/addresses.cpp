#include "twill/execute/addresses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "twill/execute/elementwise.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/pointer.h"
#include "twill/execute/rounding.h"

namespace twill::execute {
namespace {

ir::Type scalar_type(const ir::Program& program, ir::ValueId value) {
  return scalar_of(ir::type_of(program, value));
}

/// Number of the array for pointers that an op makes of addresses. nullopt outside of a function.
std::optional<std::int64_t> array_at_addresses(const ir::Program& program, ir::OpId op) {
  const auto function = ir::enclosing(program, op, ir::OpKind::function);
  if (!function) return std::nullopt;
  const auto arguments = ir::function_arguments(program, *function);
  const auto of_arguments = std::ranges::count_if(arguments, [&](ir::ValueId argument) {
    const ir::TypeKind kind = ir::type_of(program, argument)->kind;
    return kind == ir::TypeKind::pointer || kind == ir::TypeKind::tensordesc;
  });
  const ir::Type own = scalar_type(program, program.op(op).results[0])->element;
  const auto types = types_at_addresses(program, *function);
  return of_arguments + (std::ranges::find(types, own) - types.begin());
}

std::int64_t address_of(Pointer at, int bytes) { return packed({at.array, at.index * bytes}); }

std::int64_t pointer_to(std::int64_t address, int bytes, std::int64_t array) {
  const Pointer at = unpacked(address);
  if (at.array >= 0) return packed({at.array, at.index / bytes});
  constexpr std::int64_t kAddresses = std::int64_t{1} << 22;  // addresses that are distinguished
  constexpr std::int64_t kApart = std::int64_t{1} << 24;      // elements
  return packed({array, (address & (kAddresses - 1)) * kApart});
}

}  // namespace

std::vector<ir::Type> types_at_addresses(const ir::Program& program, ir::OpId function) {
  std::map<std::string, ir::Type> types;
  for (const ir::OpId id : ir::walk(program, function)) {
    const ir::Op& op = program.op(id);
    if (op.kind != ir::OpKind::inttoptr) continue;
    const ir::Type pointer = scalar_type(program, op.results[0]);
    if (bits_behind(pointer) > 0) types.emplace(pointer->element->name, pointer->element);
  }
  std::vector<ir::Type> found;
  for (const auto& [name, type] : types) found.push_back(type);
  return found;
}

Result<Tile> change_addresses(const ir::Program& program, ir::OpId id, const Tile& from) {
  const ir::Op& op = program.op(id);
  const bool points = op.kind == ir::OpKind::inttoptr;
  const ir::Type pointer = scalar_type(program, points ? op.results[0] : op.operands[0]);
  const int bytes = bits_behind(pointer) / 8;
  const auto array = points ? array_at_addresses(program, id) : 0;
  if (bytes == 0 || !array) return cannot(program, id, "is not known for " + pointer->text);
  Tile tile = from;
  for (std::int64_t& it : tile.integers()) {
    it = points ? pointer_to(it, bytes, *array) : address_of(unpacked(it), bytes);
  }
  return tile;
}

bool has_bits(ir::Type scalar) {
  return scalar->kind == ir::TypeKind::integer ||
         (scalar->kind == ir::TypeKind::floating && format_of(scalar).has_value());
}

int bits_behind(ir::Type type) {
  const bool points = type->kind == ir::TypeKind::pointer && has_bits(type->element);
  return points ? std::max(type->element->bits, 8) : 0;
}

}  // namespace twill::execute
