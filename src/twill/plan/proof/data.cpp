#include "twill/plan/proof/data.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/support/whole_division.h"

namespace twill::plan::proof {
namespace {

class DataCheck {
 public:
  DataCheck(const Run& run, DataMemory& memory, Findings& findings)
      : run_(run),
        plan_(run.plan()),
        findings_(findings),
        slots_(memory.slots),
        write_of_(memory.write_of) {
    slots_.resize(plan_.buffers.size());
    for (std::size_t b = 0; b < slots_.size(); ++b) {
      slots_[b].resize(static_cast<std::size_t>(plan_.buffers[b].depth));
      for (Slot& slot : slots_[b]) {
        slot.writes.clear();
        slot.reads.clear();
      }
    }
    write_of_.resize(plan_.problem.ops().size() * static_cast<std::size_t>(run.iterations()));
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (in_place(d)) in_place_.push_back(&d);
    }
  }

  void check() {
    add_writes();
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      check_dependence(d);
      if (findings_.full()) return;
    }
    for (std::size_t b = 0; b < slots_.size(); ++b) {
      for (Slot& slot : slots_[b]) check_slot(slot, plan_.buffers[b].residence);
      if (findings_.full()) return;
    }
    check_aliases();
  }

 private:
  RoleId role(OpId op) const { return run_.tables().role[op.index()]; }
  Mechanism mechanism(OpId op) const { return plan_.mechanisms[op.index()]; }
  const std::string& name(OpId op) const { return plan_.problem[op].name; }

  Slot& slot_of(BufferId buffer, std::int64_t iteration) {
    auto& slots = slots_[buffer.index()];
    return slots[static_cast<std::size_t>(
        modulo(iteration, static_cast<std::int64_t>(slots.size())))];
  }

