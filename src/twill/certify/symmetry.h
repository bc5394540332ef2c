#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "twill/certify/facts.h"
#include "twill/certify/proof.h"

namespace twill::certify {

/// First change that the exchange makes to the Problem, apart from names and sources of ops; empty
/// if there is none. Takes any numbers.
std::string objection_to(const problem::Problem& problem, const Exchange& exchange);

/// Op that takes the place of each op. Precondition: no objection.
std::vector<std::size_t> map_of(const problem::Problem& problem, const Exchange& exchange);

/// First assumption of the subject that does not hold in the Problem, not even without loss of
/// generality; empty if there is none. Precondition: its indices are in range.
std::string objection_to(const problem::Problem& problem, const Facts& facts,
                         const Subject& subject);

/// Iterations from an op's value around the accumulator back to itself, at least 1; 0 if the ops
/// are no accumulator. In an accumulator each op reads the value of the next op, and the last op
/// reads that of the first.
Cycles rounds_of(const Facts& facts, const std::vector<std::size_t>& ops);

}  // namespace twill::certify
