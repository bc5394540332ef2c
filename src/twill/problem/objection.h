#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "twill/problem/problem.h"

namespace twill::problem {

/// The table of Parts that an objection is about; `loop` means the Parts as a whole.
enum class Part {
  loop,
  unit,
  pipe,
  memory,
  group,
  op,
  dependence,
  same_group,
  transfer,
  register_budget
};

/// Reason why Parts are no Problem, and the element to blame. Readers of texts know the line of
/// that element.
struct Objection {
  Part part = Part::loop;
  std::size_t index = 0;  ///< element of that table; 0 for `loop`
  std::string message;    ///< names the element
  std::string hint;       ///< what to do; may be empty
};

/// First violated input rule, tables in the order of Parts; empty if `pose` would succeed. Cost:
/// O(ops + dependences).
std::optional<Objection> objection_to(const Parts& parts);

}  // namespace twill::problem
