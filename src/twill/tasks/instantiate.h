#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "twill/tasks/levels.h"
#include "twill/tasks/mapping.h"
#include "twill/tasks/values.h"

/// Instances of a mapping: the variants at their places, with memories and tunables.
namespace twill::tasks {

/// An instance with its launches.
struct TreeNode {
  std::string instance;  ///< name in the mapping, or TASK.VARIANT for a derived instance
  const TaskValue* task = nullptr;
  const Variant* variant = nullptr;
  Processor processor = Processor::host;
  std::map<std::string, std::int64_t> tunables;
  std::vector<Memory> memories;             ///< of each argument
  std::map<std::string, Swizzle> swizzles;  ///< stated, by argument
  std::optional<Setting> depth;             ///< depth of the variant's loops, with one value
  std::vector<TreeNode> children;           ///< nodes of its launches, in the order of the text
};

struct Tree {
  std::shared_ptr<const Library> library;  ///< library of the tasks in the nodes
  std::string mapping;
  std::string machine;  ///< machine in the mapping
  std::string target;   ///< target of the machine's levels; empty: none
  TreeNode root;
  Where where = {};  ///< place of the mapping
  std::optional<SharedLimit> shared = {};
  std::optional<Specialize> specialize = {};
};

/// Makes the tree of the mapping, from its entry. Derives every choice that the mapping does not
/// state. A task gets its first variant, a task within itself the next variant. The host's launches
/// are blocks, and leaves are warpgroups. Arguments of the entry are in global memory, operands of
/// products in shared memory, all other tensors in registers. Fails with M01 to M06, and M11 to
/// M13. Fails with T10 for endless recursion of a task, and with T12 for zeros of an edge that
/// would change a result. M05 is for levels that the machine lacks, M06 for memories that their
/// users do not see. Precondition: check(*library).
Result<Tree> instantiate(std::shared_ptr<const Library> library, const Mapping& mapping,
                         const Levels& levels = {});
Result<Tree> instantiate(Library library, const Mapping& mapping, const Levels& levels = {});

/// Tunables of the tree that the mapping leaves open, in its order. Fails as `instantiate`.
/// Precondition: a mapping without holes.
Result<std::vector<std::string>> unstated_tunables(const Library& library, const Mapping& mapping);

/// Returns a mapping that states the whole tree, derived choices included. The mapping makes an
/// equal tree, except for names that are no words. Instances with equal statements are merged.
Mapping completed(const Tree& tree);

/// Prints indented text with a line for each instance.
std::string to_string(const Tree& tree);

}  // namespace twill::tasks
