#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "twill/explain/what_if_parts.h"
#include "twill/explain/words.h"
#include "twill/problem/objection.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/pool_class.h"

namespace twill::explain {
namespace {

using problem::Parts;
using problem::Problem;
using problem::Rule;
using schedule::PoolClass;
using schedule::Schedule;

/// Largest number of registers per thread that the instruction set can name.
constexpr std::int64_t kMostRegisters = 255;

/// Applies `peaks` to a schedule, some of whose ops may not exist.
template <class Peaks>
std::vector<Amount> peaks_of(const Problem& problem, const Schedule& schedule, Peaks peaks) {
  const problem::Residual left = problem::residual_of(problem, schedule::groups_of(schedule));
  return peaks(left.problem, schedule::in_residual(left, schedule));
}

std::string registers_text(const Problem& problem, const PoolClass& it, std::int64_t more) {
  std::vector<std::string> all;
  for (const problem::GroupId group : it.groups) {
    const std::string text = std::to_string(problem[group].registers + more);
    if (all.empty() || all.back() != text) all.push_back(text);
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

void add_register_what_if(const Problem& problem, const PoolClass& it, std::size_t index,
                          std::vector<WhatIf>& out) {
  if (it.groups.empty() || !problem.in_force(Rule::registers)) return;
  std::int64_t most = 0;
  for (const problem::GroupId group : it.groups) {
    most = std::max<std::int64_t>(most, problem[group].registers);
  }
  WhatIf what_if_ =
      what_if(problem, "registers per thread of " + listed(names_of(problem, it.groups)),
              registers_text(problem, it, 0), problem::kLargestNumber - most,
              [it](Parts& parts, std::int64_t step) {
                for (const problem::GroupId group : it.groups) {
                  parts.groups[group.index()].registers += static_cast<int>(step);
                }
              });
  what_if_.value = [&problem, it, most](std::int64_t step) {
    const char* note = most + step > kMostRegisters ? " (a thread can have 255)" : "";
    return registers_text(problem, it, step) + note;
  };
  what_if_.touches = [index](const Requirement& m) {
    return m.kind == Kind::register_limit && m.index == index;
  };
  what_if_.needed = [&problem, it](const Problem& changed, const Schedule& schedule) {
    const auto peaks = peaks_of(changed, schedule, schedule::peak_registers);
    std::int64_t needed = 1;
    for (const problem::GroupId group : it.groups) {
      needed = std::max(needed, peaks[group.index()] - problem[group].registers);
    }
    return needed;
  };
  out.push_back(std::move(what_if_));
}

/// Adds the what-if of a register budget: ever more steps, then no limit at all.
void add_budget_what_if(const Problem& problem, std::size_t index, std::vector<WhatIf>& out) {
  if (!problem.in_force(Rule::registers)) return;
  const problem::RegisterBudget& budget = problem.register_budgets()[index];
  const std::int64_t room = std::min(problem::kMostRegisterSteps - budget.steps(),
                                     (problem::kLargestNumber - budget.total) / budget.step);
  const std::int64_t last = room + 1;
  WhatIf what_if_ = what_if(
      problem, "registers per thread that " + listed(names_of(problem, budget.groups)) + " share",
      std::to_string(budget.total), last, [index, last](Parts& parts, std::int64_t step) {
        auto& budgets = parts.register_budgets;
        problem::RegisterBudget& it = budgets[index];
        it.total += static_cast<int>(step == last ? 0 : step * it.step);
        if (step != last) return;
        budgets.erase(budgets.begin() + static_cast<std::ptrdiff_t>(index));
      });
  what_if_.value = [&budget, last](std::int64_t step) {
    return step == last ? "no matter how many" : std::to_string(budget.total + step * budget.step);
  };
  what_if_.touches = [index](const Requirement& m) {
    return m.kind == Kind::budget && m.index == index;
  };
  what_if_.needed = [&problem, index, last](const Problem& changed, const Schedule& schedule) {
    const problem::RegisterBudget& it = problem.register_budgets()[index];
    const std::vector<Amount> taken = schedule::registers_taken(changed, schedule, it);
    const Amount sum = std::accumulate(taken.begin(), taken.end(), Amount{0});
    return std::clamp<std::int64_t>(sum / it.step - it.steps(), 1, last);
  };
  out.push_back(std::move(what_if_));
}

void add_group_what_if(const Problem& problem, const PoolClass& it, std::size_t index,
                       std::vector<WhatIf>& out) {
  const std::size_t room = problem::kMostOfAKind - problem.groups().size();
  if (it.groups.empty() || it.ops.size() <= it.groups.size() || room == 0) return;
  const std::size_t more = std::min(it.ops.size() - it.groups.size(), room);
  WhatIf what_if_ =
      what_if(problem, "number of " + it.description, std::to_string(it.groups.size()),
              static_cast<std::int64_t>(more), [it](Parts& parts, std::int64_t step) {
                add_groups(parts, it.groups, static_cast<std::size_t>(step));
              });
  const auto now = static_cast<std::int64_t>(it.groups.size());
  what_if_.value = [now](std::int64_t step) { return std::to_string(now + step); };
  what_if_.touches = [index](const Requirement& m) {
    return m.kind == Kind::group_count && m.index == index;
  };
  out.push_back(std::move(what_if_));
}

void add_memory_what_if(const Problem& problem, std::size_t index, std::vector<WhatIf>& out) {
  const problem::Memory& memory = problem.memories()[index];
  if (!problem.in_force(Rule::memory) || memory.capacity >= problem::kLargestNumber) return;
  WhatIf what_if_ =
      what_if(problem, "capacity of " + memory.name, std::to_string(memory.capacity),
              problem::kLargestNumber - memory.capacity,
              [index](Parts& parts, std::int64_t step) { parts.memories[index].capacity += step; });
  const Amount now = memory.capacity;
  what_if_.value = [now](std::int64_t step) { return std::to_string(now + step); };
  what_if_.touches = [&problem, index](const Requirement& m) {
    return (m.kind == Kind::footprint && m.other == index) ||
           any_transfer_op(problem, m, [&](problem::OpId op) {
             const auto& footprint = problem[op].footprint;
             return std::any_of(footprint.begin(), footprint.end(),
                                [&](const auto& it) { return it.memory.index() == index; });
           });
  };
  what_if_.needed = [now, index](const Problem& changed, const Schedule& schedule) {
    const auto reach = peaks_of(changed, schedule, schedule::memory_reach);
    return std::max<Amount>(reach[index] - now, 1);
  };
  out.push_back(std::move(what_if_));
}

}  // namespace

void add_capacity_what_ifs(const Problem& problem, std::vector<WhatIf>& out) {
  const std::vector<PoolClass> classes = schedule::pool_classes(problem);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    add_register_what_if(problem, classes[i], i, out);
    add_group_what_if(problem, classes[i], i, out);
  }
  for (std::size_t i = 0; i < problem.register_budgets().size(); ++i) {
    add_budget_what_if(problem, i, out);
  }
  for (std::size_t i = 0; i < problem.memories().size(); ++i) add_memory_what_if(problem, i, out);
}

}  // namespace twill::explain
