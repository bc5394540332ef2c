#include "twill/driver/check_translation.h"

#include "twill/driver/kernel.h"
#include "twill/driver/run_module.h"
#include "twill/run/translation.h"

namespace twill::driver {

PrintedCheck check_translation(const EmittedTtgir& emitted) {
  const auto unchecked = [](const Diagnostic& why) {
    return PrintedCheck{"the roles were not compared with the plan: " + why.message, {}};
  };
  const auto module = read_module({"printed.ttgir", emitted.text});
  if (!module) return unchecked(module.error());
  const auto function = function_with_roles(*module);
  if (!function) return unchecked(function.error());
  const PlannedLoop& planned = emitted.planned;
  const Kernel& kernel = *planned.reading->kernel;
  const auto check =
      run::compare_with_plan({*module, *function, kernel.program, planned.outcome.origins,
                              emitted.stored->plan(), emitted.roles});
  if (!check) return unchecked(check.error());
  if (!check->difference.empty()) {
    return {{}, "the roles differ from the steps of the plan: " + check->difference + "\n"};
  }
  if (check->every_trip) return {};
  return {"the roles were compared with the plan for up to " + std::to_string(check->most) +
              " iterations, and not for every trip count",
          {}};
}

}  // namespace twill::driver
