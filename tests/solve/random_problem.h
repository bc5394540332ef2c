#pragma once

#include <random>
#include <string>

#include "twill/problem/problem.h"

namespace twill::solve_test {

/// How large the problems of `random_problem` are.
struct Size {
  int ops = 4;
  int groups = 2;        ///< compute groups; a load group may come on top
  int cycles = 3;        ///< largest occupancy, latency, issue time and read hold
  int alternatives = 1;  ///< most ways per op
};

/// A well-formed problem with a little of everything: units, a pipe, a memory, registers, a load
/// group, widths, blocking and ordering dependences, transfers, relaxed rules.
problem::Problem random_problem(std::mt19937& random, const Size& size);

/// The same problem with a register budget for all groups, or for all that take no loads: little
/// or plenty. With fewer than two groups there is none.
problem::Problem with_register_budget(std::mt19937& random, const problem::Problem& problem);

/// The same problem with a memory in force that is tight for values of unequal sizes, some of which
/// lie in one place.
problem::Problem with_tight_memory(std::mt19937& random, const problem::Problem& problem);

/// The same problem, in which most values in registers that can be handed over are, by stores and
/// loads with a little of everything; these come after its ops.
problem::Problem with_transfer_ops(std::mt19937& random, const problem::Problem& problem);

/// The same problem with the objective `length` alone, so that using groups and crossing between
/// them costs nothing.
problem::Problem for_length(const problem::Problem& problem);

/// The same problem with its ops in another order. Precondition: no transfers.
problem::Problem shuffled(std::mt19937& random, const problem::Problem& problem);

/// A number from `low` to `high`, both included.
int pick(std::mt19937& random, int low, int high);

/// The problem as a .loop text, for messages.
std::string text_of(const problem::Problem& problem);

}  // namespace twill::solve_test
