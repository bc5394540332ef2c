#include "twill/cli/kernel_options.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace twill::cli {

Option add_map_option(Command command, std::string& map) {
  return command.add_option(
      "--map", map,
      "Mapping of a .task file: a .map file, or the name of a mapping in it [its first]");
}

Option add_kernel_option(Command command, std::string& kernel) {
  return command.add_option("--kernel", kernel,
                            "Name of the kernel, in a dump with several [the only one]");
}

Option add_machine_option(Command command, std::string& machine, const std::string& otherwise) {
  return command.add_option("--machine", machine,
                            "Name (see `twill machines`) or JSON file [" + otherwise + "]");
}

void add_kernel_options(Command command, driver::Request& request, const std::string& pool_help) {
  add_machine_option(command, request.machine, "by the TTGIR's target");
  add_kernel_option(command, request.choice.kernel);
  add_map_option(command, request.choice.map);
  command.add_option(
      "--loop", request.loop,
      "Which loop: its number in source order from 0, :LINE, or FILE:LINE of the kernel's source "
      "[innermost with the most tensor-core work]");
  command.add_option("--subtile", request.subtile, "Rows of a sub-tile, 0 for none [the machine's]")
      .whole_number(0, 65536);
  command.add_option("--pool", request.pool, pool_help);
  command.add_flag("--strict", request.strict,
                   "Refuse operations that the machine has no price for, instead of warning");
  command.add_flag("--may-overlap", request.may_overlap,
                   "Assume that two arguments may be one array; refuse a loop where that matters");
  command.add_flag("--already-pipelined", request.already_pipelined,
                   "Take a loop that Triton has pipelined, its rings as single buffers");
  command.add_flag(
      "--transfer-ops", request.transfers,
      "Schedule the stores and loads by which values change groups [they cost a delay]");
  command.add_flag("--hand-offs", request.transfers, "As --transfer-ops was called").group("");
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

void add_strategy_options(Command command, driver::Request& request) {
  const auto take = [&request](strategy::Strategy it) { request.strategy.strategy = it; };
  command.add_choice("--strategy", strategies_by_name(), take,
                     "Compiler whose order the loop gets [twill: the fastest order]");
  add_choice_options(command, request);
}

void add_strategies_option(Command command, std::vector<strategy::Strategy>& strategies) {
  const auto strategies_named = strategies_by_name();
  std::vector<std::string> names;
  for (const auto& [name, strategy] : strategies_named) names.push_back(name);
  command
      .add_option_function<std::vector<std::string>>(
          "--strategy",
          [&strategies, strategies_named](const std::vector<std::string>& chosen) {
            for (const std::string& name : chosen) {
              strategies.push_back(strategies_named.at(name));
            }
          },
          "Compare this strategy; repeatable [all]")
      .allow_extra_args(false)
      .one_of(names);
}

void add_choice_options(Command command, driver::Request& request) {
  command
      .add_option("--depth", request.strategy.depth,
                  "Copies of each load's buffer, for the strategies triton, triton-plain and "
                  "cypress")
      .whole_number(1, 256);
  command.add_flag("--ping-pong", request.strategy.ping_pong,
                   "For the strategy triton: its two compute groups take turns, as with Triton's "
                   "option of the same name");
}

void add_remedy_options(Command command, driver::Request& request) {
  command
      .add_option("--spare-registers", request.spare_registers,
                  "Registers of each thread to keep from tile data, beyond the machine's overhead")
      .whole_number(0, 256);
  command.add_flag("--pins", request.pins,
                   "Keep ptxas from moving math over the waits it should overlap with");
}

void add_ctas_option(Command command, driver::Request& request) {
  command
      .add_option(
          "--ctas-per-sm", request.ctas_per_sm,
          "CTAs that an SM has at once, 1 or 2, each with its share of memory and registers "
          "[2 where an SM is faster with them, by estimate]")
      .whole_number(1, 2);
}

void add_tile_options(Command command, driver::Request& request) {
  const std::map<std::string, driver::TileWalk> walks = {
      {"one", driver::TileWalk::one}, {"persistent", driver::TileWalk::persistent}};
  command.add_choice(
      "--tiles", walks, [&request](driver::TileWalk walk) { request.tiles = walk; },
      "One tile for each CTA, or persistent CTAs that walk tiles [persistent where possible]");
  command
      .add_option("--cluster", request.cluster,
                  "Most CTAs that share loads by multicast, 1 or 2 [1]")
      .whole_number(1, 2);
}

void add_alternative_option(Command command, driver::Request& request) {
  command
      .add_option("--alternative", request.alternatives.take,
                  "Take this one of the alternatives instead of the optimum (see `twill schedule "
                  "--alternatives`)")
      .whole_number(1, driver::kMostAlternatives);
  command
      .add_option("--within", request.alternatives.within,
                  "Percent by which the interval of an alternative may be above the optimum's [5]")
      .whole_number(0, 1000);
}

void add_schedule_option(Command command, driver::Request& request) {
  command
      .add_option_function<std::string>(
          "--schedule",
          [&request](const std::string& file) {
            request.imported = driver::Input{file, {}};
          },
          "Your own schedule of the loop: JSON of `twill schedule -o`, or a .loop text with a "
          "schedule or an order")
      .excludes(command.get_option("--strategy"), command.get_option("--alternative"));
}

Result<void> read_schedule(driver::Request& request) {
  if (!request.imported) return {};
  TWILL_TRY(request.imported, driver::read_input(request.imported->name));
  return {};
}

void check_tiles(const driver::Request& request) {
  if (request.cluster == 1 || request.tiles != driver::TileWalk::one) return;
  refuse_value("--cluster",
               "the CTAs of a cluster walk tiles side by side, so they cannot have "
               "one tile each (--tiles one)");
}

void check_alternatives(Command command, const driver::Request& request) {
  const driver::AlternativeChoice& choice = request.alternatives;
  const bool wanted = choice.list > 0 || choice.take > 0;
  if (wanted && request.strategy.strategy != strategy::Strategy::twill) {
    refuse_value(choice.list > 0 ? "--alternatives" : "--alternative",
                 "there are alternatives to the optimum, but not to what another "
                 "strategy makes of a loop");
  }
  if (!wanted && command.count("--within") > 0) {
    refuse_value("--within",
                 "says how far alternatives may be from the optimum, "
                 "but none is asked for");
  }
}

void add_work_limit_option(Command command, driver::Request& request, const std::string& help) {
  command
      .add_option_function<std::int64_t>(
          "--work-limit",
          [&request](std::int64_t units) {
            solve::Options& limits = request.limits;
            limits.work_limit = static_cast<std::uint64_t>(units);
            limits.hurry_after = std::max(limits.hurry_after, limits.work_limit / 5 * 3);
          },
          help)
      .whole_number(1, std::numeric_limits<std::int64_t>::max());
}

void add_planning_options(Command command, driver::Request& request) {
  add_kernel_options(command, request, "Only this pool of warp groups [all of the machine]");
  add_strategy_options(command, request);
  add_alternative_option(command, request);
  add_schedule_option(command, request);
  add_remedy_options(command, request);
  add_tile_options(command, request);
  add_work_limit_option(command, request,
                        "Units of solver work after which to plan the best schedule known");
}

void check_planning(Command command, const driver::Request& request) {
  check_alternatives(command, request);
  check_tiles(request);
}

}  // namespace twill::cli
