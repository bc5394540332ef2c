#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/schedule/schedule.h"

/// Decides whether a schedule obeys the rules of its problem, by running the loop. Iterations are
/// laid out one after the other on the time axis, and every rule is checked there. The modulo
/// arithmetic of the search is not used. Includes nothing of `solve`.
///
/// The rules and their formulas: docs/reference/rules.md.
namespace twill::verify {

using problem::OpId;
using problem::Problem;
using schedule::Schedule;

/// One broken rule, reported once for the steady state however many iterations repeat it.
struct Violation {
  std::string rule;  ///< name_of(Rule), or "minimum-groups", "register-budget", "well-formed" ...
  std::vector<OpId> ops;   ///< ops involved; may be empty
  Cycles cycle = 0;        ///< its cycle in the simulated run; 0 if the rule has no time
  std::int64_t value = 0;  ///< the number on the schedule's side of the inequality
  std::int64_t limit = 0;  ///< limit of the rule
  std::string message;     ///< one line with the names and both numbers
};

/// A schedule known to obey every rule in force. Only `verify` makes one.
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

/// The largest II and issue cycle that count as well-formed.
inline constexpr Cycles kLargestCycle = 1'000'000'000'000;
/// The most instances (ops times iterations) one rule simulates; a schedule that needs more, by its
/// stages or by how long its values live, is refused with a violation named "size".
inline constexpr std::int64_t kMostInstances = 1'000'000;
/// The most violations listed per rule; one more says that the rest was left out.
inline constexpr std::size_t kMostListed = 1000;

/// Checks every rule in force and lists all violations, by rule and then by op. Malformed schedules
/// (wrong sizes, negative cycles, unknown alternatives or groups) yield "well-formed" violations
/// only, since nothing else can be said about them. Takes any Schedule; never fails otherwise.
/// Cost: O(k log k) per unit, group and memory for k instances, and the violations found.
tl::expected<CheckedSchedule, std::vector<Violation>> verify(const Problem& problem,
                                                             const Schedule& schedule);

}  // namespace twill::verify
