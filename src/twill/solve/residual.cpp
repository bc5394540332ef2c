#include "twill/solve/residual.h"

namespace twill::solve {

using schedule::Schedule;

ResidualInstance::ResidualInstance(const Instance& instance, const Schedule& schedule)
    : whole_(instance) {
  if (instance.problem->transfers().empty()) return;
  residual_ = problem::residual_of(*instance.problem, schedule::groups_of(schedule));
  own_ = instance_of(residual_->problem);
}

Schedule ResidualInstance::in_residual(const Schedule& schedule) const {
  return residual_ ? schedule::in_residual(*residual_, schedule) : schedule;
}

Schedule ResidualInstance::completed(const Schedule& schedule) const {
  return residual_ ? schedule::completed(*whole_.problem, *residual_, schedule) : schedule;
}

}  // namespace twill::solve
