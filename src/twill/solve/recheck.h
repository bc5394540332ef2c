#pragma once

#include <cstdint>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// Whether each op waits for a barrier in this schedule (1 or 0), by op: always, or for a register
/// value of another group.
std::vector<std::uint8_t> waiting_in(const Instance& instance, const schedule::Schedule& schedule);

/// Whether the schedule keeps all rules except `memory`, `placement` and `registers`, folded modulo
/// II. The engine enforces these exactly, so a violation is a bug of this room.
bool keeps_order(const Instance& instance, const schedule::Schedule& schedule);

/// Number of copies of a value that are alive when `event` is issued.
Cycles copies_alive(const Instance& instance, const schedule::Schedule& schedule, std::size_t value,
                    std::size_t event);

/// Whether all live copies fit into memories and registers. The encoding counts copies of a value
/// only up to a limit, so every schedule has to be checked.
bool fits_storage(const Instance& instance, const schedule::Schedule& schedule);

}  // namespace twill::solve
