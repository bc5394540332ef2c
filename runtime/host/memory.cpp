#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include "machine.h"

/// The dynamic shared memory of the running CTA: kernels declare it as an array.
alignas(4096) char smem[twill::run::kSharedPages];
extern "C" const char __executable_start[];
extern "C" const char _end[];

namespace twill::run {
namespace {

void grow(Cta& cta, Cell& cell, Tag reader) {
  if (cell.readers != kMany) {
    cta.more_readers.push_back({cell.read[0], cell.read[1]});
    cell.read[0].epoch = static_cast<Epoch>(cta.more_readers.size() - 1);
    cell.readers = kMany;
  }
  auto& all = cta.more_readers[static_cast<std::size_t>(cell.read[0].epoch)];
  for (Tag& it : all) {
    if (it.agent != reader.agent) continue;
    it.epoch = reader.epoch;
    return;
  }
  all.push_back(reader);
}

void add_reader(Cta& cta, Cell& cell, Tag reader) {
  if (cell.readers <= 2) {
    for (int i = 0; i < cell.readers; ++i) {
      if (cell.read[i].agent != reader.agent) continue;
      cell.read[i].epoch = reader.epoch;
      return;
    }
    if (cell.readers < 2) {
      cell.read[cell.readers++] = reader;
      return;
    }
  }
  grow(cta, cell, reader);
}

bool covers_readers(const Cta& cta, const Cell& cell, const Clock& known, Tag own) {
  const auto fine = [&](Tag it) { return it.agent == own.agent || known.covers(it); };
  if (cell.readers == kMany) {
    const auto& all = cta.more_readers[static_cast<std::size_t>(cell.read[0].epoch)];
    return std::all_of(all.begin(), all.end(), fine);
  }
  for (int i = 0; i < cell.readers; ++i) {
    if (!fine(cell.read[i])) return false;
  }
  return true;
}

/// The writer in words: "a copy by the engine, line 12".
std::string writer_of(const Cell& cell) {
  std::string who = cell.by == Cell::By::engine ? "the copy engine" : "a thread";
  const std::string line = line_of(cell.wrote_at);
  if (!line.empty()) who += " (" + line + ")";
  return who;
}

std::string place(std::size_t offset) { return text("byte %zu of shared memory", offset); }

void unwritten(Pc pc, std::size_t offset, const char* what) {
  find("uninitialised", pc, text("%s %s, which nobody has written", what, place(offset).c_str()));
}

template <class Visit>
void each_cell(int cta, std::size_t offset, std::size_t bytes, const Visit& visit) {
  Cta& it = m.ctas[static_cast<std::size_t>(cta)];
  for (std::size_t i = offset / kCell; i < (offset + bytes + kCell - 1) / kCell; ++i) {
    visit(it, it.cells[i], i * kCell);
  }
}

void set_writer(Cell& cell, Tag tag, Cell::By by, Pc pc) {
  cell.writer = tag;
  cell.by = by;
  cell.readers = 0;
  cell.wrote_at = pc;
}

}  // namespace

std::size_t shared_offset(const void* at) {
  const auto offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(smem);
  return offset < kSharedPages ? offset : kNowhere;
}

std::size_t shared_at(const void* at, std::size_t bytes, std::size_t align, Pc pc,
                      const char* what) {
  const std::size_t offset = shared_offset(at);
  if (offset == kNowhere) {
    find_and_stop("out-of-bounds", pc,
                  std::string(what) + " takes an address outside of shared memory");
  }
  if (offset + bytes > m.grid.shared_bytes) {
    find_and_stop("out-of-bounds", pc,
                  text("%s reaches byte %zu of shared memory, of which the CTA has %zu", what,
                       offset + bytes - 1, m.grid.shared_bytes));
  }
  if (offset % align != 0) {
    find(
        "misaligned", pc,
        text("%s takes %s, which is not aligned to %zu bytes", what, place(offset).c_str(), align));
  }
  return offset;
}

char* shared_pointer(int cta, std::size_t offset) {
  return m.ctas[static_cast<std::size_t>(cta)].shared + offset;
}

void thread_reads(Thread& thread, std::size_t offset, std::size_t bytes, Pc pc) {
  const Tag own{static_cast<Agent>(thread.index),
                thread.knows.seen[static_cast<std::size_t>(thread.index)]};
  each_cell(thread.cta, offset, bytes, [&](Cta& cta, Cell& cell, std::size_t at) {
    if (cell.by == Cell::By::nobody) return unwritten(pc, at, "reads");
    if (cell.writer.agent != own.agent && !thread.knows.seen.covers(cell.writer)) {
      find("race", pc,
           text("reads %s without waiting for %s that writes there", place(at).c_str(),
                writer_of(cell).c_str()));
    }
    add_reader(cta, cell, own);
  });
}

void thread_writes(Thread& thread, std::size_t offset, std::size_t bytes, Pc pc) {
  const Tag own{static_cast<Agent>(thread.index),
                thread.knows.seen[static_cast<std::size_t>(thread.index)]};
  each_cell(thread.cta, offset, bytes, [&](Cta& cta, Cell& cell, std::size_t at) {
    const bool ours = cell.by == Cell::By::nobody || cell.writer.agent == own.agent;
    if (!ours && !thread.knows.seen.covers(cell.writer)) {
      find("race", pc,
           text("overwrites %s without waiting for %s that writes there", place(at).c_str(),
                writer_of(cell).c_str()));
    }
    if (!covers_readers(cta, cell, thread.knows.seen, own)) {
      find("race", pc,
           text("overwrites %s without waiting for those who read there", place(at).c_str()));
    }
    set_writer(cell, own, Cell::By::threads, pc);
  });
}

void engine_reads(int cta, std::size_t offset, std::size_t bytes, const Knowledge& known, Tag tag,
                  Pc pc, const char* what) {
  each_cell(cta, offset, bytes, [&](Cta& it, Cell& cell, std::size_t at) {
    if (cell.by == Cell::By::nobody) {
      return unwritten(pc, at, text("%s reads", what).c_str());
    }
    if (!known.seen.covers(cell.writer)) {
      find("race", pc,
           text("%s reads %s without waiting for %s that writes there", what, place(at).c_str(),
                writer_of(cell).c_str()));
    } else if (cell.by == Cell::By::threads && !known.fenced.covers(cell.writer)) {
      find("proxy", pc,
           text("%s reads %s, written by %s: no fence.proxy.async in between", what,
                place(at).c_str(), writer_of(cell).c_str()));
    }
    add_reader(it, cell, tag);
  });
}

void engine_writes(int cta, std::size_t offset, std::size_t bytes, const Knowledge& known, Tag tag,
                   Cell::By by, Pc pc, const char* what) {
  each_cell(cta, offset, bytes, [&](Cta& it, Cell& cell, std::size_t at) {
    if (cell.by != Cell::By::nobody) {
      if (!known.seen.covers(cell.writer)) {
        find("race", pc,
             text("%s overwrites %s without waiting for %s that writes there", what,
                  place(at).c_str(), writer_of(cell).c_str()));
      } else if (by == Cell::By::engine && cell.by == Cell::By::threads &&
                 !known.fenced.covers(cell.writer)) {
        find("proxy", pc,
             text("%s overwrites %s, written by %s: no fence.proxy.async in between", what,
                  place(at).c_str(), writer_of(cell).c_str()));
      }
      if (!covers_readers(it, cell, known.seen, tag)) {
        find("race", pc,
             text("%s overwrites %s without waiting for those who read there", what,
                  place(at).c_str()));
      }
    }
    set_writer(cell, tag, by, pc);
  });
}

// --- Global memory ------------------------------------------------------------------------------

namespace {

/// Whether the address belongs to the program: constants, the executor's variables, or the stack of
/// the host's thread, which has the kernel's parameters.
bool is_of_program(std::uintptr_t at) {
  constexpr std::uintptr_t kMostStack = 8 << 20;
  const auto host = reinterpret_cast<std::uintptr_t>(m.host);
  if (at >= host && at - host < kMostStack) return true;
  return at >= reinterpret_cast<std::uintptr_t>(__executable_start) &&
         at < reinterpret_cast<std::uintptr_t>(_end);
}

Buffer* buffer_of(std::uintptr_t at) {
  static std::size_t last = 0;
  if (last < m.buffers.size() && at >= m.buffers[last].begin && at < m.buffers[last].end) {
    return &m.buffers[last];
  }
  for (std::size_t i = 0; i < m.buffers.size(); ++i) {
    if (at < m.buffers[i].begin || at >= m.buffers[i].end) continue;
    last = i;
    return &m.buffers[i];
  }
  return nullptr;
}

}  // namespace

void global_access(std::uintptr_t at, std::size_t bytes, Access how, Pc pc, const char* what) {
  Buffer* buffer = buffer_of(at);
  if (buffer == nullptr && how == Access::read && is_of_program(at)) return;  // a constant
  if (buffer == nullptr || at + bytes > buffer->end) {
    std::string near = "any array";
    for (const Buffer& it : m.buffers) {
      if (at + 65536 < it.begin || at > it.end + 65536) continue;
      near = it.name + text(" (%lld bytes from its begin, of %zu)",
                            static_cast<long long>(at - it.begin), it.end - it.begin);
    }
    find_and_stop("out-of-bounds", pc,
                  text("%s %zu bytes outside of %s", what, bytes, near.c_str()));
  }
  const std::size_t offset = at - buffer->begin;
  if (how != Access::write) {
    for (std::size_t i = offset; i < offset + bytes; ++i) {
      if (buffer->initialised[i]) continue;
      find("uninitialised", pc,
           text("%s byte %zu of %s, which nobody has written", what, i, buffer->name.c_str()));
      break;
    }
  }
  if (how == Access::read) return;
  const auto cta = static_cast<std::uint32_t>(
      m.first_cta + static_cast<std::size_t>(m.now >= 0 ? now().cta : 0) + 1);
  if (buffer->written_by.empty()) {
    buffer->written_by.resize((buffer->end - buffer->begin) / kCell + 1);
  }
  for (std::size_t i = offset / kCell; i < (offset + bytes + kCell - 1) / kCell; ++i) {
    std::uint32_t& by = buffer->written_by[i];
    if (how == Access::write && by != 0 && by != cta && m.now >= 0) {
      Rewritten it{buffer->begin + i * kCell, {}, pc, m.now, what};
      const std::size_t rest = std::min(kCell, buffer->end - it.at);
      std::memcpy(it.was, reinterpret_cast<const void*>(it.at), rest);
      m.rewritten.push_back(it);
    }
    if (how == Access::write) by = cta;
  }
  if (how == Access::write) {
    for (std::size_t i = offset; i < offset + bytes; ++i) buffer->initialised[i] = true;
  }
}

void check_rewritten() {
  for (const Rewritten& it : m.rewritten) {
    const Buffer* buffer = buffer_of(it.at);
    const std::size_t rest = std::min(kCell, buffer->end - it.at);
    if (std::memcmp(it.was, reinterpret_cast<const void*>(it.at), rest) == 0) continue;
    find("race", it.pc,
         text("%s byte %zu of %s, where another CTA writes another number", it.what.c_str(),
              it.at - buffer->begin, buffer->name.c_str()),
         &thread_of(it.thread));
  }
  m.rewritten.clear();
}

void announce_atomic(const void* at, std::size_t bytes) {
  const auto pc = reinterpret_cast<Pc>(__builtin_return_address(0));
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (address % bytes != 0) find("misaligned", pc, "an atomic operation is not aligned");
  global_access(address, bytes, Access::atomic, pc, "changes");
}

void peek(void* to, const void* at, std::size_t bytes) { std::memcpy(to, at, bytes); }
void poke(void* at, const void* from, std::size_t bytes) { std::memcpy(at, from, bytes); }

void add_buffer(const void* pointer, std::size_t bytes, const std::string& name, bool initialised) {
  Buffer buffer;
  buffer.begin = reinterpret_cast<std::uintptr_t>(pointer);
  buffer.end = buffer.begin + bytes;
  buffer.name = name;
  buffer.initialised.assign(bytes, initialised);
  m.buffers.push_back(std::move(buffer));
}

void set_initialised(const void* pointer, std::size_t bytes, bool initialised) {
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  if (Buffer* buffer = buffer_of(at)) {
    const auto from = buffer->initialised.begin() + static_cast<std::ptrdiff_t>(at - buffer->begin);
    std::fill(from,
              from + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes, buffer->end - at)),
              initialised);
  }
}

