#include <algorithm>
#include <cstring>

#include "machine.h"
#include "numbers.h"

#define TWILL_HERE reinterpret_cast<Pc>(__builtin_return_address(0))

namespace twill::run {
namespace {

constexpr std::size_t kElement[] = {0, 2, 2, 4};  // bytes, by TensorMap::type
constexpr std::size_t kMostElement = 3;

std::size_t element_bytes(const TensorMap& map) {
  return kElement[std::min<std::size_t>(map.type, kMostElement)];
}

std::size_t box_bytes(const TensorMap& map) {
  std::size_t bytes = element_bytes(map);
  for (std::size_t d = 0; d < map.rank; ++d) bytes *= map.box[d];
  return bytes;
}

/// The part of a row of a box that lies in the tensor; `inside` is 0 if there is none.
struct Row {
  std::size_t in_box = 0;  ///< bytes from the box's begin
  std::uintptr_t at = 0;   ///< address of the first element inside
  std::size_t before = 0;  ///< elements outside, before the first element inside
  std::size_t inside = 0;  ///< elements
};

template <class Visit>
void each_row(const TensorMap& map, const std::int32_t* from, const Visit& visit) {
  const std::size_t element = element_bytes(map), width = map.box[0];
  std::size_t rows = 1;
  for (std::size_t d = 1; d < map.rank; ++d) rows *= map.box[d];
  for (std::size_t r = 0; r < rows; ++r) {
    Row row;
    row.in_box = r * width * element;
    row.at = map.base;
    bool inside = true;
    std::size_t rest = r;
    for (std::size_t d = 1; d < map.rank; ++d) {
      const std::int64_t at = from[d] + static_cast<std::int64_t>(rest % map.box[d]);
      rest /= map.box[d];
      inside = inside && at >= 0 && at <= static_cast<std::int64_t>(map.largest[d]);
      row.at += static_cast<std::uint64_t>(at) * map.strides[d - 1];
    }
    const std::int64_t begin = std::max<std::int64_t>(from[0], 0);
    const std::int64_t end = std::min<std::int64_t>(
        std::int64_t{from[0]} + static_cast<std::int64_t>(width), std::int64_t{map.largest[0]} + 1);
    if (inside && end > begin) {
      row.before = static_cast<std::size_t>(begin - from[0]);
      row.inside = static_cast<std::size_t>(end - begin);
      row.at += static_cast<std::uint64_t>(begin) * element;
    }
    visit(row);
  }
}

/// Place of a byte of a box that begins at `from`: TMA swaps pieces of 16 bytes by the address.
std::size_t swizzled(const TensorMap& map, std::size_t from, std::size_t byte) {
  const std::size_t at = from + byte, swizzle = std::size_t{map.swizzle} * 16;
  return swizzle == 0 ? at : at ^ (at >> 3 & (swizzle - 16));
}

const TensorMap& map_at(const void* map, Pc pc, int rank) {
  const auto& it = *static_cast<const TensorMap*>(map);
  if (it.rank == 0) find_and_stop("copy", pc, "copies through a tensor map that was never encoded");
  if (it.rank != rank) {
    find_and_stop("copy", pc,
                  text("gives %d coordinates for a tensor of %d dimensions", rank, it.rank));
  }
  return it;
}

/// Reports coordinates at which TMA traps on an H200 (docs/reference/cuda.md).
void check_coordinates(const TensorMap& map, const std::int32_t* at, int rank, bool loads, Pc pc) {
  for (int d = 0; d < rank && !loads; ++d) {
    if (at[d] < 0) {
      find_and_stop("copy", pc,
                    text("TMA stores to coordinate %d, which is negative: hardware traps", at[d]));
    }
  }
  if (loads && at[0] < 0 && -std::int64_t{at[0]} * element_bytes(map) % 16 != 0) {
    find_and_stop(
        "copy", pc,
        text("TMA loads from coordinate %d, which is negative and no multiple of 16 bytes: "
             "hardware traps",
             at[0]));
  }
}

std::size_t box_at(const TensorMap& map, const void* at, Pc pc, const char* what) {
  return shared_at(at, box_bytes(map), 128, pc, what);
}

/// Stores the work, to which the pending entry refers.
void begin(Pending pending, Work work) {
  if (m.works_done.empty()) {
    m.works_done.push_back(static_cast<std::uint32_t>(m.works.size()));
    m.works.emplace_back();
  }
  pending.work = m.works_done.back();
  m.works_done.pop_back();
  m.works[pending.work] = std::move(work);
  m.pending.push_back(pending);
}

void load(const Pending& pending, const Work& it) {
  const std::size_t element = element_bytes(it.map);
  std::vector<char> row_bytes(it.map.box[0] * element);
  for (std::size_t c = 0; c < m.ctas.size(); ++c) {
    if ((pending.ctas >> c & 1) == 0) continue;
    each_row(it.map, it.at, [&](const Row& row) {
      std::memset(row_bytes.data(), 0, row_bytes.size());
      if (it.map.outside != 0) {
        for (std::size_t i = 0; i < it.map.box[0]; ++i) {
          const std::uint32_t nan = it.map.type == 3 ? 0x7fffffffU : 0x7fffU;
          std::memcpy(row_bytes.data() + i * element, &nan, element);
        }
      }
      if (row.inside > 0) {
        std::memcpy(row_bytes.data() + row.before * element, reinterpret_cast<const char*>(row.at),
                    row.inside * element);
      }
      for (std::size_t i = 0; i < row_bytes.size(); i += 16) {
        std::memcpy(shared_pointer(static_cast<int>(c), swizzled(it.map, it.to, row.in_box + i)),
                    row_bytes.data() + i, 16);
      }
    });
    Mbarrier& barrier = barrier_at_offset(static_cast<int>(c), pending.barrier, it.pc, "a copy");
    if (barrier.phase != it.phase[c]) {
      find("barrier", it.pc,
           "the mbarrier's phase is over before the bytes of a TMA load are here: it expects too "
           "few",
           &thread_of(pending.thread));
    }
    complete_bytes(barrier, static_cast<std::int64_t>(box_bytes(it.map)), it.pc);
  }
}

void land(const Pending& pending, const Work& it) {
  const Thread& thread = thread_of(pending.thread);
  for (const ThreadCopy& copy : it.copies) {
    char* to = shared_pointer(thread.cta, copy.to);
    if (copy.inside) std::memcpy(to, copy.from, static_cast<std::size_t>(copy.bytes));
    if (!copy.inside) std::memset(to, 0, static_cast<std::size_t>(copy.bytes));
  }
  Mbarrier& barrier = barrier_at_offset(thread.cta, pending.barrier, it.pc, "a copy");
  if (thread.copy_agent != kNobody) {
    Clock& coming = barrier.coming.seen;
    coming.set(thread.copy_agent, std::max(coming[thread.copy_agent], it.told));
  }
  arrive(barrier, nullptr, it.pc);
}

}  // namespace

/// Accepts the hint, also for a tensor without elements, which has no map.
void prefetch_map(const void*) {}

void tma_load(void* to, const void* map, std::uint64_t* full, unsigned ctas,
              const std::int32_t* coordinates, int rank) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  Pending pending;
  Work it;
  it.map = map_at(map, pc, rank);
  check_coordinates(it.map, coordinates, rank, true, pc);
  std::copy(coordinates, coordinates + rank, it.at);
  it.to = box_at(it.map, to, pc, "a TMA load");
  pending.barrier = static_cast<std::uint32_t>(shared_at(full, 8, 8, pc, "a TMA load"));
  pending.ctas = ctas == 0 ? 1U << thread.cta : ctas;
  pending.thread = thread.index;
  it.pc = pc;
  if (pending.ctas >> m.ctas.size() != 0)
    find_and_stop("copy", pc, "a TMA load to a CTA that the cluster lacks");
  each_row(it.map, it.at, [&](const Row& row) {
    if (row.inside > 0) {
      global_access(row.at, row.inside * element_bytes(it.map), Access::read, pc,
                    "a TMA load reads");
    }
  });
  for (std::size_t c = 0; c < m.ctas.size(); ++c) {
    if ((pending.ctas >> c & 1) == 0) continue;
    Mbarrier& barrier = barrier_at(static_cast<int>(c), full, pc, "a TMA load");
    if (!barrier.fenced) {
      find("barrier", pc, "a TMA load completes at an mbarrier whose initialization is not fenced");
    }
    it.phase[c] = barrier.phase;
    engine_writes(static_cast<int>(c), it.to, box_bytes(it.map), thread.knows,
                  {barrier.agent, barrier.phase + 1}, Cell::By::engine, pc, "a TMA load");
  }
  begin(pending, std::move(it));
  take_turns();
}

