#pragma once

#include <optional>

#include <z3++.h>

namespace twill::solve_test {

/// Makes a solver of Z3 with its older arithmetic, without Z3's portfolio. It answers most
/// questions about schedules in a quarter to a half of the time of Z3's default.
inline z3::solver quick_solver(z3::context& context) {
  z3::params older(context);
  older.set("arith.solver", 2U);
  const z3::tactic search = z3::with(z3::tactic(context, "smt"), older);
  return (z3::tactic(context, "simplify") & search).mk_solver();
}

/// Answer of the solver within `work` units of its work; empty beyond.
inline std::optional<bool> answer_of(z3::solver& solver, unsigned work) {
  z3::params params(solver.ctx());
  params.set("rlimit", work);  // deterministic, unlike seconds
  solver.set(params);
  const z3::check_result result = solver.check();
  if (result == z3::unknown) return std::nullopt;
  return result == z3::sat;
}

}  // namespace twill::solve_test
