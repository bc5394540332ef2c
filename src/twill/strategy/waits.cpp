#include "twill/problem/problem.h"
#include "twill/strategy/waits.h"

#include <algorithm>

namespace twill::strategy {

using problem::Dependence;
using problem::OpId;
using problem::Parts;

bool is_product(const problem::Op& op) { return op.asynchronous && !op.variable_latency; }

void wait_at_once(Parts& parts, OpId op, OpId next, int distance) {
  Dependence wait;
  wait.from = op;
  wait.to = next;
  wait.distance = distance;
  wait.blocking = true;
  wait.carries_value = false;
  const auto waits_already = [&](const Dependence& it) {
    return it.from == op && it.to == next && it.distance == distance && !it.delay &&
           !parts.ops[op.index()].streaming;
  };
  if (std::none_of(parts.dependences.begin(), parts.dependences.end(), waits_already)) {
    parts.dependences.push_back(wait);
  }
}

}  // namespace twill::strategy
