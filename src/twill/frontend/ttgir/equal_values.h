#pragma once

#include <optional>

#include "twill/frontend/ttgir/terms.h"
#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Numbers all values of a Program. Values with the same number are equal, element by element, at
/// every point where both are defined. Layouts do not matter. In addition to the equalities of
/// Terms:
/// - Carried values are equal if they begin and go on equal. All are assumed equal until a
///   contradiction is found, so two maxima that are updated separately are equal. The method is
///   optimistic value numbering (Alpern, Wegman and Zadeck, POPL 1988).
/// - Reductions and scans of equal tiles by the same computation are equal.
/// - Loads of equal addresses are equal if no write to global memory is between them; volatile
///   loads are excluded.
/// - Results of loops and conditionals with equal inputs are equal.
///
/// Products, reads of shared or tensor memory, atomics and unknown ops equal only themselves.
///
/// nullopt if the assumptions do not settle within kMostPasses. Cost: about linear in the Program
/// for each pass. `program` must outlive the result.
std::optional<Terms> equal_values(const ir::Program& program);

inline constexpr int kMostPasses = 64;

/// Whether an op only computes its results from its operands: `is_computation`, reductions and
/// scans, and calls of functions marked as pure.
bool is_repeatable(const ir::Program& program, ir::OpId op);

/// Whether a load of global memory may be dropped without readers, or shared by equal loads.
bool is_plain_load(const ir::Op& op);

}  // namespace twill::frontend::ttgir
