#include <fmt/format.h>

#include "twill/tasks/instantiate.h"

namespace twill::tasks {
namespace {

void print_node(const TreeNode& node, const std::string& indent, std::string& out) {
  out += fmt::format("{}{}: {}.{} at {}", indent, node.instance, node.task->name,
                     node.variant->name, name_of(node.processor));
  for (const auto& [name, value] : node.tunables) out += fmt::format("  {} = {}", name, value);
  for (std::size_t a = 0; a < node.memories.size(); ++a) {
    const std::string& name = node.task->arguments[a].name;
    out += fmt::format("  {}: {}", name, name_of(node.memories[a]));
    const auto swizzle = node.swizzles.find(name);
    if (swizzle != node.swizzles.end()) {
      out += fmt::format(" {} {}", kSwizzle, swizzle->second.bytes);
    }
  }
  if (node.depth) out += fmt::format("  {} = {}", kDepth, node.depth->values[0]);
  out += "\n";
  for (const TreeNode& child : node.children) print_node(child, indent + "  ", out);
}

}  // namespace

std::string to_string(const Tree& tree) {
  std::string out;
  print_node(tree.root, "", out);
  return out;
}

}  // namespace twill::tasks
