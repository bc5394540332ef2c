#include "twill/concurrent/every_trip.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "twill/concurrent/machine.h"
#include "twill/execute/types.h"

namespace twill::concurrent {
namespace {

/// An assumption on the path to a state: the quantity, by number, and the answer.
struct Step {
  std::shared_ptr<const Step> before;
  Question question;
  std::size_t form = 0;
  std::size_t occurrence = 0;
  bool more = false;
};

/// A run that waits for an answer.
struct Open {
  std::unique_ptr<Machine> machine;
  Question question;
  std::shared_ptr<const Step> way;
};

class Follower {
 public:
  Follower(const ir::Program& program, ir::OpId function, const Guide& guide)
      : program_(program), function_(function), guide_(guide), memory_(1) {}

  Result<EveryTrip> follow() {
    Options options;
    options.tiles = false;
    options.guide = &guide_;
    auto first = std::make_unique<Machine>(program_, memory_, launch_,
                                           std::array<std::int64_t, 3>{}, options, findings_);
    TWILL_TRY_VOID(first->start(function_));
    TWILL_TRY_VOID(go_on(std::move(first), nullptr, 0));
    while (!open_.empty() && findings_.empty()) {
      auto next = std::move(open_.begin()->second.front());
      const std::size_t length = open_.begin()->first;
      open_.begin()->second.pop_front();
      if (open_.begin()->second.empty()) open_.erase(open_.begin());
      for (const bool more : {false, true}) {
        if (!findings_.empty()) break;
        auto machine = more ? std::move(next.machine) : std::make_unique<Machine>(*next.machine);
        const OpenNumber& quantity = machine->quantity(next.question);
        auto way = std::make_shared<const Step>(
            Step{next.way, next.question, quantity.form, quantity.occurrence, more});
        machine->answer(next.question, more);
        TWILL_TRY_VOID(go_on(std::move(machine), std::move(way), length + (more ? 1 : 0)));
      }
    }
    EveryTrip made;
    made.states = known_.size();
    made.findings = findings_.all();
    if (!findings_.empty()) describe(made);
    return made;
  }

 private:
  Result<void> go_on(std::unique_ptr<Machine> machine, std::shared_ptr<const Step> way,
                     std::size_t length) {
    TWILL_TRY(const auto question, machine->follow());
    if (!findings_.empty()) {
      way_ = std::move(way);
      return {};
    }
    if (!question || !known_.insert(machine->state()).second) return {};
    if (known_.size() > kMostStates) {
      return fail(
          ir::text_location(program_, question->op),
          "cannot be followed: there are more than " + std::to_string(kMostStates) +
              " states of roles, buffers and mbarriers that differ",
          "roles that run ahead of each other without end, and counters of which more "
          "matters than remainders, have no end of states; `twill run` checks one number of "
          "iterations after the other");
    }
    open_[length].push_back({std::move(machine), *question, std::move(way)});
    return {};
  }

  /// The loop whose iterations the step counts: of several loops that are alike, a loop with the
  /// smallest step.
  std::optional<ir::OpId> loop_of(const Step& step) const {
    for (const auto* loops : {&guide_.loops, &guide_.drawn_loops, &guide_.whiles}) {
      auto best = loops->end();
      for (auto it = loops->begin(); it != loops->end(); ++it) {
        const CountedLoop& loop = it->second;
        const bool behind = step.occurrence < loop.occurrence ||
                            step.occurrence >= loop.occurrence + loop.stride * loop.times;
        const bool same =
            step.occurrence == loop.occurrence || step.occurrence == kEverywhere || !behind;
        if (loop.form != step.form || !same) continue;
        if (best == loops->end() || loop.step < best->second.step) best = it;
      }
      if (best != loops->end()) return best->first;
    }
    return std::nullopt;
  }

  /// Iterations of the loop that the run assumed without a question.
  std::int64_t taken_for_granted(ir::OpId op) const {
    const bool counts = guide_.loops.contains(op);
    const CountedLoop& loop = counts ? guide_.loops.at(op) : guide_.whiles.at(op);
    const auto least = guide_.more_than.find(loop.form);
    if (least == guide_.more_than.end() || least->second < loop.first) return 0;
    return (least->second - loop.first) / loop.step + 1;
  }

  void describe(EveryTrip& made) const {
    std::vector<const Step*> steps;
    for (const Step* step = way_.get(); step != nullptr; step = step->before.get()) {
      steps.push_back(step);
    }
    std::reverse(steps.begin(), steps.end());
    std::map<ir::OpId, std::size_t> places;
    std::map<std::size_t, std::size_t> begun;  // number of the execution, by quantity
    for (const Step* step : steps) {
      const auto loop = loop_of(*step);
      if (!loop) {
        made.assumptions.push_back({step->question.op, step->more});
        continue;
      }
      const auto [place, added] = places.try_emplace(*loop, made.trips.size());
      if (added) made.trips.push_back({*loop, {}, false});
      LoopTrips& trips = made.trips[place->second];
      const auto [execution, fresh] =
          begun.try_emplace(step->question.quantity, trips.trips.size());
      if (fresh) trips.trips.push_back(taken_for_granted(*loop));
      if (step->more) ++trips.trips[execution->second];
      trips.goes_on = step->more;
    }
  }

  const ir::Program& program_;
  ir::OpId function_;
  const Guide& guide_;
  execute::Memory memory_;
  execute::Launch launch_;
  Findings findings_;
  std::unordered_set<std::string> known_;
  std::map<std::size_t, std::deque<Open>> open_;  ///< by the number of iterations
  std::shared_ptr<const Step> way_;               ///< path to the finding
};

}  // namespace

Result<EveryTrip> follow_every_trip(const ir::Program& program, ir::OpId function,
                                    std::int64_t at_least, bool turns) {
  TWILL_TRY_VOID(execute::check_types(program, function));
  TWILL_TRY(Guide guide, make_guide(program, function, at_least));
  if (!turns) guide.turns.clear();
  return Follower(program, function, guide).follow();
}

}  // namespace twill::concurrent
