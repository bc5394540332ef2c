#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/schedule/schedule.h"

/// Checks a schedule against the rules of its problem by running the loop. Iterations are laid out
/// one after the other on the time axis, and every rule is checked there. The modulo arithmetic of
/// the search is not used, and no file of `solve` is included.
///
/// Rules and their formulas: docs/reference/rules.md.
namespace twill::verify {

using problem::OpId;
using problem::Problem;
using schedule::Schedule;

/// Broken rule, reported once for the steady state however many iterations repeat it.
struct Violation {
  std::string rule;  ///< name_of(Rule), or "minimum-groups", "register-budget", "well-formed" ...
  std::vector<OpId> ops;   ///< ops involved; may be empty
  Cycles cycle = 0;        ///< cycle of the violation in the simulated run; 0 if the rule has no
                           ///< time
  std::int64_t value = 0;  ///< number on the schedule's side of the inequality
  std::int64_t limit = 0;  ///< limit of the rule
  std::string message;     ///< one line with the names and both numbers
};

/// Schedule that obeys every rule in force. Only `verify` makes one.
class CheckedSchedule {
 public:
  const Problem& problem() const { return problem_; }
  const Schedule& schedule() const { return schedule_; }

 private:
  friend tl::expected<CheckedSchedule, std::vector<Violation>> verify(const Problem& problem,
                                                                      const Schedule& schedule);
  CheckedSchedule(const Problem& problem, const Schedule& schedule)
      : problem_(problem), schedule_(schedule) {}

  Problem problem_;
  Schedule schedule_;
};

/// Largest II and issue cycle that count as well-formed.
inline constexpr Cycles kLargestCycle = 1'000'000'000'000;
/// Limit on instances (ops times iterations) that one rule simulates. A schedule that needs more,
/// by its stages or by the lives of its values, is refused with a violation named "size".
inline constexpr std::int64_t kMostInstances = 1'000'000;
/// Limit on violations listed per rule; one more entry says that the rest was left out.
inline constexpr std::size_t kMostListed = 1000;

/// Checks every rule in force and lists all violations, by rule and then by op. Malformed schedules
/// (wrong sizes, negative cycles, unknown alternatives or groups) yield "well-formed" violations
/// only, since no other rule can be checked. Takes any Schedule; never fails otherwise. Cost: O(k
/// log k) per unit, group and memory for k instances, and the violations found.
tl::expected<CheckedSchedule, std::vector<Violation>> verify(const Problem& problem,
                                                             const Schedule& schedule);

}  // namespace twill::verify
