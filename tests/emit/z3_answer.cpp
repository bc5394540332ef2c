#include "emit/z3_answer.h"

#include <z3++.h>

namespace twill::emit_test {

std::optional<bool> z3_answer(const std::string& text, const std::string& assertions,
                              unsigned rlimit) {
  z3::context context;
  z3::solver solver(context, "QF_LIA");
  z3::params params(context);
  params.set("rlimit", rlimit);  // deterministic, unlike seconds
  solver.set(params);
  solver.from_string((text + assertions).c_str());
  const z3::check_result result = solver.check();
  if (result == z3::unknown) return std::nullopt;
  return result == z3::sat;
}

}  // namespace twill::emit_test
