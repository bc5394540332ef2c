#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/tasks/instantiate.h"
#include "twill/tasks/text.h"
#include "twill/tasks/variants.h"

/// Lowers tasks to the texts that Twill's reader takes.
namespace twill::frontend {

/// Lowers a tree of tasks to its kernel: a module of TTGIR without register layouts. Every op has
/// its place in the user's source. The host's prange is the grid. Arguments of rank 2 are TMA
/// descriptors, as Triton passes them, those of rank 1 pointers. Sizes that the kernel needs are
/// i32 arguments behind all others. Fails if a tile's size is no number (M03), a partition cannot
/// be kept without a copy (M08), or an instruction does not fit (M09). Other statements of the
/// mapping are kept in attributes (stated.h). Fails (M15) for levels of a machine other than
/// Hopper. Precondition: check(*tree.library).
Result<std::string> lower_tasks(const tasks::Tree& tree, const std::string& file_name);

/// Text of a `.task` file, or tasks made in C++, with the chosen mapping: the first, or the named
/// one. Mappings are in the text of the tasks or in a `.map` text. Without mappings, all is derived
/// for the first task.
struct TaskSource {
  std::string file;
  std::string text;
  std::string mapping = {};   ///< its name, of several; empty: the first
  std::string map_file = {};  ///< empty: mappings are in `text`
  std::string map_text = {};
  std::optional<tasks::TaskText> made = {};  ///< in C++; `text` is not read then
};

/// A source that was read and checked, with the mapping that is taken.
struct MappedTasks {
  tasks::TaskText text;
  tasks::Mapping mapping;
};

/// Fails, with the line of the text or of the mapping, for incorrect tasks, or for a missing
/// mapping.
Result<MappedTasks> read_mapped(const TaskSource& source);
/// The same, with each tunable that the mapping does not state as a hole.
Result<MappedTasks> read_open(const TaskSource& source);
/// The program's variants, each run beside the meaning of its task. Fails as
/// `tasks::compare_variants`, with the line.
Result<std::vector<tasks::ComparedVariant>> variants_of(const TaskSource& source,
                                                        const MappedTasks& program);
/// The tree of the mapping. Fails as `tasks::instantiate`, with the line.
Result<tasks::Tree> tree_of(const TaskSource& source, const MappedTasks& program,
                            const tasks::Levels& levels = {});

/// The kernel of a tree of the source. Fails as `lower_tasks`, with the line.
Result<std::string> kernel_of(const TaskSource& source, const tasks::Tree& tree);

/// Reads, checks, instantiates for any machine, and lowers.
Result<std::string> lower_task_text(const TaskSource& source);

}  // namespace twill::frontend
