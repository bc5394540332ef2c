#pragma once

#include <vector>

#include "twill/extract/body.h"

namespace twill::extract {

/// Warns of ops that take time in every iteration and are not in the Problem, so that figures are
/// too low; lower bounds hold. Such are descriptors made in the loop, and loads of scalars that are
/// the next iteration's addresses, as in a linked list. One diagnostic at each op. Cost: linear in
/// the body.
std::vector<Diagnostic> unpriced(const Body& body);

}  // namespace twill::extract