  void add_writes() {
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      const Value& value = plan_.values[v];
      const OpId op(v);
      for (std::int64_t i = 0; i < run_.iterations(); ++i) {
        if (value.home) {
          slot_of(*value.home, i).writes.push_back({op, i, op, i, &run_.execution(op, i), false});
        }
        const Execution& staged = run_.staging(op, i);
        if (!value.staged || !staged.exists()) continue;
        slot_of(*value.staged, i).writes.push_back({op, i, op, i, &staged, true});
        const Access copy{op, i, op, i, &staged, true};
        require(written(op, i, false), copy, "read-before-write", true);
        if (value.home) slot_of(*value.home, i).reads.push_back(copy);
      }
    }
  }

  Access written(OpId op, std::int64_t i, bool staged) const {
    return {op, i, op, i, staged ? &run_.staging(op, i) : &run_.execution(op, i), staged};
  }

  void check_dependence(const problem::Dependence& d) {
    for (std::int64_t i = 0; i < run_.iterations() && !findings_.full(); ++i) {
      if (d.carries_value) {
        check_read(d, i);
      } else {
        check_order(d, i);
      }
    }
  }

  void check_order(const problem::Dependence& d, std::int64_t i) {
    const std::int64_t n = i - d.distance;
    if (before_tile(d, i) || plan_.problem[d.from].streaming || run_.in_one_tile(n, i)) return;
    const Access first = written(d.from, n, false);
    const Access second = written(d.to, i, false);
    const problem::Alternative& alternative =
        plan_.problem[d.from]
            .alternatives[static_cast<std::size_t>(plan_.schedule.ops[d.from.index()].alternative)];
    const bool ends = d.through_memory || problem::delay_of(d, plan_.problem[d.from],
                                                            alternative) >= alternative.latency;
    // A queue keeps the order of its work, and each warp its own order.
    if (!d.through_memory && same_queue(d.from, d.to)) return;
    const bool own = !d.through_memory && role(d.from) == role(d.to);
    if (!ordered(*first.when, ends, *second.when, own)) {
      report("dependence", "has to come after", second, first);
    } else if (d.through_memory) {
      check_memory_fence(first, second);
    }
  }

  /// Checks fences between threads and bulk copies. Bulk copies see writes of threads to global
  /// memory after a fence of these threads. Writes of a bulk store are visible once its role has
  /// waited for its end.
  void check_memory_fence(const Access& first, const Access& second) {
    const bool sent = mechanism(first.op) == Mechanism::bulk_store;
    const EventId began = first.when->begin[0], next = second.when->begin[0];
    if (sent && !run_.stored_before(began, first.when->end[0], next)) {
      report("dependence", "has to come after, and no role waits for the end of,", second, first);
      return;
    }
    const Mechanism how = mechanism(second.op);
    const bool bulk = is_bulk_load(how) || how == Mechanism::bulk_store;
    if (bulk && mechanism(first.op) == Mechanism::threads) {
      need_fence_after(first, second, Fence::proxy);
    }
  }

  /// Whether the value that iteration i reads comes from before its tile.
  bool before_tile(const problem::Dependence& d, std::int64_t i) const {
    return run_.in_tile(i) < d.distance;
  }

  void check_read(const problem::Dependence& d, std::int64_t i) {
    const std::int64_t n = i - d.distance;
    const bool crosses = role(d.from) != role(d.to);
    const Value& value = plan_.values[d.from.index()];
    const bool held = value.home && plan_[*value.home].residence == Residence::registers;
    const bool staged = held && crosses;
    const std::optional<BufferId> buffer = staged ? value.staged : value.home;
    if (staged && !buffer) {
      findings_.add(
          "read-before-write",
          fmt::format("{} of role {} reads {}, which never leaves the registers of role {}",
                      name(d.to), plan_[role(d.to)].name, name(d.from), plan_[role(d.from)].name));
      return;
    }
    const Access read{d.to, i, d.from, n, &run_.execution(d.to, i), false};
    if (before_tile(d, i)) {
      if (staged || !buffer) return;  // initial values are known to their reader
      const Buffer& where = plan_[*buffer];
      if (std::min(where.initial, where.depth) < d.distance - run_.in_tile(i)) {
        findings_.add("read-before-write",
                      fmt::format("{} of iteration {} reads {} of iteration {}, of which buffer {} "
                                  "has no copy before the loop",
                                  name(d.to), i, name(d.from), n, where.name));
      }
      // A read by a later tile: another write comes in between.
      if (n < 0) slot_of(*buffer, n).reads.push_back(read);
      return;
    }
    const Access write = written(d.from, n, staged);
    if (staged && !write.when->exists()) {
      findings_.add("read-before-write",
                    fmt::format("with {}, {} of iteration {} reads {}, which is never staged",
                                run_.trips(), name(d.to), i, name(d.from)));
      return;
    }
    if (buffer) slot_of(*buffer, n).reads.push_back(read);
    if (run_.in_one_tile(n, i)) return;
    if (in_place(d) && same_queue(d.from, d.to)) {
      if (!run_.before(write.when->end[0], read.when->end[0])) {
        report("read-before-write", "updates in place, but is not queued after", read, write);
      }
      return;
    }
    if (drains_itself(read) && !crosses) return;
    const bool own = !crosses && is_private(buffer, d.from, d.to);
    if (require(write, read, "read-before-write", own)) check_fences(write, read, buffer);
  }

  /// Whether the dependence updates its value in place: both ends have one place, or no place.
  bool in_place(const problem::Dependence& d) const {
    const auto home = plan_.values[d.to.index()].home;
    return d.in_place && d.carries_value && home == plan_.values[d.from.index()].home &&
           (!home || d.distance % plan_[*home].depth == 0);
  }

  /// Whether each warp reads only its own writes.
  bool is_private(std::optional<BufferId> buffer, OpId writer, OpId reader) const {
    if (!buffer) return true;
    const Residence residence = plan_[*buffer].residence;
    if (residence == Residence::registers) return true;
    return residence == Residence::tensor && mechanism(writer) == Mechanism::threads &&
           mechanism(reader) == Mechanism::threads;
  }

  bool drains_itself(const Access& read) const {
    return run_.events()[read.when->begin[0]].step->drains_first;
  }

  bool same_queue(OpId a, OpId b) const {
    return role(a) == role(b) && mechanism(a) == mechanism(b) &&
           (mechanism(a) == Mechanism::wgmma || mechanism(a) == Mechanism::tcgen05);
  }

  bool require(const Access& first, const Access& second, const char* rule, bool own) {
    if (ordered(*first.when, true, *second.when, own)) return true;
    report(rule, "is not ordered after", second, first);
    return false;
  }

  /// Whether all of `second` comes after all of `first` (or after its begin). `own`: each warp
  /// separately.
  bool ordered(const Execution& first, bool ends, const Execution& second, bool own) const {
    const auto& from = ends ? first.end : first.begin;
    for (std::size_t s = 0; s < kStrands; ++s) {
      if (from[s] == kNone) continue;
      if (!own && s > 0 && from[s] == from[s - 1]) continue;  // all strands have one end
      for (std::size_t t = 0; t < kStrands; ++t) {
        if (second.begin[t] == kNone) continue;
        const bool apart = own && s != t && from[t] != kNone && second.begin[s] != kNone;
        if (apart || run_.before_or_same(from[s], second.begin[t])) continue;
        return false;
      }
    }
    return true;
  }

  void report(const char* rule, const char* relation, const Access& second, const Access& first) {
    const auto [a, b] = unordered_pair(*first.when, *second.when);
    findings_.add(rule,
                  fmt::format("with {}, {} of iteration {} {} {} of iteration {}", run_.trips(),
                              name(second.op), second.at, relation, name(first.op), first.at),
                  {run_.describe(b) + " is not ordered after", run_.describe(a)});
  }

  std::pair<EventId, EventId> unordered_pair(const Execution& first,
                                             const Execution& second) const {
    for (std::size_t s = 0; s < kStrands; ++s) {
      for (std::size_t t = 0; t < kStrands; ++t) {
        if (first.end[s] == kNone || second.begin[t] == kNone) continue;
        if (!run_.before_or_same(first.end[s], second.begin[t])) {
          return {first.end[s], second.begin[t]};
        }
      }
    }
    return {first.end[0], second.begin[0]};
  }

  bool by_threads(const Access& access) const {
    return access.staging || mechanism(access.op) == Mechanism::threads;
  }

  void check_fences(const Access& write, const Access& read, std::optional<BufferId> buffer) {
    if (!buffer) return;
    const Residence residence = plan_[*buffer].residence;
    const Mechanism reader = mechanism(read.op);
    const bool async_reader = reader == Mechanism::wgmma || reader == Mechanism::tcgen05 ||
                              reader == Mechanism::bulk_store;
    if (residence == Residence::shared && by_threads(write) && async_reader) {
      need_fence_after(write, read, Fence::proxy);
    }
    // A copy by threads ends without a step of the copying threads, so only its readers can fence.
    const bool copied = mechanism(write.op) == Mechanism::cp_async && !write.staging;
    if (residence == Residence::shared && copied && async_reader) {
      need_fence_before(write, read, Fence::proxy);
    }
    check_tensor_fences(write, read, residence);
  }

  /// Checks accesses to tensor memory by different warps, at least one a write: tcgen05.fence
  /// orders them. Work of the unit itself has ended when its barrier completes, and needs no
  /// earlier fence.
  void check_tensor_fences(const Access& first, const Access& second, Residence residence) {
    if (residence != Residence::tensor || same_queue(first.op, second.op)) return;
    const auto by_tcgen05 = [&](const Access& access) {
      return by_threads(access) || mechanism(access.op) == Mechanism::tcgen05;
    };
    if (!by_tcgen05(first) || !by_tcgen05(second)) return;
    const bool one_role = role(first.op) == role(second.op);
    const bool own_lanes = by_threads(first) && by_threads(second);
    if (one_role && (own_lanes || plan_[role(first.op)].warps == 1)) return;
    if (by_threads(first)) need_fence_after(first, second, Fence::tensor_before);
    need_fence_before(first, second, Fence::tensor_after);
  }

  /// Checks for a fence in each strand of the first, after the first and before the second.
  void need_fence_after(const Access& first, const Access& second, Fence kind) {
    for (std::size_t s = 0; s < kStrands; ++s) {
      const EventId did = first.when->begin[s];
      if (did == kNone || run_.fenced_after(did, kind, second.when->begin[0])) continue;
      findings_.add(
          "fence",
          fmt::format("with {}, {} of iteration {} comes after {} with no {} fence in between",
                      run_.trips(), name(second.op), second.at, name(first.op), name_of(kind)),
          {run_.describe(did)});
      return;
    }
  }

  /// Checks for a fence in each strand of the second, after the first and before the second.
  void need_fence_before(const Access& first, const Access& second, Fence kind) {
    for (std::size_t t = 0; t < kStrands; ++t) {
      const EventId does = second.when->begin[t];
      if (does == kNone || run_.fenced_before(first.when->end[0], kind, does)) continue;
      findings_.add(
          "fence",
          fmt::format("with {}, {} of iteration {} comes after {} with no {} fence in between",
                      run_.trips(), name(second.op), second.at, name(first.op), name_of(kind)),
          {run_.describe(does)});
      return;
    }
  }

  /// Whether `second`, a write, may begin in the place of `first`.
  bool may_follow(const Access& first, const Access& second, bool own) const {
    if (!first.staging && !second.staging && same_queue(first.op, second.op)) {
      return run_.before(first.when->end[0], second.when->end[0]);
    }
    if (drains_itself(first) && role(first.op) == role(second.op)) return true;
    return ordered(*first.when, true, *second.when, own);
  }

  /// Checks that all writes follow each other, and that each read lies between its write and the
  /// next.
  void check_slot(Slot& slot, Residence residence) {
    std::sort(slot.writes.begin(), slot.writes.end(), [&](const Access& a, const Access& b) {
      return run_.position(a.when->begin[0]) < run_.position(b.when->begin[0]);
    });
    for (std::size_t k = 0; k + 1 < slot.writes.size(); ++k) {
      const Access& next = slot.writes[k + 1];
      if (run_.in_one_tile(slot.writes[k].at, next.at)) continue;
      if (may_follow(slot.writes[k], next, own(slot.writes[k], next))) {
        check_tensor_fences(slot.writes[k], next, residence);
        continue;
      }
      report("overwrite", "overwrites, and is not ordered after,", next, slot.writes[k]);
      if (findings_.full()) return;
    }
    find_writes(slot);
    for (const Access& read : slot.reads) check_overwritten(slot, read, residence);
  }

  /// Finds the write of each read of a slot, once the writes are in order.
  void find_writes(Slot& slot) {
    const auto number = [&](OpId op, std::int64_t iteration) {
      return op.index() * static_cast<std::size_t>(run_.iterations()) +
             static_cast<std::size_t>(iteration);
    };
    for (std::size_t k = slot.writes.size(); k-- > 0;) {
      write_of_[number(slot.writes[k].op, slot.writes[k].at)] = k;
    }
    for (Access& read : slot.reads) {
      if (read.iteration < 0) continue;
      const std::size_t k = write_of_[number(read.value, read.iteration)];
      // A write of another slot, as the next line finds, too.
      if (k >= slot.writes.size()) continue;
      const Access& write = slot.writes[k];
      if (write.op == read.value && write.at == read.iteration) read.write = k;
    }
  }

  /// Whether the op updates in place the value of `write`, or an in-place update of that value.
  /// Then the op reads the last value of the chain, and the earlier values only have to be
  /// complete.
  bool updates(OpId op, std::int64_t at, const Access& write) const {
    return std::any_of(in_place_.begin(), in_place_.end(), [&](const problem::Dependence* d) {
      const std::int64_t from = at - d->distance;
      if (d->to != op || from < write.at) return false;
      if (d->from == write.op && from == write.at) return true;
      return d->from != op && updates(d->from, from, write);
    });
  }

  bool own(const Access& first, const Access& second) const {
    const auto home = plan_.values[second.op.index()].home;
    // The same op writes the same part of the tile by the same threads.
    if (first.op == second.op && first.op == first.value && by_threads(first)) return true;
    return !second.staging && role(first.op) == role(second.op) &&
           is_private(home, second.op, first.op);
  }

  void check_overwritten(const Slot& slot, const Access& read, Residence residence) {
    if (read.iteration >= 0 && !read.write) return;  // this case is found elsewhere
    const std::size_t after = read.write ? *read.write + 1 : 0;
    if (after >= slot.writes.size()) return;
    const Access* const next = &slot.writes[after];
    if (run_.in_one_tile(read.at, next->at)) return;
    if (next->op == read.op && next->at == read.at && !next->staging && !read.staging) {
      check_own_result(read);
      return;
    }
    if (!read.staging && updates(read.op, read.at, *next)) return;
    if (may_follow(read, *next, own(read, *next))) {
      check_tensor_fences(read, *next, residence);
      return;
    }
    report("overwrite",
           fmt::format("overwrites {} of iteration {}, and is not ordered after its reader",
                       name(read.value), read.iteration)
               .c_str(),
           *next, read);
  }

  /// Checks buffers that share addresses: all accesses to one buffer end before the other is
  /// written.
  void check_aliases() {
    for (std::size_t a = 0; a < plan_.buffers.size(); ++a) {
      for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
        if (a == b || !share_addresses(plan_.buffers[a], plan_.buffers[b])) continue;
        for (std::size_t i = 0; i < slots_[a].size(); ++i) {
          for (std::size_t j = 0; j < slots_[b].size(); ++j) {
            if (overlap(plan_.buffers[a], i, plan_.buffers[b], j)) {
              check_alias(slots_[a][i], slots_[b][j], plan_.buffers[a].residence);
            }
            if (findings_.full()) return;
          }
        }
      }
    }
  }

  static bool overlap(const Buffer& a, std::size_t i, const Buffer& b, std::size_t j) {
    const Amount from = a.offset + static_cast<Amount>(i) * a.size;
    const Amount other = b.offset + static_cast<Amount>(j) * b.size;
    return from < other + b.size && other < from + a.size;
  }

  /// Whether two accesses are by different warps, each in its own lanes of tensor memory.
  bool apart(const Access& a, const Access& b, Residence residence) const {
    return residence == Residence::tensor && role(a.op) == role(b.op) && !a.staging && !b.staging &&
           mechanism(a.op) == Mechanism::threads && mechanism(b.op) == Mechanism::threads;
  }

  void check_alias(const Slot& mine, const Slot& theirs, Residence residence) {
    for (const Access& foreign : theirs.writes) {
      for (const Access& write : mine.writes) {
        const bool own = apart(write, foreign, residence);
        if (may_follow(write, foreign, own)) {
          check_tensor_fences(write, foreign, residence);
          continue;
        }
        if (may_follow(foreign, write, own)) continue;  // checked in the opposite order, too
        report("overwrite", "lies in the same place as, and is not ordered with,", foreign, write);
        if (findings_.full()) return;
      }
      for (const Access& read : mine.reads) {
        const Access& write = read.write ? mine.writes[*read.write] : read;
        const bool before_write =
            read.iteration >= 0 && may_follow(foreign, write, apart(foreign, write, residence));
        if (before_write) continue;
        if (may_follow(read, foreign, apart(read, foreign, residence))) {
          check_tensor_fences(read, foreign, residence);
          continue;
        }
        report("overwrite", "lies in the same place as data read by, and is not ordered after,",
               foreign, read);
        if (findings_.full()) return;
      }
    }
  }

  /// Checks an op that overwrites its operand. It must update the operand in place, or each warp
  /// must have read all of its own part before its first write.
  void check_own_result(const Access& read) {
    const bool updates =
        std::any_of(in_place_.begin(), in_place_.end(), [&](const problem::Dependence* d) {
          return d->to == read.op && d->from == read.value &&
                 read.at - d->distance == read.iteration;
        });
    const bool at_once = mechanism(read.op) == Mechanism::threads &&
                         (is_private(plan_.values[read.op.index()].home, read.op, read.op) ||
                          plan_[role(read.op)].warps == 1);
    if (updates || at_once) return;
    findings_.add("overwrite", fmt::format("with {}, {} of iteration {} writes its result over "
                                           "{} of iteration {} while it reads that",
                                           run_.trips(), name(read.op), read.at, name(read.value),
                                           read.iteration));
  }

  const Run& run_;
  const Plan& plan_;
  Findings& findings_;
  std::vector<const problem::Dependence*> in_place_;
  std::vector<std::vector<Slot>>& slots_;
  std::vector<std::size_t>& write_of_;
};

}  // namespace

void check_data(const Run& run, DataMemory& memory, Findings& findings) {
  DataCheck(run, memory, findings).check();
}

}  // namespace twill::plan::proof
