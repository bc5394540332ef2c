#include "twill/ir/control_flow.h"

#include <algorithm>

#include "twill/ir/operands.h"

namespace twill::ir {
namespace {

/// Whether a block ends the function; with `may_act`, ops with effects may precede the return.
bool returns(const Program& program, BlockId block, Leaving leaving) {
  const auto& ops = program.block(block).ops;
  if (ops.empty() || program.op(ops.back()).kind != OpKind::ret) return false;
  return leaving == Leaving::may_act || ops.size() == 1;
}

Exit exit_by(const Program& program, OpId branch, std::size_t successor) {
  const Op& op = program.op(branch);
  Exit exit{branch, op.operands[0], successor == 0, {}};
  const BlockId block = op.successors[successor];
  if (program.block(block).ops.size() > 1) exit.acts = block;
  return exit;
}

}  // namespace

std::optional<Path> path_to(const Program& program, BlockId block, Leaving leaving) {
  Path path;
  BlockId at = program.region(program.block(block).region).blocks.front();
  for (;;) {
    if (std::find(path.blocks.begin(), path.blocks.end(), at) != path.blocks.end()) {
      return std::nullopt;
    }
    path.blocks.push_back(at);
    const auto end = terminator(program, at);
    if (at == block || !end) return at == block ? std::optional(path) : std::nullopt;
    const Op& branch = program.op(*end);
    const auto& successors = branch.successors;
    const bool conditional = branch.kind == OpKind::jump_if && successors.size() == 2;
    if (branch.operands.size() != (conditional ? 1U : 0U)) return std::nullopt;
    if (branch.kind == OpKind::jump && successors.size() == 1) {
      at = successors[0];
    } else if (conditional && successors[0] != block && returns(program, successors[0], leaving)) {
      path.exits.push_back(exit_by(program, *end, 0));
      at = successors[1];
    } else if (conditional && successors[1] != block && returns(program, successors[1], leaving)) {
      path.exits.push_back(exit_by(program, *end, 1));
      at = successors[0];
    } else {
      return std::nullopt;
    }
  }
}

EarlyReturns returns_before(const Program& program, OpId op, Leaving leaving) {
  const BlockId block = program.op(op).block;
  const auto path = path_to(program, block, leaving);
  const auto end = terminator(program, block);
  const bool ends = end && program.op(*end).kind == OpKind::ret;
  for (const BlockId at : program.region(program.block(block).region).blocks) {
    const auto branch = terminator(program, at);
    const bool branches = branch && !program.op(*branch).successors.empty();
    if (branches && (!path || !ends)) return {{}, branch};
  }
  return {path ? path->exits : std::vector<Exit>(), std::nullopt};
}

}  // namespace twill::ir
