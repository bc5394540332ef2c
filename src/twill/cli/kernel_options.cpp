#include "twill/cli/kernel_options.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "twill/cli/whole_number.h"

namespace twill::cli {

CLI::Option* add_map_option(CLI::App& command, std::string& map) {
  return command.add_option(
      "--map", map, "Mapping of a .task file: a .map file, or the name of one in it [the first]");
}

CLI::Option* add_kernel_option(CLI::App& command, std::string& kernel) {
  return command.add_option("--kernel", kernel,
                            "Name of the kernel, in a dump with several [the only one]");
}

void add_kernel_options(CLI::App& command, driver::Request& request, const std::string& pool_help) {
  command.add_option("--machine", request.machine,
                     "Name (see `twill machines`) or JSON file [by the TTGIR's target]");
  add_kernel_option(command, request.choice.kernel);
  add_map_option(command, request.choice.map);
  command.add_option(
      "--loop", request.loop,
      "Which loop: its number in source order from 0, :LINE, or FILE:LINE of the kernel's source "
      "[innermost with the most tensor-core work]");
  command
      .add_option("--subtile", request.subtile, "Rows of a sub-tile, 0 for none [the machine's]")
      ->transform(whole_number(0, 65536));
  command.add_option("--pool", request.pool, pool_help);
  command.add_flag("--strict", request.strict,
                   "Refuse operations that the machine has no price for, instead of warning");
  command.add_flag("--may-overlap", request.may_overlap,
                   "Assume that two arguments may be one array; refuse a loop where that matters");
  command.add_flag("--already-pipelined", request.already_pipelined,
                   "Take a loop that Triton has pipelined, its rings as single buffers");
  command.add_flag("--transfer-ops", request.transfers,
                   "Let values change groups by stores and loads of the problem, not by a delay");
  command.add_flag("--hand-offs", request.transfers)->group("");  // as it was called
  command.add_flag("--load-latency", request.load_latency,
                   "Count the latency of prefetched loads in the schedule "
                   "[where buffers cannot hide it]");
}

namespace {

std::map<std::string, strategy::Strategy> strategies_by_name() {
  std::map<std::string, strategy::Strategy> names;
  for (const strategy::Strategy it : strategy::all_strategies()) {
    names.emplace(strategy::name_of(it), it);
  }
  return names;
}

}  // namespace

void add_strategy_options(CLI::App& command, driver::Request& request) {
  const auto names = strategies_by_name();
  command
      .add_option_function<std::string>(
          "--strategy",
          [&request, names](const std::string& name) {
            request.strategy.strategy = names.at(name);
          },
          "Whose order the loop gets [twill: the fastest]")
      ->check(CLI::IsMember(names));
  add_choice_options(command, request);
}

void add_strategies_option(CLI::App& command, std::vector<strategy::Strategy>& strategies) {
  const auto names = strategies_by_name();
  command
      .add_option_function<std::vector<std::string>>(
          "--strategy",
          [&strategies, names](const std::vector<std::string>& chosen) {
            for (const std::string& name : chosen) strategies.push_back(names.at(name));
          },
          "Compare this strategy; repeatable [all]")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names));
}

void add_choice_options(CLI::App& command, driver::Request& request) {
  command
      .add_option("--depth", request.strategy.depth,
                  "Copies of each load's buffer, for the strategies triton and cypress")
      ->transform(whole_number(1, 256));
  command.add_flag("--ping-pong", request.strategy.ping_pong,
                   "Two compute groups take turns, as with Triton's option of that name; for the "
                   "strategy triton");
}

void add_remedy_options(CLI::App& command, driver::Request& request) {
  command
      .add_option("--spare-registers", request.spare_registers,
                  "Registers of each thread to keep from tile data, beyond the machine's overhead")
      ->transform(whole_number(0, 256));
  command.add_flag("--pins", request.pins,
                   "Keep ptxas from moving math over the waits it should overlap with");
}

