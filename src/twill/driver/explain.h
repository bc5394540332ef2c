#pragma once

#include <cstdint>
#include <optional>

#include "twill/driver/driver.h"
#include "twill/driver/plan_loop.h"
#include "twill/explain/print.h"

namespace twill::driver {

/// An explanation and its subject.
struct Explained {
  explain::Heading heading;
  explain::Explanation explanation;
  std::vector<Diagnostic> warnings;
  std::optional<PlannedLoop> answer = {};  ///< for the input; nullopt for the JSON of a schedule
};

/// Explains why the input's loop has no schedule with an II of at most `ii`; with none given, one
/// less than the least possible. A kernel is explained for the pool of its answer (`answer_loop`),
/// at the given rate; other sub-tiles and pools are tried among the changes. The heading has the
/// answer's story. `limits.proof` is ignored. Fails only for bad input.
Result<Explained> explain_loop(const Request& request, machine::Rate rate, std::optional<Cycles> ii,
                               const explain::Limits& limits);

}  // namespace twill::driver
