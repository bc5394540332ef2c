#include "twill/certify/replay.h"

#include <cstdlib>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace twill::certify {
namespace {

tl::unexpected<Rejection> reject(int line, std::string reason) {
  return tl::unexpected(Rejection{"", line, std::move(reason)});
}

}  // namespace

tl::expected<void, Rejection> Replay::run() {
  if (!constraints_.objection().empty()) return reject(0, constraints_.objection());
  if (constraints_.nothing_fits()) return {};
  for (const Predicate& it : proof_.variables) literals_.push_back(constraints_.literal(it));
  for (const Predicate& it : proof_.subject.given) {
    const Literal limit = constraints_.literal(it);
    clauses_.add(std::span(&limit, 1));
  }
  // Goal of the refutation: steps may use the refuted limit, since the statement is that all limits
  // hold together.
  const Literal goal =
      proof_.subject.refuted ? constraints_.literal(*proof_.subject.refuted) : kTrue;
  if (goal != kTrue) clauses_.add(std::span(&goal, 1));
  first_ = clauses_.clause_count();
  for (std::size_t i = 0; i < proof_.steps.size() && !clauses_.is_contradictory(); ++i) {
    const std::string objection = take(i);
    if (!objection.empty()) return reject(line_of_step(proof_, i), objection);
  }
  if (contradicts({goal}, proof_.steps.size())) return {};
  return reject(0, "the steps do not prove that there is " + claim());
}

std::string Replay::claim() const {
  std::string text = fmt::format("no schedule at an interval of {}", proof_.subject.interval);
  if (proof_.subject.refuted) text += " with " + text_of(*proof_.subject.refuted, problem_);
  return text;
}

/// Takes a step. Returns the reason why it does not follow; empty if it does.
std::string Replay::take(std::size_t index) {
  const Step& step = proof_.steps[index];
  if (step.kind == StepKind::dropped) return drop(step);
  lemma_.clear();
  negated_.clear();
  for (const std::int32_t number : proof_.numbers_of(step)) {
    const Literal positive = literals_[static_cast<std::size_t>(std::abs(number)) - 1];
    lemma_.push_back(number > 0 ? positive : negation(positive));
    negated_.push_back(negation(lemma_.back()));
  }
  if (step.kind == StepKind::difference) {
    if (!constraints_.close_circuit(negated_)) {
      return "the differences close no circuit of positive weight";
    }
    if (witness_ != nullptr) witness_->rests_on(index, {}, {});
  } else if (step.kind == StepKind::overflow) {
    if (!overflows(proof_.sums[step.sum], index)) {
      return "the sum does not overflow: " + text_of(proof_.sums[step.sum], problem_);
    }
  } else if (!contradicts(negated_, index)) {
    return "does not follow by unit propagation";
  }
  clauses_.add(lemma_);
  return {};
}

std::string Replay::drop(const Step& step) {
  for (const std::int32_t number : proof_.numbers_of(step)) {
    const std::size_t clause = first_ + static_cast<std::size_t>(number) - 1;
    if (number < 1 || clause >= clauses_.clause_count()) {
      return fmt::format("there is no clause {} to drop", number);
    }
    clauses_.remove(static_cast<Clause>(clause));
  }
  return {};
}

bool Replay::contradicts(const std::vector<Literal>& literals, std::size_t step) {
  const bool fine = !clauses_.assume(literals);
  if (fine && witness_ != nullptr) {
    std::vector<Clause> clauses;
    clauses_.trace_contradiction(clauses);
    witness_->rests_on(step, std::move(clauses), {});
  }
  clauses_.release();
  return fine;
}

/// Whether the negated literals, with all their consequences, overflow the sum.
bool Replay::overflows(const Predicate& sum, std::size_t step) {
  causes_.clear();
  const bool contradiction = !clauses_.assume(negated_);
  const bool fine = contradiction || constraints_.overflows(sum, causes_);
  if (fine && witness_ != nullptr) {
    std::vector<Clause> clauses;
    if (contradiction) {
      clauses_.trace_contradiction(clauses);
    } else {
      clauses_.trace(causes_, clauses);
    }
    witness_->rests_on(step, std::move(clauses), causes_);
  }
  clauses_.release();
  return fine;
}

tl::expected<void, Rejection> check_proof(const problem::Problem& problem, const Proof& proof) {
  return Replay(problem, proof, nullptr).run();
}

}  // namespace twill::certify
