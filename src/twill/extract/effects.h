#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "twill/extract/behind.h"
#include "twill/extract/extract.h"

/// Effects of a kernel that no op of the Problem stands for, and branches of the loop. Each of them
/// runs as a whole.
namespace twill::extract {

/// Fails if a plan could not keep an effect: an op outside of the Problem (by `stands_for`) has it,
/// or accesses may not cross it. Returns a note for each effect that only people see.
Result<std::vector<std::string>> check_effects(const Body& body,
                                               const std::set<ir::OpId>& stands_for);

/// The operation directly in the loop's body that contains an operation, or is it. Precondition:
/// the operation is in the loop.
ir::OpId in_body(const ir::Program& program, ir::OpId loop, ir::OpId op);

/// A branch in the loop's body with ops of the Problem, or an op in the body with effects outside
/// of the Problem.
struct WholeOp {
  ir::OpId op;
  Makers within;      ///< ops of the Problem inside of the branch
  bool acts = false;  ///< has effects that no op of the Problem stands for
  Makers needs;       ///< if it acts: ops of the loop that compute its inputs
  /// Reason why no group can run it, as in "tt.x OBJECTION"; empty: a group can.
  std::string objection;
};

/// Lists branches and effects, in the order of the text. Precondition: `loop` is a loop, and the
/// origins are from its Problem. Cost: ops of the loop times ops with effects.
std::vector<WholeOp> whole_ops(const ir::Program& program, ir::OpId loop,
                               std::span<const OpOrigin> origins);

/// An effect outside of the loop without a role, or a loop or branch of such effects.
struct OuterEffect {
  ir::OpId op;
  std::string objection;  ///< reason, as above: its order among other effects could not be kept
};

/// Effects outside of the loop, except effects for which `is_planned` holds (with all ops in their
/// regions). Effects where the function ends early are left out. Without an objection, effects
/// before the loop can run before all roles begin. Effects after the loop can run after all roles
/// have ended.
std::vector<OuterEffect> effects_around(const ir::Program& program, ir::OpId loop,
                                        const std::function<bool(ir::OpId)>& is_planned);

/// Whether the order of an op after the loop matters to the roles: an op for which `works_on_tiles`
/// holds, or the next tile, comes later. False if the op depends on tiles. Precondition: the op
/// does not work on tiles.
bool acts_alone(const ir::Program& program, ir::OpId op,
                const std::function<bool(ir::OpId)>& works_on_tiles);

/// Whether an op reads a result of `op`.
bool is_read(const ir::Program& program, const ir::Op& op);

/// The first access to global memory in the function that may touch the same place as an operation.
/// An operation that is no such access, or orders others, may meet every access.
std::optional<ir::OpId> meeting(const ir::Program& program, ir::OpId function, ir::OpId op,
                                const std::function<bool(ir::OpId)>& among);

}  // namespace twill::extract
