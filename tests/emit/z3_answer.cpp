#include "emit/z3_answer.h"

#include <stdexcept>

#include <z3++.h>

#include "solve/z3_solver.h"

namespace twill::emit_test {

std::optional<bool> z3_answer(const std::string& text, const std::string& assertions,
                              unsigned rlimit) {
  z3::context context;
  z3::solver quick = solve_test::quick_solver(context);
  quick.from_string((text + assertions).c_str());
  const std::optional<bool> answer = solve_test::answer_of(quick, rlimit);
  if (answer) return answer;
  z3::solver standard(context, "QF_LIA");
  standard.from_string((text + assertions).c_str());
  return solve_test::answer_of(standard, rlimit);
}

std::optional<std::set<std::string>> z3_model(const std::string& text) {
  z3::context context;
  z3::solver solver(context, "QF_FD");
  solver.from_string(text.c_str());
  const z3::check_result result = solver.check();
  if (result == z3::unknown) throw std::runtime_error("Z3 gave up: " + solver.reason_unknown());
  if (result == z3::unsat) return std::nullopt;
  std::set<std::string> names;
  const z3::model model = solver.get_model();
  for (unsigned i = 0; i < model.num_consts(); ++i) {
    const z3::func_decl name = model.get_const_decl(i);
    if (model.get_const_interp(name).is_true()) names.insert(name.name().str());
  }
  return names;
}

}  // namespace twill::emit_test
