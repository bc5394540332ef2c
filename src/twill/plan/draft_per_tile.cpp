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

/// By part: the role that holds most of its values in registers. Results of asynchronous ops are
/// not counted.
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

/// Roles of a prologue or epilogue op: the roles that hold the rows it needs. An op without values
/// of the loop gets every role that can hold tiles. If no such role has its values, the first such
/// role.
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

/// The roles that need the op for the addresses of their copies.
Holders copiers_of(const Draft& draft, const PerTileRequest& request) {
  Holders holders;
  for (const OpId copy : request.copies) holders[draft.role[copy.index()]] = 1;
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
  buffer.invariant_buffer = true;
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
    for (const PerTileRequest& request : setting.per_tile_ops) {
      if (request.what.when != PerTileOp::When::after || request.tensor.empty()) continue;
      const std::map<int, RoleId> parts = parts_of(draft, setting, request.uses);
      const Holders holders = holders_of(draft, setting, request.uses);
      for (const OpId op : request.tensor) {
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

  /// Accesses by role. The roles that hold the rows of the loop's results read them. The roles that
  /// read the results write the initial values.
  std::vector<TensorAccess> of(const PerTileRequest& request,
                               const std::vector<RoleId>& roles) const {
    std::vector<TensorAccess> accesses;
    const bool fills = request.what.when == PerTileOp::When::before;
    for (const BufferId place : places_of(draft_, request.tensor)) {
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
bool is_accessed(const Plan& plan, PerTileOp::When when, BufferId buffer) {
  const auto& per_tile_ops = plan.kernel->per_tile_ops;
  return std::any_of(per_tile_ops.begin(), per_tile_ops.end(), [&](const PerTileOp& per_tile_op) {
    const auto& tensor = per_tile_op.tensor;
    return per_tile_op.when == when &&
           std::any_of(tensor.begin(), tensor.end(),
                       [&](const TensorAccess& access) { return access.buffer == buffer; });
  });
}

/// Notes values that the loop leaves in one role and another role needs, without a transfer.
void note_strays(Draft& draft, const Setting& setting) {
  std::set<std::string> strays;
  for (const PerTileRequest& request : setting.per_tile_ops) {
    const std::map<int, RoleId> parts = parts_of(draft, setting, request.uses);
    for (const OpId op : request.uses) {
      const auto holder = parts.find(part_of(setting, op));
      const bool held = holder != parts.end() && holder->second == draft.role[op.index()];
      const auto home = draft.home(op);
      const bool given = home && is_accessed(draft.plan, PerTileOp::When::after, *home);
      if (!held && !given) strays.insert(draft.op(op).name);
    }
  }
  if (strays.empty()) return;
  draft.plan.notes.push_back(fmt::format(
      "values that leave the loop in another role than their rows, without a transfer: {}",
      fmt::join(strays, ", ")));
}

/// Notes initial values in tensor memory that no step writes.
void note_tensor_memory(Draft& draft) {
  std::vector<std::string> names;
  for (std::size_t b = 0; b < draft.plan.buffers.size(); ++b) {
    const Buffer& it = draft.plan.buffers[b];
    if (it.residence != Residence::tensor || it.initial == 0) continue;
    if (!is_accessed(draft.plan, PerTileOp::When::before, BufferId(b))) names.push_back(it.name);
  }
  if (names.empty()) return;
  draft.plan.notes.push_back(
      fmt::format("not proven: {} in tensor memory has to be written before the loop, and no step "
                  "of the plan does",
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
    return "a release by tcgen05 work may arrive after the other CTA has ended";
  }
  return {};
}

/// Decides whether the CTAs form a cluster. A cluster needs loads that its CTAs share, and CTAs
/// that walk the tiles side by side.
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

Setting::Setting() = default;
Setting::Setting(const Setting&) = default;
Setting::Setting(Setting&&) noexcept = default;
Setting& Setting::operator=(const Setting&) = default;
Setting& Setting::operator=(Setting&&) noexcept = default;
Setting::~Setting() = default;

bool stages(const Setting& setting) {
  return std::any_of(setting.per_tile_ops.begin(), setting.per_tile_ops.end(),
                     [](const PerTileRequest& request) {
                       return request.what.mechanism == Mechanism::bulk_store;
                     });
}

std::optional<std::string> bound_to_one_tile(const Plan& plan) {
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (buffer.residence == Residence::registers) continue;
    if (buffer.residence == Residence::tensor &&
        is_accessed(plan, PerTileOp::When::before, BufferId(b))) {
      continue;
    }
    const bool filled =
        std::any_of(plan.kernel->per_tile_ops.begin(), plan.kernel->per_tile_ops.end(),
                    [&](const PerTileOp& per_tile_op) {
                      return std::find(per_tile_op.buffers.begin(), per_tile_op.buffers.end(),
                                       BufferId(b)) != per_tile_op.buffers.end();
                    });
    if (buffer.initial > 0 || (buffer.invariant_buffer && !filled)) return buffer.name;
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

Result<void> make_per_tile(Draft& draft, const Setting& setting) {
  std::vector<BufferId> invariant_buffers;
  for (const Buffer& invariant_buffer : setting.invariant_buffers)
    invariant_buffers.push_back(add_buffer(draft, invariant_buffer));
  draft.plan.kernel = setting.kernel;
  if (!setting.kernel) return {};
  Staging staging(draft);
  const TensorAccesses tensor(draft, setting);
  for (const PerTileRequest& request : setting.per_tile_ops) {
    const Holders holders =
        request.only_copies ? copiers_of(draft, request) : holders_of(draft, setting, request.uses);
    PerTileOp per_tile_op = request.what;
    for (const std::size_t read : request.reads)
      per_tile_op.reads.push_back(invariant_buffers[read]);
    if (is_copy(per_tile_op.mechanism)) {
      per_tile_op.roles = {loader_of(draft)};
      per_tile_op.buffers = {invariant_buffers[*request.invariant_buffer]};
      draft.plan.kernel->per_tile_ops.push_back(std::move(per_tile_op));
      continue;
    }
    if (per_tile_op.alone) {
      // A number for which other roles wait comes from the role that runs ahead of them.
      per_tile_op.roles = {request.brings ? loader_of(draft) : holders.begin()->first};
      draft.plan.kernel->per_tile_ops.push_back(std::move(per_tile_op));
      continue;
    }
    int parts = 0;
    for (const auto& [role, count] : holders) parts += count;
    for (const auto& [role, count] : holders) {
      per_tile_op.roles.push_back(role);
      if (per_tile_op.mechanism != Mechanism::bulk_store) continue;
      per_tile_op.bytes.push_back(request.bytes * count / parts);
      per_tile_op.buffers.push_back(staging.of(role, request.memory, per_tile_op.bytes.back()));
    }
    for (const auto& [role, count] : copiers_of(draft, request)) {
      const auto at = std::lower_bound(per_tile_op.roles.begin(), per_tile_op.roles.end(), role);
      if (at == per_tile_op.roles.end() || *at != role) per_tile_op.roles.insert(at, role);
    }
    per_tile_op.tensor = tensor.of(request, per_tile_op.roles);
    draft.plan.kernel->per_tile_ops.push_back(std::move(per_tile_op));
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
