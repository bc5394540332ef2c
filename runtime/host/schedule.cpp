#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "fiber.h"
#include "machine.h"

extern char smem[];

namespace twill::run {

Machine m;
Extent thread_index, block_index, block_extent, grid_extent;

std::uint64_t random_below(std::uint64_t bound) {
  m.random ^= m.random << 13;
  m.random ^= m.random >> 7;
  m.random ^= m.random << 17;
  return (m.random * 0x2545f4914f6cdd1dULL >> 32) % bound;
}

void configure(const Options& options) {
  m = Machine();
  m.options = options;
  m.random = options.seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL;
  if (m.random == 0) m.random = 1;
}

int multiprocessors() { return std::max(m.options.sm_count, 1); }

Agent new_agent() {
  if (m.agents >= m.most_agents) {
    find_and_stop("executor", 0, "the kernel has more mbarriers than the executor can follow");
  }
  return static_cast<Agent>(m.agents++);
}

namespace {

/// The memory of a CTA is mapped at the address that kernels use while one of its threads runs.
int& shared_file() {
  static int file = -1;
  return file;
}

void map_shared(int cta) {
  if (m.mapped == cta) return;
  m.mapped = cta;
  if (m.ctas.size() == 1) return;
  void* at = mmap(smem, kSharedPages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                  shared_file(), static_cast<off_t>(cta) * static_cast<off_t>(kSharedPages));
  if (at == MAP_FAILED) std::abort();
}

void unmap_shared() {
  m.mapped = -1;
  mmap(smem, kSharedPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void enter(int next) {
  m.now = next;
  Thread& thread = now();
  map_shared(thread.cta);
  thread_index.x = static_cast<unsigned>(thread.in_cta);
  block_index = cta_of(thread).block;
}

/// Chooses the next thread: the favourite warp as long as it can run, so that others fall far
/// behind.
int choose() {
  std::uint64_t with = 0;
  for (std::size_t w = 0; w < m.warps.size(); ++w) {
    if (m.warps[w].runnable != 0) with |= 1ULL << w;
  }
  if (with == 0) return -1;
  const bool can = (with >> m.favourite & 1) != 0;
  if (!can || random_below(48) == 0) {
    auto left = random_below(static_cast<std::uint64_t>(__builtin_popcountll(with)));
    std::uint64_t of = with;
    while (left-- > 0) of &= of - 1;
    m.favourite = __builtin_ctzll(of);
  }
  std::uint32_t lanes = m.warps[static_cast<std::size_t>(m.favourite)].runnable;
  auto left = random_below(static_cast<std::uint64_t>(__builtin_popcount(lanes)));
  while (left-- > 0) lanes &= lanes - 1;
  return m.favourite * kWarp + __builtin_ctz(lanes);
}

void report_deadlock() {
  // One thread of each warp that waits for the same event.
  std::vector<std::pair<int, std::string>> shown;
  for (const Thread& thread : m.threads) {
    if (thread.done || thread.waits_for.what == nullptr) continue;
    const std::pair<int, std::string> what(thread.warp, words_of(thread));
    if (std::find(shown.begin(), shown.end(), what) != shown.end()) continue;
    shown.push_back(what);
    find("deadlock", thread.waits_at, "waits for ever for " + what.second, &thread);
  }
}

/// Switches to a thread that can go on. If none can, first does asynchronous work.
void go_on() {
  if (m.options.completion == Completion::random && random_below(8) == 0) {
    switch (random_below(3)) {
      case 0:
        complete_pending(true);
        break;
      case 1:
        complete_products(true);
        break;
      default:
        complete_bulk(true);
        break;
    }
  }
  int next = choose();
  while (next < 0) {
    const bool waited = complete_products(false) || complete_pending(false) || complete_bulk(false);
    if (!waited && !complete_products(true) && !complete_pending(true) && !complete_bulk(true)) {
      break;
    }
    next = choose();
  }
  const int last = m.now;
  void** save = last >= 0 ? &now().saved : &m.host;
  if (next < 0) {
    if (m.alive > 0) report_deadlock();
    m.now = -1;
    if (last < 0) return;
    m.stopped = m.alive > 0;
    twill_run_switch(save, m.host);
    return;
  }
  if (next == last) return;
  enter(next);
  twill_run_switch(save, now().saved);
}

void begin_thread() {
  m.body(m.context);
  Thread& thread = now();
  products_end(thread);
  copies_end(thread);
  thread.done = true;
  m.warps[static_cast<std::size_t>(thread.warp)].runnable &= ~(1U << thread.lane);
  m.warps[static_cast<std::size_t>(thread.warp)].alive &= ~(1U << thread.lane);
  --m.alive;
  --cta_of(thread).alive;
  thread_ends(thread);
  go_on();
  std::abort();
}

}  // namespace

void take_turns() { go_on(); }

void block(Wait wait, Pc at) {
  Thread& thread = now();
  thread.waits_for = wait;
  thread.waits_at = at;
  m.warps[static_cast<std::size_t>(thread.warp)].runnable &= ~(1U << thread.lane);
  go_on();
  now().waits_for = Wait();
}

void wake(int index) {
  const Thread& thread = thread_of(index);
  m.warps[static_cast<std::size_t>(thread.warp)].runnable |= 1U << thread.lane;
}

void wake_all(std::vector<int>& threads) {
  for (const int thread : threads) wake(thread);
  threads.clear();
}

void leave_launch() {
  m.stopped = true;
  void* lost = nullptr;
  if (m.now < 0) std::abort();
  m.now = -1;
  twill_run_switch(&lost, m.host);
  std::abort();
}

namespace {

/// Bytes at the end of a stack that are filled before a thread begins: more than printed roles
/// use.
constexpr std::size_t kFilled = 24 * 1024;

struct Stacks {
  char* all = nullptr;
  std::size_t count = 0;
  char* at(std::size_t i) {
    if (i >= count) {
      if (all != nullptr) munmap(all, count * (kStack + 4096));
      count = i + 1 < 2048 ? 2048 : i + 1;
      all = static_cast<char*>(mmap(nullptr, count * (kStack + 4096), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
      if (all == MAP_FAILED) std::abort();
    }
    return all + i * (kStack + 4096) + 4096;
  }
};

/// The registers of a thread at first: all registers, in equal shares.
int registers_at_first(int threads) { return std::min(65536 / threads / 8 * 8, 256); }

void begin_cluster(std::size_t first) {
  static Stacks stacks;
  const int ctas = m.grid.cluster;
  const auto count = static_cast<std::size_t>(ctas) * static_cast<std::size_t>(m.grid.threads);
  m.first_cta = first;
  m.mapped = -1;
  m.favourite = 0;
  m.agents = count;
  m.most_agents = 2 * count + static_cast<std::size_t>(ctas) * 320;
  m.barriers.clear();
  m.barriers.reserve(static_cast<std::size_t>(ctas) * 256);
  m.pending.clear();
  m.works.clear();
  m.works_done.clear();
  m.rewritten.clear();
  m.groups.clear();
  m.threads.resize(count);
  m.warps.assign((count + kWarp - 1) / kWarp, Warp());
  m.warpgroups.clear();
  m.warpgroups.resize((count + kWarpgroup - 1) / kWarpgroup);
  m.ctas.resize(static_cast<std::size_t>(ctas));
  if (ctas > 1) {
    if (shared_file() < 0) shared_file() = memfd_create("shared", 0);
    if (ftruncate(shared_file(), static_cast<off_t>(ctas) * static_cast<off_t>(kSharedPages)) != 0)
      std::abort();
  } else {
    unmap_shared();
  }
  for (int c = 0; c < ctas; ++c) {
    Cta& cta = m.ctas[static_cast<std::size_t>(c)];
    const std::size_t number = first + static_cast<std::size_t>(c);
    const Extent& grid = m.grid.ctas;
    cta.block = {static_cast<unsigned>(number % grid.x),
                 static_cast<unsigned>(number / grid.x % grid.y),
                 static_cast<unsigned>(number / grid.x / grid.y)};
    if (ctas == 1) {
      cta.shared = smem;
    } else if (cta.shared == nullptr || cta.shared == smem) {
      cta.shared = static_cast<char*>(
          mmap(nullptr, kSharedPages, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file(),
               static_cast<off_t>(c) * static_cast<off_t>(kSharedPages)));
    }
    std::memset(cta.shared, 0xff, kSharedPages);  // NaN, for readers of unwritten memory
    cta.cells.assign(kSharedPages / kCell, Cell());
    cta.more_readers.clear();
    cta.barriers.clear();
    for (NamedBarrier& it : cta.named) it = {0, 0, Knowledge(m.most_agents), {}};
    cta.alive = m.grid.threads;
    cta.free_registers = 0;
  }
  for (Warpgroup& it : m.warpgroups) it.registers = registers_at_first(m.grid.threads);
  for (std::size_t i = 0; i < count; ++i) {
    Thread& thread = m.threads[i];
    thread = Thread();
    thread.index = static_cast<int>(i);
    thread.cta = thread.index / m.grid.threads;
    thread.in_cta = thread.index % m.grid.threads;
    thread.warp = thread.index / kWarp;
    thread.lane = thread.index % kWarp;
    thread.stack = stacks.at(i);
    // NaN, also for registers that are read before they are written.
    std::memset(thread.stack + kStack - kFilled, 0xff, kFilled);
    thread.saved = fresh_stack(thread.stack + kStack, begin_thread);
    thread.knows = Knowledge(m.most_agents);
    thread.knows.seen.set(i, 1);
    m.warps[static_cast<std::size_t>(thread.warp)].runnable |= 1U << thread.lane;
    m.warps[static_cast<std::size_t>(thread.warp)].alive |= 1U << thread.lane;
  }
  m.alive = static_cast<int>(count);
  m.cluster_came = m.cluster_phase = 0;
  m.cluster_waits.assign(count, 0);
  m.cluster_coming = m.cluster_done = Knowledge(m.most_agents);
  m.cluster_waiting.clear();
}

}  // namespace

void launch(const Grid& grid, void (*body)(void*), void* context) {
  m.grid = grid;
  m.body = body;
  m.context = context;
  m.stopped = false;
  block_extent = {static_cast<unsigned>(grid.threads), 1, 1};
  grid_extent = grid.ctas;
  thread_index = {0, 0, 0};
  for (Buffer& it : m.buffers) it.written_by.clear();
  if (grid.threads % kWarp != 0 || grid.threads < kWarp || grid.threads > 1024 ||
      grid.shared_bytes > kSharedMost || grid.threads * grid.cluster > 2048) {
    find("launch", 0, "the launch asks for more than an SM has, or for a part of a warp");
    return;
  }
  const std::size_t all = std::size_t{grid.ctas.x} * grid.ctas.y * grid.ctas.z;
  for (std::size_t first = 0; first < all && !m.stopped;
       first += static_cast<std::size_t>(grid.cluster)) {
    begin_cluster(first);
    m.now = -1;
    go_on();
    m.now = -1;
    if (!m.stopped) {
      finish_copies();
      check_rewritten();
    }
  }
  if (m.grid.cluster > 1) unmap_shared();
  m.ctas.clear();
}

}  // namespace twill::run
