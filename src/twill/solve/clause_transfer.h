#pragma once

#include <cstdint>
#include <vector>

#include "twill/solve/literal.h"
#include "twill/solve/proof.h"

namespace twill::solve {

/// Literal of an Encoding in terms that every Encoding of the same instance has: a difference of
/// slots or stages, or a meaning.
struct Saying {
  bool is_difference = false;
  bool negative = false;  ///< whether the meaning is negated; a difference is its own negation
  Meaning meaning;
  Difference difference;
};

/// Clauses that one Encoding learned and that hold for all schedules of a smaller or equal II, too.
///
/// Slots and stages of a schedule at one II are a schedule at every larger II (stretch lemma,
/// decision 0002). So a clause on slots, stages and groups that holds at the larger II holds at the
/// smaller II. At the smaller II at least as many copies are alive and they fit, so they fit at the
/// larger II, too. So a clause also holds with the `alive`, `held`, `before` and `counts` of the
/// smaller II. Literals on least lifetimes (`leaves`), addresses and limits of objectives are left
/// out.
struct ClauseTransfer {
  struct Clause {
    std::uint32_t glue = 0;
    std::vector<Saying> literals;
  };
  std::vector<Clause> clauses;
};

}  // namespace twill::solve
