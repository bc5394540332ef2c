#include <algorithm>

#include "machine.h"

#define TWILL_HERE reinterpret_cast<Pc>(__builtin_return_address(0))

namespace twill::run {
namespace {

constexpr std::int64_t kMostBytes = (1 << 20) - 1;

/// Begins a new epoch of the thread: its earlier actions may become known to others.
void next_epoch(Thread& thread) {
  const auto own = static_cast<std::size_t>(thread.index);
  thread.knows.seen.set(own, thread.knows.seen[own] + 1);
}

std::string name_of(const Mbarrier& barrier) {
  return text("the mbarrier at byte %zu", reinterpret_cast<std::size_t>(barrier.at));
}

/// Ends a phase once all arrivals and all bytes have come.
void end_phase(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.arrivals;
  barrier.done.join(barrier.coming);
  barrier.done.seen.set(barrier.agent, barrier.phase);
  wake_all(barrier.waiting);
}

}  // namespace

void barrier_init(std::uint64_t* bar, std::uint32_t arrivals) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  const std::size_t offset = shared_at(bar, 8, 8, pc, "mbarrier.init");
  Cta& cta = cta_of(thread);
  if (arrivals == 0 || arrivals > kMostBytes) {
    find("barrier", pc, text("an mbarrier of %u arrivals; it takes 1 to 2^20 - 1", arrivals));
  }
  if (cta.barriers.contains(offset)) find("barrier", pc, "initializes an mbarrier again");
  Mbarrier barrier;
  barrier.at = reinterpret_cast<std::uint64_t*>(offset);
  barrier.arrivals = barrier.pending = arrivals;
  barrier.agent = new_agent();
  barrier.initialized = {static_cast<Agent>(thread.index),
                         thread.knows.seen[static_cast<std::size_t>(thread.index)]};
  barrier.coming = barrier.done = Knowledge(m.most_agents);
  barrier.seen.assign(m.threads.size(), -1);
  cta.barriers[offset] = static_cast<int>(m.barriers.size());
  m.barriers.push_back(std::move(barrier));
}

void barrier_init_fence() {
  Thread& thread = now();
  for (Mbarrier& it : m.barriers) {
    if (it.initialized.agent == thread.index) it.fenced = true;
  }
}

Mbarrier& barrier_at_offset(int cta, std::size_t offset, Pc pc, const char* what) {
  auto& known = m.ctas[static_cast<std::size_t>(cta)].barriers;
  const auto found = known.find(offset);
  if (found == known.end()) {
    find_and_stop("barrier", pc,
                  text("%s takes byte %zu of shared memory, where no mbarrier was initialized",
                       what, offset));
  }
  return m.barriers[static_cast<std::size_t>(found->second)];
}

Mbarrier& barrier_at(int cta, const void* bar, Pc pc, const char* what) {
  const std::size_t offset = shared_at(bar, 8, 8, pc, what);
  Mbarrier& barrier = barrier_at_offset(cta, offset, pc, what);
  if (m.now >= 0 && !now().knows.seen.covers(barrier.initialized)) {
    find("race", pc, text("%s does not wait for the thread that initializes the mbarrier", what));
  }
  return barrier;
}

void complete_bytes(Mbarrier& barrier, std::int64_t bytes, Pc pc) {
  barrier.bytes -= bytes;
  if (barrier.bytes < -kMostBytes) {
    find("barrier", pc, "more bytes arrive at the mbarrier than it can count");
  }
  if (barrier.bytes < 0 && barrier.pending == 0) {
    find("barrier", pc,
         text("%lld bytes arrive at %s that its phase does not expect",
              static_cast<long long>(-barrier.bytes), name_of(barrier).c_str()));
    barrier.bytes = 0;
  }
  end_phase(barrier);
}

