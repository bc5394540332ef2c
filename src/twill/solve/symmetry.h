#pragma once

#include <cstddef>
#include <vector>

#include "twill/problem/ops.h"

namespace twill::solve {

/// Permutation of the ops that exchanges two sub-tiles. Applied twice, it is the identity. Applied
/// to a Problem, it gives the same Problem apart from names and sources.
using Exchange = std::vector<std::size_t>;

/// Corresponding ops of interchangeable sub-tiles. Any two of `ops` are exchanged by a verified
/// Exchange that keeps the others. Empty if none was found. Where several sets are found, the set
/// whose op holds a unit longest.
struct SubTiles {
  std::vector<std::size_t> ops;
  std::vector<Exchange> exchanges;  ///< one for each pair of `ops`: the second with the first, the
                                    ///< third with the first, the third with the second, ...
};

/// Finds sub-tiles by refining ops into classes by their surroundings and completing an exchange of
/// two ops of a class step by step. The result is verified; some sub-tiles may be missed.
SubTiles find_sub_tiles(const problem::Problem& problem);

/// Whether `exchange` has the property stated at Exchange.
bool is_exchange(const problem::Problem& problem, const Exchange& exchange);

}  // namespace twill::solve
