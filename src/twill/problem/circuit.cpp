#include "twill/problem/circuit.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "twill/problem/problem.h"

namespace twill::problem {
namespace {

/// Removes ops without predecessors repeatedly (Kahn 1962). `left[op]` counts the predecessors that
/// remain: 0 for a removed op, more for an op on a circuit or after one.
std::vector<std::size_t> predecessors_left(const Parts& parts) {
  const std::size_t op_count = parts.ops.size();
  std::vector<std::size_t> left(op_count, 0);
  std::vector<std::size_t> first(op_count + 1, 0);  // successors as one array, by source
  for (const Dependence& it : parts.dependences) {
    if (it.distance != 0) continue;
    ++left[it.to.index()];
    ++first[it.from.index() + 1];
  }
  for (std::size_t op = 0; op < op_count; ++op) first[op + 1] += first[op];
  std::vector<std::size_t> successors(first.back());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (const Dependence& it : parts.dependences) {
    if (it.distance == 0) successors[next[it.from.index()]++] = it.to.index();
  }

  std::vector<std::size_t> ready;
  for (std::size_t op = 0; op < op_count; ++op) {
    if (left[op] == 0) ready.push_back(op);
  }
  while (!ready.empty()) {
    const std::size_t op = ready.back();
    ready.pop_back();
    for (std::size_t i = first[op]; i < first[op + 1]; ++i) {
      if (--left[successors[i]] == 0) ready.push_back(successors[i]);
    }
  }
  return left;
}

}  // namespace

std::vector<DependenceId> circuit_of_distance_zero(const Parts& parts) {
  const std::vector<std::size_t> left = predecessors_left(parts);

  // Each remaining op depends on another remaining op. A walk back along these dependences meets an
  // op twice, which closes a circuit.
  std::vector<std::optional<std::size_t>> into(parts.ops.size());
  std::optional<std::size_t> start;
  for (std::size_t i = 0; i < parts.dependences.size(); ++i) {
    const Dependence& it = parts.dependences[i];
    if (it.distance != 0 || left[it.from.index()] == 0 || left[it.to.index()] == 0) continue;
    into[it.to.index()] = i;
    if (!start) start = it.to.index();
  }
  if (!start) return {};

  const auto before = [&](std::size_t op) { return parts.dependences[*into[op]].from.index(); };
  std::vector<bool> seen(parts.ops.size(), false);
  std::size_t op = *start;
  while (!seen[op]) {
    seen[op] = true;
    op = before(op);
  }
  std::vector<DependenceId> circuit;
  std::size_t at = op;
  do {
    circuit.emplace_back(*into[at]);
    at = before(at);
  } while (at != op);
  std::reverse(circuit.begin(), circuit.end());
  const auto from = [&](DependenceId id) { return parts.dependences[id.index()].from; };
  const auto first =
      std::min_element(circuit.begin(), circuit.end(),
                       [&](DependenceId a, DependenceId b) { return from(a) < from(b); });
  std::rotate(circuit.begin(), first, circuit.end());
  return circuit;
}

}  // namespace twill::problem
