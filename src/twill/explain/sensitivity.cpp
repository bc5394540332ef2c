#include "twill/explain/sensitivity.h"

#include <algorithm>
#include <utility>

namespace twill::explain {
namespace {

using problem::Problem;
using solve::Decided;

/// The optimum of a Problem that is known to have a schedule of this II.
Point point_of(const Problem& problem, std::string to, Cycles known, Extent extent, Asker& asker) {
  const schedule::Answer answer = asker.least(problem, known);
  const bool proven = answer.verdict == schedule::Verdict::optimal;
  const Cycles found = answer.schedule ? answer.schedule->initiation_interval : known;
  return {std::move(to), std::min(found, known), proven, extent};
}

/// The least step of a knob that reaches an II, and the II of a schedule there.
struct Least {
  std::int64_t step = 0;
  Cycles interval = 0;
  Extent extent = Extent::least;
};

class Turning {
 public:
  Turning(const Knob& knob, const Goal& goal, Asker& asker)
      : knob_(knob), goal_(goal), asker_(asker) {}

  /// Undecided if the last step is; no points if even that does not help.
  Decided run(Help& help) {
    const solve::Decision end = asker_.decide(knob_.at(knob_.last), goal_.interval);
    if (end.decided != Decided::feasible) return end.decided;
    if (!goal_.and_more) {
      const Least first = least_step(goal_.interval, 0, *end.schedule);
      help.points.push_back(
          {knob_.value(first.step), goal_.interval.value_or(0), true, first.extent});
      return end.decided;
    }
    Least first;
    if (!knob_.of_op) {  // of an op the least change buys little, and takes long to find
      first = least_step(goal_.interval, 0, *end.schedule);
      help.points.push_back(best_at(first));
      if (knob_.typical > first.step) {
        keep_if_better(help, best_at({knob_.typical, first.interval, Extent::example}));
      }
    }
    add_last(help, first.step, *end.schedule);
    return end.decided;
  }

 private:
  static void keep_if_better(Help& help, Point point) {
    if (!help.points.empty() && point.interval >= help.points.back().interval) return;
    help.points.push_back(std::move(point));
  }

  Point best_at(const Least& at) {
    return point_of(knob_.at(at.step), knob_.value(at.step), at.interval, at.extent, asker_);
  }

  /// The most that the knob can do, at the least step that does it.
  void add_last(Help& help, std::int64_t fails, const schedule::Schedule& known) {
    Cycles bound = known.initiation_interval;
    if (!help.points.empty()) bound = std::min(bound, help.points.back().interval);
    const Problem last = knob_.at(knob_.last);
    const schedule::Answer most = asker_.least(last, bound);
    const schedule::Schedule& best = most.schedule ? *most.schedule : known;
    if (!help.points.empty() && best.initiation_interval >= help.points.back().interval) return;
    const Least least = least_step(best.initiation_interval, fails, best);
    help.points.push_back({knob_.value(least.step), best.initiation_interval,
                           most.verdict == schedule::Verdict::optimal, least.extent});
  }

  /// Precondition: step `fails` does not reach `interval`, and `end` is a schedule of the last one
  /// that does.
  Least least_step(std::optional<Cycles> interval, std::int64_t fails,
                   const schedule::Schedule& end) {
    Least least{knob_.last, end.initiation_interval, Extent::least};
    least.step = std::clamp(knob_.needed(knob_.at(knob_.last), end), fails + 1, knob_.last);
    while (least.step - fails > 1) {
      const std::int64_t middle = fails + (least.step - fails) / 2;
      const Problem changed = knob_.at(middle);
      const solve::Decision there = asker_.decide(changed, interval);
      if (there.decided != Decided::feasible) {
        fails = middle;
        if (there.decided == Decided::undecided) least.extent = Extent::perhaps_less;
        continue;
      }
      const std::int64_t needed = knob_.needed(changed, *there.schedule);
      least.step = std::clamp(std::min(needed, middle), fails + 1, middle);
      least.interval = there.schedule->initiation_interval;
    }
    return least;
  }

  const Knob& knob_;
  const Goal& goal_;
  Asker& asker_;
};

bool may_help(const Knob& knob, const Core& core, const std::vector<std::string>& useless) {
  if (std::find(useless.begin(), useless.end(), knob.only_if) != useless.end()) return false;
  return std::any_of(core.members.begin(), core.members.end(), knob.touches);
}

void turn(const Knob& knob, const Core& core, const Goal& goal, Asker& asker, Sensitivity& out) {
  std::vector<std::string>& useless = knob.of_op ? out.useless_of_op : out.useless;
  if (!may_help(knob, core, out.useless)) {
    useless.push_back(knob.what);
    return;
  }
  Help help{knob.what, knob.from, {}, knob.of_op};
  const Decided decided = Turning(knob, goal, asker).run(help);
  if (decided == Decided::undecided) out.undecided.push_back(knob.what);
  if (decided == Decided::infeasible) useless.push_back(knob.what);
  if (decided == Decided::feasible) out.helps.push_back(std::move(help));
}

void try_variant(const Variant& variant, const Goal& goal, Asker& asker, Sensitivity& out) {
  const std::string name = variant.what + " " + variant.to;
  const solve::Decision there = asker.decide(variant.problem, goal.interval);
  if (there.decided == Decided::undecided) out.undecided.push_back(name);
  if (there.decided == Decided::infeasible) out.useless.push_back(name);
  if (there.decided != Decided::feasible) return;
  Point point{variant.to, goal.interval.value_or(0), true, Extent::example};
  if (goal.and_more) {
    point = point_of(variant.problem, variant.to, there.schedule->initiation_interval,
                     Extent::example, asker);
  }
  out.helps.push_back({variant.what, variant.from, {std::move(point)}, false});
}

}  // namespace

Sensitivity sensitivity(std::span<const Knob> knobs, std::span<const Variant> variants,
                        const Core& core, const Goal& goal, Asker& asker) {
  Sensitivity out;
  for (const Variant& variant : variants) try_variant(variant, goal, asker, out);
  for (const Knob& knob : knobs) turn(knob, core, goal, asker, out);
  std::stable_sort(out.helps.begin(), out.helps.end(), [](const Help& a, const Help& b) {
    return a.points.back().interval < b.points.back().interval;
  });
  return out;
}

}  // namespace twill::explain
