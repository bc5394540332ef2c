// Schedules a loop through the installed library: two exclusive units, three ops, and an optimum
// that is known by hand.

#include <cstdio>
#include <utility>
#include <vector>

#include "twill/problem/problem.h"
#include "twill/solve/solve.h"
#include "twill/support/shipped.h"
#include "twill/verify/verify.h"

namespace {

using namespace twill;

problem::Op op(const char* name, std::size_t unit, Cycles cycles) {
  problem::Op made;
  made.name = name;
  made.alternatives = {
      problem::Alternative{.unit = problem::UnitId(unit), .occupancy = cycles, .latency = cycles}};
  return made;
}

problem::Dependence edge(std::size_t from, std::size_t to) {
  problem::Dependence made;
  made.from = problem::OpId(from);
  made.to = problem::OpId(to);
  return made;
}

/// Two products of 2 cycles on the tensor core around an exponential of 3 on another unit. The
/// tensor core is busy 4 cycles an iteration, so 4 is the least initiation interval.
problem::Parts attention() {
  problem::Parts parts;
  parts.name = "attention";
  parts.units = {{"tensor_core"}, {"exp_unit"}};
  parts.groups = {{"warpgroup", 4, 200, false}};
  parts.ops = {op("qk", 0, 2), op("exp", 1, 3), op("pv", 0, 2)};
  parts.dependences = {edge(0, 1), edge(1, 2)};
  return parts;
}

}  // namespace

int main() {
  const auto posed = problem::pose(attention());
  if (!posed) return std::puts(to_string(posed.error()).c_str()), 1;
  const schedule::Answer answer = solve::solve(*posed);
  if (answer.verdict != schedule::Verdict::optimal) return std::puts(answer.argument.c_str()), 1;
  const auto checked = verify::verify(*posed, *answer.schedule);
  if (!checked) return std::puts(checked.error().front().message.c_str()), 1;
  std::printf("II %lld\n", static_cast<long long>(checked->schedule().initiation_interval));
  if (!support::shipped_text("machines/h200.json")) return std::puts("no machines"), 1;
  return answer.schedule->initiation_interval == 4 ? 0 : 1;
}
