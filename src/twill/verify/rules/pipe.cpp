// Rule `pipe` (not in the paper, where every functional unit is exclusive).

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/verify/simulation.h"

namespace twill::verify {

void check_pipes(const Subject& subject, Findings& findings) {
  for (std::size_t p = 0; p < subject.problem.pipes().size(); ++p) {
    const problem::PipeId pipe(p);
    Cycles demand = 0;
    std::vector<OpId> users;
    for (std::size_t i = 0; i < subject.op_count(); ++i) {
      for (const problem::PipeUse& use : subject.alternative(OpId(i)).pipes) {
        if (use.pipe != pipe || use.demand == 0) continue;
        demand += use.demand;
        users.push_back(OpId(i));
      }
    }
    if (demand <= subject.interval()) continue;
    const std::size_t count = users.size();
    const bool more = findings.add(
        {"pipe", std::move(users), 0, demand, subject.interval(),
         fmt::format("pipe: {} ops ask for {} cycles of pipe {} per iteration, but the initiation "
                     "interval is {}",
                     count, demand, subject.problem[pipe].name, subject.interval())});
    if (!more) return;
  }
}

}  // namespace twill::verify
