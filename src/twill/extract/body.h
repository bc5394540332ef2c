#pragma once

#include <map>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

namespace twill::extract {

/// The condition of a branch that depends on tiles, so that the loop computes it before the branch
/// is known.
struct Decision {
  ir::ValueId condition;
  int distance = 0;  ///< iterations ago
};

/// A value that a branch may yield instead of the followed value.
struct BranchValue {
  ir::ValueId value;
  int distance = 0;  ///< iterations ago
};

/// Source of a value behind all renamings: iteration arguments, results of branches, views of tiles
/// and of memory, changes of register layout.
struct Origin {
  ir::ValueId value;        ///< result of an op of the body, or something from outside
  int distance = 0;         ///< iterations ago
  bool invariant = false;   ///< the same in every iteration (the induction variable is not)
  bool transposed = false;  ///< an odd number of register transpositions on the way
  std::vector<Decision> decisions = {};  ///< of the branch whose results were looked through
  std::vector<BranchValue> alternatives = {};
};

/// A branch of the body that is not executed in the steady state. Its condition is an equality of a
/// counter with an invariant, so it holds once in many iterations.
struct RareBranch {
  ir::OpId op;                ///< the branch
  std::vector<ir::OpId> ops;  ///< of the branch, in order, at any depth
};

/// The body of one loop without branches: one side of every branch, in order of the text.
struct Body {
  const ir::Program* program = nullptr;
  ir::Loop loop;
  std::vector<ir::OpId> ops;  ///< without branches and yields
  std::vector<RareBranch> rare;
  /// By branch: the ops that are not in `ops`.
  std::map<ir::OpId, std::vector<ir::OpId>> other_branch;
  std::map<ir::ValueId, ir::ValueId> renamed;  ///< results of branches and the like: the values
                                               ///< that they rename
  /// Results of branches: the value that the other side yields, if it is another value of the loop.
  /// A carried value that the other side leaves unchanged does not count.
  std::map<ir::ValueId, ir::ValueId> alternatives;
  std::map<ir::ValueId, ir::ValueId> decided;  ///< results of branches: conditions made of tiles
  std::map<ir::OpId, std::vector<ir::ValueId>> under;  ///< by op: conditions made of tiles that
                                                       ///< control it
  std::map<ir::ValueId, ir::ValueId> carried;  ///< iteration argument: the value yielded for it
  std::vector<Diagnostic> warnings;
  bool live_only = false;  ///< branches are taken to be executed, and need not be in each iteration
};

/// Fails if the loop holds another loop that works on tiles.
Result<Body> straighten(const ir::Program& program, ir::OpId loop);

Origin origin_of(const Body& body, ir::ValueId value);

/// Operands of an op; of a branch also the yields of its sides.
std::vector<ir::ValueId> read_by(const ir::Program& program, ir::OpId op);

/// True for ops that only rename a tile: views, broadcasts, layout changes, waits.
bool is_view(ir::OpKind kind);

/// A tensor or memdesc of rank at least 1.
bool is_tile(const ir::Program& program, ir::ValueId value);

}  // namespace twill::extract