void copy_async(void* to, const void* from, int bytes, bool inside) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t offset = shared_at(to, size, size, pc, "cp.async");
  if (inside) {
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    if (address % size != 0)
      find("misaligned", pc,
           text("cp.async of %d bytes from an address that is not aligned", bytes));
    global_access(address, size, Access::read, pc, "cp.async reads");
  }
  // The end of the copy is unknown to all threads, its own included, until a barrier reports it.
  if (thread.copy_agent == kNobody) thread.copy_agent = new_agent();
  engine_writes(thread.cta, offset, size, thread.knows, {thread.copy_agent, thread.told + 1},
                Cell::By::threads, pc, "cp.async");
  thread.copies.push_back({offset, static_cast<const char*>(from), bytes, inside, pc});
  if (m.options.switch_at_memory) take_turns();
}

void copies_arrive(std::uint64_t* bar) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  barrier_at(thread.cta, bar, pc, "copies");
  Pending pending;
  pending.kind = Pending::Kind::thread_copies;
  pending.thread = thread.index;
  pending.ctas = 1U << thread.cta;
  pending.barrier = static_cast<std::uint32_t>(shared_at(bar, 8, 8, pc, "copies"));
  Work work;
  work.told = ++thread.told;
  work.pc = pc;
  work.copies = std::move(thread.copies);
  thread.copies.clear();
  begin(pending, std::move(work));
  take_turns();
}

