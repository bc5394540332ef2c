#include "twill/explain/core.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "twill/problem/problem.h"
#include "twill/schedule/pool_class.h"
#include "twill/schedule/recurrence.h"

namespace twill::explain {
namespace {

using problem::Problem;
using schedule::Bound;
using schedule::BoundKind;

/// Whether the op is part of the transfer: computes its value, stores it, or loads it.
bool is_part_of(const problem::Transfer& transfer, std::size_t op) {
  return transfer.value.index() == op || transfer.store.index() == op ||
         std::any_of(transfer.loads.begin(), transfer.loads.end(),
                     [&](const auto& load) { return load.op.index() == op; });
}

/// Drops requirements while the rest still leaves no schedule.
class Reduction {
 public:
  Reduction(const Problem& problem, std::vector<Requirement> requirements, std::optional<Cycles> ii,
            Asker& asker)
      : problem_(problem), ii_(ii), asker_(asker), kept_(std::move(requirements)) {
    std::sort(kept_.begin(), kept_.end());
  }

  Core run() {
    for (int kind = 0; kind < kKindCount; ++kind) {
      if (is_plain(static_cast<Kind>(kind))) continue;
      try_without(
          select([&](const Requirement& it) { return it.kind == static_cast<Kind>(kind); }));
    }
    for (std::size_t op = problem_.ops().size(); op-- > 0;) {
      try_without(select([&](const Requirement& it) { return is_about(it, op); }));
    }
    reduce(std::vector<Requirement>(kept_));
    return {std::move(kept_), minimal_};
  }

 private:
  /// Kinds that are dropped last: rules that few readers ask about. Otherwise an explanation would
  /// argue with schedules that break them.
  static bool is_plain(Kind kind) { return kind == Kind::width || kind == Kind::load_group; }

  template <class Test>
  std::vector<Requirement> select(Test test) const {
    std::vector<Requirement> some;
    std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(some), test);
    return some;
  }

  bool is_about(const Requirement& it, std::size_t op) const {
    switch (it.kind) {
      case Kind::minimum_groups:
      case Kind::width:
      case Kind::load_group:
      case Kind::same_group:
      case Kind::group_count:
      case Kind::register_limit:
      case Kind::budget:
        return false;
      case Kind::transfer_costs:
        return is_part_of(problem_.transfers()[it.index], op);
      case Kind::transfer:
      case Kind::wait:
      case Kind::dependence: {
        const problem::Dependence& dependence = problem_.dependences()[it.index];
        return dependence.from.index() == op || dependence.to.index() == op;
      }
      case Kind::registers:
      case Kind::footprint:
      case Kind::issue:
      case Kind::demand:
      case Kind::hold:
        break;
    }
    return it.index == op;
  }

  /// Drops all of `some` if the rest still leaves no schedule.
  bool try_without(const std::vector<Requirement>& some) {
    if (some.empty()) return true;
    std::vector<Requirement> rest;
    std::set_difference(kept_.begin(), kept_.end(), some.begin(), some.end(),
                        std::back_inserter(rest));
    const auto decided = asker_.decide(only(problem_, rest), ii_).decided;
    if (some.size() == 1 && decided == solve::Decided::undecided) minimal_ = false;
    if (decided != solve::Decided::infeasible) return false;
    kept_ = std::move(rest);
    return true;
  }

  /// Splits requirements that cannot be dropped together in halves, the later half first. A
  /// requirement that stays was tried alone, beside at least the final core: without it there is a
  /// schedule. QuickXplain divides in the same manner (Junker, "QuickXplain: Preferred Explanations
  /// and Relaxations for Over-Constrained Problems", AAAI 2004).
  void reduce(const std::vector<Requirement>& some) {
    if (try_without(some) || some.size() == 1) return;
    const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    reduce({middle, some.end()});
    reduce({some.begin(), middle});
  }

  const Problem& problem_;
  std::optional<Cycles> ii_;
  Asker& asker_;
  std::vector<Requirement> kept_;
  bool minimal_ = true;
};

std::size_t index_named(const auto& table, const std::string& name) {
  const auto at =
      std::find_if(table.begin(), table.end(), [&](const auto& it) { return it.name == name; });
  return static_cast<std::size_t>(at - table.begin());
}

bool is_of_op(const Requirement& it, std::size_t op) {
  return (it.kind == Kind::hold || it.kind == Kind::issue || it.kind == Kind::demand) &&
         it.index == op;
}

std::vector<Requirement> members_of_circuit(const Problem& problem) {
  std::vector<Requirement> requirements;
  const auto recurrence = schedule::critical_recurrence(problem);
  if (!recurrence) return requirements;
  for (const problem::DependenceId id : recurrence->circuit) {
    requirements.push_back({Kind::dependence, id.index()});
  }
  return requirements;
}

std::vector<Requirement> members_of_issue(const Problem& problem, const Bound& bound) {
  std::vector<Requirement> requirements = {{Kind::width}, {Kind::load_group}};
  const auto classes = schedule::pool_classes(problem);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].description == bound.resource) requirements.push_back({Kind::group_count, i});
  }
  for (const problem::OpId op : bound.ops) requirements.push_back({Kind::issue, op.index()});
  return requirements;
}

}  // namespace

std::vector<Requirement> requirements_of_bound(const Problem& problem, const Bound& bound) {
  std::vector<Requirement> requirements;
  switch (bound.kind) {
    case BoundKind::unit:
      for (const problem::OpId op : bound.ops) requirements.push_back({Kind::hold, op.index()});
      break;
    case BoundKind::pipe: {
      const std::size_t pipe = index_named(problem.pipes(), bound.resource);
      for (const problem::OpId op : bound.ops)
        requirements.push_back({Kind::demand, op.index(), pipe});
      break;
    }
    case BoundKind::circuit:
      requirements = members_of_circuit(problem);
      break;
    case BoundKind::op:
      for (const Requirement& it : requirements_of(problem)) {
        if (is_of_op(it, bound.ops.front().index())) requirements.push_back(it);
      }
      break;
    case BoundKind::issue:
      requirements = members_of_issue(problem, bound);
      break;
    case BoundKind::search:
    case BoundKind::trivial:
      break;
  }
  const std::vector<Requirement> all = requirements_of(problem);
  std::erase_if(requirements, [&](const Requirement& it) {
    return !std::binary_search(all.begin(), all.end(), it);
  });
  return requirements;
}

Core minimal_core(const Problem& problem, std::vector<Requirement> requirements,
                  std::optional<Cycles> ii, Asker& asker) {
  return Reduction(problem, std::move(requirements), ii, asker).run();
}

}  // namespace twill::explain
