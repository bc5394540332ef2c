#include "twill/explain/requirement.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "twill/problem/compute_groups.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/pool_class.h"
#include "twill/support/check.h"

namespace twill::explain {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Group;
using problem::Op;
using problem::OpId;
using problem::Parts;
using problem::Problem;
using problem::Rule;
using problem::Transfer;

template <class Test>
bool any_way(const Op& op, Test test) {
  return std::any_of(op.alternatives.begin(), op.alternatives.end(), test);
}

void list_pool(const Problem& problem, std::vector<Requirement>& out) {
  if (problem.minimum_compute_groups() > 0) out.push_back({Kind::minimum_groups});
  if (problem.in_force(Rule::width)) out.push_back({Kind::width});
  if (problem.in_force(Rule::load_group)) out.push_back({Kind::load_group});
  for (std::size_t i = 0; i < problem.same_group().size(); ++i) {
    out.push_back({Kind::same_group, i});
  }
  const auto classes = schedule::pool_classes(problem);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].ops.size() > classes[i].groups.size()) out.push_back({Kind::group_count, i});
    if (problem.in_force(Rule::registers)) out.push_back({Kind::register_limit, i});
  }
}

void list_budgets(const Problem& problem, std::vector<Requirement>& out) {
  if (!problem.in_force(Rule::registers)) return;
  for (std::size_t i = 0; i < problem.register_budgets().size(); ++i) {
    out.push_back({Kind::budget, i});
  }
}

void list_op(const Problem& problem, std::size_t index, std::vector<Requirement>& out) {
  const Op& op = problem.ops()[index];
  if (op.registers > 0) out.push_back({Kind::registers, index});
  for (const problem::Footprint& it : op.footprint) {
    if (problem.in_force(Rule::memory) && it.amount > 0) {
      out.push_back({Kind::footprint, index, it.memory.index()});
    }
  }
  const bool stream = problem.in_force(Rule::one_stream) || problem.in_force(Rule::blocking);
  if (stream && any_way(op, [](const Alternative& alternative) { return alternative.issue > 0; })) {
    out.push_back({Kind::issue, index});
  }
  for (std::size_t pipe = 0; pipe < problem.pipes().size(); ++pipe) {
    const auto uses = [&](const Alternative& alternative) {
      return std::any_of(
          alternative.pipes.begin(), alternative.pipes.end(),
          [&](const problem::PipeUse& use) { return use.pipe.index() == pipe && use.demand > 0; });
    };
    if (problem.in_force(Rule::pipe) && any_way(op, uses)) {
      out.push_back({Kind::demand, index, pipe});
    }
  }
  const auto holds = [](const Alternative& alternative) { return alternative.unit.has_value(); };
  if (problem.in_force(Rule::unit) && any_way(op, holds)) out.push_back({Kind::hold, index});
}

void list_dependence(const Problem& problem, std::size_t index, std::vector<Requirement>& out) {
  const Dependence& it = problem.dependences()[index];
  out.push_back({Kind::dependence, index});
  if (it.transfer > 0) out.push_back({Kind::transfer, index});
  if (it.blocking && problem.in_force(Rule::blocking)) out.push_back({Kind::wait, index});
}

void list_transfers(const Problem& problem, std::vector<Requirement>& out) {
  for (std::size_t i = 0; i < problem.transfers().size(); ++i)
    out.push_back({Kind::transfer_costs, i});
}

void drop_demand(Op& op, std::size_t pipe) {
  for (Alternative& alternative : op.alternatives) {
    std::erase_if(alternative.pipes,
                  [&](const problem::PipeUse& use) { return use.pipe.index() == pipe; });
  }
}

void drop_hold(Op& op) {
  for (Alternative& alternative : op.alternatives) {
    alternative.unit.reset();
    alternative.occupancy = 0;
  }
}

/// Makes the op free: no resource, and no delay for other ops.
void make_free(Op& op) {
  op.alternatives = {Alternative{}};
  op.registers = 0;
  op.footprint.clear();
}

void make_free(const Transfer& transfer, Parts& parts) {
  make_free(parts.ops[transfer.store.index()]);
  for (const Transfer::Load& load : transfer.loads) make_free(parts.ops[load.op.index()]);
}

/// Drops the dependences of transfer ops, which `pose` makes from the others. They come last, so
/// the others keep their ids.
void drop_made(const std::vector<bool>& transfer_ops, Parts& parts) {
  std::erase_if(parts.dependences, [&](const Dependence& it) {
    return transfer_ops[it.from.index()] || transfer_ops[it.to.index()];
  });
}

