#include <cstring>

#include "machine.h"

#define TWILL_HERE reinterpret_cast<Pc>(__builtin_return_address(0))

namespace twill::run {
namespace {

Warp& warp_of(const Thread& thread) { return m.warps[static_cast<std::size_t>(thread.warp)]; }

/// Joins an operation of all lanes; true for the last lane, which does it.
bool meet(const char* what, Pc pc) {
  Thread& thread = now();
  Warp& warp = warp_of(thread);
  Meeting& meeting = warp.meeting;
  if (meeting.came == 0) {
    meeting.what = what;
    meeting.at = pc;
  }
  if (std::strcmp(meeting.what, what) != 0) {
    find_and_stop("diverged", pc,
                  text("a lane is at %s, others of its warp at %s (%s)", what, meeting.what,
                       line_of(meeting.at).c_str()));
  }
  meeting.came |= 1U << thread.lane;
  if (meeting.came != 0xffffffffU) {
    block({"the other lanes of its warp"}, pc);
    return false;
  }
  meeting.came = 0;
  for (int lane = 0; lane < kWarp; ++lane) wake(thread.warp * kWarp + lane);
  return true;
}

}  // namespace

void sync_warp() {
  if (!meet("__syncwarp", TWILL_HERE)) return;
  const int first = now().warp * kWarp;
  Knowledge all = thread_of(first).knows;
  for (int lane = 1; lane < kWarp; ++lane) all.join(thread_of(first + lane).knows);
  for (int lane = 0; lane < kWarp; ++lane) {
    Thread& thread = thread_of(first + lane);
    thread.knows.join(all);
    const auto own = static_cast<std::size_t>(thread.index);
    thread.knows.seen.set(own, thread.knows.seen[own] + 1);
  }
  take_turns();
}

bool elect() {
  const int lane = now().lane;
  if (meet("elect.sync", TWILL_HERE)) take_turns();
  return lane == 0;
}

/// Proxy fence: from here on the async proxy may read all data known to the thread.
void fence_proxy_async() {
  Thread& thread = now();
  thread.knows.fenced = thread.knows.seen;
  const auto own = static_cast<std::size_t>(thread.index);
  thread.knows.seen.set(own, thread.knows.seen[own] + 1);
}

std::uint32_t active_lanes() { return warp_of(now()).alive; }

std::uint32_t shuffle(std::uint32_t value, int lane_xor, int from) {
  const int lane = now().lane;
  Meeting& meeting = warp_of(now()).meeting;
  meeting.argument[static_cast<std::size_t>(lane)] = value;
  meeting.address[static_cast<std::size_t>(lane)] =
      static_cast<std::uint64_t>(from >= 0 ? from % kWarp : lane ^ lane_xor);
  if (meet("a shuffle", TWILL_HERE)) {
    for (std::size_t i = 0; i < kWarp; ++i) {
      meeting.result[i] = meeting.argument[meeting.address[i] % kWarp];
    }
  }
  return meeting.result[static_cast<std::size_t>(lane)];
}

void set_registers(int registers, bool raise) {
  const Pc pc = TWILL_HERE;
  const int index = now().index, warpgroup = index / kWarpgroup;
  Warpgroup& group = m.warpgroups[static_cast<std::size_t>(warpgroup)];
  Cta& cta = cta_of(now());
  if (group.asked > 0 && group.asking != registers) {
    find_and_stop("registers", pc,
                  text("a warp asks for %d registers, others of its warpgroup for %d", registers,
                       group.asking));
  }
  group.asking = registers;
  group.raising.push_back(index);
  if (++group.asked < kWarpgroup) {
    return block({"the other threads of its warpgroup, at setmaxnreg"}, pc);
  }
  if (raise ? registers < group.registers : registers > group.registers) {
    find("registers", pc,
         text("setmaxnreg.%s to %d registers from %d", raise ? "inc" : "dec", registers,
              group.registers));
  }
  const std::int64_t more = std::int64_t{kWarpgroup} * (registers - group.registers);
  while (more > cta.free_registers) {
    group.waiting.push_back(index);
    block({"registers that nobody gives away, at setmaxnreg"}, pc);
  }
  cta.free_registers -= more;
  group.registers = registers;
  group.asked = 0;
  wake_all(group.raising);
  if (more < 0) {
    for (Warpgroup& it : m.warpgroups) wake_all(it.waiting);
  }
  take_turns();
}

/// PTX ISA, "stmatrix": lane l gives the address of row l % 8 of matrix l / 8; a lane has two
/// values of row lane / 4, or, transposed, of column lane / 4.
void store_matrices(void* row, const std::uint32_t (&values)[4], bool transposed) {
  const Pc pc = TWILL_HERE;
  const auto lane = static_cast<std::size_t>(now().lane);
  Meeting& meeting = warp_of(now()).meeting;
  meeting.address[lane] = shared_at(row, 16, 16, pc, "stmatrix");
  for (std::size_t i = 0; i < 4; ++i) meeting.values[lane][i] = values[i];
  if (!meet("stmatrix", pc)) return;
  const int first = now().warp * kWarp;
  for (std::size_t l = 0; l < kWarp; ++l) {
    const std::size_t matrix = l / 8, line = l % 8;
    std::uint16_t out[8];
    for (std::size_t c = 0; c < 8; ++c) {
      const std::size_t holder = transposed ? c * 4 + line / 2 : line * 4 + c / 2;
      const std::size_t half = transposed ? line % 2 : c % 2;
      out[c] = static_cast<std::uint16_t>(meeting.values[holder][matrix] >> (16 * half));
    }
    Thread& thread = thread_of(first + static_cast<int>(l));
    thread_writes(thread, meeting.address[l], 16, pc);
    std::memcpy(shared_pointer(thread.cta, meeting.address[l]), out, 16);
  }
}

void load_matrices(std::uint32_t (&values)[4], const void* row) {
  const Pc pc = TWILL_HERE;
  const auto lane = static_cast<std::size_t>(now().lane);
  Meeting& meeting = warp_of(now()).meeting;
  meeting.address[lane] = shared_at(row, 16, 16, pc, "ldmatrix");
  if (meet("ldmatrix", pc)) {
    const int first = now().warp * kWarp;
    for (std::size_t l = 0; l < kWarp; ++l) {
      Thread& thread = thread_of(first + static_cast<int>(l));
      thread_reads(thread, meeting.address[l], 16, pc);
      std::uint32_t in[4];
      std::memcpy(in, shared_pointer(thread.cta, meeting.address[l]), 16);
      for (std::size_t c = 0; c < 4; ++c) meeting.values[l % 8 * 4 + c][l / 8] = in[c];
    }
  }
  for (std::size_t i = 0; i < 4; ++i) values[i] = meeting.values[lane][i];
}

}  // namespace twill::run
