#pragma once

#include <cstdint>
#include <vector>

#include "twill/solve/literal.h"
#include "twill/solve/proof.h"

namespace twill::solve {

/// A literal of an Encoding in words that every Encoding of the same instance understands: a
/// difference of slots or stages, or what a literal means.
struct Saying {
  bool is_difference = false;
  bool negative = false;  ///< of the meaning; a difference is negated by itself
  Meaning meaning;
  Difference difference;
};

/// Clauses that one Encoding learned, and that hold of all schedules of a smaller or equal II as
/// well.
///
/// Slots and stages of a schedule at an II make one at every larger II (the stretch lemma:
/// decision 0002), so what holds of all schedules at the larger one holds of this one, as long as
/// it speaks of slots, stages and groups. Copies that are alive are not fewer at the smaller II,
/// and they fit, so they do no harm at the larger one either: a clause holds as well if its
/// `alive`, `held`, `before` and `counts` are those of the smaller II. What depends on least
/// lifetimes
/// (`leaves`), addresses and limits of objectives are left out.
struct Lessons {
  struct Clause {
    std::uint32_t glue = 0;
    std::vector<Saying> literals;
  };
  std::vector<Clause> clauses;
};

}  // namespace twill::solve
