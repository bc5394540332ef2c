#include "twill/tasks/instantiate.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/support/spelling.h"
#include "twill/tasks/edges.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/placement.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

constexpr std::size_t kMostInstances = 4096;
constexpr std::size_t kDeepestTree = 64;
constexpr std::int64_t kMostCopies = 256;  // most copies of a load

/// A launch of a variant, and whether a prange of the variant gives it a part.
struct LaunchOf {
  const Launch* launch = nullptr;
  bool has_part = false;
};

void collect_launches(const std::vector<Statement>& body, bool has_part,
                      std::vector<LaunchOf>& out) {
  for (const Statement& statement : body) {
    if (const auto* launch = std::get_if<Launch>(&statement.what)) {
      out.push_back({launch, has_part});
    }
    if (const auto* range = std::get_if<Range>(&statement.what)) {
      collect_launches(range->body, has_part || range->parallel, out);
    }
  }
}

/// Whether a piece is a thread's part of a product's operand.
bool is_part_of_thread(const Piece& piece) {
  return std::any_of(piece.blocks.begin(), piece.blocks.end(), [](const Block& block) {
    return block.cut == Cut::mma && block.level == Level::thread;
  });
}

class Instantiation {
 public:
  /// `unstated`: receives the names of open tunables; null: an open tunable is a failure.
  Instantiation(const Library& library, const Mapping& mapping, const Levels& levels,
                std::vector<std::string>* unstated = nullptr)
      : library_(library), mapping_(mapping), levels_(levels), unstated_(unstated) {}

  Result<TreeNode> run() {
    TWILL_TRY_VOID(check_names());
    TWILL_TRY(const Chosen entry, chosen_entry());
    if (!entry.task->positions.empty()) {
      return fail_task("M02", mapping_.where,
                       fmt::format("the entry '{}' takes positions, which only a launch gives",
                                   entry.task->name),
                       "let the mapping be for the task that launches it");
    }
    const std::vector<bool> outside(entry.task->arguments.size(), true);
    TWILL_TRY(TreeNode root, node_of(entry, nullptr, outside, {}));
    TWILL_TRY_VOID(fix_sizes(root));
    for (const Instance& it : mapping_.instances) {
      if (used_.contains(&it)) continue;
      return fail_task("M01", it.where,
                       fmt::format("no launch takes the instance {} of '{}.{}'", in_quotes(it.name),
                                   it.task, it.variant),
                       "a launch takes the first instance of a task that is not above it, or the "
                       "one that 'calls' of its caller names; leave out the others");
    }
    return root;
  }

 private:
  static tl::unexpected<Diagnostic> is_hole(const Setting& setting) {
    const std::string count =
        setting.values.empty() ? "no value" : fmt::format("{} values", setting.values.size());
    return fail_task("M13", setting.where,
                     fmt::format("'{}' has {} here, and one is needed", setting.tunable, count),
                     "`twill tune` finds the best of them");
  }

  /// Parts that pranges within a block give, down to a node.
  struct Parts {
    bool any = false;
    bool of_threads = false;
  };

  /// A variant, with the instance of the mapping that states it, if present.
  struct Chosen {
    const TaskValue* task = nullptr;
    const Variant* variant = nullptr;
    const Instance* instance = nullptr;
  };

  Result<void> check_names() const {
    if (const auto& misplaced = mapping_.misplaced) {
      return fail_task(
          "M01", misplaced->where,
          fmt::format("{} states something of no instance", in_quotes(misplaced->statement + "()")),
          "it stands behind the entry() or instance() that it is about, and swizzle() "
          "behind a memory()");
    }
    std::set<std::string> names;
    const Instance* entry = nullptr;
    for (const Instance& it : mapping_.instances) {
      if (!names.insert(it.name).second) {
        return fail_task("M01", it.where, "there are two instances " + in_quotes(it.name),
                         "give one of them another name");
      }
      TWILL_TRY_VOID(chosen(it));
      if (!it.entry) continue;
      if (entry != nullptr) {
        return fail_task(
            "M01", it.where,
            fmt::format("{} is an entry, and {} too", in_quotes(it.name), in_quotes(entry->name)),
            "leave out one 'entry'");
      }
      entry = &it;
    }
    return check_tunables();
  }

