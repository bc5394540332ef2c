#pragma once

#include <string>
#include <vector>

#include "twill/cli/command.h"
#include "twill/driver/driver.h"

namespace twill::cli {

/// Adds --machine. `otherwise`: description of the default.
Option add_machine_option(Command command, std::string& machine, const std::string& otherwise);
/// Adds --map, for a kernel of tasks.
Option add_map_option(Command command, std::string& map);
/// Adds --kernel, for a dump with several kernels.
Option add_kernel_option(Command command, std::string& kernel);

/// Options that choose the loop of a kernel and say how it is posed: --machine, --kernel, --map,
/// --loop, --subtile, --pool, --strict, --may-overlap, --already-pipelined and --transfer-ops.
/// `pool_help`: what happens without --pool. `request` must live as long as the options.
void add_kernel_options(Command command, driver::Request& request, const std::string& pool_help);

/// Adds --strategy, --depth and --ping-pong, with the same lifetimes.
void add_strategy_options(Command command, driver::Request& request);
/// Adds --strategy, which may be repeated.
void add_strategies_option(Command command, std::vector<strategy::Strategy>& strategies);
/// Adds --depth and --ping-pong.
void add_choice_options(Command command, driver::Request& request);
/// Adds --spare-registers and --pins: remedies when ptxas does not follow a plan.
void add_remedy_options(Command command, driver::Request& request);
/// Adds --ctas-per-sm, for kernels that Triton launches.
void add_ctas_option(Command command, driver::Request& request);
/// Adds --tiles and --cluster, for the plan.
void add_tile_options(Command command, driver::Request& request);
/// Adds --alternative and --within, for the schedule.
void add_alternative_option(Command command, driver::Request& request);
/// Adds --schedule to commands that plan. Call it after --strategy and --alternative, which
/// --schedule excludes. `read_schedule` reads the file.
void add_schedule_option(Command command, driver::Request& request);
/// Reads the file of --schedule. Fails if the file cannot be read.
Result<void> read_schedule(driver::Request& request);
/// Throws a usage error if a cluster is requested without CTAs that walk tiles. Call it when all
/// options are read.
void check_tiles(const driver::Request& request);
/// Throws a usage error if the options on alternatives contradict each other.
void check_alternatives(Command command, const driver::Request& request);
/// Adds --work-limit, for the search for a schedule. `help` says what happens at the limit.
void add_work_limit_option(Command command, driver::Request& request, const std::string& help);

/// Adds all options of commands that plan a kernel: all options above, with a single --strategy.
void add_planning_options(Command command, driver::Request& request);
/// Throws the usage errors of `check_tiles` and `check_alternatives`.
void check_planning(Command command, const driver::Request& request);

}  // namespace twill::cli
