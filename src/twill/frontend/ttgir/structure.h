#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Checks what a Program's parts must agree on, wherever we know the op: number and types of
/// loop-carried values, of what conditionals, functions and blocks are given, and of the operands
/// of element-wise ops; that regions which need a terminator have one; and what `misfit` knows of
/// the types of other ops. Types that could not be inferred are let pass. The first violation in
/// order of the text is returned; its `source_line` is empty.
Result<void> check_structure(const ir::Program& program);

}  // namespace twill::frontend::ttgir
