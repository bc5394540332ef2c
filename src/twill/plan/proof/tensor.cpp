#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "twill/machine/machine.h"
#include "twill/plan/proof/run.h"

namespace twill::plan::proof {
namespace {

/// Checks accesses of prologue and epilogue ops to values in tensor memory. They are written before
/// the loop uses them, read after its last use, and both before the next tile.
class TensorCheck {
 public:
  TensorCheck(const Run& run, Findings& findings)
      : run_(run), plan_(run.plan()), findings_(findings) {
    const std::vector<PerTileOp>& per_tile_ops = plan_.kernel->per_tile_ops;
    for (std::size_t i = 0; i < per_tile_ops.size(); ++i) {
      for (const TensorAccess& access : per_tile_ops[i].tensor) {
        places_[access.buffer].push_back({i, access.role, per_tile_ops[i].when});
      }
    }
  }

  void check() {
    for (const auto& [buffer, touches] : places_) {
      for (std::int64_t tile = 0; tile < run_.tiles() && !findings_.full(); ++tile) {
        check_tile(buffer, touches, tile);
      }
    }
  }

 private:
  struct Touch {
    std::size_t per_tile_op = 0;
    RoleId role;
    PerTileOp::When when = PerTileOp::When::before;
  };

  struct Access {
    const Execution* when = nullptr;
    std::string what;
    RoleId role;
    bool by_threads = true;
  };

  Access access(const Touch& touch, std::int64_t tile) const {
    return {&run_.per_tile_op(touch.per_tile_op, touch.role, tile),
            fmt::format("{} of tile {}", plan_.kernel->per_tile_ops[touch.per_tile_op].what, tile),
            touch.role, true};
  }

  Access access(OpId op, std::int64_t iteration) const {
    return {&run_.execution(op, iteration),
            fmt::format("{} of iteration {}", plan_.problem[op].name, iteration),
            run_.tables().role[op.index()], plan_.mechanisms[op.index()] == Mechanism::threads};
  }

  void check_tile(BufferId buffer, const std::vector<Touch>& touches, std::int64_t tile) {
    const std::vector<Access> uses = used_in(buffer, tile);
    for (const Touch& touch : touches) {
      const Access here = access(touch, tile);
      if (touch.when == PerTileOp::When::before) {
        for (const Access& use : uses) require("read-before-write", here, use);
        for (const Access& read : per_tile_ops(touches, PerTileOp::When::after, tile)) {
          require("read-before-write", here, read);
        }
        continue;
      }
      for (const Access& use : uses) require("read-before-write", use, here);
      for (const Access& use : used_in(buffer, tile + 1)) require("overwrite", here, use);
      for (const Access& fill : per_tile_ops(touches, PerTileOp::When::before, tile + 1)) {
        require("overwrite", here, fill);
      }
    }
    for (const Access& fill : per_tile_ops(touches, PerTileOp::When::before, tile + 1)) {
      for (const Access& use : uses) require("overwrite", use, fill);
    }
  }

  /// Accesses to a place before or after the loop; empty for a tile that does not exist.
  std::vector<Access> per_tile_ops(const std::vector<Touch>& touches, PerTileOp::When when,
                                   std::int64_t tile) const {
    std::vector<Access> found;
    for (const Touch& touch : touches) {
      if (touch.when == when && tile < run_.tiles()) found.push_back(access(touch, tile));
    }
    return found;
  }

  /// Accesses of the loop to a place in a tile.
  std::vector<Access> used_in(BufferId buffer, std::int64_t tile) const {
    std::vector<Access> uses;
    if (tile >= run_.tiles()) return uses;
    const auto add = [&](OpId op) {
      for (std::int64_t n = run_.first_of(tile); n < run_.first_of(tile + 1); ++n) {
        uses.push_back(access(op, n));
      }
    };
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      if (plan_.values[v].home == buffer) add(OpId(v));
    }
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (d.carries_value && plan_.values[d.from.index()].home == buffer) add(d.to);
    }
    return uses;
  }

