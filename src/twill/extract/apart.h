#pragma once

#include <vector>

#include "twill/extract/body.h"

/// Places of global memory that two accesses of a loop touch.
namespace twill::extract {

/// Executions of the two accesses to be compared.
enum class Meeting {
  same_iteration,    ///< in one iteration
  later_iterations,  ///< `second` in any iteration after the iteration of `first`
};

/// Whether two accesses of the body provably touch no common place. Precondition: both access
/// global memory, through one argument.
///
/// Addresses are followed as sums: invariants, a number of elements per iteration, and a number per
/// index of the tile. Boxes of one descriptor are apart if they are apart along one dimension. As
/// in Triton's own analysis, indices do not overflow. Cost: linear in the ops that make the
/// addresses.
bool are_apart(const Body& body, ir::OpId first, ir::OpId second, Meeting meeting);

/// Whether an access may touch elements that another thread touched in an earlier iteration.
/// Threads keep the order of their own accesses. So a tile of pointers that stays in place has no
/// conflict, but a box in place has one. Unknown strides are taken for strides of an array, whose
/// rows do not overlap. Addresses that cannot be followed, such as loaded ones, may lead anywhere.
bool meets_itself(const Body& body, ir::OpId access);
/// Values taken for strides of an array to show that an access does not meet itself.
std::vector<ir::ValueId> strides_assumed(const Body& body, ir::OpId access);

}  // namespace twill::extract
