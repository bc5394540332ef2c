#include "twill/explain/member.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "twill/problem/compute_groups.h"
#include "twill/problem/hand_off.h"
#include "twill/schedule/pool_class.h"
#include "twill/support/check.h"

namespace twill::explain {
namespace {

using problem::Dependence;
using problem::Group;
using problem::HandOff;
using problem::Op;
using problem::OpId;
using problem::Parts;
using problem::Problem;
using problem::Rule;
using problem::Way;

template <class Test>
bool any_way(const Op& op, Test test) {
  return std::any_of(op.ways.begin(), op.ways.end(), test);
}

void list_pool(const Problem& problem, std::vector<Member>& out) {
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

void list_budgets(const Problem& problem, std::vector<Member>& out) {
  if (!problem.in_force(Rule::registers)) return;
  for (std::size_t i = 0; i < problem.register_budgets().size(); ++i) {
    out.push_back({Kind::budget, i});
  }
}

void list_op(const Problem& problem, std::size_t index, std::vector<Member>& out) {
  const Op& op = problem.ops()[index];
  if (op.registers > 0) out.push_back({Kind::registers, index});
  for (const problem::Footprint& it : op.footprint) {
    if (problem.in_force(Rule::memory) && it.amount > 0) {
      out.push_back({Kind::footprint, index, it.memory.index()});
    }
  }
  const bool stream = problem.in_force(Rule::one_stream) || problem.in_force(Rule::blocking);
  if (stream && any_way(op, [](const Way& way) { return way.issue > 0; })) {
    out.push_back({Kind::issue, index});
  }
  for (std::size_t pipe = 0; pipe < problem.pipes().size(); ++pipe) {
    const auto uses = [&](const Way& way) {
      return std::any_of(way.pipes.begin(), way.pipes.end(), [&](const problem::PipeUse& use) {
        return use.pipe.index() == pipe && use.demand > 0;
      });
    };
    if (problem.in_force(Rule::pipe) && any_way(op, uses)) {
      out.push_back({Kind::demand, index, pipe});
    }
  }
  const auto holds = [](const Way& way) { return way.unit.has_value(); };
  if (problem.in_force(Rule::unit) && any_way(op, holds)) out.push_back({Kind::hold, index});
}

void list_dependence(const Problem& problem, std::size_t index, std::vector<Member>& out) {
  const Dependence& it = problem.dependences()[index];
  out.push_back({Kind::dependence, index});
  if (it.transfer > 0) out.push_back({Kind::transfer, index});
  if (it.blocking && problem.in_force(Rule::blocking)) out.push_back({Kind::wait, index});
}

void list_hand_offs(const Problem& problem, std::vector<Member>& out) {
  for (std::size_t i = 0; i < problem.hand_offs().size(); ++i) out.push_back({Kind::hand_off, i});
}

void drop_demand(Op& op, std::size_t pipe) {
  for (Way& way : op.ways) {
    std::erase_if(way.pipes, [&](const problem::PipeUse& use) { return use.pipe.index() == pipe; });
  }
}

void drop_hold(Op& op) {
  for (Way& way : op.ways) {
    way.unit.reset();
    way.occupancy = 0;
  }
}

/// Makes the op free: it takes no resource and delays no other op.
void make_free(Op& op) {
  op.ways = {Way{}};
  op.registers = 0;
  op.footprint.clear();
}

void make_free(const HandOff& hand_off, Parts& parts) {
  make_free(parts.ops[hand_off.store.index()]);
  for (const HandOff::Load& load : hand_off.loads) make_free(parts.ops[load.op.index()]);
}

/// Drops the dependences of transfer ops, which `pose` makes from the others. They come last, so
/// the others keep their ids.
void drop_made(const std::vector<bool>& errands, Parts& parts) {
  std::erase_if(parts.dependences, [&](const Dependence& it) {
    return errands[it.from.index()] || errands[it.to.index()];
  });
}

/// Drops the transfer of this dependence's value, if there is one: its load, and the store if no
/// other load is left. Both stay as ordinary ops without costs, so that others keep their ids.
void drop_hand_over(const Dependence& dependence, Parts& parts) {
  if (!dependence.carries_value) return;
  for (HandOff& it : parts.hand_offs) {
    if (it.value != dependence.from) continue;
    std::erase_if(it.loads, [&](const HandOff::Load& load) {
      if (load.reader != dependence.to) return false;
      make_free(parts.ops[load.op.index()]);
      return true;
    });
    if (it.loads.empty()) make_free(parts.ops[it.store.index()]);
  }
  std::erase_if(parts.hand_offs, [](const HandOff& it) { return it.loads.empty(); });
}

/// Gives the groups like this one, copies that were added included, all registers they may want.
void lift_limit(Parts& parts, const Group& like) {
  for (Group& it : parts.groups) {
    const bool same = it.warps == like.warps && it.loads == like.loads;
    if (same) it.registers = static_cast<int>(problem::kLargestNumber);
  }
}

/// Drops one requirement. Erasing from lists is left to the caller, since that moves the
/// others.
void drop(const std::vector<schedule::PoolClass>& classes, const Member& member, Parts& parts) {
  const std::size_t index = member.index;
  switch (member.kind) {
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
      break;  // after all groups are there
    case Kind::registers:
      parts.ops[index].registers = 0;
      break;
    case Kind::footprint:
      std::erase_if(parts.ops[index].footprint, [&](const problem::Footprint& it) {
        return it.memory.index() == member.other;
      });
      break;
    case Kind::hand_off:
      make_free(parts.hand_offs[index], parts);
      break;
    case Kind::transfer:
      parts.dependences[index].transfer = 0;
      break;
    case Kind::wait:
      parts.dependences[index].blocking = false;
      break;
    case Kind::issue:
      for (Way& way : parts.ops[index].ways) way.issue = 0;
      break;
    case Kind::demand:
      drop_demand(parts.ops[index], member.other);
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
void erase(std::vector<Item>& items, std::span<const Member> dropped, Kind kind) {
  std::vector<bool> gone(items.size(), false);
  for (const Member& member : dropped) {
    if (member.kind == kind) gone[member.index] = true;
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
bool divides_buffer(const Problem& problem, const Member& member) {
  const auto ties = [&](const Dependence& it, std::size_t memory) {
    const problem::MemoryId id(memory);
    return it.in_place && occupies(problem[it.from], id) && occupies(problem[it.to], id);
  };
  if (member.kind == Kind::footprint) {
    const problem::OpId op(member.index);
    return std::any_of(problem.dependences().begin(), problem.dependences().end(), [&](auto& it) {
      return (it.from == op || it.to == op) && ties(it, member.other);
    });
  }
  if (member.kind != Kind::dependence) return false;
  for (std::size_t memory = 0; memory < problem.memories().size(); ++memory) {
    if (ties(problem.dependences()[member.index], memory)) return true;
  }
  return false;
}

/// A name for a copy of a group that no group has yet.
std::string free_name(const Parts& parts, const std::string& name) {
  const std::string stem = name.substr(0, problem::kLongestName - 8);
  for (int number = 2;; ++number) {
    std::string candidate = stem + "_" + std::to_string(number);
    const auto taken = [&](const Group& group) { return group.name == candidate; };
    if (std::none_of(parts.groups.begin(), parts.groups.end(), taken)) return candidate;
  }
}

}  // namespace

std::vector<Member> members_of(const Problem& problem) {
  std::vector<Member> members;
  list_pool(problem, members);
  list_budgets(problem, members);
  const std::vector<bool> errands = problem::errands_among(problem.parts());
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    if (!errands[i]) list_op(problem, i, members);
  }
  for (std::size_t i = 0; i < problem.dependences().size(); ++i) {
    const Dependence& it = problem.dependences()[i];
    if (!errands[it.from.index()] && !errands[it.to.index()]) list_dependence(problem, i, members);
  }
  list_hand_offs(problem, members);
  std::sort(members.begin(), members.end());
  return members;
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

Problem without(const Problem& problem, std::span<const Member> dropped) {
  const std::vector<schedule::PoolClass> classes = schedule::pool_classes(problem);
  Parts parts = problem.parts();
  parts.objectives.clear();
  if (!problem.hand_offs().empty()) {
    const std::vector<bool> errands = problem::errands_among(problem.parts());
    drop_made(errands, parts);
    parts.minimum_compute_groups =
        std::min(parts.minimum_compute_groups, problem::compute_ops(problem.parts()));
  }
  for (const Member& member : dropped) drop(classes, member, parts);
  for (const Member& member : dropped) {
    if (member.kind != Kind::dependence) continue;
    drop_hand_over(problem.dependences()[member.index], parts);
  }
  for (const Member& member : dropped) {
    if (member.kind != Kind::register_limit) continue;
    for (const problem::GroupId group : classes[member.index].groups) {
      lift_limit(parts, problem[group]);
    }
  }
  const auto divides = [&](const Member& member) { return divides_buffer(problem, member); };
  // The parts of a divided buffer may need more addresses than the whole. Dropping must never make
  // a Problem harder, so no value needs addresses then.
  if (std::any_of(dropped.begin(), dropped.end(), divides)) relax(parts, Rule::placement);
  erase(parts.dependences, dropped, Kind::dependence);
  erase(parts.same_group, dropped, Kind::same_group);
  erase(parts.register_budgets, dropped, Kind::budget);
  return posed(std::move(parts));
}

Problem only(const Problem& problem, std::span<const Member> kept) {
  std::vector<Member> dropped;
  const std::vector<Member> all = members_of(problem);
  std::vector<Member> sorted(kept.begin(), kept.end());
  std::sort(sorted.begin(), sorted.end());
  std::set_difference(all.begin(), all.end(), sorted.begin(), sorted.end(),
                      std::back_inserter(dropped));
  return without(problem, dropped);
}

}  // namespace twill::explain
