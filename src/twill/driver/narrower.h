#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "twill/driver/candidates.h"

/// Internal to the driver: candidates in place of schedules without a plan. They come from narrower
/// Problems, which demand more, so that a plan is likelier. Each function adds the best schedule of
/// such a Problem for every refused step among the first `proposed`. Of the outcomes' claims only
/// the lower bounds stay. Strategies other than `twill` get no such candidates.
namespace twill::driver {

/// For each refused step: the best schedule without cross-group values, so without staging.
Result<void> add_at_home(const Request& request, const Reading& reading, std::size_t proposed,
                         std::vector<Step>& steps);

/// For each refused step: the best schedule with addresses for all buffers, and memory for its
/// transfers. Reserves the step's own amount, then more while that is too little. If no amount is
/// enough: the best schedule whose memory has room for a copy of each value that it transfers. If a
/// step has a plan, `best`, only schedules whose II is no larger.
Result<void> add_with_room(const Request& request, const Reading& reading, std::size_t proposed,
                           std::optional<std::size_t> best, std::vector<Step>& steps);

/// Whether the transferred values of some schedule of the pool fit beside a loop with that share of
/// the memory.
bool has_room_beside(const std::vector<Step>& steps, const std::string& pool, double share);

}  // namespace twill::driver
