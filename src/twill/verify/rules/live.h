#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "twill/verify/simulation.h"

/// Space that values take while they live, for the rules that limit it.
namespace twill::verify {

struct Resource {
  std::string rule;
  std::string what;  ///< name of the resource: "memory SMEM"
  Amount capacity = 0;
};

/// Lives of the values that occupy a resource, over enough iterations: from cycle `steady` on, one
/// interval is the steady state.
struct LivesRun {
  std::vector<Span> instances;  ///< sorted by begin (then op)
  std::map<OpId, Amount> amounts;
  Cycles steady = 0;
};

/// Lays out the lives. Empty if the resource is empty all the time; or, with a "size" violation, if
/// too much lives at a time to be laid out. `amounts` are by OpId.
std::optional<LivesRun> run_lives(const Subject& subject, const Resource& resource,
                                  const std::vector<Amount>& amounts, Findings& findings);

/// Amount of the memory that each op's result takes, by OpId.
std::vector<Amount> amounts_in(const Problem& problem, problem::MemoryId memory);

}  // namespace twill::verify
