#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "twill/plan/draft.h"
#include "twill/plan/make.h"
#include "twill/plan/proof.h"
#include "twill/problem/problem.h"
#include "twill/problem/staging.h"

namespace twill::plan {
namespace {

/// Registers per thread up to which a transferred value counts as one element per row.
constexpr int kRowVector = 2;

/// Ops whose results share one buffer, since each op updates its predecessor's result in place.
class Together {
 public:
  explicit Together(const Draft& draft) : up_(draft.plan.problem.ops().size()) {
    std::iota(up_.begin(), up_.end(), std::size_t{0});
    for (const Read& read : draft.reads) {
      const bool memory =
          !draft.op(read.value).footprint.empty() || !draft.op(read.reader).footprint.empty();
      if (read.in_place && (memory || draft.same_role(read.value, read.reader))) {
        unite(read.value.index(), read.reader.index());
      }
    }
  }
  std::size_t of(std::size_t op) const {
    while (up_[op] != op) op = up_[op];
    return op;
  }

 private:
  void unite(std::size_t a, std::size_t b) {
    const std::size_t first = of(a);
    const std::size_t second = of(b);
    up_[std::max(first, second)] = std::min(first, second);
  }
  std::vector<std::size_t> up_;
};

Result<const problem::Footprint*> footprint_of(const Draft& draft, OpId id) {
  const auto& footprint = draft.op(id).footprint;
  if (footprint.size() > 1) {
    return fail({}, fmt::format("{} occupies {} memories at once; a plan gives a value one place",
                                draft.op(id).name, footprint.size()));
  }
  return footprint.empty() ? nullptr : &footprint.front();
}

/// Whether each warp of the reader has read all of its own operand before it writes any result.
bool reads_at_once(const Draft& draft, OpId reader, Residence where) {
  return !draft.op(reader).asynchronous &&
         (where != Residence::shared || draft.role_at(reader).warps == 1);
}

/// Cycles after its begin for which a read of a buffer needs its operand. At least 1 if its result
/// goes to the same buffer but not to the same copy.
Cycles hold_of(const Draft& draft, const Read& read, const std::vector<OpId>& members,
               Residence where) {
  const bool here = std::find(members.begin(), members.end(), read.reader) != members.end();
  const bool free = !here || read.in_place || reads_at_once(draft, read.reader, where);
  return std::max<Cycles>(read.hold, free ? 0 : 1);
}

/// Life [begin, end) of the first copy. Register values are not held for readers of other roles.
std::pair<Cycles, Cycles> alive_of(const Draft& draft, const std::vector<OpId>& members,
                                   Residence where) {
  const bool in_registers = where == Residence::registers;
  std::pair<Cycles, Cycles> alive{draft.issue(members[0]), 0};
  for (const OpId member : members) {
    alive.first = std::min(alive.first, draft.issue(member));
    for (const Read& read : draft.reads) {
      if (read.value != member || !read.carries_value) continue;
      const bool other = in_registers && !draft.same_role(member, read.reader);
      const Cycles end = other ? ready(draft, member)
                               : draft.issue(read.reader) + read.distance * draft.interval +
                                     hold_of(draft, read, members, where);
      alive.second = std::max(alive.second, end);
    }
  }
  alive.second = std::max(alive.second, alive.first);
  return alive;
}

/// Memory, size and role of the buffer that a set of ops shares.
Result<Buffer> place_of(const Draft& draft, const std::vector<OpId>& members) {
  Buffer buffer;
  buffer.name = draft.op(members.back()).name;
  for (const OpId member : members) {
    TWILL_TRY(const problem::Footprint* footprint, footprint_of(draft, member));
    if (footprint == nullptr) continue;
    const std::string& memory = draft.plan.problem[footprint->memory].name;
    if (!buffer.memory.empty() && memory != buffer.memory) {
      return fail({}, fmt::format("{} is updated in place in two memories", buffer.name));
    }
    buffer.memory = memory;
    buffer.residence = memory == "TMEM" ? Residence::tensor : Residence::shared;
    buffer.size = std::max(buffer.size, footprint->amount);
  }
  for (const OpId member : members) {
    const bool fits = buffer.memory.empty() || !draft.op(member).footprint.empty() ||
                      draft.op(member).registers <= buffer.size;
    if (fits) continue;
    return fail({}, fmt::format("{} updates in place what takes {} of {}, but its own result takes "
                                "{} registers",
                                draft.op(member).name, buffer.size, buffer.memory,
                                draft.op(member).registers));
  }
  if (!buffer.memory.empty()) return buffer;
  buffer.residence = Residence::registers;
  buffer.role = draft.role[members[0].index()];
  for (const OpId member : members) {
    buffer.size = std::max<Amount>(buffer.size, draft.op(member).registers);
  }
  return buffer;
}

/// Whether `writer` of iteration k overwrites the operand of a read of iteration 0's value.
bool spoils(const Draft& draft, const Read& read, OpId writer, Cycles k, Cycles hold) {
  if (writer == read.value && k == 0) return false;
  const Cycles used = draft.issue(read.reader) + read.distance * draft.interval;
  if (writer == read.reader && k == read.distance) return hold > 0 && !read.in_place;
  const Cycles made = draft.issue(read.value);
  const Cycles written = draft.issue(writer) + k * draft.interval;
  if (written < made || written >= used + hold) return false;
  // An in-place op inherits the buffer of the last value; the lives of the other values must have
  // ended.
  if (read.in_place && updates(draft, read.reader, writer, read.distance - k)) return false;
  return written > made || !updates(draft, read.value, writer, -k);
}

/// Checks that ops which update one place leave each value there until its last read. No rule of a
/// schedule demands it.
Result<void> check_updates(const Draft& draft, const std::vector<OpId>& members,
                           const Buffer& buffer) {
  if (buffer.initial > buffer.depth) {
    return fail({}, fmt::format("{} is updated in place, but values of {} iterations are needed "
                                "before the loop",
                                buffer.name, buffer.initial));
  }
  for (const Read& read : draft.reads) {
    const bool here = std::find(members.begin(), members.end(), read.value) != members.end();
    const bool elsewhere =
        buffer.residence == Residence::registers && !draft.same_role(read.value, read.reader);
    if (!here || elsewhere || !read.carries_value) continue;
    const Cycles hold = hold_of(draft, read, members, buffer.residence);
    const Cycles last =
        floor_divide(draft.issue(read.reader) + hold, draft.interval) + read.distance + 1;
    for (const OpId writer : members) {
      const Cycles first =
          floor_divide(draft.issue(read.value) - draft.issue(writer), draft.interval);
      for (Cycles k = first; k <= last; ++k) {
        if (k % buffer.depth != 0 || !spoils(draft, read, writer, k, hold)) continue;
        return fail({},
                    fmt::format("{} still reads {} when {} overwrites it in place",
                                draft.op(read.reader).name, draft.op(read.value).name,
                                draft.op(writer).name),
                    "`twill compare` says which strategies have a plan; if none has, multiply "
                    "without the sum and add the product to it");
      }
    }
  }
  return {};
}

tl::unexpected<Diagnostic> too_many_copies(const std::string& buffer, Cycles copies) {
  return fail({},
              fmt::format("{} copies of {} are in use at once; plans go up to {}", copies, buffer,
                          kMostOfAnything),
              "shorten the latencies for which they wait");
}

/// Adds the buffer of one set of ops, with the time during which its first copy is in use.
Result<void> add_home(Draft& draft, const std::vector<OpId>& members) {
  TWILL_TRY(Buffer buffer, place_of(draft, members));
  if (buffer.size == 0) return {};  // it only orders, or lies in global memory
  const bool in_registers = buffer.residence == Residence::registers;
  int carried = 0;  // iterations after which each copy is updated again; 0: no copy is
  for (const Read& read : draft.reads) {
    if (!read.carries_value) continue;
    if (std::find(members.begin(), members.end(), read.value) == members.end()) continue;
    if (!in_registers || draft.same_role(read.value, read.reader)) {
      buffer.initial = std::max(buffer.initial, read.distance);
    }
    if (read.in_place) carried = std::gcd(carried, read.distance);
  }
  std::pair<Cycles, Cycles> alive = alive_of(draft, members, buffer.residence);
  const Cycles copies =
      std::max<Cycles>(1, ceil_divide(alive.second - alive.first, draft.interval));
  if (carried == 0 && copies + buffer.initial > kMostOfAnything) {
    return too_many_copies(buffer.name, copies + buffer.initial);
  }
  buffer.depth = carried > 0 ? carried : static_cast<int>(copies);
  if (carried > 0) {
    alive.second = std::max(alive.second, alive.first + buffer.depth * draft.interval);
  }
  // Copies that exist before the loop keep slots of their own until the first lap is over.
  if (carried == 0 && !in_registers) buffer.depth += buffer.initial;
  if (carried == 0 && in_registers) buffer.depth = std::max(buffer.depth, buffer.initial);
  TWILL_TRY_VOID(check_updates(draft, members, buffer));
  for (const OpId member : members) {
    draft.plan.values[member.index()].home = BufferId(draft.plan.buffers.size());
    const bool read = std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& it) {
      return it.value == member && it.carries_value;
    });
    if (!read) alive.second = std::max(alive.second, end_of_access(draft, member));
  }
  draft.plan.buffers.push_back(std::move(buffer));
  draft.alive.push_back(alive);
  return {};
}

