#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "twill/plan/proof/run.h"
#include "twill/plan/rings.h"

namespace twill::plan::proof {
namespace {

/// Checks prologue and epilogue ops: each of their roles does each of them once per tile, or once
/// after the last tile.
/// Loop-invariant buffers must be filled, and staging buffers free.
class PerTileCheck {
 public:
  PerTileCheck(const Run& run, Findings& findings)
      : run_(run),
        plan_(run.plan()),
        per_tile_ops_(plan_.kernel->per_tile_ops),
        findings_(findings) {}

  void check() {
    for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) check_done(i);
    if (!findings_.empty()) return;
    for (std::size_t i = 0; i < per_tile_ops_.size() && !findings_.full(); ++i) {
      if (is_copy(per_tile_ops_[i].mechanism)) check_invariant_buffer(i);
      if (per_tile_ops_[i].mechanism == Mechanism::bulk_store) check_staging(i);
      if (per_tile_ops_[i].alone) check_alone(i);
    }
    for (std::size_t b = 0; b < plan_.buffers.size() && !findings_.full(); ++b) {
      if (!plan_.buffers[b].invariant_buffer || !plan_.buffers[b].staging) continue;
      check_reuse(BufferId(b));
      check_overlaid(BufferId(b));
    }
    check_results();
  }

 private:
  /// An execution of a prologue or epilogue op, or of an op in the loop.
  struct Doing {
    const Execution* when = nullptr;
    std::int64_t number = 0;  ///< number of the tile or iteration
    std::optional<OpId> op;
    std::size_t per_tile_op = 0;
    bool staging = false;
  };

  Doing doing(std::size_t i, RoleId role, std::int64_t tile, bool staging = false) const {
    const Execution& when =
        staging ? run_.per_tile_staging(i, role, tile) : run_.per_tile_op(i, role, tile);
    return {&when, tile, std::nullopt, i, staging};
  }

  Doing doing(OpId op, std::int64_t iteration) const {
    return {&run_.execution(op, iteration), iteration, op};
  }

  std::string name(const Doing& it) const {
    if (it.op) return fmt::format("{} of iteration {}", plan_.problem[*it.op].name, it.number);
    return fmt::format("{}{} of tile {}", it.staging ? "the staging of " : "",
                       per_tile_ops_[it.per_tile_op].what, it.number);
  }

  bool does(std::size_t i, RoleId role) const {
    const auto& roles = per_tile_ops_[i].roles;
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  }

  /// Whether an op is done once, after the last tile. In the run it is an op of tile 0.
  bool is_done_once(std::size_t i) const { return per_tile_ops_[i].when == PerTileOp::When::end; }

  void check_done(std::size_t i) {
    if (per_tile_ops_[i].roles.empty()) {
      findings_.add("ownership", fmt::format("no role does {}", per_tile_ops_[i].what));
    }
    for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
      const RoleId role(r);
      const bool stages = does(i, role) && per_tile_ops_[i].mechanism == Mechanism::bulk_store;
      const bool its = per_tile_ops_[i].sender ? per_tile_ops_[i].sender == role : does(i, role);
      for (std::int64_t t = 0; t < run_.tiles() && !findings_.full(); ++t) {
        const bool begins = loader_of(plan_, per_tile_ops_[i]) == role;
        const bool now = t == 0 || !is_done_once(i);
        const bool done = run_.per_tile_op(i, role, t).exists() == (now && (its || begins)) &&
                          run_.per_tile_staging(i, role, t).exists() == (now && stages);
        if (done) continue;
        findings_.add("ownership",
                      fmt::format("with {}, {} of tile {} is not done as role {} should",
                                  run_.trips(), per_tile_ops_[i].what, t, plan_.roles[r].name));
      }
    }
  }

  /// Requires all of `second` after all of `first`; `own`: for each warp separately.
  bool require(const char* rule, const Doing& first, const Doing& second, bool own = false) {
    for (std::size_t s = 0; s < kStrands; ++s) {
      const EventId from = first.when->end[s];
      if (from == kNone) continue;
      for (std::size_t t = 0; t < kStrands; ++t) {
        const EventId to = second.when->begin[t];
        if (to == kNone || (own && s != t && second.when->begin[s] != kNone)) continue;
        if (run_.before_or_same(from, to)) continue;
        findings_.add(rule,
                      fmt::format("with {}, {} is not ordered after {}", run_.trips(), name(second),
                                  name(first)),
                      {run_.describe(to) + " is not ordered after", run_.describe(from)});
        return false;
      }
    }
    return true;
  }

