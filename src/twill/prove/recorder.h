#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "twill/certify/proof.h"
#include "twill/solve/proof.h"

namespace twill::prove {

/// Keeps the strongest refutations that an engine reports while a Problem is solved. For each
/// combination of alternatives: one at the largest II, and per objective one of its largest value.
/// All others are dropped when the next search begins.
class Recorder : public solve::ProofSink {
 public:
  explicit Recorder(std::size_t op_count) : op_count_(op_count) {}

  /// Refutation at the largest II; empty if there was none.
  std::optional<certify::Proof> interval(const std::vector<int>& alternatives) const;
  /// Refutation of the largest limit of an objective at this II.
  std::optional<certify::Proof> limit(const std::vector<int>& alternatives, Cycles interval,
                                      certify::Predicate::Kind objective) const;

  void begin(std::string_view title) override;
  void combination(const std::vector<int>& alternatives) override { alternatives_ = alternatives; }
  void subject(const solve::ProofSubject& subject) override;
  void meaning(solve::Literal literal, const solve::Meaning& meaning) override;
  void meaning(const solve::Meaning& meaning) override;
  void difference(const solve::Difference& /*difference*/) override {}
  void atom(solve::Literal literal, const solve::Difference& difference) override;
  void clause(std::span<const solve::Literal> literals) override;
  void at_most(std::span<const solve::Term> terms, std::int64_t bound) override;
  void difference_lemma(std::span<const solve::Literal> literals) override;
  void at_most_lemma(std::size_t index, std::span<const solve::Literal> literals) override;
  void learned(std::span<const solve::Literal> literals) override;
  void deleted(std::span<const solve::Literal> literals) override;
  void refuted(solve::Literal assumption) override;

 private:
  /// Events of one engine.
  struct Log {
    certify::Proof proof;
    std::vector<solve::AddressNode> addresses;
    std::int32_t clauses = 0;                  ///< number of clauses that steps added
    std::unordered_set<std::uint64_t> lemmas;  ///< by hash: each is kept once
    /// Used for look-ups only.
    std::unordered_map<std::uint64_t, std::vector<std::int32_t>> learned;
  };
  /// Log up to a refutation.
  struct Refutation {
    std::shared_ptr<const Log> log;
    certify::Subject subject;
    std::size_t variables = 0;
    std::size_t sums = 0;
    std::size_t steps = 0;
    std::size_t numbers = 0;
  };
  struct Refutations {
    std::optional<Refutation> interval;
    std::map<certify::Predicate::Kind, Refutation> limits;
  };

  static certify::Proof proof_of(const Refutation& refutation);
  void add(certify::StepKind kind, std::uint32_t sum, std::span<const solve::Literal> literals);
  void name(solve::Literal literal, const certify::Predicate& predicate);
  certify::Predicate predicate_of_addresses(const solve::Difference& difference) const;
  std::optional<certify::Predicate> limit_of(solve::Literal literal) const;

  std::size_t op_count_;
  std::vector<int> alternatives_;
  std::shared_ptr<Log> log_;
  certify::Predicate next_sum_;
  std::map<std::vector<int>, Refutations> refutations_;  ///< by the alternatives of the ops
};

}  // namespace twill::prove
