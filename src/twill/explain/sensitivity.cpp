#include "twill/explain/sensitivity.h"

#include <algorithm>
#include <utility>

namespace twill::explain {
namespace {

using problem::Problem;
using solve::Decided;

/// Parts of the remaining work, for the questions whether a change helps at all. Then parts of that
/// work for each question.
constexpr std::uint64_t kPartsOfWhat = 2;
constexpr std::uint64_t kPartsOfOne = 12;

/// Weights by which the changes then share the remaining work: changes of the machine count more
/// than changes of single ops. Each change has several questions.
constexpr std::uint64_t kWeight = 4;
constexpr std::uint64_t kPartsOfPoint = 2;

/// Least step of a what-if that reaches an II, with a schedule.
struct Least {
  std::int64_t step = 0;
  schedule::Schedule schedule;
  Extent extent = Extent::least;
};

/// Searches one what-if by bisection. Later steps have all schedules of earlier steps, so only open
/// steps are tested. A schedule found at one step is tried at others.
class Turning {
 public:
  Turning(const WhatIf& what_if, const Goal& goal, Asker& asker)
      : what_if_(what_if), goal_(goal), asker_(asker) {}

  /// Weight of this what-if when the work is shared.
  std::uint64_t weight() const { return what_if_.of_op ? 1 : kWeight; }

  /// Whether the last step meets the goal.
  Decided try_last() {
    solve::Decision end = asker_.decide(what_if_.at(what_if_.last), goal_.interval);
    last_ = std::move(end.schedule);
    return end.decided;
  }

  /// Finds the least step that meets the goal, and the largest gain. Precondition: the last step
  /// meets the goal.
  Help run() {
    Help help{what_if_.what, what_if_.from, {}, what_if_.of_op};
    if (!goal_.and_more) {
      const Least first = least_step(goal_.interval, 0, *last_);
      help.points.push_back(
          {what_if_.value(first.step), goal_.interval.value_or(0), true, first.extent});
      return help;
    }
    std::optional<Least> first;  // skipped for single ops: the least change buys little, and takes
                                 // long to find
    if (!what_if_.of_op) first = least_step(goal_.interval, 0, *last_);
    const schedule::Answer most = best_at(what_if_.last, *last_);
    floor_ = most.lower_bound.value;
    if (first) {
      add(help, *first);
      if (what_if_.typical > first->step)
        add(help, {what_if_.typical, first->schedule, Extent::example});
    }
    add_last(help, first ? first->step : 0, most);
    return help;
  }

 private:
  /// Finds the least II of a step, with a schedule of this structure or a better one.
  schedule::Answer best_at(std::int64_t step, const schedule::Schedule& known) {
    const Problem changed = what_if_.at(step);
    auto schedule = asker_.best_kept(changed);
    if (!schedule || known.initiation_interval < schedule->initiation_interval) schedule = known;
    return asker_.least(changed, *std::move(schedule), floor_);
  }

  /// Adds the point at a step, if it is better than the last point.
  void add(Help& help, const Least& at) {
    const schedule::Answer answer = best_at(at.step, at.schedule);
    const Cycles interval = answer.schedule->initiation_interval;
    if (!help.points.empty() && interval >= help.points.back().interval) return;
    help.points.push_back({what_if_.value(at.step), interval,
                           answer.verdict == schedule::Verdict::optimal, at.extent});
  }

  /// Adds the largest gain of the what-if, at the least step that has it.
  void add_last(Help& help, std::int64_t fails, const schedule::Answer& most) {
    const Cycles interval = most.schedule->initiation_interval;
    if (!help.points.empty() && interval >= help.points.back().interval) return;
    const Least least = least_step(interval, fails, *most.schedule);
    help.points.push_back({what_if_.value(least.step), interval,
                           most.verdict == schedule::Verdict::optimal, least.extent});
  }

  /// Finds the least step that reaches `interval`. Precondition: step `fails` does not reach it,
  /// and `end` is a schedule of the last step, which does.
  Least least_step(std::optional<Cycles> interval, std::int64_t fails,
                   const schedule::Schedule& end) {
    Least least = lowered({what_if_.last, end, Extent::least}, interval, fails);
    bool small = !what_if_.needed;  // a small change of a rate or a time is often enough
    while (least.step - fails > 1) {
      const std::int64_t middle = small ? fails + 1 : fails + (least.step - fails) / 2;
      small = false;
      solve::Decision there = asker_.decide(what_if_.at(middle), interval);
      if (there.decided == Decided::feasible) {
        least = lowered({middle, *std::move(there.schedule), least.extent}, interval, fails);
        continue;
      }
      fails = middle;
      if (there.decided == Decided::undecided) least.extent = Extent::perhaps_less;
    }
    return least;
  }

