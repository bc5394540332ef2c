#pragma once

#include <map>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

namespace twill::extract {

/// Condition of a branch that depends on tiles: the loop computes tiles before it can decide.
struct Decision {
  ir::ValueId condition;
  int distance = 0;  ///< iterations ago
};

/// Value that a branch may yield instead of the followed value.
struct BranchValue {
  ir::ValueId value;
  int distance = 0;  ///< iterations ago
};

/// Source of a value behind all renamings: iteration arguments, results of branches, views of tiles
/// and of memory, changes of register layout.
struct Origin {
  ir::ValueId value;        ///< result of an op of the body, or a value from outside
  int distance = 0;         ///< iterations ago
  bool invariant = false;   ///< equal in every iteration (the induction variable is not)
  bool transposed = false;  ///< an odd number of register transpositions were looked through
  std::vector<Decision> decisions = {};  ///< of the branches whose results were looked through
  std::vector<BranchValue> alternatives = {};
};

/// A branch of the body that the steady state does not execute. Its condition is an equality of a
/// counter with an invariant, so it holds once in many iterations.
struct RareBranch {
  ir::OpId op;                ///< the branch
  std::vector<ir::OpId> ops;  ///< ops of the branch, in order, at any depth
};

/// The body of one loop without branches: one side of every branch, in order of the text.
struct Body {
  const ir::Program* program = nullptr;
  ir::Loop loop;
  std::vector<ir::OpId> ops;  ///< without branches and yields
  std::vector<RareBranch> rare;
  /// For each branch, the ops of the side that is not in `ops`.
  std::map<ir::OpId, std::vector<ir::OpId>> other_branch;
  /// Results of branches and other renaming ops: the value that each renames.
  std::map<ir::ValueId, ir::ValueId> renamed;
  /// Results of branches: value of the other side, if that is another value of the loop. A carried
  /// value that the other side leaves unchanged does not count.
  std::map<ir::ValueId, ir::ValueId> alternatives;
  /// Results of branches: condition computed from tiles.
  std::map<ir::ValueId, ir::ValueId> decided;
  /// For each op: conditions computed from tiles that control the op.
  std::map<ir::OpId, std::vector<ir::ValueId>> under;
  std::map<ir::ValueId, ir::ValueId> carried;  ///< iteration argument: the value yielded for it
  std::vector<Diagnostic> warnings;
  bool live_only =
      false;  ///< assumes that branches are executed, although some iterations may skip them
};

/// Fails if the loop holds another loop that works on tiles.
Result<Body> straighten(const ir::Program& program, ir::OpId loop);

Origin origin_of(const Body& body, ir::ValueId value);

/// Operands of an op; for a branch, also the values that its sides yield.
std::vector<ir::ValueId> read_by(const ir::Program& program, ir::OpId op);

/// True for ops that only rename a tile: views, broadcasts, layout changes, waits.
bool is_view(ir::OpKind kind);

/// A tensor or memdesc of rank at least 1.
bool is_tile(const ir::Program& program, ir::ValueId value);

}  // namespace twill::extract
