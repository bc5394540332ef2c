#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "twill/verify/simulation.h"

/// Space that values take while they live, for the rules about it.
namespace twill::verify {

struct Resource {
  std::string rule;
  std::string what;  ///< "memory SMEM"
  Amount capacity = 0;
};

/// The lives of the values that occupy a resource, over enough iterations that the interval from
/// cycle `steady` on is the steady state.
struct LivesRun {
  std::vector<Span> instances;  ///< sorted by begin (then op)
  std::map<OpId, Amount> amounts;
  Cycles steady = 0;
};

/// None if the resource is empty all the time; or, with a "size" violation, if too much lives at a
/// time to be laid out. `amounts` are by OpId.
std::optional<LivesRun> run_lives(const Subject& subject, const Resource& resource,
                                  const std::vector<Amount>& amounts, Findings& findings);

/// By OpId: memory that its result takes.
std::vector<Amount> amounts_in(const Problem& problem, problem::MemoryId memory);

}  // namespace twill::verify
