#pragma once

#include <cstddef>

#include "twill/problem/problem.h"

namespace twill::problem {

inline Dependence edge(std::size_t from, std::size_t to, int distance = 0) {
  Dependence it;
  it.from = OpId(from);
  it.to = OpId(to);
  it.distance = distance;
  return it;
}

}  // namespace twill::problem
