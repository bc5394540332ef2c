#pragma once

#include "twill/problem/ops.h"

/// Internal to the room: waits for asynchronous work before the next op is issued.
namespace twill::strategy {

/// Whether the op is work on the tensor core: asynchronous, and no load.
bool is_product(const problem::Op& op);

/// Adds a dependence without a value: `next` of `distance` iterations later is issued once `op` is
/// over. Adds none where the loop's own dependences demand as much.
void wait_at_once(problem::Parts& parts, problem::OpId op, problem::OpId next, int distance);

}  // namespace twill::strategy