/// Drops the transfer of this dependence's value, if there is one: its load, and the store with the
/// last load. Both stay as ordinary ops without costs, so that other ops keep their ids.
void drop_transfer(const Dependence& dependence, Parts& parts) {
  if (!dependence.carries_value) return;
  for (Transfer& it : parts.transfers) {
    if (it.value != dependence.from) continue;
    std::erase_if(it.loads, [&](const Transfer::Load& load) {
      if (load.reader != dependence.to) return false;
      make_free(parts.ops[load.op.index()]);
      return true;
    });
    if (it.loads.empty()) make_free(parts.ops[it.store.index()]);
  }
  std::erase_if(parts.transfers, [](const Transfer& it) { return it.loads.empty(); });
}

/// Gives groups like this one, added copies included, all registers that they may want.
void lift_limit(Parts& parts, const Group& like) {
  for (Group& it : parts.groups) {
    const bool same = it.warps == like.warps && it.loads == like.loads;
    if (same) it.registers = static_cast<int>(problem::kLargestNumber);
  }
}

/// Drops one requirement. The caller erases from lists, since that moves other requirements.
void drop(const std::vector<schedule::PoolClass>& classes, const Requirement& requirement,
          Parts& parts) {
  const std::size_t index = requirement.index;
  switch (requirement.kind) {
    case Kind::minimum_groups:
      parts.minimum_compute_groups = 0;
      break;
    case Kind::width:
      relax(parts, Rule::width);
      break;
    case Kind::load_group:
      relax(parts, Rule::load_group);
      break;
    case Kind::group_count:
      add_groups(parts, classes[index].groups,
                 classes[index].ops.size() - classes[index].groups.size());
      break;
    case Kind::register_limit:
      break;  // after all groups are added
    case Kind::registers:
      parts.ops[index].registers = 0;
      break;
    case Kind::footprint:
      std::erase_if(parts.ops[index].footprint, [&](const problem::Footprint& it) {
        return it.memory.index() == requirement.other;
      });
      break;
    case Kind::transfer_costs:
      make_free(parts.transfers[index], parts);
      break;
    case Kind::transfer:
      parts.dependences[index].transfer = 0;
      break;
    case Kind::wait:
      parts.dependences[index].blocking = false;
      break;
    case Kind::issue:
      for (Alternative& alternative : parts.ops[index].alternatives) alternative.issue = 0;
      break;
    case Kind::demand:
      drop_demand(parts.ops[index], requirement.other);
      break;
    case Kind::hold:
      drop_hold(parts.ops[index]);
      break;
    case Kind::same_group:
    case Kind::budget:
    case Kind::dependence:
      break;
  }
}

template <class Item>
void erase(std::vector<Item>& items, std::span<const Requirement> dropped, Kind kind) {
  std::vector<bool> gone(items.size(), false);
  for (const Requirement& requirement : dropped) {
    if (requirement.kind == kind) gone[requirement.index] = true;
  }
  std::vector<Item> left;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!gone[i]) left.push_back(std::move(items[i]));
  }
  items = std::move(left);
}

bool occupies(const Op& op, problem::MemoryId memory) {
  return std::any_of(op.footprint.begin(), op.footprint.end(), [&](const problem::Footprint& it) {
    return it.memory == memory && it.amount > 0;
  });
}

/// Whether values that share one buffer no longer share it without the requirement.
bool divides_buffer(const Problem& problem, const Requirement& requirement) {
  const auto ties = [&](const Dependence& it, std::size_t memory) {
    const problem::MemoryId id(memory);
    return it.in_place && occupies(problem[it.from], id) && occupies(problem[it.to], id);
  };
  if (requirement.kind == Kind::footprint) {
    const problem::OpId op(requirement.index);
    return std::any_of(problem.dependences().begin(), problem.dependences().end(), [&](auto& it) {
      return (it.from == op || it.to == op) && ties(it, requirement.other);
    });
  }
  if (requirement.kind != Kind::dependence) return false;
  for (std::size_t memory = 0; memory < problem.memories().size(); ++memory) {
    if (ties(problem.dependences()[requirement.index], memory)) return true;
  }
  return false;
}

