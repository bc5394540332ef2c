#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "twill/machine/machine.h"
#include "twill/machine/sharing.h"

// Machines derived from others: with less memory and fewer registers, or with groups for another
// kind of work.
namespace twill::machine {

Machine keeping_free(Machine machine, int registers) {
  Description is = *machine;
  is.register_overhead.value += registers;
  for (Pool& pool : is.pools) {
    for (PoolGroup& group : pool.groups) group.registers = std::max(0, group.registers - registers);
  }
  return Machine(std::move(is));
}

namespace {

/// Registers per thread of a role that copies. Two tiles of 8 rows each, and the state of their
/// addresses, take 45 to 70 by ptxas.
constexpr int kForCopies = 72;

constexpr int kThreadsPerWarpgroup = 32 * kWarpsPerWarpgroup;

/// The hardware warpgroup of each group: single warps share one, in order.
std::vector<std::size_t> warpgroups_of(const Pool& pool) {
  std::vector<std::size_t> of;
  int next = 0;
  for (const PoolGroup& group : pool.groups) {
    const int room = (kWarpsPerWarpgroup - next % kWarpsPerWarpgroup) % kWarpsPerWarpgroup;
    if (group.warps > room) next += room;
    of.push_back(static_cast<std::size_t>(next / kWarpsPerWarpgroup));
    next += group.warps;
  }
  return of;
}

/// Lowers the setmaxnreg of warpgroups with more than an equal share, until the launch has `most`.
void fit_registers(Pool& pool, int most, int overhead) {
  int fixed = 0;
  int large = 0;
  const int equal = most / static_cast<int>(pool.setmaxnreg.size());
  for (const int registers : pool.setmaxnreg) {
    if (registers > equal) ++large;
    if (registers <= equal) fixed += registers;
  }
  const std::vector<std::size_t> of = warpgroups_of(pool);
  for (int& registers : pool.setmaxnreg) {
    if (registers <= equal) continue;
    registers = std::min(registers, (most - fixed) / large / kRegisterStep * kRegisterStep);
  }
  for (std::size_t g = 0; g < pool.groups.size(); ++g) {
    if (pool.groups[g].shares) continue;
    pool.groups[g].registers =
        std::min(pool.groups[g].registers, std::max(0, pool.setmaxnreg[of[g]] - overhead));
  }
  share_registers(pool, most);
}

/// Makes the load group a whole warpgroup with registers for copies. Precondition: the pool fits
/// its launch, whose warpgroups have `most` registers a thread together.
void widen_load_group(Pool& pool, int most, int overhead) {
  const auto loads = std::find_if(pool.groups.begin(), pool.groups.end(),
                                  [](const PoolGroup& group) { return group.loads; });
  if (loads == pool.groups.end() || loads->warps >= kWarpsPerWarpgroup) return;
  std::vector<std::size_t> of = warpgroups_of(pool);
  const std::size_t here = of[static_cast<std::size_t>(loads - pool.groups.begin())];
  loads->warps = kWarpsPerWarpgroup;
  for (std::size_t g = pool.groups.size(); g-- > 0;) {
    if (of[g] != here || pool.groups[g].loads) continue;
    pool.groups.erase(pool.groups.begin() + static_cast<std::ptrdiff_t>(g));
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(g));
  }
  const int others = static_cast<int>(pool.setmaxnreg.size()) - 1;
  const int own = std::max(kForCopies, pool.setmaxnreg[here]);
  for (std::size_t w = 0; w < pool.setmaxnreg.size(); ++w) {
    int& registers = pool.setmaxnreg[w];
    registers = w == here ? own : std::min(registers, (most - own) / others / 8 * 8);
  }
  for (std::size_t g = 0; g < pool.groups.size(); ++g) {
    if (pool.groups[g].shares) continue;
    pool.groups[g].registers = std::max(0, pool.setmaxnreg[of[g]] - overhead);
  }
  share_registers(pool, most);
}

}  // namespace

void share_registers(Pool& pool, int most) {
  const std::vector<std::size_t> of = warpgroups_of(pool);
  std::vector<std::size_t> sharing;
  for (std::size_t g = 0; g < of.size(); ++g) {
    if (pool.groups[g].shares) sharing.push_back(of[g]);
  }
  if (sharing.empty()) return;
  pool.shared.total = most;
  for (std::size_t w = 0; w < pool.setmaxnreg.size(); ++w) {
    const bool fixed = std::find(sharing.begin(), sharing.end(), w) == sharing.end();
    if (fixed) pool.shared.total -= pool.setmaxnreg[w];
  }
  const int equal = pool.shared.total / static_cast<int>(sharing.size());
  for (const std::size_t w : sharing) {
    pool.setmaxnreg[w] = std::min(equal / kRegisterStep * kRegisterStep, pool.shared.most);
  }
}

Machine with_copying_warpgroup(Machine machine) {
  Description is = *machine;
  for (Pool& pool : is.pools) {
    const int warpgroups = static_cast<int>(pool.setmaxnreg.size());
    const int file = static_cast<int>(is.register_file.value);
    widen_load_group(pool, warpgroups * (file / (128 * warpgroups) / 8 * 8),
                     static_cast<int>(is.register_overhead.value));
  }
  return Machine(std::move(is));
}

Machine shared_by(Machine machine, int ctas) {
  if (ctas == 1) return machine;
  Description is = *machine;
  is.ctas_per_sm *= ctas;
  for (Memory& memory : is.memories) {
    const double beside = memory.capacity.unit == "bytes" ? kBesideMemory : 0;
    double& value = memory.capacity.value;
    value = std::max(0.0, std::floor((value + beside) / ctas) - beside);
  }
  is.register_file.value = std::floor(is.register_file.value / ctas);
  is.minimum_compute_groups = (is.minimum_compute_groups + ctas - 1) / ctas;
  const auto at_launch = [&](const Pool& pool) {
    const auto threads = kThreadsPerWarpgroup * static_cast<int>(pool.setmaxnreg.size());
    return static_cast<int>(is.register_file.value) / threads / kRegisterStep * kRegisterStep;
  };
  std::erase_if(is.pools, [&](const Pool& pool) { return at_launch(pool) < kLeastAtLaunch; });
  const int overhead = static_cast<int>(is.register_overhead.value);
  for (Pool& pool : is.pools) {
    fit_registers(pool, at_launch(pool) * static_cast<int>(pool.setmaxnreg.size()), overhead);
  }
  return Machine(std::move(is));
}

Machine with_share_of_memory(Machine machine, double share) {
  Description is = *machine;
  for (Memory& memory : is.memories) {
    if (memory.capacity.unit == "bytes") {
      memory.capacity.value = std::floor(memory.capacity.value * share);
    }
  }
  return Machine(std::move(is));
}

}  // namespace twill::machine
