#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "twill/certify/facts.h"
#include "twill/certify/proof.h"

namespace twill::certify {

/// Whether the exchange keeps the Problem, but for names and sources of ops: empty, or its first
/// change. Takes any numbers.
std::string objection_to(const problem::Problem& problem, const Exchange& exchange);

/// The op that takes the place of each. Precondition: no objection.
std::vector<std::size_t> map_of(const problem::Problem& problem, const Exchange& exchange);

/// Whether the subject's assumptions hold in the Problem, or without loss of generality: empty, or
/// the first that does not. Precondition: its indices are in range.
std::string objection_to(const problem::Problem& problem, const Facts& facts,
                         const Subject& subject);

/// Iterations from an op's value around the accumulator back to itself, at least 1; 0 if the ops
/// are no accumulator. In one, each op reads the value of the next, the last that of the first.
Cycles rounds_of(const Facts& facts, const std::vector<std::size_t>& ops);

}  // namespace twill::certify