void arrive(Mbarrier& barrier, const Knowledge* brings, Pc pc) {
  if (brings != nullptr) barrier.coming.join(*brings);
  if (barrier.pending == 0) {
    find("barrier", pc,
         text("arrives at %s, whose phase has all its %u arrivals", name_of(barrier).c_str(),
              barrier.arrivals));
    return;
  }
  --barrier.pending;
  if (barrier.pending == 0 && barrier.bytes < 0) {
    find("barrier", pc,
         text("%lld bytes arrived at %s that its phase does not expect",
              static_cast<long long>(-barrier.bytes), name_of(barrier).c_str()));
    barrier.bytes = 0;
  }
  end_phase(barrier);
}

void barrier_arrive(std::uint64_t* bar) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  arrive(barrier_at(thread.cta, bar, pc, "an arrival"), &thread.knows, pc);
  next_epoch(thread);
  take_turns();
}

void barrier_arrive_remote(std::uint64_t* bar, std::uint32_t rank) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  if (rank >= static_cast<std::uint32_t>(m.grid.cluster)) {
    find_and_stop("barrier", pc,
                  text("arrives at CTA %u of a cluster of %d", rank, m.grid.cluster));
  }
  if (m.ctas[rank].alive == 0)
    find("barrier", pc, "arrives at a CTA of the cluster that has exited");
  Mbarrier& barrier = barrier_at(static_cast<int>(rank), bar, pc, "an arrival");
  if (!barrier.fenced) {
    find("barrier", pc,
         "arrives from another CTA at an mbarrier whose initialization is not fenced");
  }
  arrive(barrier, &thread.knows, pc);
  next_epoch(thread);
  take_turns();
}

void barrier_expect(std::uint64_t* bar, std::uint32_t bytes) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  Mbarrier& barrier = barrier_at(thread.cta, bar, pc, "an expectation");
  barrier.bytes += bytes;
  if (bytes > kMostBytes || barrier.bytes > kMostBytes) {
    find("barrier", pc, "the mbarrier expects more than 2^20 - 1 bytes");
  }
  arrive(barrier, &thread.knows, pc);
  next_epoch(thread);
  take_turns();
}

namespace {

/// Whether the phase of a parity is complete; then the thread learns what that phase brings. Each
/// waiting thread waits for phases in order.
bool passes(Mbarrier& barrier, std::uint32_t parity, Pc pc) {
  Thread& thread = now();
  int& seen = barrier.seen[static_cast<std::size_t>(thread.index)];
  const int complete = barrier.phase - 1;
  const bool again = seen >= 0 && (seen & 1) == static_cast<int>(parity & 1);
  const int wanted = again ? seen : seen + 1;
  // The phase before the first counts as complete.
  const bool first = seen < 0 && (parity & 1) == 1;
  if (first ? complete > -1 : complete > wanted) {
    find("overrun", pc,
         text("waits for phase %d of %s when phase %d is complete: a parity too late",
              first ? -1 : wanted, name_of(barrier).c_str(), complete));
  }
  const bool done = (complete & 1) == static_cast<int>(parity & 1);
  if (!done) return false;
  thread.knows.join(barrier.done);
  seen = std::max(seen, complete);
  return true;
}

}  // namespace

bool barrier_test(std::uint64_t* bar, std::uint32_t parity) {
  const Pc pc = TWILL_HERE;
  take_turns();
  return passes(barrier_at(now().cta, bar, pc, "a wait"), parity, pc);
}

void barrier_wait(std::uint64_t* bar, std::uint32_t parity) {
  const Pc pc = TWILL_HERE;
  take_turns();
  const int cta = now().cta;
  while (!passes(barrier_at(cta, bar, pc, "a wait"), parity, pc)) {
    Mbarrier& barrier = barrier_at(cta, bar, pc, "a wait");
    barrier.waiting.push_back(m.now);
    const int index = static_cast<int>(&barrier - m.barriers.data());
    block({"an mbarrier", index, parity, -1}, pc);
  }
}

// --- Named barriers, of the CTA and of the cluster ----------------------------------------------

