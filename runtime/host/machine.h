#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clock.h"
#include "device.h"
#include "run.h"

/// Internal to the executor: its state. One cluster of CTAs runs at a time.
namespace twill::run {

inline constexpr std::size_t kSharedMost = 232448;      ///< bytes that a CTA may have
inline constexpr std::size_t kSharedPages = 57 * 4096;  ///< the same in whole pages
inline constexpr std::size_t kStack = 256 * 1024;       ///< bytes of a thread's stack
inline constexpr int kWarp = 32, kWarpgroup = 128;
inline constexpr std::size_t kCell = 2;  ///< bytes of memory whose accesses are recorded together

using Pc = std::uintptr_t;

/// Last writer of a piece of shared memory, and its readers since.
struct Cell {
  enum class By : std::uint8_t { nobody, threads, engine };
  Tag writer;
  By by = By::nobody;
  std::uint8_t readers = 0;  ///< in `read`; kMany: in `more_readers`
  Tag read[2];
  Pc wrote_at = 0;
};
inline constexpr std::uint8_t kMany = 255;

struct Mbarrier {
  std::uint64_t* at = nullptr;
  std::uint32_t arrivals = 0, pending = 0;
  std::int64_t bytes = 0;  ///< expected and not arrived yet; negative: arrived and not expected yet
  int phase = 0;           ///< number of the phase in progress
  bool fenced = false;     ///< made known to more than the threads of the CTA
  Tag initialized;
  Agent agent = kNobody;
  Knowledge coming, done;  ///< brought by arrivals of this phase, and by arrivals of all complete
                           ///< phases
  std::vector<int> waiting;
  std::vector<int> seen;  ///< by thread: the last phase that it has seen complete, -1 at first
};

struct NamedBarrier {
  int expected = 0, came = 0;
  Knowledge coming;
  std::vector<int> waiting;
};

/// An operation that all lanes of a warp do together.
struct Meeting {
  const char* what = nullptr;
  Pc at = 0;
  std::uint32_t came = 0;  ///< lanes that have arrived
  std::array<std::uint32_t, kWarp> argument{}, result{};
  std::array<std::uint64_t, kWarp> address{};
  std::array<std::array<std::uint32_t, 4>, kWarp> values{};
};

/// A wgmma of a warpgroup: complete once all its threads have issued it.
struct WarpgroupProduct {
  Product what;
  std::array<float*, kWarpgroup> d{};
  std::array<std::array<std::uint32_t, 4>, kWarpgroup> a{};
  int issued = 0;  ///< threads that have issued it
  int batch = 0;
  Knowledge known;  ///< knowledge of all these threads
  Pc at = 0;
};

struct Warpgroup {
  std::vector<std::unique_ptr<WarpgroupProduct>> products;  ///< not complete yet, oldest first
  int first = 0;                                            ///< number of products[0]
  int done = 0;                                             ///< complete batches
  std::array<int, 64> committed_by{};                       ///< threads that closed a batch, mod 64
  Agent agent = kNobody;
  std::vector<int> waiting;
  int registers = 0;          ///< registers of a thread
  int asked = 0, asking = 0;  ///< setmaxnreg: threads that arrived, registers requested
  std::vector<int> raising;
};

/// Registers that a product in flight may write or read.
struct Flying {
  const char* from;
  const char* to;
  int batch;
  bool written;
};

struct BulkCopy {
  const TensorMap* map = nullptr;
  TensorMap copy;
  std::size_t from = 0;
  bool adds = false;
  std::int32_t at[5] = {};
  std::vector<char> bytes;  ///< contents, once read
  Pc pc = 0;
};

struct BulkGroup {
  int thread = 0, number = 0;
  std::vector<BulkCopy> copies;
  bool read = false;
};

struct ThreadCopy {
  std::size_t to;
  const char* from;
  int bytes;
  bool inside;
  Pc pc;
};

/// Event for which a thread waits; null: none.
struct Wait {
  const char* what = nullptr;
  int barrier = -1;          ///< index into Machine::barriers
  std::uint32_t parity = 0;  ///< parity for which it waits
  int named = -1;            ///< the named barrier
};

struct Thread {
  int index = 0;                    ///< index in the cluster
  int cta = 0, lane = 0, warp = 0;  ///< warp: number in the cluster
  int in_cta = 0;
  void* saved = nullptr;
  char* stack = nullptr;
  bool done = false, runnable = false;
  Knowledge knows;
  Wait waits_for;
  Pc waits_at = 0;
  // Products.
  int products = 0, batches = 0;  ///< issued products; closed batches
  bool fenced_products = false;
  Pc product_at = 0;  ///< the last product
  std::vector<Flying> flying;
  std::array<std::uint64_t, kStack / 16 / 64> touched{};  ///< pieces of 16 bytes touched since
                                                          ///< wgmma_fence
  int touched_from = kStack / 16 / 64, touched_to = 0;    ///< range of words of it that are not 0
  // Copies.
  std::vector<ThreadCopy> copies;  ///< not reported to a barrier yet
  Agent copy_agent = kNobody;      ///< agent of cp.async
  int told = 0;                    ///< number of reports of its copies to a barrier
  std::vector<BulkCopy> bulk;      ///< not in a group yet
  int groups = 0, groups_read = 0, groups_done = 0;
  int wants_read = 0, wants_done = 0;  ///< number of the group for which it waits
  Agent bulk_agent = kNobody;
};

struct Warp {
  std::uint32_t runnable = 0, alive = 0;
  Meeting meeting;
};

struct Cta {
  Extent block;
  char* shared = nullptr;  ///< place of its memory, also while another CTA runs
  std::vector<Cell> cells;
  std::vector<std::vector<Tag>> more_readers;
  std::map<std::size_t, int> barriers;  ///< by offset: index into Machine::barriers
  std::array<NamedBarrier, 16> named;
  int alive = 0;
  std::int64_t free_registers = 0;
};

/// A load by TMA, or the copies of one thread.
struct Work {
  TensorMap map{};
  std::int32_t at[5] = {};
  std::size_t to = 0;  ///< offset in shared memory
  std::vector<ThreadCopy> copies;
  int told = 0;       ///< for a thread's copies: number of the report
  int phase[2] = {};  ///< by CTA: phase of its mbarrier at the issue
  Pc pc = 0;
};

/// Work in progress that no thread does. Small, since hundreds are searched and moved often.
struct Pending {
  enum class Kind { load, thread_copies } kind = Kind::load;
  int thread = 0;
  unsigned ctas = 0;          ///< bits: CTAs whose mbarrier is told
  std::uint32_t barrier = 0;  ///< offset in shared memory
  std::uint32_t work = 0;     ///< index into Machine::works
};

struct Buffer {
  std::uintptr_t begin = 0, end = 0;
  std::string name;
  std::vector<bool> initialised;          ///< by byte
  std::vector<std::uint32_t> written_by;  ///< by cell: 1 + number of the CTA in this launch
};

/// A piece of global memory that one CTA wrote and another writes again, with its old contents.
struct Rewritten {
  std::uintptr_t at = 0;
  unsigned char was[kCell] = {};
  Pc pc = 0;
  int thread = 0;
  std::string what;
};

struct Found {
  std::string kind, message, thread;
  Pc at = 0;
  int times = 1;
};

struct Machine {
  Options options;
  std::uint64_t random = 1;
  std::vector<Buffer> buffers;
  std::vector<Found> found;
  int kinds_left_out = 0;
  // A launch.
  bool running = false, stopped = false;
  Grid grid;
  std::size_t first_cta = 0;  ///< index in the grid of the cluster's first CTA
  void (*body)(void*) = nullptr;
  void* context = nullptr;
  void* host = nullptr;  ///< the saved state of the launching thread
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  std::vector<Cta> ctas;
  std::vector<Mbarrier> barriers;
  std::vector<Pending> pending;
  std::vector<Work> works;                ///< of `pending`, in any order
  std::vector<std::uint32_t> works_done;  ///< indices of free `works`
  std::vector<Rewritten> rewritten;       ///< by the cluster that runs now
  std::vector<BulkGroup> groups;          ///< not complete, in the order of their commits
  std::size_t agents = 0, most_agents = 0;
  int now = -1;       ///< the running thread
  int mapped = -1;    ///< the CTA whose memory is mapped at `smem`
  int favourite = 0;  ///< the warp that runs as long as it can
  int alive = 0;
  // The cluster's barrier.
  int cluster_came = 0, cluster_phase = 0;
  std::vector<int> cluster_waits;  ///< by thread: phases in which it has arrived
  Knowledge cluster_coming, cluster_done;
  std::vector<int> cluster_waiting;
};
extern Machine m;

inline Thread& now() { return m.threads[static_cast<std::size_t>(m.now)]; }
inline Thread& thread_of(int index) { return m.threads[static_cast<std::size_t>(index)]; }
inline Cta& cta_of(const Thread& thread) { return m.ctas[static_cast<std::size_t>(thread.cta)]; }

// findings.cpp
void find(const char* kind, Pc at, const std::string& message, const Thread* thread = nullptr);
/// The same, and ends the launch: later findings would be meaningless.
[[noreturn]] void find_and_stop(const char* kind, Pc at, const std::string& message);
/// "line 12", or an empty text if the line is not known.
std::string line_of(Pc at);
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// schedule.cpp
std::uint64_t random_below(std::uint64_t bound);
/// Lets others run; the caller stays runnable.
void take_turns();
/// Waits until another thread wakes the caller.
void block(Wait wait, Pc at);
void wake(int thread);
void wake_all(std::vector<int>& threads);
[[noreturn]] void leave_launch();
Agent new_agent();

// memory.cpp
inline constexpr std::size_t kNowhere = ~std::size_t{0};
/// The offset of an address in the memory of the running CTA; kNowhere if it lies elsewhere.
std::size_t shared_offset(const void* at);
/// As above; stops if it is not `bytes` of shared memory, aligned to `align`.
std::size_t shared_at(const void* at, std::size_t bytes, std::size_t align, Pc pc,
                      const char* what);
char* shared_pointer(int cta, std::size_t offset);
void thread_reads(Thread& thread, std::size_t offset, std::size_t bytes, Pc pc);
void thread_writes(Thread& thread, std::size_t offset, std::size_t bytes, Pc pc);
/// Records accesses by engines. They know what `known` knows, and others know them by `tag`.
void engine_reads(int cta, std::size_t offset, std::size_t bytes, const Knowledge& known, Tag tag,
                  Pc pc, const char* what);
void engine_writes(int cta, std::size_t offset, std::size_t bytes, const Knowledge& known, Tag tag,
                   Cell::By by, Pc pc, const char* what);
/// Records a global access; stops if it is outside all buffers. `atomic`: other CTAs may access the
/// place, too.
enum class Access { read, write, atomic };
void global_access(std::uintptr_t at, std::size_t bytes, Access how, Pc pc, const char* what);
/// Checks, at the end of a cluster, whether it left other numbers where others had written.
void check_rewritten();

// barriers.cpp
Mbarrier& barrier_at(int cta, const void* bar, Pc pc, const char* what);
Mbarrier& barrier_at_offset(int cta, std::size_t offset, Pc pc, const char* what);
void complete_bytes(Mbarrier& barrier, std::int64_t bytes, Pc pc);
void arrive(Mbarrier& barrier, const Knowledge* brings, Pc pc);
void thread_ends(Thread& thread);
/// The missing event, in words.
std::string words_of(const Thread& thread);

// copies.cpp
/// Does some of the asynchronous work: the awaited part, or any. False if there is none.
bool complete_pending(bool anything);
bool complete_bulk(bool anything);
void finish_copies();
void copies_end(Thread& thread);

// products.cpp
bool complete_products(bool anything);
/// Records that a thread touches its own stack.
void touch_registers(Thread& thread, const void* at, std::size_t bytes, bool writes, Pc pc);
void products_end(Thread& thread);

}  // namespace twill::run
