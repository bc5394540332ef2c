#include "twill/simulate/program.h"

namespace twill::simulate {

Program::Program(const plan::Role& role, std::int64_t trips)
    : role_(&role), trips_(trips), steps_(&role.before) {
  skip_empty();
}

void Program::next() {
  ++index_;
  skip_empty();
}

void Program::skip_empty() {
  while (section_ != Section::end && index_ >= steps_->size()) enter_next();
}

void Program::enter_next() {
  const plan::Sections& sections = role_->sections;
  const bool is_short = trips_ < sections.spread;
  index_ = 0;
  switch (at_) {
    case At::before:
      at_ = At::prologue;
      steps_ =
          is_short ? &sections.short_trips[static_cast<std::size_t>(trips_)] : &sections.prologue;
      return;
    case At::prologue:
      if (is_short) return enter_after();
      window_ = sections.spread - 1;
      at_ = At::steady;
      steps_ = &sections.steady;
      [[fallthrough]];
    case At::steady:
      section_ = Section::steady;
      if (++window_ < trips_) return;
      section_ = Section::drain;
      at_ = At::drain;
      steps_ = &sections.drain;
      window_ = trips_;
      return;
    case At::drain:
      return enter_after();
    case At::after:
      at_ = At::tail;
      steps_ = &role_->tail;
      return;
    case At::tail:
      section_ = Section::end;
      return;
  }
}

void Program::enter_after() {
  section_ = Section::drain;
  at_ = At::after;
  steps_ = &role_->after;
  window_ = trips_;
}

}  // namespace twill::simulate
