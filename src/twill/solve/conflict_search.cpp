#include "twill/solve/engine.h"

/// The part of the Engine that decides.
namespace twill::solve {
namespace {

/// Conflicts between restarts: this times the sequence 1 1 2 1 1 2 4 ... (Luby, Sinclair and
/// Zuckerman, "Optimal Speedup of Las Vegas Algorithms", 1993).
constexpr std::uint64_t kRestartUnit = 100;

/// The budget is looked at after so many decisions, and its owner asked after so many conflicts.
constexpr std::uint64_t kDecisionsPerLook = 1024;
constexpr std::uint64_t kConflictsPerQuestion = 2048;

std::uint64_t luby(std::uint64_t index) {
  std::uint64_t size = 1;
  std::uint64_t power = 1;
  while (size < index + 1) {
    size = 2 * size + 1;
    power *= 2;
  }
  while (size - 1 != index) {
    size = (size - 1) / 2;
    power /= 2;
    index %= size;
  }
  return power;
}

}  // namespace

Outcome Engine::solve(Literal assumption, Budget& budget, const Effort& effort) {
  std::uint64_t restarts = 0;
  std::uint64_t conflicts_left = kRestartUnit;
  std::uint64_t conflicts = 0;
  std::uint64_t decisions = 0;
  const auto may_go_on = [&] { return account(budget) && budget.work() < effort.until; };
  inconsistent_ = !prepare();
  while (true) {
    if (!inconsistent_ && !propagate()) {
      if (level() == 0) {
        inconsistent_ = true;
        continue;
      }
      learn_from_conflict();
      budget.count_conflict();
      if (++conflicts % kConflictsPerQuestion == 0) budget.ask();
      if (!may_go_on() || conflicts >= effort.conflicts) return Outcome::stopped;
      if (--conflicts_left > 0) continue;
      backtrack(0);
      conflicts_left = kRestartUnit * luby(++restarts);
      continue;
    }
    if (inconsistent_ || is_false(assumption)) {
      if (proof_ != nullptr) proof_->refuted(inconsistent_ ? kTrue : assumption);
      account(budget);
      return Outcome::refuted;
    }
    if (level() == 0 && learned_count_ > learned_limit_) forget_learned();
    const Literal next = is_true(assumption) ? pick() : assumption;
    if (next == kTrue) {
      save_model();
      account(budget);
      return Outcome::satisfied;
    }
    decide(next);
    if (++decisions % kDecisionsPerLook == 0 && !may_go_on()) return Outcome::stopped;
  }
}

/// Gives atoms that are new since the last search the values that the edges imply.
bool Engine::prepare() {
  backtrack(0);
  if (inconsistent_) return false;
  if (!new_atoms_) return true;
  new_atoms_ = false;
  graph_.decide_all_atoms();
  return imply_from_graph();
}

/// Picks the most active open variable that matters, kTrue if there is none. An atom gets its value
/// in the current solution of the difference graph, which then stays valid. Other variables get
/// their last value (phase saving).
Literal Engine::pick() {
  while (const auto variable = order_.take_first()) {
    const Literal literal(*variable, false);
    if (is_true(literal) || is_false(literal)) continue;
    if (!matters(*variable)) {
      left_open_.emplace_back(*variable, level());
      continue;
    }
    const bool positive =
        graph_.is_atom(literal) ? graph_.holds_in_potential(literal) : phases_[*variable] > 0;
    return positive ? literal : ~literal;
  }
  return kTrue;
}

bool Engine::matters(std::uint32_t variable) const {
  return !is_false(matters_if_[variable][0]) && !is_false(matters_if_[variable][1]);
}

void Engine::decide(Literal literal) {
  level_starts_.push_back({trail_size(), graph_.edge_count()});
  assign(literal, {});
}

void Engine::save_model() {
  model_ = values_;
  model_potential_.clear();
  for (std::size_t i = 0; i < graph_.node_count(); ++i) {
    model_potential_.push_back(graph_.potential(Node(i)));
  }
}

/// Charges the work since the last call; false if the budget is exhausted.
bool Engine::account(Budget& budget) {
  const std::uint64_t work = own_work_ + at_most_.work() + graph_.work();
  budget.spend(work - accounted_work_);
  accounted_work_ = work;
  return budget.allows(memory());
}

}  // namespace twill::solve