void add_ctas_option(CLI::App& command, driver::Request& request) {
  command
      .add_option(
          "--ctas-per-sm", request.ctas_per_sm,
          "CTAs that an SM has at once, 1 or 2, each with its share of memory and registers "
          "[2 where an SM is faster with them, by estimate]")
      ->transform(whole_number(1, 2));
}

void add_tile_options(CLI::App& command, driver::Request& request) {
  const std::map<std::string, driver::TileWalk> walks = {
      {"one", driver::TileWalk::one}, {"persistent", driver::TileWalk::persistent}};
  command
      .add_option_function<std::string>(
          "--tiles", [&request, walks](const std::string& name) { request.tiles = walks.at(name); },
          "One tile for each CTA, or persistent CTAs that walk them [persistent where possible]")
      ->check(CLI::IsMember(walks));
  command
      .add_option("--cluster", request.cluster,
                  "Most CTAs that share loads by multicast, 1 or 2 [1]")
      ->transform(whole_number(1, 2));
}

void add_alternative_option(CLI::App& command, driver::Request& request) {
  command
      .add_option("--alternative", request.alternatives.take,
                  "Alternative of that number instead of the optimum (see `twill schedule "
                  "--alternatives`)")
      ->transform(whole_number(1, driver::kMostAlternatives));
  command
      .add_option("--within", request.alternatives.within,
                  "Percent by which the interval of an alternative may be above the optimum's [5]")
      ->transform(whole_number(0, 1000));
}

void add_schedule_option(CLI::App& command, driver::Request& request) {
  command
      .add_option_function<std::string>(
          "--schedule",
          [&request](const std::string& file) {
            request.imported = driver::Input{file, {}};
          },
          "Your own schedule of the loop: JSON of `twill schedule -o`, or a .loop text with a "
          "schedule or an order")
      ->excludes(command.get_option("--strategy"), command.get_option("--alternative"));
}

Result<void> read_schedule(driver::Request& request) {
  if (!request.imported) return {};
  TWILL_TRY(request.imported, driver::read_input(request.imported->name));
  return {};
}

void check_tiles(const driver::Request& request) {
  if (request.cluster == 1 || request.tiles != driver::TileWalk::one) return;
  throw CLI::ValidationError("--cluster",
                             "the CTAs of a cluster walk tiles side by side, so they cannot have "
                             "one tile each (--tiles one)");
}

void check_alternatives(const CLI::App& command, const driver::Request& request) {
  const driver::AlternativeChoice& choice = request.alternatives;
  const bool wanted = choice.list > 0 || choice.take > 0;
  if (wanted && request.strategy.strategy != strategy::Strategy::twill) {
    throw CLI::ValidationError(choice.list > 0 ? "--alternatives" : "--alternative",
                               "there are alternatives to the optimum, but not to what another "
                               "strategy makes of a loop");
  }
  if (!wanted && command.count("--within") > 0) {
    throw CLI::ValidationError("--within",
                               "says how far alternatives may be from the optimum, "
                               "but none is asked for");
  }
}

void add_work_limit_option(CLI::App& command, driver::Request& request, const std::string& help) {
  command
      .add_option_function<std::int64_t>(
          "--work-limit",
          [&request](std::int64_t units) {
            solve::Options& limits = request.limits;
            limits.work_limit = static_cast<std::uint64_t>(units);
            limits.hurry_after = std::max(limits.hurry_after, limits.work_limit / 5 * 3);
          },
          help)
      ->transform(whole_number(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
}

void add_planning_options(CLI::App& command, driver::Request& request) {
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  add_strategy_options(command, request);
  add_alternative_option(command, request);
  add_schedule_option(command, request);
  add_remedy_options(command, request);
  add_tile_options(command, request);
  add_work_limit_option(command, request,
                        "Units of solver work after which to plan the best schedule known");
}

void check_planning(const CLI::App& command, const driver::Request& request) {
  check_alternatives(command, request);
  check_tiles(request);
}

}  // namespace twill::cli
