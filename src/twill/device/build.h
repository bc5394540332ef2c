#pragma once

#include <span>

#include "twill/device/kernel.h"
#include "twill/extract/extract.h"
#include "twill/plan/proof.h"
#include "twill/support/diagnostic.h"

namespace twill::device {

/// Sources of a kernel. The Program says what is computed, the origins which of its
/// operations each op of the plan stands for, and the plan everything else.
struct Parts {
  const ir::Program& program;
  ir::OpId loop;                               ///< the loop the plan is for
  std::span<const extract::OpOrigin> origins;  ///< by problem::OpId
  const plan::ProvenPlan& plan;
  bool boxes_in_invariant_buffers =
      false;                   ///< to save memory, a box behind the loop lies where a tile lay
                               ///< that stays through the loop, once all roles are done with it
  bool parts_of_rings = true;  ///< a box may lie in a part of a ring; else it fills the ring or has
                               ///< memory of its own. Triton 3.8 takes no view smaller than that
};

/// The tree of the kernel. Stores by descriptors of whole tiles are done by a role of their own
/// (plan/stores.h), with which the plan is proven again. Fails, with the line of the operation in
/// the TTGIR, for what it cannot express. Deterministic. Cost: about the size of the tree times the
/// number of values that loops carry, and that proof.
Result<Kernel> build(const Parts& parts);

}  // namespace twill::device
