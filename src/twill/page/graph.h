#pragma once

#include <string>

#include "twill/page/facts.h"

/// Dependences of a loop with the role of each op, as files of their own.
namespace twill::page {

/// Prints the graph for Graphviz. Roles are clusters, each with its colour. Edges to a later
/// iteration are dashed, with the distance. Names may be any text.
std::string roles_dot(const Facts& facts);

/// Prints the graph as SVG, which needs no other program: a column for each role, time going down.
std::string roles_svg(const Facts& facts);

}  // namespace twill::page
