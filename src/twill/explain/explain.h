#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "twill/explain/ask.h"
#include "twill/explain/core.h"
#include "twill/explain/sensitivity.h"
#include "twill/explain/what_ifs.h"
#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

/// Reasons why a loop is no faster, and changes that would make it faster.
///
/// The reason is a core: requirements of the Problem (requirement.h) that together leave no faster
/// schedule, while without any one of them there is one. Helpful changes come from changing one
/// what-if at a time (what_ifs.h). The solver answers every question, so each result is proven, or
/// reported as undecided.
namespace twill::explain {

enum class Status {
  held,        ///< `core` says why there is no schedule of II `question` or less
  reachable,   ///< the II of the question has a schedule
  infeasible,  ///< there is no schedule at any II; `core` has the reason
  undecided,   ///< a limit ended the search too early
};

struct Explanation {
  explicit Explanation(problem::Problem what) : problem(std::move(what)) {}

  problem::Problem problem;
  Status status = Status::undecided;
  schedule::Answer answer;               ///< about the least II of the loop, without objectives
  std::optional<Cycles> asked;           ///< II that the user asked about
  std::optional<Cycles> question;        ///< II that is explained: `asked`, or one below the least
  std::optional<schedule::Bound> bound;  ///< sum or circuit that is the whole explanation, without
                                         ///< a search
  Core core;
  Sensitivity sensitivity;
  std::uint64_t questions = 0;  ///< put to the solver
  std::uint64_t work = 0;       ///< deterministic units, all questions together
};

/// Earlier results of the caller.
struct Known {
  schedule::Schedule schedule;           ///< of the Problem; without a bound, perhaps of a similar
                                         ///< Problem
  std::optional<schedule::Bound> bound;  ///< no schedule of the Problem has a smaller II
};

/// Explains why `problem` has no schedule with an II of at most `ii`; with none given, one less
/// than the least II. Never fails: the result names undecided parts. Deterministic. Precondition:
/// ii is positive.
Explanation explain(const problem::Problem& problem, std::optional<Cycles> ii,
                    std::span<const Variant> variants, const Limits& limits,
                    const std::optional<Known>& known = {});

}  // namespace twill::explain
