#pragma once

#include <string>

#include "twill/page/facts.h"

/// The dependences of a loop with the role of each op, as files of their own.
namespace twill::page {

/// For Graphviz: roles are clusters, each with its colour; what goes from one iteration to a later
/// one is dashed and says how many. Names may be anything.
std::string roles_dot(const Facts& facts);

/// A drawing that needs no other program: a column for each role, time going down.
std::string roles_svg(const Facts& facts);

}  // namespace twill::page