/// Makes a name for a copy of a group that no other group has.
std::string free_name(const Parts& parts, const std::string& name) {
  const std::string stem = name.substr(0, problem::kLongestName - 8);
  for (int number = 2;; ++number) {
    std::string candidate = stem + "_" + std::to_string(number);
    const auto taken = [&](const Group& group) { return group.name == candidate; };
    if (std::none_of(parts.groups.begin(), parts.groups.end(), taken)) return candidate;
  }
}

}  // namespace

std::vector<Requirement> requirements_of(const Problem& problem) {
  std::vector<Requirement> requirements;
  list_pool(problem, requirements);
  list_budgets(problem, requirements);
  const std::vector<bool> transfer_ops = problem::transfer_ops_among(problem.parts());
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    if (!transfer_ops[i]) list_op(problem, i, requirements);
  }
  for (std::size_t i = 0; i < problem.dependences().size(); ++i) {
    const Dependence& it = problem.dependences()[i];
    if (!transfer_ops[it.from.index()] && !transfer_ops[it.to.index()])
      list_dependence(problem, i, requirements);
  }
  list_transfers(problem, requirements);
  std::sort(requirements.begin(), requirements.end());
  return requirements;
}

void add_groups(Parts& parts, std::span<const problem::GroupId> groups, std::size_t more) {
  if (groups.empty()) return;
  const int asked = std::min(parts.minimum_compute_groups, problem::compute_groups(parts));
  const auto fewer = [&](problem::GroupId a, problem::GroupId b) {
    return parts.groups[a.index()].registers < parts.groups[b.index()].registers;
  };
  const problem::GroupId largest = *std::max_element(groups.begin(), groups.end(), fewer);
  Group copy = parts.groups[largest.index()];
  for (std::size_t i = 0; i < more && parts.groups.size() < problem::kMostOfAKind; ++i) {
    copy.name = free_name(parts, parts.groups[largest.index()].name);
    parts.groups.push_back(copy);
  }
  parts.minimum_compute_groups = asked;
}

void relax(Parts& parts, Rule rule) {
  const auto at = std::lower_bound(parts.relaxed.begin(), parts.relaxed.end(), rule);
  if (at == parts.relaxed.end() || *at != rule) parts.relaxed.insert(at, rule);
}

Problem posed(Parts parts) {
  Result<Problem> problem = problem::pose(std::move(parts));
  TWILL_CHECK(problem.has_value(), "a Problem stays well-formed under this change");
  return *std::move(problem);
}

Problem without(const Problem& problem, std::span<const Requirement> dropped) {
  const std::vector<schedule::PoolClass> classes = schedule::pool_classes(problem);
  Parts parts = problem.parts();
  parts.objectives.clear();
  if (!problem.transfers().empty()) {
    const std::vector<bool> transfer_ops = problem::transfer_ops_among(problem.parts());
    drop_made(transfer_ops, parts);
    parts.minimum_compute_groups =
        std::min(parts.minimum_compute_groups, problem::compute_ops(problem.parts()));
  }
  for (const Requirement& requirement : dropped) drop(classes, requirement, parts);
  for (const Requirement& requirement : dropped) {
    if (requirement.kind != Kind::dependence) continue;
    drop_transfer(problem.dependences()[requirement.index], parts);
  }
  for (const Requirement& requirement : dropped) {
    if (requirement.kind != Kind::register_limit) continue;
    for (const problem::GroupId group : classes[requirement.index].groups) {
      lift_limit(parts, problem[group]);
    }
  }
  const auto divides = [&](const Requirement& requirement) {
    return divides_buffer(problem, requirement);
  };
  // Relaxes addresses where a buffer is divided: its parts may need more addresses than the whole.
  // Dropping a requirement must never make a Problem harder.
  if (std::any_of(dropped.begin(), dropped.end(), divides)) relax(parts, Rule::placement);
  erase(parts.dependences, dropped, Kind::dependence);
  erase(parts.same_group, dropped, Kind::same_group);
  erase(parts.register_budgets, dropped, Kind::budget);
  return posed(std::move(parts));
}

Problem only(const Problem& problem, std::span<const Requirement> kept) {
  std::vector<Requirement> dropped;
  const std::vector<Requirement> all = requirements_of(problem);
  std::vector<Requirement> sorted(kept.begin(), kept.end());
  std::sort(sorted.begin(), sorted.end());
  std::set_difference(all.begin(), all.end(), sorted.begin(), sorted.end(),
                      std::back_inserter(dropped));
  return without(problem, dropped);
}

}  // namespace twill::explain
