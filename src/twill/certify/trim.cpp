#include <algorithm>
#include <cstdlib>
#include <utility>

#include "twill/certify/replay.h"

/// Reduction of a proof to the steps that its refutation needs.
namespace twill::certify {
namespace {

/// Records the clauses on which steps rest.
class Origins : public Witness {
 public:
  explicit Origins(std::size_t steps) : of_step_(steps + 1) {}

  void rests_on(std::size_t step, std::vector<Clause> clauses,
                const std::vector<Literal>& /*causes*/) override {
    of_step_[step] = std::move(clauses);
  }

  const std::vector<Clause>& of_step(std::size_t step) const { return of_step_[step]; }

 private:
  std::vector<std::vector<Clause>> of_step_;
};

/// Records the variables on which steps rest.
class Variables : public Witness {
 public:
  void watch(Replay& replay) { replay_ = &replay; }

  void rests_on(std::size_t /*step*/, std::vector<Clause> clauses,
                const std::vector<Literal>& causes) override {
    for (const Literal literal : causes) use(literal);
    for (const Clause clause : clauses) {
      for (const Literal literal : replay_->clauses().literals_in(clause)) use(literal);
    }
  }

  bool is_used(Literal literal) const {
    return literal / 2 < used_.size() && used_[literal / 2] != 0;
  }
  void use(Literal literal) {
    if (used_.size() <= literal / 2) used_.resize(literal / 2 + 1, 0);
    used_[literal / 2] = 1;
  }

 private:
  Replay* replay_ = nullptr;
  std::vector<std::uint8_t> used_;
};

/// Finds the steps that a refutation needs, with clauses dropped after their last use: a backward
/// pass as in DRAT-trim (Wetzler, Heule and Hunt, SAT 2014).
class Trimmer {
 public:
  Trimmer(const Proof& proof, Replay& replay, const Origins& origins)
      : proof_(proof), replay_(replay), origins_(origins), needed_(proof.steps.size(), 0) {
    for (std::size_t i = 0; i < proof.steps.size(); ++i) {
      if (proof.steps[i].kind != StepKind::dropped) step_of_.push_back(i);
    }
    last_use_.resize(step_of_.size(), 0);
  }

  Proof trimmed() {
    need_from(proof_.steps.size());
    while (!todo_.empty()) {
      const std::size_t step = todo_.back();
      todo_.pop_back();
      need_from(step);
    }
    Proof out;
    out.subject = proof_.subject;
    out.variables = proof_.variables;
    out.sums = proof_.sums;
    std::vector<std::vector<std::size_t>> ends(proof_.steps.size() + 1);
    for (std::size_t i = 0; i < step_of_.size(); ++i) {
      const auto clause = static_cast<Clause>(replay_.first() + i);
      if (clause >= replay_.clauses().clause_count()) break;
      if (needed_[step_of_[i]] != 0 && !replay_.clauses().is_reason(clause)) {
        ends[last_use_[i]].push_back(i);
      }
    }
    std::vector<std::int32_t> number_of(step_of_.size(), 0);
    std::int32_t count = 0;
    std::size_t clause = 0;
    for (std::size_t i = 0; i < proof_.steps.size(); ++i) {
      if (proof_.steps[i].kind == StepKind::dropped) continue;
      if (needed_[i] != 0) {
        number_of[clause] = ++count;
        append(out, proof_.steps[i], proof_.numbers_of(proof_.steps[i]));
      }
      ++clause;
      std::vector<std::int32_t> dropped;
      for (const std::size_t it : ends[i]) dropped.push_back(number_of[it]);
      if (!dropped.empty()) append(out, {StepKind::dropped, 0, 0, 0}, dropped);
    }
    return out;
  }

 private:
  static void append(Proof& out, Step step, std::span<const std::int32_t> numbers) {
    step.begin = static_cast<std::uint32_t>(out.numbers.size());
    out.numbers.insert(out.numbers.end(), numbers.begin(), numbers.end());
    step.end = static_cast<std::uint32_t>(out.numbers.size());
    out.steps.push_back(step);
  }

