#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "twill/plan/proof/rules.h"
#include "twill/problem/problem.h"

namespace twill::plan::proof {
namespace {

constexpr Amount kSwizzle = 1024;  // bytes after which the 128-byte swizzle repeats
// Columns of the smallest part of tensor memory that can be allocated.
constexpr Amount kColumns = 32;
constexpr Amount kBulk = 128;  // bytes of TMA's alignment

/// Checks the places of values and tiles.
class PlaceCheck {
 public:
  PlaceCheck(const Plan& plan, Findings& findings) : plan_(plan), findings_(findings) {}

  void check() {
    check_memory();
    check_homes();
    check_owners();
    check_mechanisms();
    if (plan_.kernel && !plan_.limits.machine.empty()) check_alignment();
  }

 private:
  /// Checks that each copy of a buffer begins where the pattern of its layout begins. Tiles of
  /// whole swizzle patterns begin with a pattern, smaller tiles at multiples of a divisor of their
  /// size.
  void check_alignment() {
    for (const Buffer& buffer : plan_.buffers) {
      if (buffer.residence == Residence::registers) continue;
      const Amount most = buffer.residence == Residence::tensor ? kColumns : kSwizzle;
      Amount pattern = 1;
      while (pattern < most && buffer.size % (2 * pattern) == 0) pattern *= 2;
      ask_multiple(buffer, pattern, "its tile");
    }
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      const auto home = plan_.values[v].home;
      if (home && is_bulk_load(plan_.mechanisms[v])) ask_multiple(plan_[*home], kBulk, "TMA");
    }
    for (const problem::Dependence& it : plan_.problem.dependences()) {
      if (!it.carries_value || plan_.mechanisms[it.to.index()] != Mechanism::bulk_store) continue;
      const auto from = read_from(plan_, it.from, it.to);
      if (from && plan_[*from].residence == Residence::shared)
        ask_multiple(plan_[*from], kBulk, "TMA");
    }
    for (const PerTileOp& per_tile_op : plan_.kernel->per_tile_ops) {
      const Mechanism how = per_tile_op.mechanism;
      if (!is_bulk_load(how) && how != Mechanism::bulk_store) continue;
      for (const BufferId buffer : per_tile_op.buffers) ask_multiple(plan_[buffer], kBulk, "TMA");
    }
  }

  void ask_multiple(const Buffer& buffer, Amount of, const char* who) {
    const Amount last = buffer.offset + (buffer.depth - 1) * buffer.size;
    if (buffer.offset % of == 0 && last % of == 0) return;
    findings_.add("memory", fmt::format("copies of {} begin at {}, every {}, where {} requires "
                                        "multiples of {}",
                                        buffer.name, buffer.offset, buffer.size, who, of));
  }

  void check_memory() {
    for (const Buffer& buffer : plan_.buffers) {
      if (buffer.residence == Residence::registers || buffer.memory.empty()) continue;
      const auto memories = plan_.problem.memories();
      const auto memory =
          std::find_if(memories.begin(), memories.end(),
                       [&](const problem::Memory& m) { return m.name == buffer.memory; });
      if (memory == memories.end()) {
        findings_.add("memory", fmt::format("buffer {} is in memory {}, which does not exist",
                                            buffer.name, buffer.memory));
        continue;
      }
      const bool tensor = buffer.memory == "TMEM";
      if (tensor != (buffer.residence == Residence::tensor)) {
        findings_.add("memory", fmt::format("buffer {} is not of the kind of memory {}",
                                            buffer.name, buffer.memory));
      }
      const auto index = static_cast<std::size_t>(memory - memories.begin());
      const auto& reserved = plan_.limits.reserved;
      const Amount capacity = memory->capacity + (index < reserved.size() ? reserved[index] : 0);
      const Amount end = buffer.offset + buffer.size * buffer.depth;
      const bool counts = buffer.invariant_buffer || plan_.problem.in_force(problem::Rule::memory);
      if (end > capacity && counts) {
        findings_.add("memory", fmt::format("buffer {} ends at {}, beyond the {} of {}",
                                            buffer.name, end, capacity, buffer.memory));
      }
      if (buffer.invariant_buffer) check_invariant_buffer(buffer);
    }
  }

