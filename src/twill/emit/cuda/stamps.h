#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twill/plan/plan.h"

/// Numbers the steps for the clock stamps of an instrumented kernel.
namespace twill::emit::cuda {

/// The steps of one section of one role; `steps` points into the plan.
struct StampedSection {
  plan::RoleId role;
  std::string name;  ///< name of the section: "before", "prologue", "steady", "drain", "short N",
                     ///< "after", "tail"
  const std::vector<plan::Step>* steps = nullptr;
  std::size_t first = 0;  ///< number of its first step; the others follow
};

/// All sections, role by role. `first + steps->size()` of the last section is the number of the
/// stamp at the end of a role.
std::vector<StampedSection> stamped_sections(const plan::Plan& plan);

}  // namespace twill::emit::cuda
