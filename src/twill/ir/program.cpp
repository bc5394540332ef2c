#include "twill/ir/program.h"

#include <algorithm>

namespace twill::ir {
namespace {

/// The last op directly in a region of `op`; nullopt if they hold none.
std::optional<OpId> last_inside(const Program& program, const Op& op) {
  for (auto region = op.regions.rbegin(); region != op.regions.rend(); ++region) {
    const std::vector<BlockId>& blocks = program.region(*region).blocks;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      if (const auto last = terminator(program, *block)) return last;
    }
  }
  return std::nullopt;
}

/// Scalar of a constant: the attribute itself, or the element of a splat.
Attribute scalar_of(Attribute constant) {
  if (constant == nullptr || constant->kind != AttributeKind::dense) return constant;
  const bool splat =
      constant->elements.size() == 1 && constant->elements[0]->kind != AttributeKind::array;
  return splat ? constant->elements[0] : nullptr;
}

/// Lines of files that a location names; for a call, the callee's line comes first.
std::vector<Attribute> file_locations(Attribute location) {
  std::vector<Attribute> found;
  std::vector<Attribute> open{location};
  while (!open.empty()) {
    const Attribute next = open.back();
    open.pop_back();
    if (next == nullptr) continue;
    if (next->value == "file" && next->elements.size() >= 3) found.push_back(next);
    for (auto part = next->elements.rbegin(); part != next->elements.rend(); ++part) {
      if ((*part)->kind == AttributeKind::location) open.push_back(*part);
    }
  }
  return found;
}

/// Outermost location; for a call, the caller's.
Attribute outermost(Attribute location) {
  while (location != nullptr && location->value != "file") {
    const auto& parts = location->elements;
    const auto is_location = [](Attribute part) { return part->kind == AttributeKind::location; };
    if (location->value == "callsite" && !parts.empty()) {
      location = parts.back();
      continue;
    }
    const auto first = std::find_if(parts.begin(), parts.end(), is_location);
    location = first == parts.end() ? nullptr : *first;
  }
  return location;
}

}  // namespace

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::vector<OpId> functions(const Program& program) {
  std::vector<OpId> found;
  for (const OpId op : walk(program, program.module())) {
    if (program.op(op).kind == OpKind::function) found.push_back(op);
  }
  return found;
}

std::string_view symbol_name(const Program& program, OpId op) {
  const Op& function = program.op(op);
  return function.kind == OpKind::function ? function.symbol : std::string_view();
}

std::span<const ValueId> function_arguments(const Program& program, OpId function) {
  const Op& op = program.op(function);
  if (op.regions.empty()) return {};
  const std::vector<BlockId>& blocks = program.region(op.regions.front()).blocks;
  if (blocks.empty()) return {};
  return program.block(blocks.front()).arguments;
}

std::optional<std::int64_t> argument_divisor(const Program& program, OpId function,
                                             std::size_t index) {
  const auto& divisors = program.op(function).argument_divisors;
  return index < divisors.size() ? divisors[index] : std::nullopt;
}

std::optional<OpId> parent(const Program& program, OpId op) {
  if (op == program.module()) return std::nullopt;
  return program.region(program.block(program.op(op).block).region).op;
}

std::optional<OpId> enclosing(const Program& program, OpId op, OpKind kind) {
  auto around = parent(program, op);
  while (around && program.op(*around).kind != kind) around = parent(program, *around);
  return around;
}

bool is_inside(const Program& program, OpId inner, OpId outer) {
  std::optional<OpId> around = inner;
  while (around && *around != outer) around = parent(program, *around);
  return around.has_value();
}

std::optional<BlockId> body(const Program& program, OpId op, std::size_t index) {
  const std::vector<RegionId>& regions = program.op(op).regions;
  if (index >= regions.size()) return std::nullopt;
  const std::vector<BlockId>& blocks = program.region(regions[index]).blocks;
  return blocks.size() == 1 ? std::optional(blocks.front()) : std::nullopt;
}

std::optional<OpId> terminator(const Program& program, BlockId block) {
  const std::vector<OpId>& ops = program.block(block).ops;
  return ops.empty() ? std::nullopt : std::optional(ops.back());
}

std::vector<OpId> walk(const Program& program, OpId op) {
  // Ops are numbered in pre-order, so an op's contents are the range behind it.
  OpId last = op;
  while (const auto inside = last_inside(program, program.op(last))) last = *inside;
  std::vector<OpId> found;
  for (std::size_t i = op.index(); i <= last.index(); ++i) found.push_back(OpId(i));
  return found;
}

const Op* defining_op(const Program& program, ValueId value) {
  const std::optional<OpId> op = program.value(value).op;
  return op ? &program.op(*op) : nullptr;
}

Attribute constant_of(const Program& program, ValueId value) {
  const Op* op = defining_op(program, value);
  return op != nullptr && op->kind == OpKind::constant ? op->constant : nullptr;
}

std::optional<std::int64_t> constant_integer(const Program& program, ValueId value) {
  const Attribute scalar = scalar_of(constant_of(program, value));
  if (scalar == nullptr) return std::nullopt;
  const bool known =
      scalar->kind == AttributeKind::integer || scalar->kind == AttributeKind::boolean;
  return known ? std::optional(scalar->integer) : std::nullopt;
}

std::optional<double> constant_number(const Program& program, ValueId value) {
  const Attribute scalar = scalar_of(constant_of(program, value));
  if (scalar == nullptr) return std::nullopt;
  const bool known = scalar->kind == AttributeKind::integer ||
                     scalar->kind == AttributeKind::boolean ||
                     scalar->kind == AttributeKind::floating;
  return known ? std::optional(scalar->number) : std::nullopt;
}

Location text_location(const Program& program, OpId op) {
  for (std::optional<OpId> at = op; at; at = parent(program, *at)) {
    const auto source = source_location(program, *at);
    if (source && source->file == program.file()) return *source;
  }
  return {program.file(), program.op(op).line, program.op(op).column};
}

std::optional<Location> source_location(const Program& program, OpId op) {
  const std::vector<Attribute> files = file_locations(program.op(op).location);
  if (files.empty()) return std::nullopt;
  Attribute file = files.front();
  if (files.size() > 1) {
    // Functions that the kernel calls are in libraries, whose lines its author does not know.
    const auto function = enclosing(program, op, OpKind::function);
    const auto of_function =
        function ? file_locations(program.op(*function).location) : std::vector<Attribute>();
    const auto own = std::find_if(files.begin(), files.end(), [&](Attribute it) {
      return !of_function.empty() && it->elements[0] == of_function[0]->elements[0];
    });
    const Attribute last = outermost(program.op(op).location);
    file = own != files.end() ? *own : last != nullptr ? last : file;
  }
  return Location{file->elements[0]->value, static_cast<int>(file->elements[1]->integer),
                  static_cast<int>(file->elements[2]->integer)};
}

}  // namespace twill::ir
