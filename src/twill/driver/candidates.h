#pragma once

#include <string>
#include <vector>

#include "twill/driver/propose.h"

/// Internal to the driver: candidates for the answer, and the notes about them.
namespace twill::driver {

/// A candidate of the walk: a schedule, and how it differs from the first.
struct Step {
  Proposal proposal;
  bool shrink = false;     ///< with fewer copies where memory is short
  double share = 1;        ///< share of the memory within which the schedule was found
  std::string among = {};  ///< the restricted set of schedules among which it was found; empty: all
  std::string refused = {};  ///< stage and reason of the refusal
  std::string claim = {};    ///< result proven for schedules that were tried in place of a refused
                             ///< schedule
};

/// Notes of the plan about its schedule, if the schedule is not the optimum.
std::vector<std::string> notes_on(const report::Outcome& outcome);
/// Note about the step that replaces the first step, which was refused by `refusal`.
std::string note_on(const report::Outcome& first, const Step& step, const std::string& refusal);
/// Note that the step's schedule has no plan. Precondition: its trial was refused.
std::string note_on_refused(const Step& step);

/// The step as a row of the list that the user reads. Precondition: it has a schedule.
report::Candidate candidate_of(const report::Outcome& first, const Step& step);

/// The refused step with the least expected interval, if that is below the first step's; else null.
/// Precondition: there are steps.
const Step* expected_to_be_better(const std::vector<Step>& steps);

/// Whether transfers may be the reason why the plan cannot be printed: the plan has transfers, and
/// all other ops are printed for some pool.
bool may_depend_on_transfers(const plan::Plan& plan);

/// Restores the full memory of an outcome that was found with a part of it. Drops claims about the
/// part. For the whole memory, only claims of `first` and bounds without a search hold.
void with_memories_of(const report::Outcome& first, report::Outcome& outcome);
/// Sets the claims of a schedule found in a restricted Problem, or in place of another schedule. If
/// its objectives equal those of an optimum of the Problem, it is an optimum; else only the lower
/// bound of the answer holds. `known` is an answer to the same Problem.
void claim_of_other(const schedule::Answer& known, schedule::Answer& answer);
/// Whether the objectives equal those of an optimum that the answer proves.
bool is_as_good(const schedule::Answer& known,
                const std::vector<schedule::ObjectiveValue>& objectives);

/// "71:7: tt.descriptor_reduce is ...": reason why a kernel is not printed, without words that the
/// surrounding line repeats.
std::string in_one_line(const Diagnostic& why);

/// Refusal of a schedule whose groups cannot exchange their values, for the reason `why`.
Diagnostic refused_transfers(const std::string& why);

}  // namespace twill::driver