namespace {

/// The pending work for whose end some thread waits, by index.
std::vector<std::size_t> awaited() {
  std::vector<std::pair<std::size_t, unsigned>> barriers;  // by offset: a bit for each CTA
  for (std::size_t c = 0; c < m.ctas.size(); ++c) {
    for (const auto& [offset, index] : m.ctas[c].barriers) {
      if (!m.barriers[static_cast<std::size_t>(index)].waiting.empty()) {
        barriers.emplace_back(offset, 1U << c);
      }
    }
  }
  std::vector<std::size_t> found;
  if (barriers.empty()) return found;
  std::size_t i = 0;
  for (const Pending& it : m.pending) {
    for (const auto& [offset, cta] : barriers) {
      if (offset != it.barrier || (it.ctas & cta) == 0) continue;
      found.push_back(i);
      break;
    }
    ++i;
  }
  return found;
}

}  // namespace

bool complete_pending(bool anything) {
  std::size_t chosen = 0;
  if (anything) {
    if (m.pending.empty()) return false;
    chosen = random_below(m.pending.size());
  } else {
    const std::vector<std::size_t> ready = awaited();
    if (ready.empty()) return false;
    chosen = ready[random_below(ready.size())];
  }
  if (m.pending[chosen].kind == Pending::Kind::thread_copies) {
    // An arrival is for all copies that its thread began earlier.
    const auto first = std::find_if(m.pending.begin(), m.pending.end(), [&](const Pending& it) {
      return it.kind == Pending::Kind::thread_copies && it.thread == m.pending[chosen].thread;
    });
    chosen = static_cast<std::size_t>(first - m.pending.begin());
  }
  const Pending it = m.pending[chosen];
  m.pending.erase(m.pending.begin() + static_cast<std::ptrdiff_t>(chosen));
  const Work work = std::move(m.works[it.work]);
  m.works_done.push_back(it.work);
  if (it.kind == Pending::Kind::load) {
    load(it, work);
  } else {
    land(it, work);
  }
  return true;
}

// --- Bulk stores --------------------------------------------------------------------------------

void tma_store(const void* map, const void* from, bool adds, const std::int32_t* coordinates,
               int rank) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  if (thread.bulk_agent == kNobody) thread.bulk_agent = new_agent();
  BulkCopy it;
  it.copy = map_at(map, pc, rank);
  check_coordinates(it.copy, coordinates, rank, false, pc);
  std::copy(coordinates, coordinates + rank, it.at);
  it.from = box_at(it.copy, from, pc, "a TMA store");
  it.adds = adds;
  it.pc = pc;
  engine_reads(thread.cta, it.from, box_bytes(it.copy), thread.knows,
               {thread.bulk_agent, thread.groups + 1}, pc, "a TMA store");
  each_row(it.copy, it.at, [&](const Row& row) {
    if (row.inside > 0) {
      global_access(row.at, row.inside * element_bytes(it.copy),
                    adds ? Access::atomic : Access::write, pc,
                    adds ? "a TMA reduction changes" : "a TMA store writes");
    }
  });
  thread.bulk.push_back(std::move(it));
  if (m.options.switch_at_memory) take_turns();
}

void bulk_commit() {
  Thread& thread = now();
  BulkGroup group;
  group.thread = thread.index;
  group.number = ++thread.groups;
  group.copies = std::move(thread.bulk);
  thread.bulk.clear();
  m.groups.push_back(std::move(group));
  take_turns();
}

