#include "twill/simulate/program.h"

namespace twill::simulate {

Program::Program(const plan::Role& role, std::int64_t trips) : role_(&role), trips_(trips) {
  const plan::Sections& sections = role.sections;
  const bool is_short = trips < sections.spread;
  steps_ = is_short ? &sections.short_trips[static_cast<std::size_t>(trips)] : &sections.prologue;
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
  if (in_tail_) {
    section_ = Section::end;
  } else if (is_short || section_ == Section::drain) {
    section_ = Section::drain;
    steps_ = &role_->tail;
    window_ = trips_;
    in_tail_ = true;
  } else if (section_ == Section::prologue && sections.spread < trips_) {
    section_ = Section::steady;
    steps_ = &sections.steady;
    window_ = sections.spread;
  } else if (section_ == Section::steady && window_ + 1 < trips_) {
    ++window_;
  } else {
    section_ = Section::drain;
    steps_ = &sections.drain;
    window_ = trips_;
  }
}

}  // namespace twill::simulate
