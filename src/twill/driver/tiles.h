#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/driver/pools.h"
#include "twill/driver/tune.h"

/// Internal to the driver: the kernel for a choice of values for a mapping's holes.
namespace twill::driver {

/// Reads a `.task` file with its holes. Fails for an incorrect file, and for a file without tasks.
/// `map`: as in InputChoice, `machine`: as in Request.
Result<HoledTasks> read_holed(const std::string& path, const std::string& map,
                              const std::string& machine);

/// All choices of values; the last hole changes fastest. Fails if there are more than
/// tasks::kMostChoices.
Result<std::vector<std::vector<std::int64_t>>> choices_of(const tasks::Mapping& mapping);

/// The request with the kernel of a choice as its input. Fails if the choice makes no kernel.
Result<Request> request_for(const HoledTasks& tasks, const Request& request,
                            const std::vector<std::int64_t>& values);

/// The kernel of a choice, posed for all pools with every op at its fastest.
struct PosedChoice {
  double work = 0;  ///< multiplications and additions of an iteration's products
  std::vector<PosedPool> pools;
  std::string machine;
  std::string machine_hash;
};
Result<PosedChoice> pose_choice(const HoledTasks& tasks, const Request& request,
                                const std::vector<std::int64_t>& values);

}  // namespace twill::driver
