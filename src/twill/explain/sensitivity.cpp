#include "twill/explain/sensitivity.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace twill::explain {
namespace {

using problem::Problem;
using solve::Decided;

/// The least step of a knob that reaches an II, between one that does not and one that does.
struct Least {
  std::int64_t step = 0;
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
      const Least first = least_step(goal_.interval, 0, end);
      help.points.push_back(point(first, goal_.interval.value_or(0), true));
      return end.decided;
    }
    const schedule::Answer most = asker_.least(knob_.at(knob_.last), kParts);
    if (!most.schedule) return Decided::undecided;
    Least first;
    if (!knob_.of_op) {  // of an op the least change buys little, and takes long to find
      first = least_step(goal_.interval, 0, end);
      help.points.push_back(best_at(first));
    }
    add_far_points(help, first, most);
    return end.decided;
  }

 private:
  static constexpr std::uint64_t kParts = 128;

  Point point(const Least& at, Cycles interval, bool best) const {
    return {knob_.value(at.step), interval, best, at.extent};
  }

  Point best_at(const Least& at) {
    const schedule::Answer answer = asker_.least(knob_.at(at.step), kParts);
    const bool found = answer.schedule.has_value();
    return point(at, found ? answer.schedule->initiation_interval : *goal_.interval,
                 answer.verdict == schedule::Verdict::optimal);
  }

  void add_far_points(Help& help, const Least& first, const schedule::Answer& most) {
    if (!help.points.empty() && knob_.typical > first.step) {
      Point there = best_at({knob_.typical, Extent::example});
      if (there.interval < help.points.back().interval) help.points.push_back(std::move(there));
    }
    const Cycles least = most.schedule->initiation_interval;
    if (!help.points.empty() && least >= help.points.back().interval) return;
    solve::Decision end;
    end.schedule = most.schedule;
    const Least last = least_step(least, first.step, end);
    help.points.push_back(point(last, least, most.verdict == schedule::Verdict::optimal));
  }

  /// Precondition: `end` has a schedule of the last step that reaches `interval`.
  Least least_step(std::optional<Cycles> interval, std::int64_t fails, const solve::Decision& end) {
    Least least;
    const Problem last = knob_.at(knob_.last);
    std::int64_t reaches = std::clamp(knob_.needed(last, *end.schedule), fails + 1, knob_.last);
    while (reaches - fails > 1) {
      const std::int64_t middle = fails + (reaches - fails) / 2;
      const Problem changed = knob_.at(middle);
      const solve::Decision there = asker_.decide(changed, interval);
      if (there.decided != Decided::feasible) {
        fails = middle;
        if (there.decided == Decided::undecided) least.extent = Extent::perhaps_less;
        continue;
      }
      const std::int64_t needed = knob_.needed(changed, *there.schedule);
      reaches = std::clamp(std::min(needed, middle), fails + 1, middle);
    }
    least.step = reaches;
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
    const schedule::Answer answer = asker.least(variant.problem, 128);
    if (answer.schedule) point.interval = answer.schedule->initiation_interval;
    point.best = answer.verdict == schedule::Verdict::optimal;
  }
  out.helps.push_back({variant.what, variant.from, {std::move(point)}, false});
}

}  // namespace

Sensitivity sensitivity(std::span<const Knob> knobs, std::span<const Variant> variants,
                        const Core& core, const Goal& goal, Asker& asker) {
  Sensitivity out;
  for (const Knob& knob : knobs) turn(knob, core, goal, asker, out);
  for (const Variant& variant : variants) try_variant(variant, goal, asker, out);
  std::stable_sort(out.helps.begin(), out.helps.end(), [](const Help& a, const Help& b) {
    return a.points.back().interval < b.points.back().interval;
  });
  return out;
}

}  // namespace twill::explain