  /// Checks that every read of a loop-invariant buffer lies between the copy that fills it for its
  /// tile and the next copy.
  void check_invariant_buffer(std::size_t fill) {
    const BufferId buffer = per_tile_ops_[fill].buffers.front();
    const RoleId loader = per_tile_ops_[fill].roles.front();
    for (std::int64_t t = 0; t < run_.tiles() && !findings_.full(); ++t) {
      const Doing filled = doing(fill, loader, t);
      const bool again = t + 1 < run_.tiles();
      if (again) require("overwrite", filled, doing(fill, loader, t + 1));
      for (const Doing& reader : readers_of(buffer, t)) {
        if (!require("read-before-write", filled, reader)) return;
        if (!fenced_for(reader, filled)) return;
        if (again && !require("overwrite", reader, doing(fill, loader, t + 1))) return;
      }
    }
  }

  /// Whether a fence of the reader, after the end of the copy, orders its reads of copies by
  /// threads through the async proxy.
  bool fenced_for(const Doing& reader, const Doing& filled) {
    if (per_tile_ops_[filled.per_tile_op].mechanism != Mechanism::cp_async) return true;
    const Mechanism how = reader.op ? plan_.mechanisms[reader.op->index()]
                                    : per_tile_ops_[reader.per_tile_op].mechanism;
    const bool asynchronous = how == Mechanism::wgmma || how == Mechanism::tcgen05 ||
                              (how == Mechanism::bulk_store && !reader.staging);
    for (std::size_t t = 0; asynchronous && t < kStrands; ++t) {
      const EventId reads = reader.when->begin[t];
      if (reads == kNone || run_.fenced_before(filled.when->end[0], Fence::proxy, reads)) continue;
      findings_.add(
          "fence",
          fmt::format("with {}, {} reads {}, which threads copied, with no proxy fence in "
                      "between",
                      run_.trips(), name(reader), name(filled)),
          {run_.describe(reads)});
      return false;
    }
    return true;
  }

