#pragma once

#include <span>

#include "twill/device/kernel.h"
#include "twill/extract/extract.h"
#include "twill/plan/proof.h"
#include "twill/support/diagnostic.h"

namespace twill::device {

/// Sources of a kernel. The Program says what is computed. The origins say for which operations
/// each op of the plan stands. The plan says everything else.
struct Parts {
  const ir::Program& program;
  ir::OpId loop;                               ///< the planned loop
  std::span<const extract::OpOrigin> origins;  ///< by problem::OpId
  const plan::ProvenPlan& plan;
  bool boxes_in_invariant_buffers =
      false;  ///< to save memory, a box behind the loop replaces a tile that stays through the
              ///< loop, once all roles have released that tile
  bool parts_of_rings = true;  ///< a box may lie in a part of a ring; else the box fills the ring
                               ///< or has its own memory. Triton 3.8 takes no smaller view
};

/// Builds the tree of the kernel. Stores by descriptors of whole tiles are done by a role of their
/// own (plan/stores.h), with which the plan is proven again. Fails, with the line of the operation
/// in the TTGIR, for kernels that the tree cannot express. Deterministic. Cost: about the size of
/// the tree times the number of values that loops carry, and the second proof.
Result<Kernel> build(const Parts& parts);

}  // namespace twill::device