  Result<void> check_tunables() const {
    std::set<std::string> known;
    for (const TaskValue& task : library_.tasks) {
      for (const Variant& variant : task.variants) {
        if (variant.is_leaf()) continue;
        const auto& tunables = std::get<Inner>(variant.body).tunables;
        known.insert(tunables.begin(), tunables.end());
      }
    }
    if (const TaskValue* task = find_task(library_, mapping_.task)) {
      for (const Argument& argument : task->arguments) {
        for (const Size& size : argument.shape) known.merge(names_in(size));
      }
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    for (const Setting& it : mapping_.tunables) {
      if (known.count(it.tunable) > 0) continue;
      return fail_task("M03", it.where, "no variant has a tunable " + in_quotes(it.tunable),
                       names_like(it.tunable, names));
    }
    return {};
  }

  /// Sets the sizes of the entry's signature that the mapping fixes.
  Result<void> fix_sizes(TreeNode& root) const {
    for (const Argument& argument : root.task->arguments) {
      for (const Size& size : argument.shape) {
        for (const Setting& it : mapping_.tunables) {
          if (it.tunable != size.name()) continue;
          if (it.values.size() != 1) return is_hole(it);
          if (it.values[0] < 1) {
            return fail_task("M03", it.where, fmt::format("'{}' is less than 1", it.tunable),
                             "tunables are 1 and more");
          }
          root.tunables[it.tunable] = it.values[0];
        }
      }
    }
    return {};
  }

  Result<Chosen> chosen(const Instance& it) const {
    const TaskValue* task = find_task(library_, it.task);
    if (task == nullptr) {
      return fail_task("M02", it.where, "there is no task " + in_quotes(it.task),
                       names_like(it.task, names_of(library_.tasks)));
    }
    const Variant* variant = find_variant(*task, it.variant);
    if (variant == nullptr) {
      return fail_task("M02", it.where,
                       fmt::format("'{}' has no variant {}", it.task, in_quotes(it.variant)),
                       names_like(it.variant, names_of(task->variants)));
    }
    return Chosen{task, variant, &it};
  }

  Result<Chosen> chosen_entry() const {
    for (const Instance& it : mapping_.instances) {
      if (it.entry && it.task != mapping_.task) {
        return fail_task("M02", it.where,
                         fmt::format("the entry carries out '{}', and the mapping is for '{}'",
                                     it.task, mapping_.task),
                         "map NAME for the task of the entry");
      }
      if (it.entry) return chosen(it);
    }
    const TaskValue* task = find_task(library_, mapping_.task);
    if (task == nullptr) {
      return fail_task("M02", mapping_.where, "there is no task " + in_quotes(mapping_.task),
                       names_like(mapping_.task, names_of(library_.tasks)));
    }
    if (task->variants.empty()) return no_variant_left(*task);
    return with_instance({task, &task->variants[0], nullptr});
  }

  /// Adds an instance of the mapping for this variant that no caller uses, if one exists.
  Chosen with_instance(Chosen it) const {
    for (const Instance& instance : mapping_.instances) {
      const bool fits = instance.task == it.task->name && instance.variant == it.variant->name;
      if (fits && !is_above(instance)) it.instance = &instance;
      if (fits && !is_above(instance)) break;
    }
    return it;
  }
  bool is_above(const Instance& instance) const {
    return std::any_of(above_.begin(), above_.end(),
                       [&](const Chosen& it) { return it.instance == &instance; });
  }

  tl::unexpected<Diagnostic> no_variant_left(const TaskValue& task) const {
    return fail_task("T10", task.where,
                     fmt::format("'{}' has no {}variant that ends in leaves", task.name,
                                 task.variants.empty() ? "" : "further "),
                     "give it a leaf");
  }

  Result<Chosen> chosen_for(const Launch& launch, const Chosen& caller, std::size_t number) const {
    const TaskValue* task = find_task(library_, launch.task);  // existence was checked before
    if (caller.instance != nullptr && !caller.instance->calls.empty()) {
      return called(launch, *caller.instance, number);
    }
    std::vector<const Instance*> stated;
    for (const Instance& it : mapping_.instances) {
      if (it.task == launch.task && !it.entry && !is_above(it)) stated.push_back(&it);
    }
    std::size_t first = 0;
    for (const Chosen& it : above_) {
      if (it.task != task) continue;
      first = static_cast<std::size_t>(it.variant - task->variants.data()) + 1;
    }
    for (std::size_t v = first; v < task->variants.size(); ++v) {
      for (const Instance* it : stated) {
        if (it->variant == task->variants[v].name) return chosen(*it);
      }
    }
    if (first >= task->variants.size()) return no_variant_left(*task);
    return Chosen{task, &task->variants[first], nullptr};
  }

  Result<Chosen> called(const Launch& launch, const Instance& caller, std::size_t number) const {
    if (number >= caller.calls.size()) {
      return fail_task("M04", caller.where,
                       fmt::format("{} calls {} instances, but its variant has more launches",
                                   in_quotes(caller.name), caller.calls.size()),
                       "name an instance for each launch, in the order of the text");
    }
    const std::string& name = caller.calls[number];
    for (const Instance& it : mapping_.instances) {
      if (it.name != name) continue;
      if (it.task == launch.task) return chosen(it);
      return fail_task(
          "M04", caller.where,
          fmt::format("launch {} of {} is of '{}', and {} carries out '{}'", number + 1,
                      in_quotes(caller.name), launch.task, in_quotes(name), it.task),
          "name an instance for each launch, in the order of the text");
    }
    return fail_task("M01", caller.where, "there is no instance " + in_quotes(name),
                     names_like(name, names_of(mapping_.instances)));
  }

  /// `outside`: for each argument, whether it is part of an argument of the entry.
  Result<TreeNode> node_of(const Chosen& it, const TreeNode* caller,
                           const std::vector<bool>& outside, Parts parts) {
    if (above_.size() >= kDeepestTree || ++count_ > kMostInstances) {
      return fail_task("T10", it.task->where,
                       fmt::format("'{}' launches without end, or more than {} instances",
                                   it.task->name, kMostInstances),
                       "the last variant of a task is a leaf, or launches other tasks alone");
    }
    TreeNode node;
    node.instance = it.instance != nullptr ? it.instance->name
                                           : fmt::format("{}.{}", it.task->name, it.variant->name);
    node.task = it.task;
    node.variant = it.variant;
    if (it.instance != nullptr) used_.insert(it.instance);
    TWILL_TRY(node.processor, processor_of(it, caller));
    TWILL_TRY_VOID(check_parts(it, node.processor, parts));
    const PlacedVariant placed{it.task, it.variant, it.instance, node.processor};
    TWILL_TRY(node.memories, memories_of(placed, outside, levels_));
    TWILL_TRY(node.swizzles, swizzles_of(placed));
    if (it.variant->is_leaf()) {
      TWILL_TRY_VOID(check_leaf(it));
      return node;
    }
    TWILL_TRY(node.tunables, tunables_of(it));
    TWILL_TRY(node.depth, depth_of(it));
    above_.push_back(it);
    TWILL_TRY_VOID(add_children(it, outside, node, parts));
    above_.pop_back();
    return node;
  }

  /// Fails for a level of warps or threads, to whom no prange gives parts.
  Result<void> check_parts(const Chosen& it, Processor processor, Parts parts) const {
    const bool has_parts = processor == Processor::thread ? parts.of_threads : parts.any;
    if (processor <= Processor::warpgroup || has_parts) return {};
    return fail_task("M05", it.instance != nullptr ? it.instance->where : it.variant->where,
                     fmt::format("'{}.{}' is at {}, and no prange within the block gives it a part",
                                 it.task->name, it.variant->name, name_of(processor)),
                     "state 'warpgroup', or nothing: Twill chooses the parts of warps and threads");
  }

  /// Fails for statements about an instance of a leaf that only inner variants keep.
  Result<void> check_leaf(const Chosen& it) const {
    if (it.instance == nullptr) return {};
    const Instance& stated = *it.instance;
    const std::string leaf = fmt::format("'{}.{}'", it.task->name, it.variant->name);
    if (!stated.calls.empty()) {
      return fail_task("M04", stated.where,
                       fmt::format("{} calls {} instances, and the leaf {} launches nothing",
                                   in_quotes(stated.name), stated.calls.size(), leaf),
                       "leave out 'calls'");
    }
    if (!stated.tunables.empty()) {
      const Setting& setting = stated.tunables[0];
      return fail_task(
          "M03", setting.where,
          fmt::format("the leaf {} has no tunable {}", leaf, in_quotes(setting.tunable)),
          "state it of the inner variant that has it, or of the whole mapping");
    }
    if (const auto& depth = stated.restrictions.depth; depth && !depth->values.empty()) {
      return fail_task("M12", depth->where,
                       fmt::format("the leaf {} has no loop of its own for '{}'", leaf, kDepth),
                       "state it of the variant with the loop, or of the whole mapping");
    }
    return {};
  }

  Result<void> add_children(const Chosen& it, const std::vector<bool>& outside, TreeNode& node,
                            Parts parts) {
    std::vector<LaunchOf> launches;
    collect_launches(std::get<Inner>(it.variant->body).body, false, launches);
    if (it.instance != nullptr && it.instance->calls.size() > launches.size()) {
      return fail_task(
          "M04", it.instance->where,
          fmt::format("{} calls {} instances, but its variant has {} launches",
                      in_quotes(it.instance->name), it.instance->calls.size(), launches.size()),
          "name an instance for each launch, in the order of the text");
    }
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Launch& launch = *launches[i].launch;
      TWILL_TRY(const Chosen next, chosen_for(launch, it, i));
      Parts its = parts;
      if (node.processor >= Processor::block && launches[i].has_part) {
        its.any = true;
        its.of_threads |=
            std::any_of(launch.pieces.begin(), launch.pieces.end(), is_part_of_thread);
      }
      std::vector<bool> from_outside;
      for (const Piece& piece : launch.pieces) {
        bool found = false;
        for (std::size_t a = 0; a < it.task->arguments.size(); ++a) {
          found = found || (it.task->arguments[a].name == piece.tensor && outside[a]);
        }
        from_outside.push_back(found);
      }
      TWILL_TRY(TreeNode child, node_of(next, &node, from_outside, its));
      node.children.push_back(std::move(child));
    }
    return {};
  }

