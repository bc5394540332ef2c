#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "twill/problem/problem.h"

/// Which ops of a loop look alike: what the search for symmetries begins with.
namespace twill::solve {

/// Whether two ops differ in their names and sources only.
bool same_work(const problem::Op& a, const problem::Op& b);

/// Everything about a dependence except its ends and its distance.
using EdgeKind =
    std::tuple<std::optional<Cycles>, bool, bool, std::optional<Cycles>, bool, Cycles, bool>;
EdgeKind kind_of(const problem::Dependence& dependence);

/// One end of a dependence seen from the other.
struct Link {
  bool outgoing = false;
  int distance = 0;
  EdgeKind kind;
  std::size_t other = 0;
};
/// By op.
std::vector<std::vector<Link>> links_of(const problem::Problem& problem);

/// Classes of ops that look alike from any distance (colour refinement), by op: equal class,
/// perhaps interchangeable; different class, certainly not. `distances`: whether those of
/// dependences tell ops apart. Cost: O(ops squared) and so many sorts of all dependences.
std::vector<std::size_t> classes_of(const problem::Problem& problem,
                                    const std::vector<std::vector<Link>>& links, bool distances);

}  // namespace twill::solve
