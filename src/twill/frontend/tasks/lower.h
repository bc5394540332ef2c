#pragma once

#include <string>

#include "twill/tasks/instantiate.h"
#include "twill/tasks/text.h"

/// From tasks to what the rest of Twill takes.
namespace twill::frontend {

/// The kernel that a tree of tasks is: a module of TTGIR without register layouts, of which every
/// op has the place in the user's source that it comes from. The host's prange is the grid;
/// arguments of rank 2 are TMA descriptors, as Triton passes them, those of rank 1 pointers, and
/// sizes that the kernel needs are i32 arguments behind all others. Fails where a tile's size is no
/// number (M03), a partition cannot be kept without a copy (M08), or an instruction does not fit
/// (M09). Precondition: check(*tree.library).
Result<std::string> lower_tasks(const tasks::Tree& tree, const std::string& file_name);

/// Reads, checks, instantiates and lowers a text: by its first mapping, or by that of that name;
/// without any, of the first task with all of it derived.
Result<std::string> lower_task_text(const std::string& text, const std::string& file_name,
                                    const std::string& mapping = {});
Result<tasks::Tree> tree_of_text(const tasks::TaskText& text, const std::string& file_name,
                                 const std::string& mapping = {});

}  // namespace twill::frontend
