#include "twill/prove/recorder.h"

#include <algorithm>
#include <utility>

namespace twill::prove {
namespace {

using certify::Predicate;
using certify::Proof;
using certify::StepKind;
using solve::Literal;
using solve::Meaning;

Predicate::Kind kind_of(Meaning::Kind kind) {
  switch (kind) {
    case Meaning::Kind::in_group:
      return Predicate::Kind::in;
    case Meaning::Kind::used:
      return Predicate::Kind::used;
    case Meaning::Kind::opened:
      return Predicate::Kind::opened;
    case Meaning::Kind::same_group:
      return Predicate::Kind::same;
    case Meaning::Kind::waits:
      return Predicate::Kind::waits;
    case Meaning::Kind::alive:
      return Predicate::Kind::alive;
    case Meaning::Kind::held:
      return Predicate::Kind::held;
    case Meaning::Kind::together:
      return Predicate::Kind::together;
    case Meaning::Kind::before:
      return Predicate::Kind::before;
    case Meaning::Kind::counts:
      return Predicate::Kind::counts;
    case Meaning::Kind::gathered:
      return Predicate::Kind::gathered;
    case Meaning::Kind::leaves:
      return Predicate::Kind::leaves;
    case Meaning::Kind::crosses:
      return Predicate::Kind::crosses;
    case Meaning::Kind::handed:
      return Predicate::Kind::handed;
    case Meaning::Kind::exists:
      return Predicate::Kind::exists;
    case Meaning::Kind::runs_in:
      return Predicate::Kind::runs;
    case Meaning::Kind::deep:
      return Predicate::Kind::deep;
    case Meaning::Kind::steps:
      return Predicate::Kind::steps;
    case Meaning::Kind::groups:
      return Predicate::Kind::groups;
    case Meaning::Kind::crossings:
      return Predicate::Kind::crossings;
    case Meaning::Kind::length:
      return Predicate::Kind::length;
    case Meaning::Kind::pipe:
      return Predicate::Kind::pipe;
    case Meaning::Kind::memory:
      return Predicate::Kind::memory;
    case Meaning::Kind::depth:
      return Predicate::Kind::depth;
    case Meaning::Kind::registers:
      return Predicate::Kind::registers;
    case Meaning::Kind::issue:
      return Predicate::Kind::issue;
    case Meaning::Kind::register_time:
      return Predicate::Kind::register_time;
    case Meaning::Kind::compute_groups:
      return Predicate::Kind::compute_groups;
    case Meaning::Kind::budget:
      return Predicate::Kind::budget;
  }
  return Predicate::Kind::used;
}

Predicate predicate_of(const Meaning& meaning) {
  return {kind_of(meaning.kind), meaning.first, meaning.second, meaning.number};
}

/// Predicate of a variable without a meaning. It has no content, so no proof can rest on it.
constexpr Predicate kNothing = {Predicate::Kind::slot, 0, 0, 0};

/// Hash of a set of literals, independent of their order.
std::uint64_t hash_of(std::span<const Literal> literals) {
  std::uint64_t sum = 0x9e3779b97f4a7c15U * (literals.size() + 1);
  for (const Literal literal : literals) {
    std::uint64_t mixed = (literal.code() + 1) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    sum += mixed ^ (mixed >> 31U);
  }
  return sum;
}

}  // namespace

std::optional<Proof> Recorder::interval(const std::vector<int>& alternatives) const {
  const auto found = refutations_.find(alternatives);
  if (found == refutations_.end() || !found->second.interval) return std::nullopt;
  return proof_of(*found->second.interval);
}

std::optional<Proof> Recorder::limit(const std::vector<int>& alternatives, Cycles interval,
                                     Predicate::Kind objective) const {
  const auto found = refutations_.find(alternatives);
  if (found == refutations_.end()) return std::nullopt;
  const auto refutation = found->second.limits.find(objective);
  if (refutation == found->second.limits.end()) return std::nullopt;
  if (refutation->second.subject.interval != interval) return std::nullopt;
  return proof_of(refutation->second);
}

Proof Recorder::proof_of(const Refutation& it) {
  const Proof& log = it.log->proof;
  const auto first = [](const auto& all, std::size_t count) {
    return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  };
  return {it.subject, first(log.variables, it.variables), first(log.sums, it.sums),
          first(log.steps, it.steps), first(log.numbers, it.numbers)};
}

void Recorder::begin(std::string_view /*title*/) { log_ = std::make_shared<Log>(); }

void Recorder::subject(const solve::ProofSubject& subject) {
  certify::Subject& out = log_->proof.subject;
  out.interval = subject.ii;
  out.anchor = subject.anchor;
  out.tiles = subject.tiles;
  out.accumulators = subject.accumulators;
  log_->addresses = subject.addresses;
  for (const std::vector<std::size_t>& map : subject.exchanges) {
    certify::Exchange& exchange = out.exchanges.emplace_back();
    for (std::size_t op = 0; op < map.size(); ++op) {
      if (op < map[op]) exchange.emplace_back(op, map[op]);
    }
  }
}

void Recorder::name(Literal literal, const Predicate& predicate) {
  std::vector<Predicate>& variables = log_->proof.variables;
  if (variables.size() < literal.variable()) variables.resize(literal.variable(), kNothing);
  variables[literal.variable() - 1] = predicate;
}

void Recorder::meaning(Literal literal, const Meaning& meaning) {
  name(literal, predicate_of(meaning));
}

void Recorder::meaning(const Meaning& meaning) { next_sum_ = predicate_of(meaning); }

void Recorder::atom(Literal literal, const solve::Difference& difference) {
  solve::Difference it = difference;
  if (literal.negative()) it = {it.y, it.x, 1 - it.bound};
  if (it.x.index() >= 2 * op_count_) return name(literal, predicate_of_addresses(it));
  const bool is_slot = it.x.index() < op_count_;
  const std::size_t base = is_slot ? 0 : op_count_;
  name(literal, {is_slot ? Predicate::Kind::slot : Predicate::Kind::stage, it.x.index() - base,
                 it.y.index() - base, it.bound});
}

/// Predicate of a difference between two address nodes: the first an offset, the second an end.
Predicate Recorder::predicate_of_addresses(const solve::Difference& it) const {
  const solve::AddressNode& offset = log_->addresses[it.x.index() - 2 * op_count_];
  const solve::AddressNode& end = log_->addresses[it.y.index() - 2 * op_count_];
  if (offset.op == end.op)
    return {Predicate::Kind::shorter, offset.op, offset.memory, 1 - it.bound};
  const auto memory = static_cast<std::int64_t>(offset.memory);
  return {Predicate::Kind::above, offset.op, end.op, memory};
}

std::optional<Predicate> Recorder::limit_of(Literal literal) const {
  const std::vector<Predicate>& variables = log_->proof.variables;
  if (literal.negative() || literal == solve::kTrue) return std::nullopt;
  if (literal.variable() > variables.size()) return std::nullopt;
  const Predicate& it = variables[literal.variable() - 1];
  const bool limits = it.kind == Predicate::Kind::groups || it.kind == Predicate::Kind::crossings ||
                      it.kind == Predicate::Kind::length;
  return limits ? std::optional(it) : std::nullopt;
}

/// Records limits that hold for the rest of the solve. All other clauses given to the engine follow
/// from the Problem.
void Recorder::clause(std::span<const Literal> literals) {
  if (literals.size() != 1) return;
  const std::optional<Predicate> limit = limit_of(literals.front());
  if (limit) log_->proof.subject.given.push_back(*limit);
}

void Recorder::at_most(std::span<const solve::Term> /*terms*/, std::int64_t /*bound*/) {
  log_->proof.sums.push_back(next_sum_);
}

void Recorder::difference_lemma(std::span<const Literal> literals) {
  if (!log_->lemmas.insert(hash_of(literals)).second) return;
  add(StepKind::difference, 0, literals);
}

void Recorder::at_most_lemma(std::size_t index, std::span<const Literal> literals) {
  if (!log_->lemmas.insert(hash_of(literals)).second) return;
  add(StepKind::overflow, static_cast<std::uint32_t>(index), literals);
}

void Recorder::learned(std::span<const Literal> literals) {
  add(StepKind::learned, 0, literals);
  log_->learned[hash_of(literals)].push_back(log_->clauses);
}

void Recorder::add(StepKind kind, std::uint32_t sum, std::span<const Literal> literals) {
  Proof& proof = log_->proof;
  certify::Step step{kind, sum, static_cast<std::uint32_t>(proof.numbers.size()), 0};
  for (const Literal literal : literals) {
    if (literal == solve::kFalse) continue;
    const auto number = static_cast<std::int32_t>(literal.variable());
    proof.numbers.push_back(literal.negative() ? -number : number);
  }
  step.end = static_cast<std::uint32_t>(proof.numbers.size());
  proof.steps.push_back(step);
  ++log_->clauses;
}

void Recorder::deleted(std::span<const Literal> literals) {
  const auto found = log_->learned.find(hash_of(literals));
  if (found == log_->learned.end() || found->second.empty()) return;
  Proof& proof = log_->proof;
  const auto begin = static_cast<std::uint32_t>(proof.numbers.size());
  proof.numbers.push_back(found->second.back());
  found->second.pop_back();
  proof.steps.push_back({StepKind::dropped, 0, begin, begin + 1});
}

void Recorder::refuted(Literal assumption) {
  const Proof& proof = log_->proof;
  Refutation it{log_,
                proof.subject,
                proof.variables.size(),
                proof.sums.size(),
                proof.steps.size(),
                proof.numbers.size()};
  Refutations& known = refutations_[alternatives_];
  if (assumption == solve::kTrue && it.subject.given.empty()) {
    const bool best = !known.interval || known.interval->subject.interval < it.subject.interval;
    if (best) known.interval = std::move(it);
    return;
  }
  // Refuted limit: the limits in `given` are refuted by themselves, and the last of them is named.
  if (assumption == solve::kTrue) {
    it.subject.refuted = it.subject.given.back();
    it.subject.given.pop_back();
  } else {
    it.subject.refuted = limit_of(assumption);
  }
  if (!it.subject.refuted) return;
  const auto [place, fresh] = known.limits.try_emplace(it.subject.refuted->kind);
  const certify::Subject& before = place->second.subject;
  if (fresh || before.interval != it.subject.interval ||
      before.refuted->number < it.subject.refuted->number) {
    place->second = std::move(it);
  }
}

}  // namespace twill::prove
