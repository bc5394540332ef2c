#pragma once

#include <random>
#include <string>

#include "twill/problem/problem.h"

namespace twill::solve_test {

/// Size of the problems of `random_problem`.
struct Size {
  int ops = 4;
  int groups = 2;        ///< compute groups; a load group may be added
  int cycles = 3;        ///< largest occupancy, latency, issue time and read hold
  int alternatives = 1;  ///< most alternatives per op
};

/// Draws a well-formed problem with a little of everything. There are units, a pipe, a memory,
/// registers, a load group, widths, blocking and ordering dependences, transfers, relaxed rules.
problem::Problem random_problem(std::mt19937& random, const Size& size);

/// Adds a register budget for all groups, or for all that take no loads: little or plenty. Needs
/// two groups or more.
problem::Problem with_register_budget(std::mt19937& random, const problem::Problem& problem);

/// Puts a memory in force that is tight for values of unequal sizes, some of which lie in one
/// place.
problem::Problem with_tight_memory(std::mt19937& random, const problem::Problem& problem);

/// Adds transfers, with stores and loads of many kinds, to most values in registers that can have
/// one. Transfer ops come after the problem's ops.
problem::Problem with_transfer_ops(std::mt19937& random, const problem::Problem& problem);

/// Changes the objectives to `length` alone, so that groups and crossings cost nothing.
problem::Problem for_length(const problem::Problem& problem);

/// Shuffles the ops of the problem. Precondition: no transfers.
problem::Problem shuffled(std::mt19937& random, const problem::Problem& problem);

/// Draws a number from `low` to `high`, both included.
int pick(std::mt19937& random, int low, int high);

/// Prints the problem as a .loop text, for messages.
std::string text_of(const problem::Problem& problem);

}  // namespace twill::solve_test
