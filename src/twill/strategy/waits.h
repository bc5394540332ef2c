#pragma once

#include "twill/problem/ops.h"

/// Internal to the room: asynchronous work that is waited for before the next op is issued.
namespace twill::strategy {

/// Work on the tensor core: asynchronous, and no load.
bool is_product(const problem::Op& op);

/// Adds a dependence without a value: `next` of `distance` iterations later is issued once `op` is
/// over. Nothing is added where one of the loop's own says so.
void wait_at_once(problem::Parts& parts, problem::OpId op, problem::OpId next, int distance);

}  // namespace twill::strategy