/// Sets the mechanism of asynchronous work by the place that it writes.
void settle_mechanism(Draft& draft, OpId op) {
  Mechanism& mechanism = draft.plan.mechanisms[op.index()];
  const auto home = draft.home(op);
  if (!home) return;
  if (draft.plan[*home].residence == Residence::registers) {
    if (mechanism == Mechanism::tcgen05) mechanism = Mechanism::wgmma;
    return;
  }
  if (mechanism == Mechanism::wgmma || mechanism == Mechanism::scoreboard) {
    mechanism = Mechanism::tcgen05;
  }
}

/// Checks that work which one warp starts does not read registers of other warps.
Result<void> check_operands(const Draft& draft) {
  for (const Read& read : draft.reads) {
    const auto home = draft.home(read.value);
    if (!read.carries_value || !home || draft.role_at(read.value).warps == 1) continue;
    const Mechanism how = draft.mechanism(read.reader);
    const bool one = how == Mechanism::tcgen05 || how == Mechanism::bulk_store || is_bulk_load(how);
    const bool held = draft.plan[*home].residence == Residence::registers;
    if (!one || !held || !draft.same_role(read.value, read.reader)) continue;
    return fail({}, fmt::format("{} is started by one warp, but reads {} from the registers of {}",
                                draft.op(read.reader).name, draft.op(read.value).name,
                                draft.role_at(read.value).warps));
  }
  return {};
}

