#include "twill/ir/control_flow.h"

#include <algorithm>

#include "twill/ir/operands.h"

namespace twill::ir {
namespace {

/// Whether all that a block does is to return.
bool returns(const Program& program, BlockId block) {
  const auto& ops = program.block(block).ops;
  return ops.size() == 1 && program.op(ops.front()).kind == OpKind::ret;
}

}  // namespace

std::optional<Way> way_to(const Program& program, BlockId block) {
  Way way;
  BlockId at = program.region(program.block(block).region).blocks.front();
  for (;;) {
    if (std::find(way.blocks.begin(), way.blocks.end(), at) != way.blocks.end()) {
      return std::nullopt;
    }
    way.blocks.push_back(at);
    const auto end = terminator(program, at);
    if (at == block || !end) return at == block ? std::optional(way) : std::nullopt;
    const Op& branch = program.op(*end);
    const auto& successors = branch.successors;
    const bool conditional = branch.kind == OpKind::jump_if && successors.size() == 2;
    if (branch.operands.size() != (conditional ? 1U : 0U)) return std::nullopt;
    if (branch.kind == OpKind::jump && successors.size() == 1) {
      at = successors[0];
    } else if (conditional && returns(program, successors[0])) {
      way.exits.push_back({*end, branch.operands[0], true});
      at = successors[1];
    } else if (conditional && returns(program, successors[1])) {
      way.exits.push_back({*end, branch.operands[0], false});
      at = successors[0];
    } else {
      return std::nullopt;
    }
  }
}

EarlyReturns returns_before(const Program& program, OpId op) {
  const BlockId block = program.op(op).block;
  const auto way = way_to(program, block);
  const auto end = terminator(program, block);
  const bool ends = end && program.op(*end).kind == OpKind::ret;
  for (const BlockId at : program.region(program.block(block).region).blocks) {
    const auto branch = terminator(program, at);
    const bool branches = branch && !program.op(*branch).successors.empty();
    if (branches && (!way || !ends)) return {{}, branch};
  }
  return {way ? way->exits : std::vector<Exit>(), std::nullopt};
}

}  // namespace twill::ir
