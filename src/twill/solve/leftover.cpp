#include "twill/solve/leftover.h"

namespace twill::solve {

using schedule::Schedule;

Leftover::Leftover(const Instance& instance, const Schedule& schedule) : whole_(instance) {
  if (instance.problem->hand_offs().empty()) return;
  reduced_ = problem::reduced(*instance.problem, schedule::groups_of(schedule));
  own_ = instance_of(reduced_->problem);
}

Schedule Leftover::reduced(const Schedule& schedule) const {
  return reduced_ ? schedule::reduced(*reduced_, schedule) : schedule;
}

Schedule Leftover::completed(const Schedule& schedule) const {
  return reduced_ ? schedule::completed(*whole_.problem, *reduced_, schedule) : schedule;
}

}  // namespace twill::solve