  /// Lowers the step, above `fails`, as far as the structure of the schedule alone reaches the II.
  Least lowered(Least least, std::optional<Cycles> interval, std::int64_t fails) {
    if (what_if_.needed) {
      const std::int64_t needed = what_if_.needed(what_if_.at(least.step), least.schedule);
      least.step = std::clamp(needed, fails + 1, least.step);
      return least;
    }
    while (least.step - fails > 1) {
      const std::int64_t middle = fails + (least.step - fails) / 2;
      auto there = asker_.followed(what_if_.at(middle), least.schedule, interval);
      if (!there) {
        fails = middle;
        continue;
      }
      least.step = middle;
      least.schedule = *std::move(there);
    }
    return least;
  }

  const WhatIf& what_if_;
  const Goal& goal_;
  Asker& asker_;
  std::optional<schedule::Schedule> last_;  ///< schedule at the last step, which meets the goal
  Cycles floor_ = 1;                        ///< proven for the last step, so for all steps
};

bool may_help(const WhatIf& what_if, const Core& core, const std::vector<std::string>& useless) {
  if (std::find(useless.begin(), useless.end(), what_if.only_if) != useless.end()) return false;
  return std::any_of(core.requirements.begin(), core.requirements.end(), what_if.touches);
}

/// What-ifs whose last step meets the goal; the others are reported as useless or undecided.
std::vector<Turning> that_help(std::span<const WhatIf> what_ifs, const Core& core, const Goal& goal,
                               Asker& asker, Sensitivity& out) {
  std::vector<Turning> helping;
  for (const WhatIf& what_if : what_ifs) {
    std::vector<std::string>& useless = what_if.of_op ? out.useless_of_op : out.useless;
    if (!may_help(what_if, core, out.useless)) {
      useless.push_back(what_if.what);
      continue;
    }
    Turning turning(what_if, goal, asker);
    const Decided decided = turning.try_last();
    if (decided == Decided::undecided) out.undecided.push_back(what_if.what);
    if (decided == Decided::infeasible) useless.push_back(what_if.what);
    if (decided == Decided::feasible) helping.push_back(std::move(turning));
  }
  return helping;
}

void try_variant(const Variant& variant, const Goal& goal, Asker& asker, Sensitivity& out) {
  const std::string name = variant.what + " " + variant.to;
  const solve::Decision there = asker.decide(variant.problem, goal.interval);
  if (there.decided == Decided::undecided) out.undecided.push_back(name);
  if (there.decided == Decided::infeasible) out.useless.push_back(name);
  if (there.decided != Decided::feasible) return;
  Point point{variant.to, goal.interval.value_or(0), true, Extent::example};
  if (goal.and_more) {
    const schedule::Answer least = asker.least(variant.problem, *there.schedule, 1);
    point.interval = least.schedule->initiation_interval;
    point.best = least.verdict == schedule::Verdict::optimal;
  }
  out.helps.push_back({variant.what, variant.from, {std::move(point)}, false});
}

}  // namespace

Sensitivity sensitivity(std::span<const WhatIf> what_ifs, std::span<const Variant> variants,
                        const Core& core, const Goal& goal, Asker& asker) {
  Sensitivity out;
  asker.begin("what would lower it", kPartsOfWhat, kPartsOfOne);
  for (const Variant& variant : variants) try_variant(variant, goal, asker, out);
  std::vector<Turning> helping = that_help(what_ifs, core, goal, asker, out);
  std::uint64_t shares = 0;
  for (const Turning& it : helping) shares += it.weight();
  for (Turning& it : helping) {
    asker.begin("how far each change goes", (shares + it.weight() - 1) / it.weight(),
                kPartsOfPoint);
    out.helps.push_back(it.run());
    shares -= it.weight();
  }
  std::stable_sort(out.helps.begin(), out.helps.end(), [](const Help& a, const Help& b) {
    return a.points.back().interval < b.points.back().interval;
  });
  return out;
}

}  // namespace twill::explain
