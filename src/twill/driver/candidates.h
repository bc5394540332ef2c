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
  double share = 1;          ///< share of the memory with which the schedule was found
  std::string among = {};    ///< the restricted set of schedules among which it was found; empty:
                             ///< all
  std::string refused = {};  ///< the stage, and the reason
  std::string claim = {};    ///< what is proven of schedules that were tried in its place
};

/// Notes of the plan on its schedule, if that is not the optimum.
std::vector<std::string> notes_on(const report::Outcome& outcome);
/// Note on the step that replaces the first one, which was refused by `refusal`.
std::string note_on(const report::Outcome& first, const Step& step, const std::string& refusal);
/// Note that the step's schedule has no plan. Precondition: its trial was refused.
std::string note_on_refused(const Step& step);

/// The step as a row of the list that the user reads. Precondition: it has a schedule.
report::Candidate candidate_of(const report::Outcome& first, const Step& step);

/// The refused step with the least expected interval, if that is below the first step's; else null.
/// Precondition: there are steps.
const Step* expected_to_be_better(const std::vector<Step>& steps);

/// Whether transfers may be the reason why the plan cannot be printed: it has some, and all other
/// ops are printed for some pool.
bool may_depend_on_transfers(const plan::Plan& plan);

/// Gives an outcome found with a part of the memory the whole again, as a plan has it. Claims about
/// the part are dropped: for the whole, only those of `first` and bounds without a search hold.
void with_memories_of(const report::Outcome& first, report::Outcome& outcome);
/// Claims of a schedule found in a restricted Problem, or in place of another. With the values of
/// an optimum of the Problem it is an optimum; else only the lower bound of the answer holds.
/// `known` is an answer to the same Problem.
void claim_of_other(const schedule::Answer& known, schedule::Answer& answer);
/// Whether the objectives have the values of an optimum that the answer proves.
bool is_as_good(const schedule::Answer& known,
                const std::vector<schedule::ObjectiveValue>& objectives);

/// "71:7: tt.descriptor_reduce is ...": reason why a kernel is not printed, without words that the
/// line around it repeats.
std::string in_one_line(const Diagnostic& why);

/// Refusal of a schedule whose groups cannot exchange their values, for the reason `why`.
Diagnostic refused_transfers(const std::string& why);

}  // namespace twill::driver
