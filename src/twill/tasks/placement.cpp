#include "twill/tasks/placement.h"

#include <set>

#include <fmt/format.h>

#include "twill/support/spelling.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

Result<void> check_memory(const PlacedVariant& it, const Placed& placed,
                          const std::set<std::string>& right) {
  if (!it.variant->is_leaf()) return {};
  if (placed.memory == Memory::none || placed.memory == Memory::global) {
    return fail_task("M06", placed.where,
                     fmt::format("the leaf '{}.{}' computes with '{}', which has to lie in "
                                 "registers or shared memory",
                                 it.task->name, it.variant->name, placed.argument),
                     "state 'register', or nothing; tensors of inner variants may be 'none'");
  }
  if (right.count(placed.argument) > 0 && placed.memory != Memory::shared) {
    return fail_task(
        "M09", placed.where,
        fmt::format("the right operand of 'mma', '{}', lies in shared memory", placed.argument),
        "state 'shared', or nothing");
  }
  return {};
}

}  // namespace

Result<std::vector<Memory>> memories_of(const PlacedVariant& it, const std::vector<bool>& outside,
                                        const Levels& levels) {
  std::vector<Memory> memories;
  std::set<std::string> left, right;
  if (it.variant->is_leaf()) {
    left = product_operands(std::get<Leaf>(it.variant->body), 0);
    right = product_operands(std::get<Leaf>(it.variant->body), 1);
  }
  for (std::size_t a = 0; a < it.task->arguments.size(); ++a) {
    const std::string& name = it.task->arguments[a].name;
    Memory memory = outside[a] ? Memory::global : Memory::none;
    const bool shared = right.count(name) > 0 || (left.count(name) > 0 && outside[a]);
    const bool in_place = outside[a] && combines_by(it.task->arguments[a].privilege);
    if (it.variant->is_leaf() && !in_place) {
      memory = shared ? Memory::shared : Memory::registers;
    }
    const Placed* stated = nullptr;
    for (std::size_t p = 0; it.instance != nullptr && p < it.instance->memories.size(); ++p) {
      if (it.instance->memories[p].argument == name) stated = &it.instance->memories[p];
    }
    if (stated != nullptr) memory = stated->memory;
    if (stated != nullptr && in_place && memory != Memory::global) {
      return fail_task("M06", stated->where,
                       fmt::format("'{}' is reduced where it lies, in global memory", name),
                       "state 'global', or nothing");
    }
    if (stated != nullptr && !in_place) {
      TWILL_TRY_VOID(check_memory(it, *stated, right));
    }
    const Where& derived = it.instance != nullptr ? it.instance->where : it.variant->where;
    const Where& where = stated != nullptr ? stated->where : derived;
    TWILL_TRY_VOID(check_seen(levels, it.processor, {name, memory, where}));
    memories.push_back(memory);
  }
  if (it.instance == nullptr) return memories;
  for (const Placed& placed : it.instance->memories) {
    if (find_argument(*it.task, placed.argument) != nullptr) continue;
    return fail_task(
        "M06", placed.where,
        fmt::format("'{}' has no argument {}", it.task->name, in_quotes(placed.argument)),
        names_like(placed.argument, names_of(it.task->arguments)));
  }
  return memories;
}

Result<std::map<std::string, Swizzle>> swizzles_of(const PlacedVariant& it) {
  std::map<std::string, Swizzle> stated;
  if (it.instance == nullptr) return stated;
  std::set<std::string> operands;
  if (it.variant->is_leaf()) {
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      operands.merge(product_operands(std::get<Leaf>(it.variant->body), side));
    }
  }
  for (const Placed& placed : it.instance->memories) {
    if (!placed.swizzle) continue;
    if (operands.count(placed.argument) == 0) {
      return fail_task("M06", placed.swizzle->where,
                       fmt::format("'{}' of '{}.{}' is no operand of a product, so that it has "
                                   "no layout in shared memory",
                                   placed.argument, it.task->name, it.variant->name),
                       "state the layout at the leaf that multiplies");
    }
    if (placed.memory != Memory::shared) {
      return fail_task(
          "M06", placed.swizzle->where,
          fmt::format("'{}' has a layout of shared memory, and lies elsewhere", placed.argument),
          "state 'shared' with the layout");
    }
    const int bytes = placed.swizzle->bytes;
    if (bytes != 128 && bytes != 64 && bytes != 32) {
      return fail_task("M09", placed.swizzle->where,
                       fmt::format("'{} {}' is no layout that 'mma' reads", kSwizzle, bytes),
                       "it has 128, 64 or 32 bytes");
    }
    stated[placed.argument] = *placed.swizzle;
  }
  return stated;
}

}  // namespace twill::tasks