  /// Checks that loop-invariant buffers lie apart from all other buffers. The staging of a CTA's
  /// only tile may share a place, since other accesses have ended by then (`check_per_tile_ops`).
  void check_invariant_buffer(const Buffer& buffer) {
    const bool one_tile = plan_.kernel && plan_.kernel->tiles == Tiles::one_per_cta;
    const auto is_staging = [](const Buffer& it) { return it.invariant_buffer && it.staging; };
    const auto overlaps = [&](const Buffer& other) {
      const bool may = one_tile && buffer.residence == Residence::shared &&
                       is_staging(buffer) != is_staging(other);
      return &other != &buffer && !may && share_addresses(other, buffer);
    };
    if (std::any_of(plan_.buffers.begin(), plan_.buffers.end(), overlaps)) {
      findings_.add("memory", fmt::format("invariant buffer {} lies where others do", buffer.name));
    }
    const BufferId id(static_cast<std::size_t>(&buffer - plan_.buffers.data()));
    for (const Value& value : plan_.values) {
      if (value.home != id && value.staged != id) continue;
      findings_.add("memory",
                    fmt::format("invariant buffer {} is written in the loop", buffer.name));
    }
  }

  /// Checks that each value has a place of its size.
  void check_homes() {
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      const problem::Op& op = plan_.problem.ops()[v];
      const Value& value = plan_.values[v];
      Amount size = op.registers;
      bool registers = true;
      for (const problem::Footprint& footprint : op.footprint) {
        size = footprint.amount;
        registers = false;
      }
      const bool has_room = value.home && plan_[*value.home].size >= size;
      const bool kind = !value.home || size == 0 || registers == false ||
                        plan_[*value.home].residence == Residence::registers || in_memory(OpId(v));
      if (size > 0 && (!has_room || !kind)) {
        findings_.add("memory", fmt::format("{} needs a place for {}, which it does not have",
                                            op.name, size));
      }
      if (!value.staged) continue;
      const Amount bytes = Amount{4} * op.registers * 32 * warps_of(OpId(v));
      if (plan_[*value.staged].residence != Residence::shared ||
          plan_[*value.staged].size < bytes) {
        findings_.add("memory", fmt::format("the staging buffer of {} has no room for {} bytes",
                                            op.name, bytes));
      }
    }
  }

  /// Whether an op that holds registers updates a value in memory in place.
  bool in_memory(OpId op) const {
    return plan_[*plan_.values[op.index()].home].residence != Residence::registers;
  }

  int warps_of(OpId op) const {
    const auto role = role_of(plan_, op);
    return role ? plan_[*role].warps : 1;
  }

  /// Checks that a staging buffer belongs to one role, unless one role sends it for all. One copy
  /// must fill a loop-invariant buffer, which must be large enough.
  void check_owners() {
    if (!plan_.kernel) return;
    std::map<BufferId, RoleId> users;
    std::map<BufferId, int> filled;
    for (const PerTileOp& per_tile_op : plan_.kernel->per_tile_ops) {
      if (per_tile_op.sender) {
        check_box(per_tile_op);
        continue;
      }
      for (std::size_t k = 0; k < per_tile_op.buffers.size(); ++k) {
        const BufferId buffer = per_tile_op.buffers[k];
        const auto [at, fresh] = users.emplace(buffer, per_tile_op.roles[k]);
        if ((!fresh && at->second != per_tile_op.roles[k]) ||
            (is_copy(per_tile_op.mechanism) && ++filled[buffer] > 1)) {
          findings_.add("memory", fmt::format("invariant buffer {} is written by several",
                                              plan_[buffer].name));
        }
        if (k < per_tile_op.bytes.size() && plan_[buffer].size < per_tile_op.bytes[k]) {
          findings_.add("memory", fmt::format("{} stages {} bytes in {}, which has room for {}",
                                              per_tile_op.what, per_tile_op.bytes[k],
                                              plan_[buffer].name, plan_[buffer].size));
        }
      }
    }
  }

  void check_box(const PerTileOp& op) {
    const Amount bytes = std::accumulate(op.bytes.begin(), op.bytes.end(), Amount{0});
    const Buffer& box = plan_[op.buffers.front()];
    if (bytes <= box.size) return;
    findings_.add("memory", fmt::format("{} stages {} bytes in {}, which has room for {}", op.what,
                                        bytes, box.name, box.size));
  }

  /// Checks that each value lies where its mechanism can write.
  void check_mechanisms() {
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      const auto home = plan_.values[v].home;
      const Mechanism how = plan_.mechanisms[v];
      if (!home) continue;
      const Residence where = plan_[*home].residence;
      const bool fits = is_copy(how) ? where == Residence::shared
                        : how == Mechanism::scoreboard || how == Mechanism::wgmma
                            ? where == Residence::registers
                        : how == Mechanism::tcgen05 ? where != Residence::registers
                                                    : true;
      if (fits) continue;
      findings_.add("memory",
                    fmt::format("{} is {}, which does not write {} memory",
                                plan_.problem.ops()[v].name, name_of(how), name_of(where)));
    }
  }

  const Plan& plan_;
  Findings& findings_;
};

}  // namespace

void check_places(const Plan& plan, Findings& findings) { PlaceCheck(plan, findings).check(); }

}  // namespace twill::plan::proof