void bulk_wait(int pending, bool reads_only) {
  const Pc pc = TWILL_HERE;
  const int wanted = now().groups - pending;
  take_turns();
  while ((reads_only ? now().groups_read : now().groups_done) < wanted) {
    now().wants_read = wanted;
    now().wants_done = reads_only ? 0 : wanted;
    block({"its bulk stores"}, pc);
  }
  Thread& thread = now();
  thread.wants_read = thread.wants_done = 0;
  if (thread.bulk_agent != kNobody) {
    thread.knows.seen.set(thread.bulk_agent,
                          std::max(thread.knows.seen[thread.bulk_agent], wanted));
  }
}

namespace {

void read_group(BulkGroup& group) {
  const int cta = thread_of(group.thread).cta;
  for (BulkCopy& it : group.copies) {
    it.bytes.resize(box_bytes(it.copy));
    for (std::size_t i = 0; i < it.bytes.size(); i += 16) {
      std::memcpy(it.bytes.data() + i, shared_pointer(cta, swizzled(it.copy, it.from, i)), 16);
    }
  }
  group.read = true;
}

template <class Number, class From, class To>
void add_row(const char* from, char* to, std::size_t count, const From& number, const To& rounded) {
  for (std::size_t i = 0; i < count; ++i) {
    Number a, b;
    std::memcpy(&a, to + i * sizeof a, sizeof a);
    std::memcpy(&b, from + i * sizeof b, sizeof b);
    const Number sum = rounded(number(a) + number(b));
    std::memcpy(to + i * sizeof sum, &sum, sizeof sum);
  }
}

void write_group(const BulkGroup& group) {
  for (const BulkCopy& it : group.copies) {
    const std::size_t element = element_bytes(it.copy);
    each_row(it.copy, it.at, [&](const Row& row) {
      if (row.inside == 0) return;
      const char* from = it.bytes.data() + row.in_box + row.before * element;
      char* to = reinterpret_cast<char*>(row.at);
      const auto same = [](float x) { return x; };
      if (!it.adds) {
        std::memcpy(to, from, row.inside * element);
      } else if (it.copy.type == 3) {
        add_row<float>(from, to, row.inside, same, same);
      } else if (it.copy.type == 1) {
        add_row<std::uint16_t>(from, to, row.inside, from_half, to_half);
      } else {
        add_row<std::uint16_t>(from, to, row.inside, from_bfloat16, to_bfloat16);
      }
    });
  }
}

}  // namespace

/// Completes groups of bulk stores. The groups of a thread finish in order; each is read, then
/// written.
bool complete_bulk(bool anything) {
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < m.groups.size(); ++i) {
    const BulkGroup& group = m.groups[i];
    const Thread& thread = thread_of(group.thread);
    const bool next = !group.read ? thread.groups_read + 1 == group.number
                                  : thread.groups_done + 1 == group.number;
    const int wants = group.read ? thread.wants_done : thread.wants_read;
    if (next && (anything || wants >= group.number)) ready.push_back(i);
  }
  if (ready.empty()) return false;
  const std::size_t chosen = ready[random_below(ready.size())];
  BulkGroup& group = m.groups[chosen];
  Thread& thread = thread_of(group.thread);
  if (!group.read) {
    read_group(group);
    thread.groups_read = group.number;
  } else {
    write_group(group);
    thread.groups_done = group.number;
    m.groups.erase(m.groups.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  const int done = thread.wants_done > 0 ? thread.groups_done : thread.groups_read;
  if (thread.wants_read > 0 && done >= thread.wants_read) wake(thread.index);
  return true;
}

void copies_end(Thread& thread) {
  if (!thread.copies.empty()) {
    find("copy", thread.copies.front().pc, "copies (cp.async) of which no barrier is told");
  }
  if (!thread.bulk.empty()) {
    find("copy", thread.bulk.front().pc, "bulk stores that no commit closes");
  }
  for (const BulkGroup& group : m.groups) {
    if (group.thread != thread.index || group.copies.empty()) continue;
    if (group.number > thread.knows.seen[thread.bulk_agent]) {
      find("copy", group.copies.front().pc,
           "the thread exits before its bulk stores have read shared memory");
    }
  }
}

/// Completes all copies once all CTAs have ended.
void finish_copies() {
  for (const Pending& it : m.pending) {
    find("copy", m.works[it.work].pc, "the CTA exits while a copy into it is under way",
         &thread_of(it.thread));
  }
  while (complete_pending(true)) {
  }
  while (complete_bulk(true)) {
  }
}

}  // namespace twill::run
