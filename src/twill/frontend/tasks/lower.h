#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/tasks/instantiate.h"
#include "twill/tasks/text.h"
#include "twill/tasks/variants.h"

/// Lowers tasks to texts that Twill's reader accepts.
namespace twill::frontend {

/// Lowers a tree of tasks to its kernel: a module of TTGIR without register layouts. Every op has
/// its place in the user's source. The host's prange is the grid. Arguments of rank 2 are TMA
/// descriptors, as Triton passes them; arguments of rank 1 are pointers. Sizes that the kernel
/// needs are i32 arguments after all others. Fails if a tile's size is no number (M03), a partition
/// needs a copy (M08), or an instruction does not fit (M09). Other statements of the mapping become
/// attributes (stated.h). Fails (M15) for levels of a machine other than Hopper. Precondition:
/// check(*tree.library).
Result<std::string> lower_tasks(const tasks::Tree& tree, const std::string& file_name);

/// Text of a `.task` file, or tasks made in C++, with the chosen mapping: the first or the named
/// one. Mappings are in the text of the tasks or in a `.map` text. Without mappings, all choices
/// are derived for the first task.
struct TaskSource {
  std::string file;
  std::string text;
  std::string mapping = {};   ///< name of the mapping, if there are several; empty: the first
  std::string map_file = {};  ///< empty: mappings are in `text`
  std::string map_text = {};
  std::optional<tasks::TaskText> made = {};  ///< tasks made in C++; `text` is ignored then
};

/// A checked source, with the chosen mapping.
struct MappedTasks {
  tasks::TaskText text;
  tasks::Mapping mapping;
};

/// Fails, with the line of the text or of the mapping, for incorrect tasks, or for a missing
/// mapping.
Result<MappedTasks> read_mapped(const TaskSource& source);
/// As `read_mapped`, with a hole for each tunable that the mapping leaves open.
Result<MappedTasks> read_open(const TaskSource& source);
/// Runs the program's variants, each beside the meaning of its task. Fails as
/// `tasks::compare_variants`, with the line.
Result<std::vector<tasks::ComparedVariant>> variants_of(const TaskSource& source,
                                                        const MappedTasks& program);
/// Makes the tree of the mapping. Fails as `tasks::instantiate`, with the line.
Result<tasks::Tree> tree_of(const TaskSource& source, const MappedTasks& program,
                            const tasks::Levels& levels = {});

/// Lowers a tree of the source to its kernel. Fails as `lower_tasks`, with the line.
Result<std::string> kernel_of(const TaskSource& source, const tasks::Tree& tree);

/// Reads, checks, instantiates for any machine, and lowers.
Result<std::string> lower_task_text(const TaskSource& source);

}  // namespace twill::frontend
