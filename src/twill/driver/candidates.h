#pragma once

#include <string>
#include <vector>

#include "twill/driver/propose.h"

/// Internal to the driver: the candidates among which an answer is found, and what is said of them.
namespace twill::driver {

/// A candidate of the walk: a schedule, and how it differs from the first.
struct Step {
  Proposal proposal;
  bool shrink = false;       ///< with fewer copies where memory is short
  double share = 1;          ///< of the memory, that the schedule was found with
  std::string among = {};    ///< which schedules of the Problem it was found, if not all of them
  std::string refused = {};  ///< the stage, and why
};

/// Notes of the plan on which schedule is planned, if that is not the optimum.
std::vector<std::string> notes_on(const report::Outcome& outcome);
/// Why the step stands in the place of the first, of which `refusal` says what became.
std::string note_on(const report::Outcome& first, const Step& step, const std::string& refusal);
/// That the step's schedule has no plan. Precondition: its trial was refused.
std::string note_on_refused(const Step& step);

/// The step as a row of the list that the user reads. Precondition: it has a schedule.
report::Candidate candidate_of(const report::Outcome& first, const Step& step);

/// Whether what cannot be printed may be how groups hand values to each other: they do, and nothing
/// is done that is printed for no pool.
bool may_be_hand_overs(const plan::Plan& plan);

/// Gives an outcome of a part of the memory all of it again: a plan has it. What was proven of the
/// part is not of the whole, of which only `first` and bounds without a search say something.
void with_memories_of(const report::Outcome& first, report::Outcome& outcome);
/// Claims what is proven of a schedule found in a restricted Problem, or in the place of another.
/// With the values of an optimum of the Problem it is one as well; else only the lower bound of the
/// answer holds. `known` is an answer to the same Problem.
void claim_of_other(const schedule::Answer& known, schedule::Answer& answer);
/// Whether the objectives have the values of an optimum that the answer proves.
bool is_as_good(const schedule::Answer& known,
                const std::vector<schedule::ObjectiveValue>& objectives);

/// "71:7: tt.descriptor_reduce is ...", of why a kernel is not printed, without what the line
/// around it says.
std::string in_one_line(const Diagnostic& why);

/// Refusal of a schedule whose groups cannot exchange their values, for the reason `why`.
Diagnostic refused_hand_overs(const std::string& why);

}  // namespace twill::driver
