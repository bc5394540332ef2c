#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "twill/extract/behind.h"
#include "twill/extract/extract.h"

/// Effects of a kernel that no op of the Problem stands for, and branches of the loop. Each is done
/// as a whole.
namespace twill::extract {

/// Fails if a plan could not keep an effect: of an op outside of the Problem (by `stands_for`), or
/// that others may not cross. Returns a note for each effect that only people see.
Result<std::vector<std::string>> check_effects(const Body& body,
                                               const std::set<ir::OpId>& stands_for);

/// The operation in the loop's body that holds an operation; itself if it stands there.
/// Precondition: it stands in the loop.
ir::OpId in_body(const ir::Program& program, ir::OpId loop, ir::OpId op);

/// A branch in the loop's body with ops of the Problem, or an op there with effects without one.
struct WholeOp {
  ir::OpId op;
  Makers within;          ///< ops of the Problem that stand in the branch
  bool acts = false;      ///< has effects that no op of the Problem stands for
  Makers needs;           ///< if so: ops of the loop that make what it is computed from
  std::string objection;  ///< why no group can do it, as in "tt.x OBJECTION"; empty: one can
};

/// All of them, in the order of the text. Precondition: `loop` is a loop, and the origins are of
/// its Problem. Cost: ops of the loop times those that have effects.
std::vector<WholeOp> whole_ops(const ir::Program& program, ir::OpId loop,
                               std::span<const OpOrigin> origins);

/// An effect around the loop that no role has, or a loop or branch of such effects.
struct OuterEffect {
  ir::OpId op;
  std::string objection;  ///< as above: its order among other effects could not be kept
};

/// Effects around the loop, without those that `is_planned` has (with all in their regions), and
/// without those where the function ends early. Unless there is an objection, those in front can be
/// done before all roles begin. Those behind it can be done once all are done.
std::vector<OuterEffect> effects_around(const ir::Program& program, ir::OpId loop,
                                        const std::function<bool(ir::OpId)>& is_planned);

/// Whether the place of an op behind the loop in the order of effects matters: something that
/// `works_on_tiles` follows, or the next tile does. False if it depends on tiles.
/// Precondition: it does not work on them.
bool acts_alone(const ir::Program& program, ir::OpId op,
                const std::function<bool(ir::OpId)>& works_on_tiles);

/// Whether something reads a result of the op.
bool is_read(const ir::Program& program, const ir::Op& op);

/// The first of the accesses to global memory in the function that may touch what an operation
/// does. All may where that operation is no such access, or orders others.
std::optional<ir::OpId> meeting(const ir::Program& program, ir::OpId function, ir::OpId op,
                                const std::function<bool(ir::OpId)>& among);

}  // namespace twill::extract
