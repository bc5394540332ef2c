#include <algorithm>
#include <set>
#include <utility>

#include "twill/tasks/instantiate.h"

namespace twill::tasks {
namespace {

class Completion {
 public:
  explicit Completion(const Tree& tree) : tree_(tree) {}

  Mapping run() {
    mapping_.name = tree_.mapping;
    mapping_.task = tree_.root.task->name;
    mapping_.machine = tree_.machine;
    mapping_.where = tree_.where;
    mapping_.restrictions.specialize = tree_.specialize;
    mapping_.shared = tree_.shared;
    const std::vector<std::string> own = tunables_of(tree_.root);
    for (const auto& [name, value] : tree_.root.tunables) {
      if (!contains(own, name)) mapping_.tunables.push_back({name, {value}, {}});
    }
    const std::string root = add(tree_.root);
    for (Instance& it : mapping_.instances) it.entry = it.name == root;
    std::reverse(mapping_.instances.begin(), mapping_.instances.end());  // puts callers first
    return std::move(mapping_);
  }

 private:
  static bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }
  static std::vector<std::string> tunables_of(const TreeNode& node) {
    if (node.variant->is_leaf()) return {};
    return std::get<Inner>(node.variant->body).tunables;
  }

  /// Adds instances of the node and of all nodes below. Returns the node's name.
  std::string add(const TreeNode& node) {
    Instance made;
    made.task = node.task->name;
    made.variant = node.variant->name;
    made.processor = node.processor;
    for (const std::string& name : tunables_of(node)) {
      made.tunables.push_back({name, {node.tunables.at(name)}, {}});
    }
    for (std::size_t a = 0; a < node.memories.size(); ++a) {
      const std::string& name = node.task->arguments[a].name;
      made.memories.push_back({name, node.memories[a], {}});
      const auto swizzle = node.swizzles.find(name);
      if (swizzle != node.swizzles.end()) made.memories.back().swizzle = swizzle->second;
    }
    made.restrictions.depth = node.depth;
    for (std::size_t c = node.children.size(); c-- > 0;) {
      made.calls.push_back(add(node.children[c]));
    }
    std::reverse(made.calls.begin(), made.calls.end());
    for (const Instance& it : mapping_.instances) {
      made.name = it.name;
      if (it == made) return it.name;
    }
    made.name = fresh(node.instance);
    mapping_.instances.push_back(std::move(made));
    return mapping_.instances.back().name;
  }

  /// The name with '_' for each '.', and with a number if it is in use.
  std::string fresh(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    std::string unique = name;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
    return unique;
  }

  const Tree& tree_;
  Mapping mapping_;
  std::set<std::string> taken_;
};

}  // namespace

Mapping completed(const Tree& tree) { return Completion(tree).run(); }

}  // namespace twill::tasks