void* allocate(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
  char* all = static_cast<char*>(mmap(nullptr, pages + 2 * kPage, PROT_NONE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (all == MAP_FAILED) std::abort();
  if (pages > 0) {
    mprotect(all + kPage, pages, PROT_READ | PROT_WRITE);
    std::memset(all + kPage, 0xff, pages);
  }
  return all + kPage;
}

// --- Loads and stores of the kernel's text ------------------------------------------------------

namespace {

void access(const void* at, std::size_t bytes, bool writes, std::size_t align, Pc pc) {
  if (m.now < 0) return;
  Thread& thread = now();
  if (static_cast<std::size_t>(static_cast<const char*>(at) - thread.stack) < kStack) {
    return touch_registers(thread, at, bytes, writes, pc);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (address % align != 0) {
    find("misaligned", pc, text("an access of %zu bytes at once is not aligned", bytes));
  }
  const std::size_t offset = shared_offset(at);
  if (offset != kNowhere) {
    shared_at(at, bytes, 1, pc, writes ? "a store" : "a load");
    if (writes) thread_writes(thread, offset, bytes, pc);
    if (!writes) thread_reads(thread, offset, bytes, pc);
  } else if (!is_of_program(address)) {
    global_access(address, bytes, writes ? Access::write : Access::read, pc,
                  writes ? "writes" : "reads");
  }
  if (m.options.switch_at_memory && random_below(16) == 0) take_turns();
}

}  // namespace
}  // namespace twill::run

// The compiler's calls (-fsanitize=thread).
extern "C" {
#define TWILL_PC reinterpret_cast<twill::run::Pc>(__builtin_return_address(0))
#define TWILL_HOOKS(bytes)                                                                     \
  void __tsan_read##bytes(void* at) { twill::run::access(at, bytes, false, bytes, TWILL_PC); } \
  void __tsan_write##bytes(void* at) { twill::run::access(at, bytes, true, bytes, TWILL_PC); } \
  void __tsan_unaligned_read##bytes(void* at) {                                                \
    twill::run::access(at, bytes, false, 1, TWILL_PC);                                         \
  }                                                                                            \
  void __tsan_unaligned_write##bytes(void* at) {                                               \
    twill::run::access(at, bytes, true, 1, TWILL_PC);                                          \
  }                                                                                            \
  void __tsan_read_write##bytes(void* at) {                                                    \
    twill::run::access(at, bytes, false, bytes, TWILL_PC);                                     \
    twill::run::access(at, bytes, true, bytes, TWILL_PC);                                      \
  }
TWILL_HOOKS(1)
TWILL_HOOKS(2)
TWILL_HOOKS(4)
TWILL_HOOKS(8)
TWILL_HOOKS(16)
#undef TWILL_HOOKS
void __tsan_read_range(void* at, unsigned long bytes) {
  twill::run::access(at, bytes, false, 1, TWILL_PC);
}
void __tsan_write_range(void* at, unsigned long bytes) {
  twill::run::access(at, bytes, true, 1, TWILL_PC);
}
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  twill::run::access(from, bytes, false, 1, TWILL_PC);
  twill::run::access(to, bytes, true, 1, TWILL_PC);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  twill::run::access(from, bytes, false, 1, TWILL_PC);
  twill::run::access(to, bytes, true, 1, TWILL_PC);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int byte, unsigned long bytes) {
  twill::run::access(to, bytes, true, 1, TWILL_PC);
  return std::memset(to, byte, bytes);
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
#undef TWILL_PC
}
