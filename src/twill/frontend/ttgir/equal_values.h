#pragma once

#include <optional>

#include "twill/frontend/ttgir/terms.h"
#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Numbers all values of a Program. Values with the same number are equal, element by element, at
/// every point where both are defined. Layouts do not matter. Equalities in addition to those of
/// Terms:
/// - carried values are equal if they begin and go on equal. That is assumed of all until a
///   contradiction is found, so two maxima that are each updated by themselves are equal. The
///   method is optimistic value numbering (Alpern, Wegman and Zadeck, POPL 1988);
/// - reductions and scans of equal tiles by the same computation;
/// - loads of equal addresses with no write to global memory between them; not volatile ones;
/// - results of loops and conditionals with equal inputs.
///
/// Products, reads of shared or tensor memory, atomics and unknown ops equal only themselves.
///
/// nullopt: the assumptions did not settle within kMostPasses. Cost: at most that many times about
/// linear in the Program. `program` must outlive the result.
std::optional<Terms> equal_values(const ir::Program& program);

inline constexpr int kMostPasses = 64;

/// Whether an op only computes its results from its operands: `is_computation`, reductions and
/// scans, and calls of functions marked as pure.
bool is_repeatable(const ir::Program& program, ir::OpId op);

/// A load of global memory that may be dropped without readers, or made once for two.
bool is_plain_load(const ir::Op& op);

}  // namespace twill::frontend::ttgir
