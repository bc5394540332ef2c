#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "twill/plan/draft.h"

namespace twill::plan {
namespace {

/// The roles that hold rows of the loop's results, with the number of parts of each.
using Holders = std::map<RoleId, int>;

bool holds_tiles(const Draft& draft, RoleId role) {
  return can_hold_tiles(draft.plan.problem.groups(), draft.plan[role].group);
}

/// By part: the role that holds most of its values in registers. Results of asynchronous ops lie
/// elsewhere.
std::map<int, RoleId> parts_of(const Draft& draft, const Setting& setting,
                               const std::vector<OpId>& uses) {
  std::map<int, std::map<RoleId, int>> registers;
  for (const OpId op : uses) {
    const RoleId role = draft.role[op.index()];
    if (!holds_tiles(draft, role)) continue;
    registers[part_of(setting, op)][role] += std::max(1, draft.op(op).registers);
  }
  std::map<int, RoleId> parts;
  for (const auto& [part, roles] : registers) {
    const auto most =
        std::max_element(roles.begin(), roles.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    parts.emplace(part, most->first);
  }
  return parts;
}

/// Roles of a prologue or epilogue op: those that hold the rows it needs. Without values of the
/// loop, every role that can hold tiles. If no such role has its values, the first.
Holders holders_of(const Draft& draft, const Setting& setting, const std::vector<OpId>& uses) {
  Holders holders;
  for (const auto& [part, role] : parts_of(draft, setting, uses)) ++holders[role];
  if (!holders.empty()) return holders;
  for (std::size_t r = 0; r < draft.plan.roles.size(); ++r) {
    if (!holds_tiles(draft, RoleId(r))) continue;
    holders[RoleId(r)] = 1;
    if (!uses.empty()) break;
  }
  return holders;
}

/// The roles whose copies need the op for their addresses.
Holders copiers_of(const Draft& draft, const Around& around) {
  Holders holders;
  for (const OpId copy : around.copies) holders[draft.role[copy.index()]] = 1;
  return holders;
}

/// The role that starts copies into loop-invariant buffers: the first load role, else the first
/// role.
RoleId loader_of(const Draft& draft) {
  for (std::size_t r = 0; r < draft.plan.roles.size(); ++r) {
    if (draft.plan.problem[draft.plan.roles[r].group].loads) return RoleId(r);
  }
  return RoleId(0);
}

BufferId add_buffer(Draft& draft, Buffer buffer) {
  buffer.resident = true;
  draft.plan.buffers.push_back(std::move(buffer));
  draft.alive.emplace_back(0, 0);
  return BufferId(draft.plan.buffers.size() - 1);
}

/// Staging for a role's rows of stored tiles, which go through it one after the other.
class Staging {
 public:
  explicit Staging(Draft& draft) : draft_(draft) {}

  BufferId of(RoleId role, const std::string& memory, Amount bytes) {
    const auto known = made_.find(role);
    if (known != made_.end()) {
      Buffer& buffer = draft_.plan.buffers[known->second.index()];
      buffer.size = std::max(buffer.size, bytes);
      return known->second;
    }
    Buffer buffer;
    buffer.name = "stored." + draft_.plan[role].name;
    buffer.memory = memory;
    buffer.size = bytes;
    buffer.staging = true;
    return made_.emplace(role, add_buffer(draft_, std::move(buffer))).first->second;
  }

 private:
  Draft& draft_;
  std::map<RoleId, BufferId> made_;
};

/// Buffers of the ops whose values an access to tensor memory concerns.
std::vector<BufferId> places_of(const Draft& draft, const std::vector<OpId>& ops) {
  std::set<BufferId> places;
  for (const OpId op : ops) {
    const auto home = draft.home(op);
    if (home && draft.plan[*home].residence == Residence::tensor) places.insert(*home);
  }
  return {places.begin(), places.end()};
}

/// Accesses of roles to tensor memory before and after the loop.
class TensorAccesses {
 public:
  TensorAccesses(const Draft& draft, const Setting& setting) : draft_(draft) {
    for (const Around& around : setting.around) {
      if (around.what.when != Outside::When::after || around.tensor.empty()) continue;
      const std::map<int, RoleId> parts = parts_of(draft, setting, around.uses);
      const Holders holders = holders_of(draft, setting, around.uses);
      for (const OpId op : around.tensor) {
        const auto holder = parts.find(part_of(setting, op));
        for (const BufferId place : places_of(draft, {op})) {
          std::set<RoleId>& readers = readers_[place];
          if (holder != parts.end()) {
            readers.insert(holder->second);
          } else {
            for (const auto& [role, count] : holders) readers.insert(role);
          }
        }
      }
    }
  }

  /// By role. Results of the loop are read by the roles that hold their rows. Initial values are
  /// written by the roles that read the results.
  std::vector<TensorAccess> of(const Around& around, const std::vector<RoleId>& roles) const {
    std::vector<TensorAccess> accesses;
    const bool fills = around.what.when == Outside::When::before;
    for (const BufferId place : places_of(draft_, around.tensor)) {
      if (fills && draft_.plan[place].initial == 0) continue;
      const auto readers = readers_.find(place);
      for (const RoleId role : roles) {
        if (readers == readers_.end() || readers->second.contains(role)) {
          accesses.push_back({role, place});
        }
      }
    }
    std::sort(accesses.begin(), accesses.end(), [](const TensorAccess& a, const TensorAccess& b) {
      return std::pair(a.role, a.buffer) < std::pair(b.role, b.buffer);
    });
    return accesses;
  }

 private:
  const Draft& draft_;
  std::map<BufferId, std::set<RoleId>> readers_;  // after the loop
};

/// Whether a prologue or epilogue op accesses the buffer in tensor memory.
bool is_accessed(const Plan& plan, Outside::When when, BufferId buffer) {
  const auto& around = plan.kernel->around;
  return std::any_of(around.begin(), around.end(), [&](const Outside& outside) {
    const auto& tensor = outside.tensor;
    return outside.when == when &&
           std::any_of(tensor.begin(), tensor.end(),
                       [&](const TensorAccess& access) { return access.buffer == buffer; });
  });
}

/// Notes values that leave the loop in another role than the one that needs them, without a
/// transfer.
void note_strays(Draft& draft, const Setting& setting) {
  std::set<std::string> strays;
  for (const Around& around : setting.around) {
    const std::map<int, RoleId> parts = parts_of(draft, setting, around.uses);
    for (const OpId op : around.uses) {
      const auto holder = parts.find(part_of(setting, op));
      const bool held = holder != parts.end() && holder->second == draft.role[op.index()];
      const auto home = draft.home(op);
      const bool given = home && is_accessed(draft.plan, Outside::When::after, *home);
      if (!held && !given) strays.insert(draft.op(op).name);
    }
  }
  if (strays.empty()) return;
  draft.plan.notes.push_back(fmt::format(
      "what leaves the loop in another role than its rows, and is handed over by no step: {}",
      fmt::join(strays, ", ")));
}

/// Notes initial values in tensor memory that no step writes.
void note_tensor_memory(Draft& draft) {
  std::vector<std::string> names;
  for (std::size_t b = 0; b < draft.plan.buffers.size(); ++b) {
    const Buffer& it = draft.plan.buffers[b];
    if (it.residence != Residence::tensor || it.initial == 0) continue;
    if (!is_accessed(draft.plan, Outside::When::before, BufferId(b))) names.push_back(it.name);
  }
  if (names.empty()) return;
  draft.plan.notes.push_back(fmt::format(
      "not proven: that {} in tensor memory is there before the loop; no step writes it",
      fmt::join(names, ", ")));
}

/// Reason why CTAs would not gain from a cluster, or could not leave it; empty if there is none.
std::string alone(const Plan& plan) {
  const auto has = [&](Mechanism mechanism) {
    const auto& all = plan.mechanisms;
    return std::find(all.begin(), all.end(), mechanism) != all.end();
  };
  if (plan.kernel->tiles != Tiles::persistent) return "a CTA does not walk tiles";
  if (!has(Mechanism::tma_multicast)) return "its CTAs would share no load";
  if (has(Mechanism::tcgen05)) {
    return "what tcgen05 work releases in the other CTA may come when that is gone";
  }
  return {};
}

/// A cluster is for loads that its CTAs share, and for CTAs that walk the tiles side by side.
void settle_cluster(Draft& draft) {
  Kernel& kernel = *draft.plan.kernel;
  const std::string why = alone(draft.plan);
  if (why.empty() && kernel.cluster > 1) return;
  if (kernel.cluster > 1) draft.plan.notes.push_back("no cluster: " + why);
  kernel.cluster = 1;
  auto& mechanisms = draft.plan.mechanisms;
  std::replace(mechanisms.begin(), mechanisms.end(), Mechanism::tma_multicast, Mechanism::tma_load);
}

}  // namespace

bool stages(const Setting& setting) {
  return std::any_of(setting.around.begin(), setting.around.end(), [](const Around& around) {
    return around.what.mechanism == Mechanism::bulk_store;
  });
}

std::optional<std::string> bound_to_one_tile(const Plan& plan) {
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (buffer.residence == Residence::registers) continue;
    if (buffer.residence == Residence::tensor &&
        is_accessed(plan, Outside::When::before, BufferId(b))) {
      continue;
    }
    const bool filled = std::any_of(
        plan.kernel->around.begin(), plan.kernel->around.end(), [&](const Outside& outside) {
          return std::find(outside.buffers.begin(), outside.buffers.end(), BufferId(b)) !=
                 outside.buffers.end();
        });
    if (buffer.initial > 0 || (buffer.resident && !filled)) return buffer.name;
  }
  return std::nullopt;
}

namespace {

std::vector<RoleId> roles_of(const Draft& draft, const std::vector<OpId>& ops) {
  std::set<RoleId> roles;
  for (const OpId op : ops) roles.insert(draft.role[op.index()]);
  return {roles.begin(), roles.end()};
}

}  // namespace

Result<void> make_outside(Draft& draft, const Setting& setting) {
  std::vector<BufferId> residents;
  for (const Buffer& resident : setting.residents) residents.push_back(add_buffer(draft, resident));
  draft.plan.kernel = setting.kernel;
  if (!setting.kernel) return {};
  Staging staging(draft);
  const TensorAccesses tensor(draft, setting);
  for (const Around& around : setting.around) {
    const Holders holders =
        around.only_copies ? copiers_of(draft, around) : holders_of(draft, setting, around.uses);
    Outside outside = around.what;
    for (const std::size_t read : around.reads) outside.reads.push_back(residents[read]);
    if (is_copy(outside.mechanism)) {
      outside.roles = {loader_of(draft)};
      outside.buffers = {residents[*around.resident]};
      draft.plan.kernel->around.push_back(std::move(outside));
      continue;
    }
    int parts = 0;
    for (const auto& [role, count] : holders) parts += count;
    for (const auto& [role, count] : holders) {
      outside.roles.push_back(role);
      if (outside.mechanism != Mechanism::bulk_store) continue;
      outside.bytes.push_back(around.bytes * count / parts);
      outside.buffers.push_back(staging.of(role, around.memory, outside.bytes.back()));
    }
    for (const auto& [role, count] : copiers_of(draft, around)) {
      const auto at = std::lower_bound(outside.roles.begin(), outside.roles.end(), role);
      if (at == outside.roles.end() || *at != role) outside.roles.insert(at, role);
    }
    outside.tensor = tensor.of(around, outside.roles);
    draft.plan.kernel->around.push_back(std::move(outside));
  }
  for (Rematerialized value : setting.rematerialized) {
    value.roles = roles_of(draft, value.readers);
    draft.plan.kernel->rematerialized.push_back(std::move(value));
  }
  note_strays(draft, setting);
  const auto bound = bound_to_one_tile(draft.plan);
  if (bound && draft.plan.kernel->tiles == Tiles::persistent) {
    draft.plan.kernel->tiles = Tiles::one_per_cta;
    draft.plan.notes.push_back(fmt::format(
        "one tile per CTA: no step of the plan empties or fills {} from tile to tile", *bound));
  }
  note_tensor_memory(draft);
  settle_cluster(draft);
  return {};
}

}  // namespace twill::plan
