// Rule `dependence` (paper: section 4.1, Figure 4, Dependence; Figure 6, Cross-Warp Spills, for the
// transfer).

#include <fmt/format.h>

#include "twill/verify/simulation.h"

namespace twill::verify {

void check_dependences(const Subject& subject, Findings& findings) {
  const Problem& problem = subject.problem;
  for (const problem::Dependence& edge : problem.dependences()) {
    const schedule::Placement& from = subject.at(edge.from);
    const schedule::Placement& to = subject.at(edge.to);
    const Cycles delay =
        problem::delay_of(edge, problem[edge.from], subject.alternative(edge.from));
    const Cycles transfer = from.group == to.group ? 0 : edge.transfer;
    // Iteration 0 of `from` feeds iteration `distance` of `to`; later iterations repeat the
    // picture.
    const Cycles ready = from.issue + delay + transfer;
    const Cycles issued = to.issue + edge.distance * subject.interval();
    if (issued >= ready) continue;
    const std::string crossing = transfer > 0 ? fmt::format(" + transfer {}", transfer) : "";
    const bool more = findings.add(
        {"dependence",
         {edge.from, edge.to},
         issued,
         issued,
         ready,
         fmt::format("dependence: {} of iteration {} issues at cycle {}, but {} of iteration 0, "
                     "issued at {}, is ready at {} (delay {}{})",
                     subject.name(edge.to), edge.distance, issued, subject.name(edge.from),
                     from.issue, ready, delay, crossing)});
    if (!more) return;
  }
}

}  // namespace twill::verify
