#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/driver.h"

/// A loop as a question to an SMT solver.
namespace twill::driver {

struct SmtlibRequest {
  bool literal = false;          ///< the paper's model instead of Twill's
  std::optional<Cycles> ii;      ///< default: MinII
  std::optional<Cycles> length;  ///< for the paper's model; default: the longest length that the
                                 ///< paper tries
};

struct EmittedText {
  std::string text;
  std::vector<Diagnostic> warnings;
};

/// The loop of the input, posed as `pose_loop` does, at one interval (emit/smtlib.h). Fails for bad
/// input, and for an interval at which the paper's search has no modulo schedule to begin with.
Result<EmittedText> emit_smtlib(const Request& request, machine::Rate rate,
                                const SmtlibRequest& what);

/// The length of the shortest modulo schedule at `ii`: units, pipes and dependences alone, without
/// memory, registers, groups and waits (Optimal-Modulo-Schedule of the paper's Algorithm 1). Empty
/// if there is none at `ii`, or if the work limit ended the search before a schedule was found. If
/// the limit ended the search later: the shortest schedule found.
std::optional<Cycles> modulo_length(const problem::Problem& problem, Cycles ii,
                                    const solve::Options& limits = {});

/// The last length that the paper's search tries at `ii`. It has as many copies of the loop body in
/// flight as the shortest modulo schedule.
std::optional<Cycles> longest_tried(const problem::Problem& problem, Cycles ii,
                                    const solve::Options& limits = {});

}  // namespace twill::driver
