#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "twill/execute/interpreter.h"
#include "twill/ir/program.h"

/// Finds the arguments that decide a loop's bounds.
namespace twill::execute {

/// Arguments of `function` on which any of `values` depends, including arrays that are read for the
/// values. `counts`: also arguments that bound a loop whose index is a source of the values. Cost:
/// linear in the ops from which the values come.
std::set<ir::ValueId> arguments_behind(const ir::Program& program, ir::OpId function,
                                       const std::vector<ir::ValueId>& values, bool counts = true);

/// Fills arrays of integers that hold bounds of the loop and are not given in `launch`. Neighbours
/// differ by 1, 0, 2, 3 ... times `times` iterations, so counts and ends of sequences both work.
/// With random bounds, a loop would hardly ever run.
void fill_bounds(const ir::Program& program, ir::OpId loop, std::int64_t times, Launch& launch);

/// Sets integer arguments that bound loops around this loop, if these count from 0 by a constant
/// step. The values give `count` iterations; arguments in `launch` stay. Without this, the planned
/// loop would run as often as an arbitrary number says.
void fill_outer(const ir::Program& program, ir::OpId loop, std::int64_t count, Launch& launch);

/// Fills arrays of integers that decide branches in the loop, or its end, and are not given in
/// `launch`. The arrays hold `count` different numbers around the number of the comparison, so that
/// both sides are taken. With random flags, one side would hardly ever be. Precondition: `count` is
/// at least 2.
void fill_conditions(const ir::Program& program, ir::OpId loop, std::int64_t count, Launch& launch);

}  // namespace twill::execute
