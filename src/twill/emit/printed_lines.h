#pragma once

#include <string_view>
#include <vector>

#include "twill/problem/ops.h"

namespace twill::emit {

/// By OpId, the lines of a printed `kernel.cu` at which work of the op begins, from 1, ascending.
/// There is one for each section with the op. The printer puts "// NAME: ..." in front of each.
std::vector<std::vector<int>> printed_lines(std::string_view kernel,
                                            const problem::Problem& problem);

/// The same for a printed module of TTGIR. Its printer puts "// issue NAME ..." or "// compute NAME
/// ..." in front of each, or behind a short one.
std::vector<std::vector<int>> ttgir_lines(std::string_view module, const problem::Problem& problem);

}  // namespace twill::emit
