#pragma once

#include <string>
#include <vector>

#include "twill/cli/command.h"
#include "twill/driver/driver.h"

namespace twill::cli {

/// --machine. `otherwise`: description of the default.
Option add_machine_option(Command command, std::string& machine, const std::string& otherwise);
/// --map, of a kernel of tasks.
Option add_map_option(Command command, std::string& map);
/// --kernel, of a dump with several.
Option add_kernel_option(Command command, std::string& kernel);

/// Options that choose the loop of a kernel and say how it is posed: --machine, --kernel, --map,
/// --loop, --subtile, --pool, --strict, --may-overlap, --already-pipelined and --transfer-ops.
/// `pool_help`: what happens without --pool. `request` must live as long as the options.
void add_kernel_options(Command command, driver::Request& request, const std::string& pool_help);

/// --strategy, --depth and --ping-pong, with the same lifetimes.
void add_strategy_options(Command command, driver::Request& request);
/// --strategy, as often as wanted.
void add_strategies_option(Command command, std::vector<strategy::Strategy>& strategies);
/// --depth and --ping-pong.
void add_choice_options(Command command, driver::Request& request);
/// --spare-registers and --pins: remedies when ptxas does not follow a plan.
void add_remedy_options(Command command, driver::Request& request);
/// --ctas-per-sm, of kernels that Triton launches.
void add_ctas_option(Command command, driver::Request& request);
/// --tiles and --cluster, of the plan.
void add_tile_options(Command command, driver::Request& request);
/// --alternative and --within, of the schedule.
void add_alternative_option(Command command, driver::Request& request);
/// --schedule, of commands that plan; after --strategy and --alternative, which it excludes. Its
/// file is read by `read_schedule`.
void add_schedule_option(Command command, driver::Request& request);
/// Fails if the file cannot be read.
Result<void> read_schedule(driver::Request& request);
/// Throws a usage error if a cluster is asked for without CTAs that walk tiles. To be called when
/// all options are read.
void check_tiles(const driver::Request& request);
/// The same if the options on alternatives make no sense together.
void check_alternatives(Command command, const driver::Request& request);
/// --work-limit, of the search for a schedule. `help` says what happens at the limit.
void add_work_limit_option(Command command, driver::Request& request, const std::string& help);

/// All options of commands that plan a kernel: those above, but --strategy more than once.
void add_planning_options(Command command, driver::Request& request);
/// Throws the usage errors of `check_tiles` and `check_alternatives`.
void check_planning(Command command, const driver::Request& request);

}  // namespace twill::cli
