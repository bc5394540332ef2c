#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "twill/problem/ops.h"

/// Isomorphic ops of a loop, with which the search for symmetries begins.
namespace twill::solve {

/// Whether two ops differ in their names and sources only.
bool same_work(const problem::Op& a, const problem::Op& b);

/// Kind of a dependence: all its members but ends and distance.
using EdgeKind =
    std::tuple<std::optional<Cycles>, bool, bool, std::optional<Cycles>, bool, Cycles, bool>;
EdgeKind kind_of(const problem::Dependence& dependence);

/// End of a dependence as seen from its other end.
struct Link {
  bool outgoing = false;
  int distance = 0;
  EdgeKind kind;
  std::size_t other = 0;
};
/// Links of each op, by op.
std::vector<std::vector<Link>> links_of(const problem::Problem& problem);

/// Classes of isomorphic ops, by op. Colour refinement (one-dimensional Weisfeiler-Leman): ops of
/// one class look alike from any distance and may be interchangeable; ops of two classes are not.
/// `distances`: whether distances of dependences count. Cost: O(ops squared), and as many sorts of
/// all dependences as there are rounds.
std::vector<std::size_t> classes_of(const problem::Problem& problem,
                                    const std::vector<std::vector<Link>>& links, bool distances);

}  // namespace twill::solve