  Result<Processor> processor_of(const Chosen& it, const TreeNode* caller) const {
    const bool stated = it.instance != nullptr && it.instance->processor;
    const Processor least = caller == nullptr ? Processor::host : caller->processor;
    Processor derived = caller == nullptr ? Processor::host : Processor::block;
    if (it.variant->is_leaf()) derived = Processor::warpgroup;
    const Processor processor = stated ? *it.instance->processor : std::max(derived, least);
    const Where& where = it.instance != nullptr ? it.instance->where : it.variant->where;
    TWILL_TRY_VOID(check_level(levels_, processor, it.task->name + "." + it.variant->name, where));
    if (processor >= least) return processor;
    return fail_task("M05", it.instance->where,
                     fmt::format("{} is at {}, above its caller, which is at {}",
                                 in_quotes(it.instance->name), name_of(processor), name_of(least)),
                     "state the caller's level or one below, or none");
  }

  Result<std::map<std::string, std::int64_t>> tunables_of(const Chosen& it) const {
    std::map<std::string, std::int64_t> values;
    const Inner& inner = std::get<Inner>(it.variant->body);
    for (const std::string& name : inner.tunables) {
      const Setting* found = nullptr;
      for (const Setting& setting : mapping_.tunables) {
        if (setting.tunable == name) found = &setting;
      }
      for (std::size_t s = 0; it.instance != nullptr && s < it.instance->tunables.size(); ++s) {
        if (it.instance->tunables[s].tunable == name) found = &it.instance->tunables[s];
      }
      if (found == nullptr && unstated_ != nullptr) {
        values[name] = 1;
        const bool is_known =
            std::find(unstated_->begin(), unstated_->end(), name) != unstated_->end();
        if (!is_known) unstated_->push_back(name);
        continue;
      }
      if (found == nullptr) {
        return fail_task("M03", it.instance != nullptr ? it.instance->where : mapping_.where,
                         fmt::format("'{}.{}' needs a value of its tunable '{}'", it.task->name,
                                     it.variant->name, name),
                         fmt::format("add a line `{} = ...` to the mapping, or have `twill tune` "
                                     "choose a value",
                                     name));
      }
      if (found->values.size() != 1) return is_hole(*found);
      if (found->values[0] < 1) {
        return fail_task("M03", found->where, fmt::format("'{}' is less than 1", name),
                         "tunables are 1 and more");
      }
      values[name] = found->values[0];
    }
    if (it.instance == nullptr) return values;
    for (const Setting& setting : it.instance->tunables) {
      if (values.count(setting.tunable) > 0) continue;
      const std::vector<std::string_view> names(inner.tunables.begin(), inner.tunables.end());
      return fail_task("M03", setting.where,
                       fmt::format("'{}.{}' has no tunable {}", it.task->name, it.variant->name,
                                   in_quotes(setting.tunable)),
                       names_like(setting.tunable, names));
    }
    return values;
  }