namespace {

void come(int id, int threads, bool waits, Pc pc) {
  Thread& thread = now();
  if (id < 0 || id > 15 || threads <= 0 || threads % kWarp != 0) {
    find_and_stop(
        "barrier", pc,
        text("named barrier %d of %d threads: there are 0 to 15, of whole warps", id, threads));
  }
  NamedBarrier& barrier = cta_of(thread).named[static_cast<std::size_t>(id)];
  if (barrier.came > 0 && barrier.expected != threads) {
    find("barrier", pc,
         text("comes to named barrier %d with %d threads, others with %d", id, threads,
              barrier.expected));
  }
  barrier.expected = threads;
  barrier.coming.join(thread.knows);
  next_epoch(thread);
  if (++barrier.came < barrier.expected) {
    if (!waits) return take_turns();
    barrier.waiting.push_back(m.now);
    return block({"a named barrier", -1, 0, id}, pc);
  }
  const Knowledge brought = barrier.coming;
  if (waits) thread.knows.join(brought);
  for (const int it : barrier.waiting) thread_of(it).knows.join(brought);
  barrier.came = 0;
  barrier.coming = Knowledge(m.most_agents);
  wake_all(barrier.waiting);
  take_turns();
}

}  // namespace

void named_sync(int id, int threads) { come(id, threads, true, TWILL_HERE); }
void named_arrive(int id, int threads) { come(id, threads, false, TWILL_HERE); }
void sync_threads() { come(0, m.grid.threads, true, TWILL_HERE); }

namespace {

void end_cluster_phase() {
  if (m.alive == 0 || m.cluster_came < m.alive) return;
  m.cluster_came = 0;
  ++m.cluster_phase;
  m.cluster_done = m.cluster_coming;
  wake_all(m.cluster_waiting);
}

}  // namespace

void cluster_arrive() {
  Thread& thread = now();
  m.cluster_coming.join(thread.knows);
  next_epoch(thread);
  ++m.cluster_waits[static_cast<std::size_t>(thread.index)];
  ++m.cluster_came;
  end_cluster_phase();
  take_turns();
}

void cluster_wait() {
  const Pc pc = TWILL_HERE;
  const int wanted = m.cluster_waits[static_cast<std::size_t>(now().index)];
  while (m.cluster_phase < wanted) {
    m.cluster_waiting.push_back(m.now);
    block({"the cluster's barrier, to which not all its threads come"}, pc);
  }
  now().knows.join(m.cluster_done);
}

std::string words_of(const Thread& thread) {
  const Wait& wait = thread.waits_for;
  if (wait.barrier >= 0) {
    const Mbarrier& it = m.barriers[static_cast<std::size_t>(wait.barrier)];
    return text("parity %u of %s: its phase %d lacks %u of %u arrivals and %lld bytes", wait.parity,
                name_of(it).c_str(), it.phase, it.pending, it.arrivals,
                static_cast<long long>(it.bytes));
  }
  if (wait.named >= 0) {
    const NamedBarrier& it = cta_of(thread).named[static_cast<std::size_t>(wait.named)];
    return text("named barrier %d, where %d of %d threads are", wait.named, it.came, it.expected);
  }
  return wait.what;
}

std::uint32_t cluster_rank() { return static_cast<std::uint32_t>(now().cta); }

void thread_ends(Thread& thread) {
  end_cluster_phase();
  if (thread.knows.seen.empty()) return;
  // A wait for all threads of the CTA counts those that have not exited.
  NamedBarrier& all = cta_of(thread).named[0];
  if (all.came > 0 && all.expected == m.grid.threads && all.came >= cta_of(thread).alive) {
    const Knowledge brought = all.coming;
    for (const int it : all.waiting) thread_of(it).knows.join(brought);
    all.came = 0;
    all.coming = Knowledge(m.most_agents);
    wake_all(all.waiting);
  }
}

}  // namespace twill::run
