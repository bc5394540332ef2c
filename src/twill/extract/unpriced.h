#pragma once

#include <vector>

#include "twill/extract/body.h"

namespace twill::extract {

/// Warns of ops that take time in every iteration and are not in the Problem, so that figures are
/// too low (lower bounds hold): descriptors that are made there, and loads of scalars by which the
/// next iteration finds what it loads, as in a walk along a list. One diagnostic at each op. Cost:
/// linear in the body.
std::vector<Diagnostic> unpriced(const Body& body);

}  // namespace twill::extract
