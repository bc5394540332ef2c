#pragma once

#include <string>

#include "twill/tasks/values.h"

/// Facts about the parts that tensors are cut into.
namespace twill::tasks {

enum class Fact { no, yes, unknown };

/// Whether a size is at most another.
Fact is_at_most(const Size& a, const Size& b);
/// Whether parts with different indices share no element.
Fact is_disjoint(const Block& block);
/// Whether all indices together are the whole.
Fact is_complete(const Block& block);

/// Every part that the inner variants launch tasks on: a line for each, with these facts and what
/// the task does with it.
std::string partitions_text(const Library& library);

}  // namespace twill::tasks
