#pragma once

#include "twill/tasks/values.h"

/// Checks tasks without a mapping, a machine or sizes.
namespace twill::tasks {

/// Fails at the first of these faults:
/// - names that are taken or unknown (T02),
/// - launches whose number of arguments (T01), shapes (T03) or types (T04) do not fit,
/// - privileges that are exceeded (T05),
/// - reads of elements before they are written (T06),
/// - iterations of a prange that touch the same elements (T07) or may (T08),
/// - `writes` arguments that are not written (T14).
///
/// Cost: linear in the tasks, but quadratic in the launches of a prange.
Result<void> check(const Library& library);

}  // namespace twill::tasks