  std::vector<Doing> readers_of(BufferId buffer, std::int64_t tile) const {
    std::vector<Doing> readers;
    for (const OpId op : plan_[buffer].readers) {
      for (std::int64_t n = run_.first_of(tile); n < run_.first_of(tile + 1); ++n) {
        readers.push_back(doing(op, n));
      }
    }
    for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
      const auto& reads = per_tile_ops_[i].reads;
      if (std::find(reads.begin(), reads.end(), buffer) == reads.end()) continue;
      for (const RoleId role : per_tile_ops_[i].roles) {
        const bool staged = per_tile_ops_[i].mechanism == Mechanism::bulk_store;
        readers.push_back(doing(i, role, tile, staged));
      }
    }
    return readers;
  }

  /// Checks that all rows are staged, and fenced for the async proxy, before the copy from the
  /// buffer begins.
  void check_staging(std::size_t i) {
    for (const RoleId role : per_tile_ops_[i].roles) {
      for (std::int64_t t = 0; t < run_.tiles(); ++t) {
        const Doing staged = doing(i, role, t, true);
        const Doing sent = doing(i, sender_of(i, role), t);
        if (!require("read-before-write", staged, sent) || !fenced(staged, sent)) return;
      }
    }
  }

  /// The role that issues a bulk store for rows of a role.
  RoleId sender_of(std::size_t i, RoleId role) const {
    return per_tile_ops_[i].sender.value_or(role);
  }

  bool fenced(const Doing& staged, const Doing& sent) {
    for (std::size_t s = 0; s < kStrands; ++s) {
      const EventId wrote = staged.when->begin[s];
      if (wrote == kNone || run_.fenced_after(wrote, Fence::proxy, sent.when->begin[0])) continue;
      findings_.add("fence",
                    fmt::format("with {}, {} has no proxy fence after {}", run_.trips(), name(sent),
                                name(staged)),
                    {run_.describe(wrote)});
      return false;
    }
    return true;
  }

  /// Checks that the last use of a staging buffer has been read when the buffer is written again.
  void check_reuse(BufferId buffer) {
    std::vector<Doing> last;
    for (std::int64_t t = 0; t < run_.tiles(); ++t) {
      for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
        std::vector<Doing> sent;
        for (const RoleId role : per_tile_ops_[i].roles) {
          if (!stages_through(i, role, buffer)) continue;
          for (const Doing& earlier : last) {
            if (!require("overwrite", earlier, doing(i, role, t, true))) return;
          }
          sent.push_back(doing(i, sender_of(i, role), t));
        }
        if (!sent.empty()) last = std::move(sent);
      }
    }
  }

  /// Checks staging that shares its place with another buffer. All accesses to any copy of that
  /// buffer have ended when the role stages, so printers may lay the tile over all copies.
  void check_overlaid(BufferId staging) {
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      const Buffer& buffer = plan_.buffers[b];
      if (BufferId(b) == staging || !share_addresses(buffer, plan_[staging])) continue;
      const std::vector<Doing> accesses =
          buffer.invariant_buffer ? readers_of(BufferId(b), 0) : accesses_to(BufferId(b));
      for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
        for (const RoleId role : per_tile_ops_[i].roles) {
          if (!stages_through(i, role, staging)) continue;
          for (const Doing& access : accesses) {
            if (!require("overwrite", access, doing(i, role, 0, true))) return;
          }
        }
      }
    }
  }

  /// All accesses of the loop to a buffer, and of loops after it that continue to use the buffer.
  std::vector<Doing> accesses_to(BufferId buffer) const {
    std::set<OpId> ops, stagings;
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      const Value& value = plan_.values[v];
      if (value.home == buffer) ops.insert(OpId(v));
      if (value.staged && (value.home == buffer || value.staged == buffer))
        stagings.insert(OpId(v));
    }
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (d.carries_value && read_from(plan_, d.from, d.to) == buffer) ops.insert(d.to);
    }
    std::vector<Doing> accesses;
    for (std::int64_t n = 0; n < run_.iterations(); ++n) {
      for (const OpId op : ops) accesses.push_back(doing(op, n));
      for (const OpId op : stagings) accesses.push_back({&run_.staging(op, n), n, op, 0, true});
    }
    for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
      const auto& loads = per_tile_ops_[i].loads;
      const bool fills = std::any_of(loads.begin(), loads.end(), [&](const RingLoad& load) {
        return plan_.values[load.copy.index()].home == buffer;
      });
      if (!fills) continue;
      for (const RoleId role : per_tile_ops_[i].roles) accesses.push_back(doing(i, role, 0));
    }
    return accesses;
  }

  bool stages_through(std::size_t i, RoleId role, BufferId buffer) const {
    if (per_tile_ops_[i].mechanism != Mechanism::bulk_store) return false;
    if (per_tile_ops_[i].sender) return does(i, role) && per_tile_ops_[i].buffers[0] == buffer;
    for (std::size_t k = 0; k < per_tile_ops_[i].roles.size(); ++k) {
      if (per_tile_ops_[i].roles[k] == role && per_tile_ops_[i].buffers[k] == buffer) return true;
    }
    return false;
  }

  /// Checks the effect that one role has for all. It keeps its place among accesses to global
  /// memory outside the loop, and comes after all groups' loops. Bulk stores before it are under
  /// way by then.
  void check_alone(std::size_t effect) {
    const RoleId by = per_tile_ops_[effect].roles.front();
    for (std::int64_t t = 0; t < run_.tiles() && !findings_.full(); ++t) {
      const Doing acts = doing(effect, by, t);
      for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
        const PerTileOp& it = per_tile_ops_[i];
        const bool bulk = it.mechanism == Mechanism::bulk_store;
        const bool accesses = it.writes || it.alone || it.mechanism == Mechanism::scoreboard;
        if (i == effect || !accesses) continue;
        for (const RoleId role : it.roles) {
          const bool later = i > effect && it.when != PerTileOp::When::before;
          const std::int64_t when = is_done_once(i) ? 0 : t;
          if (later && !require("order", acts, doing(i, role, when, bulk))) return;
          if (!later && !bulk && !require("order", doing(i, role, t), acts)) return;
          const bool again = t + 1 < run_.tiles();
          if (again && !require("order", acts, doing(i, role, t + 1, bulk))) return;
        }
      }
      for (std::size_t v = 0; v < plan_.mechanisms.size(); ++v) {
        if (plan_.mechanisms[v] == Mechanism::bulk_store) continue;
        for (std::int64_t n = run_.first_of(t); n < run_.first_of(t + 1); ++n) {
          if (!require("order", doing(OpId(v), n), acts)) return;
        }
      }
    }
  }

  /// Checks that the accumulators are complete when epilogue ops of a role read them.
  void check_results() {
    for (std::size_t v = 0; v < plan_.mechanisms.size() && !findings_.full(); ++v) {
      if (plan_.mechanisms[v] != Mechanism::wgmma) continue;
      const RoleId role = run_.tables().role[v];
      for (std::int64_t n = 0; n < run_.iterations(); ++n) {
        if (!check_result(OpId(v), role, n)) return;
      }
    }
  }

  bool check_result(OpId op, RoleId role, std::int64_t n) {
    for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
      if (per_tile_ops_[i].when == PerTileOp::When::before || !does(i, role)) continue;
      const bool staged = per_tile_ops_[i].mechanism == Mechanism::bulk_store;
      const Doing next = doing(i, role, is_done_once(i) ? 0 : run_.tile_of(n), staged);
      if (!require("read-before-write", doing(op, n), next, true)) return false;
    }
    return true;
  }

  const Run& run_;
  const Plan& plan_;
  const std::vector<PerTileOp>& per_tile_ops_;
  Findings& findings_;
};

}  // namespace

void check_per_tile_ops(const Run& run, Findings& findings) {
  if (run.plan().kernel) PerTileCheck(run, findings).check();
}

}  // namespace twill::plan::proof