  /// Stated depth of the variant's own loops; nullopt if open.
  Result<std::optional<Setting>> depth_of(const Chosen& it) const {
    std::optional<Setting> depth = mapping_.restrictions.depth;
    if (it.instance != nullptr && it.instance->restrictions.depth) {
      depth = it.instance->restrictions.depth;
    }
    if (!depth || depth->values.empty()) return std::nullopt;
    if (depth->values.size() > 1) return is_hole(*depth);
    if (depth->values[0] >= 1 && depth->values[0] <= kMostCopies) return depth;
    return fail_task(
        "M12", depth->where,
        fmt::format("'{}' is from 1 to {}: copies of what a loop loads ahead", kDepth, kMostCopies),
        "state fewer, or leave it out");
  }

  const Library& library_;
  const Mapping& mapping_;
  const Levels& levels_;
  std::vector<std::string>* unstated_;
  std::vector<Chosen> above_;
  std::set<const Instance*> used_;  ///< instances of nodes
  std::size_t count_ = 0;
};

/// Whether warps have roles. This holds for a whole kernel, so instances must agree.
Result<std::optional<Specialize>> specialize_of(const Mapping& mapping) {
  std::optional<Specialize> stated = mapping.restrictions.specialize;
  for (const Instance& it : mapping.instances) {
    const std::optional<Specialize>& here = it.restrictions.specialize;
    if (!here) continue;
    if (stated && stated->wanted != here->wanted) {
      return fail_task("M11", here->where,
                       "one instance says 'specialize', and another 'specialize = no'",
                       "the warps of a kernel have roles of their own, or have not");
    }
    stated = here;
  }
  return stated;
}

}  // namespace

Result<Tree> instantiate(Library library, const Mapping& mapping, const Levels& levels) {
  return instantiate(std::make_shared<const Library>(std::move(library)), mapping, levels);
}

Result<Tree> instantiate(std::shared_ptr<const Library> library, const Mapping& mapping,
                         const Levels& levels) {
  Tree tree;
  tree.library = std::move(library);
  tree.mapping = mapping.name;
  tree.machine = mapping.machine;
  tree.target = levels.target;
  TWILL_TRY(tree.root, Instantiation(*tree.library, mapping, levels).run());
  tree.where = mapping.where;
  tree.shared = mapping.shared;
  TWILL_TRY(tree.specialize, specialize_of(mapping));
  TWILL_TRY_VOID(check_edges(tree));
  return tree;
}

Result<std::vector<std::string>> unstated_tunables(const Library& library, const Mapping& mapping) {
  std::vector<std::string> names;
  const Levels of_any_machine;
  TWILL_TRY_VOID(Instantiation(library, mapping, of_any_machine, &names).run());
  return names;
}

}  // namespace twill::tasks