  /// Requires all of `second` after all of `first`, with fences. For threads of one role, each warp
  /// separately, in its own lanes.
  void require(const char* rule, const Access& first, const Access& second) {
    if (findings_.full()) return;
    const bool own = first.by_threads && second.by_threads && first.role == second.role;
    for (std::size_t s = 0; s < kStrands; ++s) {
      const EventId from = first.when->end[s];
      if (from == kNone) continue;
      for (std::size_t t = 0; t < kStrands; ++t) {
        const EventId to = second.when->begin[t];
        if (to == kNone || (own && s != t) || run_.before_or_same(from, to)) continue;
        findings_.add(rule,
                      fmt::format("with {}, {} is not ordered after {}, in tensor memory",
                                  run_.trips(), second.what, first.what),
                      {run_.describe(to) + " is not ordered after", run_.describe(from)});
        return;
      }
    }
    if (own) return;
    if (first.by_threads) need_fence_after(first, second);
    need_fence_before(first, second);
  }

  void need_fence_after(const Access& first, const Access& second) {
    for (std::size_t s = 0; s < kStrands; ++s) {
      const EventId did = first.when->begin[s];
      if (did == kNone || run_.fenced_after(did, Fence::tensor_before, second.when->begin[0])) {
        continue;
      }
      return report_fence(first, second, Fence::tensor_before, did);
    }
  }

  void need_fence_before(const Access& first, const Access& second) {
    for (std::size_t t = 0; t < kStrands; ++t) {
      const EventId does = second.when->begin[t];
      if (does == kNone || run_.fenced_before(first.when->end[0], Fence::tensor_after, does)) {
        continue;
      }
      return report_fence(first, second, Fence::tensor_after, does);
    }
  }

  void report_fence(const Access& first, const Access& second, Fence kind, EventId at) {
    findings_.add("fence",
                  fmt::format("with {}, {} comes after {} with no {} fence in between",
                              run_.trips(), second.what, first.what, name_of(kind)),
                  {run_.describe(at)});
  }

  const Run& run_;
  const Plan& plan_;
  Findings& findings_;
  std::map<BufferId, std::vector<Touch>> places_;
};

bool is_tensor(const Plan& plan, std::optional<BufferId> buffer) {
  return buffer && plan[*buffer].residence == Residence::tensor;
}

/// Checks lanes. Each warp of a warpgroup reaches a quarter of the lanes, so roles whose threads
/// access whole values need all four warps, in their order.
void check_lanes(const Role& role, const std::string& what, Findings& findings) {
  if (role.warps % machine::kWarpsPerWarpgroup == 0 &&
      role.first_warp % machine::kWarpsPerWarpgroup == 0)
    return;
  findings.add("memory", fmt::format("{} of role {} accesses tensor memory, of which its {} warps "
                                     "from warp {} on do not reach all lanes",
                                     what, role.name, role.warps, role.first_warp));
}

}  // namespace

void check_tensor_places(const Plan& plan, Findings& findings) {
  if (!plan.kernel) return;
  for (const PerTileOp& per_tile_op : plan.kernel->per_tile_ops) {
    for (const TensorAccess& access : per_tile_op.tensor) {
      const Buffer& place = plan[access.buffer];
      check_lanes(plan[access.role], per_tile_op.what, findings);
      const auto shares = [&](const Buffer& other) {
        return &other != &place && share_addresses(other, place);
      };
      if (std::any_of(plan.buffers.begin(), plan.buffers.end(), shares)) {
        findings.add("memory", fmt::format("{} accesses {}, which lies where others do",
                                           per_tile_op.what, place.name));
      }
    }
  }
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    if (plan.mechanisms[v] != Mechanism::threads) continue;
    const auto reads = [&](const problem::Dependence& d) {
      return d.to == OpId(v) && d.carries_value &&
             is_tensor(plan, plan.values[d.from.index()].home);
    };
    const auto dependences = plan.problem.dependences();
    const auto role = role_of(plan, OpId(v));
    if (role && (is_tensor(plan, plan.values[v].home) ||
                 std::any_of(dependences.begin(), dependences.end(), reads))) {
      check_lanes(plan[*role], plan.problem.ops()[v].name, findings);
    }
  }
}

void check_tensor(const Run& run, Findings& findings) {
  if (run.plan().kernel) TensorCheck(run, findings).check();
}

}  // namespace twill::plan::proof
