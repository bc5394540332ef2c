#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

/// Structure of a schedule, without its cycles: groups, and the chosen side of every disjunction.
/// Only cycles under simple inequalities remain free, so the best cycles can be computed.
namespace twill::solve {

/// Inequality M(to) >= M(from) + alpha + beta * II, alpha >= 0.
struct Inequality {
  std::size_t from = 0;
  std::size_t to = 0;
  Cycles alpha = 0;
  Cycles beta = 0;
};

/// Makes inequalities that `schedule` obeys. Every other solution, for any II of at least
/// load_bound, obeys the rules with the same groups. The inequalities are dependences; the order
/// modulo II on units, in groups and around blocking ops; and, at the issue of each value, at most
/// as many live copies of each other value. Precondition: `schedule` obeys the rules.
std::vector<Inequality> structure_of(const Instance& instance, const schedule::Schedule& schedule);

/// Whether the inequalities have a solution at that II.
bool has_solution(const std::vector<Inequality>& structure, std::size_t op_count, Cycles ii);

/// Finds the least II, not below `least`, for which the inequalities have a solution; empty if
/// there is no such II. Bellman-Ford, raising II by each circuit that does not fit.
std::optional<Cycles> least_interval(const std::vector<Inequality>& structure, std::size_t op_count,
                                     Cycles least);

/// Solution in which every op is issued as early as possible, from cycle 0. Precondition: there is
/// a solution.
std::vector<Cycles> earliest_issue(const std::vector<Inequality>& structure, std::size_t op_count,
                                   Cycles ii);

/// Schedule with the same structure, the given II and every op as early as possible.
schedule::Schedule tightened(const schedule::Schedule& schedule,
                             const std::vector<Inequality>& structure, Cycles ii);

}  // namespace twill::solve