  /// Marks all that a step rests on. A clause that made a literal true for good rests on the
  /// clauses that made its other literals false.
  void need_from(std::size_t step) {
    std::vector<Clause> clauses = origins_.of_step(step);
    while (!clauses.empty()) {
      const Clause clause = clauses.back();
      clauses.pop_back();
      if (!replay_.clauses().is_reason(clause)) {
        need(clause, step);
        continue;
      }
      if (further_.size() <= clause) further_.resize(clause + std::size_t{1}, 0);
      if (further_[clause] != 0) continue;
      further_[clause] = 1;
      need(clause, step);
      replay_.clauses().trace_further(clause, clauses);
    }
  }

  void need(Clause clause, std::size_t by) {
    if (clause < replay_.first()) return;
    const std::size_t index = clause - replay_.first();
    last_use_[index] = std::max(last_use_[index], by);
    const std::size_t step = step_of_[index];
    if (std::exchange(needed_[step], std::uint8_t{1}) == 0) todo_.push_back(step);
  }

  const Proof& proof_;
  Replay& replay_;
  const Origins& origins_;
  std::vector<std::uint8_t> needed_;   ///< by step
  std::vector<std::uint8_t> further_;  ///< by clause: whether the clauses that it rests on for good
                                       ///< are marked
  std::vector<std::size_t> step_of_;   ///< by clause that a step added: that step
  std::vector<std::size_t> last_use_;  ///< by clause: the last step that needs it
  std::vector<std::size_t> todo_;
};

/// Whether constraints on such a variable are made only if the proof names it. Then the proof must
/// name the variable even if no step does.
bool is_made_on_demand(Predicate::Kind kind) {
  return kind >= Predicate::Kind::alive && is_variable(kind);
}

/// Leaves out unused variables and sums, and numbers the others in the order of their use.
Proof renumbered(const Proof& proof, const std::vector<Literal>& literals,
                 const Variables& variables) {
  Proof out;
  out.subject = proof.subject;
  std::vector<std::int32_t> numbers(proof.variables.size(), 0);
  const auto declare = [&](std::size_t variable) {
    if (numbers[variable] != 0) return;
    out.variables.push_back(proof.variables[variable]);
    numbers[variable] = static_cast<std::int32_t>(out.variables.size());
  };
  std::vector<std::int32_t> sums(proof.sums.size(), -1);
  for (Step step : proof.steps) {
    const std::span<const std::int32_t> before = proof.numbers_of(step);
    step.begin = static_cast<std::uint32_t>(out.numbers.size());
    for (const std::int32_t number : before) {
      if (step.kind == StepKind::dropped) {
        out.numbers.push_back(number);
        continue;
      }
      const auto variable = static_cast<std::size_t>(std::abs(number)) - 1;
      declare(variable);
      out.numbers.push_back(number > 0 ? numbers[variable] : -numbers[variable]);
    }
    step.end = static_cast<std::uint32_t>(out.numbers.size());
    if (step.kind == StepKind::overflow) {
      if (sums[step.sum] < 0) {
        sums[step.sum] = static_cast<std::int32_t>(out.sums.size());
        out.sums.push_back(proof.sums[step.sum]);
      }
      step.sum = static_cast<std::uint32_t>(sums[step.sum]);
    }
    out.steps.push_back(step);
  }
  for (std::size_t i = 0; i < literals.size(); ++i) {
    if (is_made_on_demand(proof.variables[i].kind) && variables.is_used(literals[i])) declare(i);
  }
  return out;
}

}  // namespace

tl::expected<Proof, Rejection> trim_proof(const problem::Problem& problem, const Proof& proof) {
  Origins origins(proof.steps.size());
  Replay first(problem, proof, &origins);
  if (auto fine = first.run(); !fine) return tl::unexpected(std::move(fine).error());
  const Proof trimmed = Trimmer(proof, first, origins).trimmed();
  Variables variables;
  Replay second(problem, trimmed, &variables);
  variables.watch(second);
  if (auto fine = second.run(); !fine) return tl::unexpected(std::move(fine).error());
  return renumbered(trimmed, second.literals(), variables);
}

}  // namespace twill::certify
