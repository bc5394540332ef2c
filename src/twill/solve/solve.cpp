#include "twill/solve/solve.h"

namespace twill::solve {

schedule::Answer solve(const problem::Problem&, const Options&) {
  schedule::Answer answer;
  answer.argument = "the solver is not built yet";
  return answer;
}

}  // namespace twill::solve
