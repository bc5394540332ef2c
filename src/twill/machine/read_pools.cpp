#include "twill/machine/read_pools.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/machine/read_parts.h"
#include "twill/machine/sharing.h"
#include "twill/support/spelling.h"

namespace twill::machine {
namespace {

constexpr int kLeastRegisters = 24;  ///< smallest value that setmaxnreg takes

/// Range of a warpgroup's setmaxnreg: least equals most unless its group shares registers.
struct RegisterRange {
  int least = 0;
  int most = 0;
  bool shares = false;
};

Result<RegisterRange> read_range(const JsonNode& node, const Description& machine) {
  const auto read = [&](const JsonNode& limit) -> Result<int> {
    TWILL_TRY(const int value,
              limit.integer(kLeastRegisters, static_cast<int>(machine.registers_per_thread.value)));
    if (value % kRegisterStep != 0) return limit.expected("a multiple of 8");
    return value;
  };
  if (!node.find("least") && !node.find("most")) {
    TWILL_TRY(const int value, read(node));
    return RegisterRange{value, value, false};
  }
  TWILL_TRY_VOID(node.only({"least", "most"}));
  TWILL_TRY(const JsonNode least, node.at("least"));
  TWILL_TRY(const JsonNode most, node.at("most"));
  RegisterRange range{0, 0, true};
  TWILL_TRY(range.least, read(least));
  TWILL_TRY(range.most, read(most));
  if (range.least > range.most) return most.wrong("the most is below the least");
  return range;
}

Result<PoolGroup> read_group(const JsonNode& node, const RegisterRange& range, int overhead) {
  TWILL_TRY_VOID(node.only({"name", "warps", "loads"}));
  TWILL_TRY(const JsonNode warps, node.at("warps"));
  PoolGroup group;
  TWILL_TRY(group.name, name_in(node));
  TWILL_TRY(group.warps, warps.integer(1, 32));
  if (group.warps > kWarpsPerWarpgroup && group.warps % kWarpsPerWarpgroup != 0) {
    return warps.wrong("a group of more than 4 warps has whole warpgroups: 8, 12, ...");
  }
  group.registers = std::max(0, range.most - overhead);
  group.shares = range.shares;
  TWILL_TRY(group.loads, flag_in(node, "loads"));
  if (group.shares && (group.loads || group.warps != kWarpsPerWarpgroup)) {
    return node.wrong("registers are shared by compute groups of 4 warps",
                      "give its warpgroup one value of setmaxnreg");
  }
  return group;
}

Result<void> read_warpgroup(const JsonNode& node, const Description& machine, Pool& pool) {
  TWILL_TRY_VOID(node.only({"setmaxnreg", "groups"}));
  TWILL_TRY(const JsonNode limit, node.at("setmaxnreg"));
  TWILL_TRY(const RegisterRange range, read_range(limit, machine));
  TWILL_TRY(const JsonNode groups, node.at("groups"));
  TWILL_TRY(const auto nodes, groups.items());
  int warps = 0;
  for (const JsonNode& group : nodes) {
    TWILL_TRY(pool.groups.emplace_back(),
              read_group(group, range, static_cast<int>(machine.register_overhead.value)));
    warps += pool.groups.back().warps;
  }
  if (warps > kWarpsPerWarpgroup && nodes.size() > 1) {
    return groups.wrong("a hardware warpgroup has 4 warps, and one group alone may have several");
  }
  const int warpgroups = std::max(1, warps / kWarpsPerWarpgroup);
  pool.setmaxnreg.insert(pool.setmaxnreg.end(), static_cast<std::size_t>(warpgroups), range.least);
  if (!range.shares) return {};
  const SharedRegisters shared{0, range.least, range.most};
  if (pool.shared.most > 0 && pool.shared != shared) {
    return limit.wrong("groups that share registers have the same least and the same most");
  }
  pool.shared = shared;
  return {};
}

Result<Pool> read_pool(const JsonNode& node, const Description& machine) {
  TWILL_TRY_VOID(node.only({"name", "about", "last_resort", "warpgroups"}));
  Pool pool;
  TWILL_TRY(pool.name, text_in(node, "name"));
  TWILL_TRY(pool.about, text_in(node, "about"));
  TWILL_TRY(pool.last_resort, flag_in(node, "last_resort"));
  TWILL_TRY(const JsonNode list, node.at("warpgroups"));
  TWILL_TRY(const auto nodes, list.items());
  for (const JsonNode& warpgroup : nodes) {
    TWILL_TRY_VOID(read_warpgroup(warpgroup, machine, pool));
  }
  TWILL_TRY_VOID(unique(list, names_of(pool.groups)));
  const int warpgroups = static_cast<int>(pool.setmaxnreg.size());
  const int threads = 128 * warpgroups;
  if (warpgroups == 0 || threads > machine.threads.value) {
    return list.expected(fmt::format("1 to {:g} warpgroups", machine.threads.value / 128));
  }
  const int file = static_cast<int>(machine.register_file.value);
  const int most = warpgroups * (file / threads / 8 * 8);
  int sum = 0;
  for (const int registers : pool.setmaxnreg) sum += registers;
  if (sum > most) {
    return list.wrong(
        fmt::format("the setmaxnreg sum to {}, but a launch of {} threads has {} "
                    "to hand out: setmaxnreg would wait forever",
                    sum, threads, most));
  }
  const auto sharing = std::count_if(pool.groups.begin(), pool.groups.end(),
                                     [](const PoolGroup& it) { return it.shares; });
  if (sharing == 1) return list.wrong("a single group shares registers: at least two must");
  share_registers(pool, most);
  return pool;
}

}  // namespace

Result<std::vector<Pool>> read_pools(const JsonNode& root, const Description& machine) {
  TWILL_TRY(const JsonNode list, root.at("pools"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Pool> pools;
  for (const JsonNode& node : nodes) {
    TWILL_TRY(pools.emplace_back(), read_pool(node, machine));
  }
  if (pools.empty()) return list.wrong("a machine has at least one pool");
  TWILL_TRY_VOID(unique(list, names_of(pools)));
  return pools;
}

}  // namespace twill::machine