/// Name of the memory in which register values wait for readers of other roles.
Result<std::string> name_of_staging(const Draft& draft, OpId value) {
  const auto memory = problem::staging_memory(draft.plan.problem);
  if (memory) return draft.plan.problem[*memory].name;
  return fail({},
              fmt::format("{} is read in another group, and a plan transfers values in shared "
                          "memory, which the loop does not have",
                          draft.op(value).name),
              "add a line `memory SMEM capacity N`, N in bytes");
}

StagingFormat format_for(const Draft& draft, OpId value, OpId reader) {
  const Mechanism mechanism = draft.mechanism(reader);
  if (mechanism == Mechanism::wgmma || mechanism == Mechanism::tcgen05) {
    return StagingFormat::operand;
  }
  if (draft.op(value).registers <= kRowVector) return StagingFormat::row_vector;
  const bool alike = draft.role_at(value).warps == draft.role_at(reader).warps;
  return alike && mechanism == Mechanism::threads ? StagingFormat::fragment : StagingFormat::tile;
}

/// Adds staging if a reader is in another role. A value stays in registers until it is written to
/// its staging buffer, and is only there from then on.
Result<void> add_staging(Draft& draft, OpId value) {
  const auto home = draft.home(value);
  if (!home || draft.plan[*home].residence != Residence::registers) return {};
  const Cycles begin = ready(draft, value);
  Cycles first = begin;  // without waiting for the latency, a reader may be planned earlier
  Cycles end = begin;
  std::optional<StagingFormat> format;
  for (const Read& read : draft.reads) {
    if (read.value != value || !read.carries_value) continue;
    if (draft.same_role(value, read.reader)) continue;
    first = std::min(first, draft.issue(read.reader) + read.distance * draft.interval);
    end = std::max(end, end_of_access(draft, read.reader) + read.distance * draft.interval);
    const StagingFormat wanted = format_for(draft, value, read.reader);
    format = format ? std::max(*format, wanted) : wanted;
  }
  if (!format) return {};
  Buffer buffer;
  buffer.name = draft.op(value).name + ".staged";
  TWILL_TRY(buffer.memory, name_of_staging(draft, value));
  buffer.size = problem::staged_bytes(draft.op(value), draft.role_at(value).warps);
  const Cycles copies = floor_divide(end - first, draft.interval) + 1;
  if (copies > kMostOfAnything) return too_many_copies(buffer.name, copies);
  buffer.depth = static_cast<int>(copies);
  buffer.staging = true;
  draft.plan.values[value.index()].staged = BufferId(draft.plan.buffers.size());
  draft.plan.values[value.index()].format = *format;
  draft.plan.buffers.push_back(std::move(buffer));
  draft.alive.emplace_back(begin, begin + draft.interval * draft.plan.buffers.back().depth);
  return {};
}

}  // namespace

Result<void> make_storage(Draft& draft) {
  const std::size_t count = draft.plan.problem.ops().size();
  draft.plan.values.resize(count);
  const Together together(draft);
  std::vector<std::vector<OpId>> members(count);
  for (std::size_t v = 0; v < count; ++v) members[together.of(v)].push_back(OpId(v));
  for (const std::vector<OpId>& group : members) {
    if (group.empty()) continue;
    TWILL_TRY_VOID(add_home(draft, group));
  }
  for (std::size_t v = 0; v < count; ++v) settle_mechanism(draft, OpId(v));
  for (std::size_t v = 0; v < count; ++v) {
    TWILL_TRY_VOID(add_staging(draft, OpId(v)));
  }
  return check_operands(draft);
}

}  // namespace twill::plan
