#include "twill/solve/residual.h"

namespace twill::solve {

using schedule::Schedule;

ResidualInstance::ResidualInstance(const Instance& instance, const Schedule& schedule)
    : whole_(instance) {
  if (instance.problem->transfers().empty()) return;
  reduced_ = problem::reduced(*instance.problem, schedule::groups_of(schedule));
  own_ = instance_of(reduced_->problem);
}

Schedule ResidualInstance::reduced(const Schedule& schedule) const {
  return reduced_ ? schedule::reduced(*reduced_, schedule) : schedule;
}

Schedule ResidualInstance::completed(const Schedule& schedule) const {
  return reduced_ ? schedule::completed(*whole_.problem, *reduced_, schedule) : schedule;
}

}  // namespace twill::solve
