#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"
#include "twill/support/id.h"

/// A Plan: everything between a schedule and a kernel. It states the order of steps of each role,
/// the buffers of values, and the barriers by which roles wait for each other. Backends print it
/// and the simulator runs it; neither decides anything.
///
/// A Plan is a plain value that promises nothing. `prove` (proof.h) decides whether it is safe, for
/// all trip counts and interleavings. The meaning of each part: docs/reference/plan-json.md.
namespace twill::plan {

struct RoleTag;
struct WarpgroupTag;
struct BufferTag;
struct ChannelTag;
using RoleId = Id<RoleTag>;
using WarpgroupId = Id<WarpgroupTag>;
using BufferId = Id<BufferTag>;
using ChannelId = Id<ChannelTag>;
using problem::GroupId;
using problem::OpId;

/// The way to carry out an op, and so how other roles learn that it is done.
enum class Mechanism {
  threads,     ///< threads of the role do it; done when the next step begins (TMEM accesses include
               ///< their tcgen05.wait)
  scoreboard,  ///< a load into registers: done when a step that reads it begins
  tma_load,    ///< bulk copy into shared memory: its bytes complete a full barrier
  tma_multicast,  ///< a tma_load that is the same in all CTAs of a cluster. Each copies its share
                  ///< into all CTAs, and the share counts at each full barrier
  cp_async,       ///< copies by threads that arrive at a full barrier when they are done
  wgmma,          ///< asynchronous group of the role: `drain_groups`; groups finish in order
  tcgen05,     ///< one thread starts it; `signal` steps arrive when all earlier tcgen05 ops of the
               ///< role are done
  bulk_store,  ///< shared to global memory: asynchronous group of the role: `drain_groups`
};

/// The iteration (or tile) of a step, relative to its place.
struct Instance {
  enum class From {
    first,   ///< iteration `offset`
    window,  ///< iteration window + offset; only in a steady state, offset <= 0
    last,    ///< iteration trips + offset, offset < 0
    tile,    ///< tile `offset` after the role's current tile, offset <= 0, or 1 for an `acquire`;
             ///< only around the sections, for channels that count tiles; in a tail: tile 0
  };
  From from = From::first;
  int offset = 0;
  friend bool operator==(const Instance&, const Instance&) = default;
};

/// Warps of a role that take a step.
enum class By {
  every_warp,  ///< each warp on its own: an arrival counts once per warp
  one_warp,    ///< warp 0 of the role alone (an elected lane of it): an arrival counts once
};

/// Kinds of steps, in CUTLASS's words: a producer acquires a slot, fills it and commits it; a
/// consumer waits for it, uses it and releases it.
enum class StepKind {
  compute,       ///< runs `op`; done when the next step begins
  issue,         ///< starts `op`. A load (tma, cp_async) completes the full barrier of `channel`
  stage,         ///< copies the value of `op` from registers into its staging buffer
  acquire,       ///< waits until slot n of `channel` is empty: for the release of n - depth
  expect,        ///< arrives at full of n, which then also waits for the channel's bytes
  commit,        ///< arrives at full of n
  wait,          ///< waits for full of n
  release,       ///< arrives at empty of n, in all CTAs if the channel is of the cluster
  peek,          ///< tests for full of n, without waiting; the next `wait` for it may be shorter
  drain_groups,  ///< until at most `pending` of the role's wgmma or bulk_store ops are not done
  pass,          ///< arrives at the named barrier of the token `channel`
  take,          ///< arrives at the named barrier, too, and waits for the phase to complete
  rendezvous,    ///< all warps of the role wait for each other (named barrier)
  fence,         ///< orders memory accesses or keeps the compiler from moving code; see Fence
  leave,         ///< all warps of all roles of all CTAs of the cluster wait for each other
};

enum class Fence {
  none,
  proxy,          ///< fence.proxy.async: makes writes of threads readable for the async proxy
  wgmma,          ///< wgmma.fence: registers written by threads may be read by wgmma
  tensor_before,  ///< tcgen05.fence::before_thread_sync
  tensor_after,   ///< tcgen05.fence::after_thread_sync
  pin,            ///< code above stays above: the compiler may not move a wait over it
};

/// Arrival of a commit or release.
enum class Arrival {
  threads,       ///< mbarrier.arrive once the steps before it are done
  asynchronous,  ///< tcgen05.commit: once all tcgen05 ops of the role are done. Threads arrive
                 ///< instead outside the loop of a tile without trips, where none was issued
};

struct Step {
  StepKind kind = StepKind::compute;
  Instance instance;
  std::optional<OpId> op;                  ///< compute, issue, stage in the loop
  std::optional<std::size_t> per_tile_op;  ///< instead of `op`: compute, issue, stage of a prologue
                                           ///< or epilogue op; an index into kernel->per_tile_ops
  std::optional<ChannelId> channel;        ///< acquire .. peek, pass, take; issue of a load
  By by = By::every_warp;
  Arrival arrival = Arrival::threads;    ///< commit, release
  Mechanism queue = Mechanism::threads;  ///< drain_groups: wgmma or bulk_store
  int pending = 0;                       ///< drain_groups
  bool reads_only = false;    ///< drain_groups of bulk_store: waits only until the sources are read
  Fence fence = Fence::none;  ///< fence
  bool drains_first = false;  ///< compute: first waits for the role's asynchronous groups, if it
                              ///< runs at all (a branch that is rarely taken)
  Cycles slot = 0;            ///< cycle of the interval in the schedule; for readers only
  friend bool operator==(const Step&, const Step&) = default;
};

/// Steps of a role for N trips. Windows are rounds of its pipelined loop: in window w a step of
/// shift s is about iteration w - s. With N >= spread it runs prologue (windows 0 .. spread - 1),
/// steady once for each window spread .. N - 1, and drain (the windows after that); with fewer
/// trips, short_trips[N]. With N = 4 and spread 1, the iterations of two steps are:
///
///     window        0         1    2    3    4
///     shift 0       0         1    2    3
///     shift 1                 0    1    2    3
///                prologue     steady       drain
struct Sections {
  int spread = 0;
  std::vector<Step> prologue;                  ///< instances from `first`
  std::vector<Step> steady;                    ///< instances from `window`
  std::vector<Step> drain;                     ///< instances from `last`
  std::vector<std::vector<Step>> short_trips;  ///< by N, `spread` many; instances from `first`
  friend bool operator==(const Sections&, const Sections&) = default;
};

/// The rows of its tile on which an op works.
struct RowShare {
  int part = -1;         ///< number of the part; -1: all rows, or rows make no difference
  Amount row_begin = 0;  ///< both 0 where the op is not cut
  Amount row_end = 0;
  friend bool operator==(const RowShare&, const RowShare&) = default;
};

/// A group of the schedule, with its steps.
struct Role {
  std::string name;  ///< name of the group
  GroupId group;
  WarpgroupId warpgroup;
  int first_warp = 0;  ///< number of its first warp in the CTA
  int warps = 4;
  int registers = 0;  ///< most registers per thread of its values at once, by order of its steps
  int usable = 0;     ///< registers per thread that are available for values
  int named_barrier = -1;    ///< of its `rendezvous` steps: 1..15; -1 if it has none
  std::vector<Step> before;  ///< once per tile, then
  Sections sections;         ///< once per tile, then
  std::vector<Step> after;   ///< once per tile: the epilogue
  std::vector<Step> tail;    ///< after the last tile: ops done once, waits before the role may exit
  friend bool operator==(const Role&, const Role&) = default;
};

/// 128 threads that share one setmaxnreg value.
struct Warpgroup {
  int setmaxnreg = 0;  ///< a multiple of 8 in 24..256; 0: not changed (no machine known)
  int warps = 0;       ///< number of warps that roles use; the others exit
  friend bool operator==(const Warpgroup&, const Warpgroup&) = default;
};

enum class Residence { shared, tensor, registers };

/// Place of values: `depth` copies; the copy of iteration n is in slot n mod depth.
struct Buffer {
  std::string name;
  Residence residence = Residence::shared;
  std::optional<RoleId> role;  ///< role whose registers hold the value
  std::string memory;  ///< name of the Problem's memory; empty for registers, and for staging in a
                       ///< loop that names no memory
  Amount offset = 0;   ///< offset of slot 0: bytes or columns; 0 for registers
  Amount size = 0;     ///< size of one copy: bytes, columns, or registers per thread; rounded up to
                       ///< TMA's alignment if TMA copies to or from it
  int depth = 1;
  int initial = 0;       ///< copies with initial values, before the loop: iterations -initial .. -1
  bool staging = false;  ///< holds a register value on its way to other roles or, if
                         ///< `invariant_buffer`, to global memory
  bool invariant_buffer =
      false;  ///< loop-invariant: filled before the loop and only read in it. Or the staging of a
              ///< store after it, which may lie in buffers of the loop
  std::vector<OpId> readers;  ///< of an invariant buffer: ops of the loop that read it, ascending
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// Layout of a staged value.
enum class StagingFormat {
  fragment,    ///< as its threads hold it: 16-byte chunks, chunk-major
  row_vector,  ///< one element per row
  operand,     ///< a swizzled tile that the tensor core reads; needs a proxy fence
  tile,        ///< row-major: reader and writer hold the tile in different layouts
};

/// The result of an op: its producer's buffer, and its transfer to other roles.
struct Value {
  std::optional<BufferId> home;    ///< empty: an ordering token, or only in global memory
  std::optional<BufferId> staged;  ///< readers of other roles read it here
  StagingFormat format = StagingFormat::fragment;
  friend bool operator==(const Value&, const Value&) = default;
};

/// CTAs at whose barriers a release arrives.
enum class Scope {
  cta,
  cluster,  ///< barriers of every CTA of the cluster: `acquire` waits for the consumers of all
};

enum class ChannelKind {
  pipeline,  ///< full and empty mbarriers, one pair per slot
  signal,    ///< full mbarriers only: the way back is ordered by other channels
  token,     ///< a named barrier: roles take turns, at the tensor core or in a region
};

/// One direction of waiting between roles. Instance n uses slot n mod depth of its barriers, and
/// the phase with number n div depth there. In a persistent kernel n continues over the tiles.
/// A channel counts iterations of the loop, or tiles (runs of the loop by this CTA). With depth 3:
///
///     instance   0  1  2  3  4  5  6
///     slot       0  1  2  0  1  2  0
///     phase      0  0  0  1  1  1  2      a wait asks for its parity
struct Channel {
  std::string name;
  ChannelKind kind = ChannelKind::pipeline;
  enum class Counts { iterations, tiles };
  Counts counts = Counts::iterations;
  RoleId producer;
  std::vector<RoleId> consumers;  ///< ascending
  int depth = 1;
  int full_arrivals = 0;   ///< per phase; token: warps that pass and warps that take, together
  int empty_arrivals = 0;  ///< per phase; 0 if there is no empty barrier
  int full_parity = 0;     ///< parity for which `wait` asks in phase 0
  int empty_parity = 1;    ///< parity for which `acquire` asks on the first lap: already complete
  Amount bytes = 0;        ///< bytes that `expect` announces; 0: no bytes are expected
  Scope scope = Scope::cta;
  int named_barrier = -1;         ///< id of a token's barrier, 1..15
  std::vector<BufferId> buffers;  ///< buffers that it guards, for readers of the plan
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// Access of a role, before or after the loop, to a value of the loop in tensor memory. Before:
/// writes the initial copy. After: reads the copy of the last iteration. The role's threads make
/// the access, each warp in its own lanes.
struct TensorAccess {
  RoleId role;
  BufferId buffer;  ///< home of an op's value, not loop-invariant; its place is not shared
  friend bool operator==(const TensorAccess&, const TensorAccess&) = default;
};

/// An op of the TTGIR.
struct Place {
  std::string what;  ///< "tt.reduce @ 51:13": name and place
  int line = 0;      ///< of that place
  int column = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// A load of another loop that uses a ring of the planned loop.
struct RingLoad {
  Place load;
  OpId copy;  ///< the copy of the planned loop that fills the ring
  friend bool operator==(const RingLoad&, const RingLoad&) = default;
};

/// A prologue or epilogue op, and its roles. Each role does it once per tile, in its `before` or
/// `after`, in the order of the program; behind a loop over tiles once, in its `tail`.
struct PerTileOp {
  enum class When { before, after, end };
  When when = When::before;
  std::string what;  ///< "tt.descriptor_load @ 22:10": name and place in the TTGIR
  int line = 0;      ///< line of that place
  int column = 0;
  /// threads: a `compute` step. scoreboard: the same, for a load from global memory into registers.
  /// tma_load: an `issue` by one role, which fills an invariant buffer whole and completes a
  /// channel. bulk_store: a `stage` of the role's rows into its staging buffer, and an `issue` by
  /// one warp.
  Mechanism mechanism = Mechanism::threads;
  std::vector<RoleId> roles;  ///< tma_load: one role. Else: the roles that hold rows of the tile,
                              ///< each for its own rows
  /// tma_load: the invariant buffer. bulk_store: the staging buffer of each of `roles`, with
  /// exactly its rows; with a `sender` one box that they fill together. Else: none.
  std::vector<BufferId> buffers;
  std::vector<Amount> bytes;         ///< bulk_store: size of each role's rows, which fit its buffer
  std::optional<RoleId> sender;      ///< bulk_store: the role that issues the store of all `roles`,
                                     ///< once they have staged; empty: each issues its own rows
  std::vector<BufferId> reads;       ///< loop-invariant buffers that it reads
  std::vector<TensorAccess> tensor;  ///< threads: by role, ascending
  bool writes = false;  ///< writes global memory: only for tiles that belong to the CTA
  /// An effect on scalars, such as a lock or a counter of tiles, that one role has once per tile.
  /// Accesses by threads to global memory that come earlier in the program are complete by then, in
  /// all roles. Later accesses, also of the next tile, begin after the effect. (Earlier bulk stores
  /// are complete only as far as the program itself waits for them.)
  bool alone = false;
  std::optional<ChannelId> told;  ///< alone: channel by which other roles learn that it is done,
                                  ///< with its results; empty: no role needs it
  /// A loop after the planned loop: its loads go through rings, and go on where the planned loop
  /// left them. The channels' producer begins the loads, by an `issue` step. Each of `roles` waits
  /// for the loads of an iteration and releases each channel once, within its `compute`.
  std::vector<RingLoad> loads;
  friend bool operator==(const PerTileOp&, const PerTileOp&) = default;
};

/// A value that the program computes in the loop without an op of the plan: a scalar, offset or
/// mask of negligible cost. Each role computes the value for itself.
struct Rematerialized {
  std::string what;  ///< "arith.cmpi @ 40:12": name and place in the TTGIR
  int line = 0;      ///< line of that place
  int column = 0;
  std::vector<OpId> readers;  ///< ops that need the value, directly or through other such values;
                              ///< ascending
  std::vector<RoleId> roles;  ///< roles of the readers, ascending
  friend bool operator==(const Rematerialized&, const Rematerialized&) = default;
};

/// A row sum that the loop carries and a role keeps in parts. Each thread that holds a part of a
/// row scales and adds up its own columns; one thread begins with the initial value. The role adds
/// up the parts once, after its sections and before its `after`. Proof of equality:
/// docs/reference/plan-json.md.
struct PartialSum {
  OpId sum;  ///< computes the carried value; the role runs it, with one copy in its registers
  std::vector<OpId> ops;  ///< all ops on the sum or the addend, ascending; of the same role, with
                          ///< values in its registers that are not transferred
  Place reduction;        ///< the addend, in the TTGIR
  Place addition;         ///< the op there that computes the carried value
  friend bool operator==(const PartialSum&, const PartialSum&) = default;
};

/// The time at which a Whole is done.
enum class Placing {
  within,        ///< in place of the steps of its ops: with the last of each part of the tile
  behind,        ///< after the step of the last op that it needs, by that op's role
  before_roles,  ///< once, by the warps with which the kernel is launched
  after_roles,   ///< by these roles, once all roles have ended
};

/// An operation that is done as a whole. In the loop's body: a branch with ops in it, or an effect
/// that no op of the plan has. Outside the loop: an effect that no role has.
struct Whole {
  Place place;
  Placing placing = Placing::within;
  std::vector<OpId> ops;   ///< within: ops in the branch; behind: ops whose results it needs
  std::vector<OpId> last;  ///< of these, or the first product: one op of each part; ascending
  std::string objection;   ///< why it cannot be done so, as in "tt.x OBJECTION"; empty: it can be
                           ///< done
  friend bool operator==(const Whole&, const Whole&) = default;
};

/// How a CTA gets its tiles.
enum class Tiles {
  one_per_cta,   ///< one tile, by the grid of the TTGIR
  program_loop,  ///< the TTGIR's own outer loop, whose text has the next tile
  persistent,    ///< the CTA walks the grid of the TTGIR: tile numbers stand in for program ids
};

/// Order of tile numbers over program ids, for persistent kernels.
enum class TileOrder {
  row_major,  ///< x fastest, then y, then z
  grouped,    ///< `group` of x, then all y of these, then the next `group` of x; z slowest
};

/// A program id.
enum class Axis { x, y, z };

/// The kernel of the loop, with its prologue and epilogue ops.
struct Kernel {
  // Defined in the source file, so that they are compiled once.
  Kernel();
  Kernel(const Kernel&);
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(const Kernel&);
  Kernel& operator=(Kernel&&) noexcept;
  ~Kernel();

