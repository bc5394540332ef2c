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

/// A mapping carried out: which variant is where, with which memories and tunables.
namespace twill::tasks {

/// An instance and its launches.
struct TreeNode {
  std::string instance;  ///< its name in the mapping, or TASK.VARIANT where it is derived
  const TaskValue* task = nullptr;
  const Variant* variant = nullptr;
  Processor processor = Processor::host;
  std::map<std::string, std::int64_t> tunables;
  std::vector<Memory> memories;             ///< of each argument
  std::map<std::string, Swizzle> swizzles;  ///< stated, by argument
  std::optional<Setting> depth;             ///< of loops of the variant, with one value
  std::vector<TreeNode> children;           ///< of each launch, in the order of the text
};

struct Tree {
  std::shared_ptr<const Library> library;  ///< that the nodes point to
  std::string mapping;
  std::string machine;  ///< as the mapping says
  std::string target;   ///< of the levels that it was made for; empty: of none
  TreeNode root;
  Where where = {};  ///< of the mapping
  std::optional<SharedLimit> shared = {};
  std::optional<Specialize> specialize = {};
};

/// The tree that the mapping's entry begins. Derives everything that the mapping does not state. A
/// task gets its first variant, a task within itself the next one. The host's launches are blocks,
/// and leaves are warpgroups. Arguments of the entry lie in global memory, operands of products in
/// shared memory, all other tensors in registers. Fails with M01 to M06, and M11 to M13. Fails with
/// T10 for a task without end, and with T12 for zeros of an edge that would change a result. M05 is
/// for levels that the machine lacks, M06 for memories that their users do not see. Precondition:
/// check(*library).
Result<Tree> instantiate(std::shared_ptr<const Library> library, const Mapping& mapping,
                         const Levels& levels = {});
Result<Tree> instantiate(Library library, const Mapping& mapping, const Levels& levels = {});

/// Tunables of the tree that the mapping does not state, in its order; else as `instantiate`.
/// Precondition: a mapping without holes.
Result<std::vector<std::string>> unstated_tunables(const Library& library, const Mapping& mapping);

/// A mapping that states all of the tree, also derived choices. It makes an equal tree, except for
/// names that are no words. Instances with equal statements become one.
Mapping completed(const Tree& tree);

/// As indented text: a line for each instance.
std::string to_string(const Tree& tree);

}  // namespace twill::tasks
