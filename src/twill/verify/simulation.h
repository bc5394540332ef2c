#pragma once

#include <span>
#include <string>
#include <vector>

#include "twill/verify/verify.h"

/// Parts that the rules of this room share; not for other rooms.
namespace twill::verify {

/// Gathers violations, at most kMostListed per rule.
class Findings {
 public:
  /// Returns false once the rule's list is full: the caller may stop the search.
  bool add(Violation violation);
  std::vector<Violation> take() && { return std::move(violations_); }

 private:
  std::vector<Violation> violations_;
  std::size_t of_last_rule_ = 0;  // rules run one after the other
};

/// Problem and well-formed schedule under test.
struct Subject {
  const Problem& problem;
  const Schedule& schedule;

  std::size_t op_count() const { return problem.ops().size(); }
  Cycles interval() const { return schedule.initiation_interval; }
  const schedule::Placement& at(OpId op) const { return schedule.ops[op.index()]; }
  const problem::Alternative& alternative(OpId op) const {
    return problem[op].alternatives[static_cast<std::size_t>(at(op).alternative)];
  }
  const std::string& name(OpId op) const { return problem[op].name; }
};

/// Span of an op's activity, [begin, end), on the time axis of the run.
struct Span {
  OpId op;
  Cycles begin = 0;
  Cycles end = 0;
};

/// Spans of iterations 0 .. iterations-1, sorted by begin (then op), from the spans of iteration 0.
std::vector<Span> unrolled(std::span<const Span> first, Cycles interval, Cycles iterations);

/// Iterations after which every pair of spans that ever meets has met. Overlapping instances are at
/// most as many iterations apart as the spans of iteration 0 cover. Precondition: no span is longer
/// than the interval.
Cycles iterations_to_meet(std::span<const Span> first, Cycles interval);

// Rules, one file per family in rules/. Each appends its violations to `findings`.
void check_dependences(const Subject& subject, Findings& findings);
void check_units(const Subject& subject, Findings& findings);
void check_pipes(const Subject& subject, Findings& findings);
void check_memories(const Subject& subject, Findings& findings);
void check_placement(const Subject& subject, Findings& findings);
void check_registers(const Subject& subject, Findings& findings);
void check_widths(const Subject& subject, Findings& findings);
void check_load_groups(const Subject& subject, Findings& findings);
void check_same_groups(const Subject& subject, Findings& findings);
void check_blocking(const Subject& subject, Findings& findings);
void check_one_stream(const Subject& subject, Findings& findings);
void check_minimum_groups(const Subject& subject, Findings& findings);

}  // namespace twill::verify