  std::string name;
  std::string loop;  ///< "loop 0 of 1, line 25"
  Tiles tiles = Tiles::one_per_cta;
  TileOrder order = TileOrder::row_major;  ///< persistent
  int group = 1;                           ///< grouped
  /// CTAs of a cluster, 1 or 2; 2 only if persistent. The two take tiles that are neighbours along
  /// `axis`, equally many and with equal trips. If the number of tiles is odd, a CTA without a tile
  /// repeats its neighbour's and writes nothing.
  int cluster = 1;
  Axis axis = Axis::x;
  bool same_trips = false;                     ///< every tile has the same bounds of the loop
  std::vector<PerTileOp> per_tile_ops;         ///< in the order of the program
  std::vector<Rematerialized> rematerialized;  ///< in the order of the program
  std::vector<PartialSum> partial_sums;        ///< in the order in which the loop carries them
  std::vector<Whole> wholes;                   ///< in the order of the program
  /// Role that runs in the warps of the launch, where other roles get warps of their own; empty: no
  /// role has whole warpgroups.
  std::optional<RoleId> launch_role;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// Capacities the plan must stay within; from the machine, or from the Problem for `.loop` texts.
struct Limits {
  std::string machine;        ///< name; empty: no machine, and the register rules do not apply
  int launch_registers = 0;   ///< floor8(register file / threads) per warpgroup; 0: unknown
  int register_overhead = 0;  ///< registers of a setmaxnreg that values cannot use
  int most_registers = 0;     ///< largest setmaxnreg
  int named_barriers = 16;
  std::vector<Amount> reserved;  ///< by MemoryId: amount of each memory beyond the Problem's own
                                 ///< use
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Plan {
  // Defined in the source file, so that they are compiled once.
  Plan(const Plan&);
  Plan(Plan&&) noexcept;
  Plan& operator=(const Plan&);
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  explicit Plan(problem::Problem what) : problem(std::move(what)) {}

  std::string name;
  problem::Problem problem;
  schedule::Schedule schedule;
  Limits limits;
  std::vector<Mechanism> mechanisms;  ///< by OpId
  std::vector<Value> values;          ///< by OpId
  std::vector<RowShare> shares;       ///< by OpId; empty for `.loop` texts
  std::vector<Warpgroup> warpgroups;  ///< the first has warps 0..3 of the CTA, and so on
  std::vector<Role> roles;            ///< groups that have an op, in the order of the pool
  std::vector<Buffer> buffers;
  std::vector<Channel> channels;
  std::optional<Kernel> kernel;    ///< absent for `.loop` texts
  std::vector<std::string> notes;  ///< decisions made by rules, a sentence each

  const Role& operator[](RoleId id) const { return roles[id.index()]; }
  const Buffer& operator[](BufferId id) const { return buffers[id.index()]; }
  const Channel& operator[](ChannelId id) const { return channels[id.index()]; }
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// The name in text and JSON: "tma-load", "drain-groups", ...
std::string_view name_of(Mechanism mechanism);
std::string_view name_of(StepKind kind);
std::string_view name_of(Fence fence);
std::string_view name_of(Arrival arrival);
std::string_view name_of(By by);
std::string_view name_of(Residence residence);
std::string_view name_of(StagingFormat format);
std::string_view name_of(ChannelKind kind);
std::string_view name_of(Scope scope);
std::string_view name_of(Instance::From from);
std::string_view name_of(Channel::Counts counts);
std::string_view name_of(PerTileOp::When when);
std::string_view name_of(Tiles tiles);
std::string_view name_of(TileOrder order);
std::string_view name_of(Axis axis);
std::string_view name_of(Placing placing);

/// Whether an op of this mechanism finishes without its issuing threads.
bool is_asynchronous(Mechanism mechanism);

/// Whether it is a bulk copy into shared memory, of one CTA or of all CTAs of a cluster.
bool is_bulk_load(Mechanism mechanism);

/// Whether it is a copy into shared memory, by TMA or by threads: only a full barrier shows its
/// end.
bool is_copy(Mechanism mechanism);

/// Bytes that a bulk load of the loop writes: its buffer may be larger, rounded up to TMA's
/// alignment. 0 if it has no buffer.
Amount bytes_brought(const Plan& plan, OpId load);

/// CTAs of a cluster; 1 without a kernel.
int cluster_size(const Plan& plan);

/// The role that runs an op; empty if no step of a steady state does.
std::optional<RoleId> role_of(const Plan& plan, OpId op);

/// The iteration that an instance means in window `window` of a run of `trips`. Precondition: the
/// instance is an iteration, not a tile.
std::int64_t iteration_of(const Instance& instance, std::int64_t window, std::int64_t trips);

/// The buffer in which `reader`'s role finds the value of `value`; empty if it needs no buffer.
std::optional<BufferId> read_from(const Plan& plan, OpId value, OpId reader);

/// All steps of a role in the loop, for `trips` trips, in order, with their iterations.
struct PlacedStep {
  const Step* step = nullptr;  ///< of the plan, which must outlive it
  std::int64_t iteration = 0;
};
std::vector<PlacedStep> unrolled(const Sections& sections, std::int64_t trips);
/// Replaces the contents of `steps` by the unrolled steps.
void unroll(const Sections& sections, std::int64_t trips, std::vector<PlacedStep>& steps);

}  // namespace twill::plan
