#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"
#include "twill/support/id.h"

/// A GPU as Twill knows it, loaded from `machines/*.json` (docs/reference/machine-json.md).
/// Everything here is data: adding a GPU touches no C++. All durations are cycles of one SM.
namespace twill::machine {

/// Warps that share one setmaxnreg value and issue warpgroup-wide products.
inline constexpr int kWarpsPerWarpgroup = 4;

/// Where a number comes from: the JSON's "unit" and "source" beside its "value".
struct Quantity {
  double value = 0;
  std::string unit;
  std::string source;
  bool measured = false;  ///< false: taken from public documents, or assumed
};

/// An exclusive functional unit (TC, TMA): one op at a time.
struct Unit {
  std::string name;
  std::string about;
};

/// Pipe that several groups use at once (MUFU, ALU, FMA, SHUFFLE, SMEM, TMEM, RF, ISSUE).
struct Pipe {
  std::string name;
  std::string about;
  bool port = false;      ///< every instruction passes it before its own pipe (RF, ISSUE)
  Quantity tensor_share;  ///< share of the pipe that a streaming tensor core takes, 0 to 1
};

/// A memory that values occupy: "SMEM" in bytes, "TMEM" in columns.
struct Memory {
  std::string name;
  Quantity capacity;  ///< part that one CTA may use; unit "bytes" or "columns"
};

/// Level at which code runs, and the memories that it sees, both in the words of mappings.
struct Processor {
  std::string name;               ///< "host", "block", "warpgroup", "warp" or "thread"
  std::vector<std::string> sees;  ///< "global", "shared", "tensor", "register"
};

/// A group of a pool. Mirrors problem::Group.
struct PoolGroup {
  std::string name;
  int warps = 4;      ///< up to 4, or whole warpgroups
  int registers = 0;  ///< per thread, usable for tile data (setmaxnreg less the overhead)
  bool loads = false;
  bool shares = false;  ///< whether the setmaxnreg of its warpgroup follows from its need;
                        ///< `registers` is then the upper limit
};

/// Range of setmaxnreg, in steps of 8, for the groups of a pool that share registers.
struct SharedRegisters {
  int total = 0;  ///< registers for all these groups together; 0: no group shares
  int least = 0;  ///< lower limit of each group
  int most = 0;
  friend bool operator==(const SharedRegisters&, const SharedRegisters&) = default;
};
inline constexpr int kRegisterStep = 8;  ///< granularity of setmaxnreg

/// One choice of warp groups a kernel may be launched with.
struct Pool {
  std::string name;  ///< "2x64" and so on: compute groups x rows each
  std::string about;
  bool last_resort = false;     ///< only for loops for which no other pool has a plan
  std::vector<int> setmaxnreg;  ///< per hardware warpgroup of 128 threads, within the launch rule;
                                ///< an equal share where its group shares registers
  std::vector<PoolGroup> groups;
  SharedRegisters shared;
};

/// A tile operation, as far as its price goes. Fields that do not apply stay 0.
struct Work {
  std::string kind;           ///< "mma", "exp2", ... : the keys of "operations" in the JSON
  std::int64_t elements = 0;  ///< elements of the tile; for a reduction, of its input
  std::int64_t rows = 0;      ///< rows of the tile; for a reduction, of its result
  int parts_of_row = 1;    ///< warpgroups that each hold some columns of a row; for reductions and
                           ///< row vectors, where each warpgroup counts the row
  std::int64_t bytes = 0;  ///< moved, for loads, stores and transfers
  std::int64_t m = 0;      ///< product shape
  std::int64_t n = 0;
  std::int64_t k = 0;
  int bits = 32;     ///< per element: of the operands for a product, else of the input
  std::string form;  ///< product operands "SS", "RS", "TS" (A from, B from); else empty
};

/// `fastest`: measured alone, at the full rate of the SM. No co-run can be faster, so a schedule
/// built from these prices gives a true lower bound. `slowest`: beside a saturated tensor core,
/// while every compute group of the pool uses the same pipes; an upper figure that can be reached.
/// slowest >= fastest.
enum class Rate { fastest, slowest };

struct PipeDemand {
  std::size_t pipe = 0;  ///< index into Machine::pipes()
  Cycles demand = 0;     ///< cycles of the whole pipe; the same at both rates
};

/// The price of one op at one rate. Indices are those of Machine::units() and Machine::pipes().
///
/// A synchronous op at `fastest` holds its group for its issue slots only, since the compiler may
/// interleave it with other work of the group. At `slowest` it holds its group until the result is
/// there: nothing overlaps with it. An asynchronous op holds its group for `issue` at either rate.
struct Cost {
  std::optional<std::size_t> unit;  ///< exclusive unit held from issue
  Cycles occupancy = 0;             ///< 0 iff no unit
  Cycles latency = 0;               ///< issue to result
  Cycles issue = 0;                 ///< the issuing warps are held
  bool asynchronous = false;        ///< the result comes without the issuing warps
  bool variable_latency = false;    ///< memory traffic beyond the SM: `latency` is nominal
  bool defaulted = false;           ///< no rule for this kind: the stated default was used; warn
  std::vector<PipeDemand> pipes;    ///< ascending pipe, each once, only demands > 0
};

/// One summand of a price: so many cycles per unit of `per`, added to `on`.
struct Term {
  /// `serial` is waiting inside a synchronous op (a chain of dependent shuffles), not pipe time.
  enum class On { occupancy, latency, issue, serial, pipe };
  /// `a_byte`, `b_byte`: bytes of the operands of a product; `b_byte_row`: bytes of B times M.
  enum class Per { op, element, row, byte, flop, a_byte, b_byte, b_byte_row };
  On on = On::pipe;
  std::size_t pipe = 0;  ///< if `on` is a pipe
  Per per = Per::op;
  Quantity figure;             ///< as the JSON states it: "cycle", "cycle/row", "element/cycle" ...
  double cycles = 0;           ///< fastest, per unit of `per`
  double slow_cycles = 0;      ///< slowest, >= cycles
  std::string form;            ///< only for this operand form; empty: any
  int bits = 0;                ///< only for elements of up to so many bits (and more than the next
                               ///< smaller number of the rule); 0: any
  std::int64_t m_at_most = 0;  ///< only for products of at most this many rows; 0: any
  bool split_rows = false;     ///< only where several warpgroups hold parts of a row
};

/// The price of one kind of tile operation, as a function of its shape.
struct CostRule {
  std::string kind;
  std::string about;
  std::optional<std::size_t> unit;
  bool asynchronous = false;
  bool variable_latency = false;
  std::vector<Term> terms;
  std::vector<std::string> alternatives;  ///< kinds that do the same work, as alternatives
};

/// A GPU. Immutable. Only `load_machine` makes one, so its checks hold: ids in range, names unique,
/// numbers finite and non-negative. Pools obey the launch rule: the setmaxnreg of all warpgroups
/// sum to at most warpgroups x floor8(register_file / threads). Beyond that, setmaxnreg would wait
/// forever.
struct Description {
  // Defined in the source file, so that they are compiled once.
  Description();
  Description(const Description&);
  Description(Description&&) noexcept;
  Description& operator=(const Description&);
  Description& operator=(Description&&) noexcept;
  ~Description();

  std::string name;    ///< "h200"
  std::string about;   ///< one line
  std::string target;  ///< "sm_90" or "sm_100"
  std::string digest;  ///< SHA-256 of the JSON text that it was read from
  bool measured = false;
  Quantity sm_count;
  Quantity clock_mhz;
  std::vector<Unit> units;
  std::size_t tensor_unit = 0;  ///< index of the unit whose work takes the pipes' `tensor_share`
  std::vector<Pipe> pipes;
  std::size_t issue_pipe = 0;  ///< index of the pipe whose demand is the issue slots
  std::vector<Memory> memories;
  std::vector<Processor> processors;     ///< the outermost first
  Quantity register_file;                ///< 32-bit registers per SM
  Quantity registers_per_thread;         ///< the largest setmaxnreg
  Quantity register_overhead;            ///< registers of a setmaxnreg that tile data cannot use
  Quantity threads;                      ///< per CTA, largest
  Quantity named_barriers;               ///< per CTA
  Quantity mbarrier_signal;              ///< cycles, arrive of one group to release of another
  Quantity named_barrier_signal;         ///< the same for a named barrier
  Quantity subtile_rows;                 ///< rows of a compute group's tile by default (64, 128)
  std::optional<Quantity> product_rows;  ///< tensor-core products have a multiple of this many rows
  Quantity load_latency;    ///< nominal, issue of an asynchronous tile load to its arrival
                            ///< under a kernel's own traffic: sizes the rings
  int ctas_per_sm = 1;      ///< CTAs that share an SM; memories and registers are those of one CTA
  std::vector<Pool> pools;  ///< the first is the default
  std::vector<std::string> objectives;  ///< after II, as problem::name_of spells them
  int minimum_compute_groups = 1;
  std::vector<CostRule> operations;  ///< by kind, ascending; "default" prices unknown kinds
};

/// A GPU, checked. Immutable; copies share the description.
class Machine {
 public:
  Machine(const Machine&) = default;  // no move, which would leave a Machine without description
  Machine& operator=(const Machine&) = default;

  const Description* operator->() const { return description_.get(); }
  const Description& operator*() const { return *description_; }

  std::span<const Unit> units() const { return description_->units; }
  std::span<const Pipe> pipes() const { return description_->pipes; }
  std::optional<std::size_t> unit_named(std::string_view name) const;
  const Pool* pool_named(std::string_view name) const;    ///< null if there is none
  const CostRule* rule_for(std::string_view kind) const;  ///< null if there is none

 private:
  friend Result<Machine> load_machine(std::string_view text, std::string_view file);
  friend Machine keeping_free(Machine machine, int registers);
  friend Machine with_share_of_memory(Machine machine, double share);
  friend Machine with_copying_warpgroup(Machine machine);
  friend Machine shared_by(Machine machine, int ctas);
  explicit Machine(Description description)
      : description_(std::make_shared<const Description>(std::move(description))) {}
  std::shared_ptr<const Description> description_;
};

/// Reads a machine from its JSON text; `file` is for messages. A wrong one fails with the line, the
/// column, the path of the member ("/operations/exp2/terms/0/cycles") and what is expected there.
Result<Machine> load_machine(std::string_view text, std::string_view file);

/// The machine that keeps this many more registers of each thread from tile data. Precondition: 0
/// to 4096.
Machine keeping_free(Machine machine, int registers);

/// The machine with this share of its memories that count bytes. Precondition: `share` is above 0
/// and at most 1.
Machine with_share_of_memory(Machine machine, double share);

/// The machine for loops whose tiles threads copy through pointers (cp.async). In each
/// pool the load group becomes the whole warpgroup that it is part of, and the single warps
/// beside it are dropped.
///
/// One warp would not keep up, by estimate. 16 KB take 32 instructions of 16 bytes a lane.
/// Each has 5 to 10 more for its address and mask: 200 to 350 issue slots of one
/// scheduler in all. Two such tiles take the tensor core 512 cycles. Four warps have four
/// schedulers. Their addresses take registers: at least 72 a thread, which the other
/// warpgroups give up where the launch has no more.
Machine with_copying_warpgroup(Machine machine);

/// The machine as each of `ctas` CTAs on one SM sees it: with its share of the memories and
/// registers. Its pools are those whose launch leaves each thread at least `kLeastAtLaunch`
/// registers, so there may be none. Prices stay: an op takes as long while the other CTAs rest, and
/// a proven bound on an iteration still holds. `ctas` is at least 1; with 1 nothing changes.
Machine shared_by(Machine machine, int ctas);

/// Registers of each thread at launch with which ptxas still honours setmaxnreg. The ptxas of
/// Triton 3.6 does so with 128, and refuses setmaxnreg with 80 (C7602).
inline constexpr int kLeastAtLaunch = 128;

/// Bytes of shared memory that each CTA takes in addition to its memory in the machine file. The
/// driver takes 1 KiB (CUDA programming guide), and machine files leave 2 KiB for barriers and
/// alignment.
inline constexpr double kBesideMemory = 3072;

/// The price of one op that does all of `work`, interleaved by the compiler. Demands add up pipe by
/// pipe, and the group is held by its most loaded pipe. `compute_groups` (at least 1) do such work
/// at the same time; `fastest` ignores their number. Kinds without a rule get the rule "default"
/// and `defaulted`. Fails if the machine has no rate for the work (products of 64-bit elements) or
/// if two of the works need different units. Cost: linear in the terms.
Result<Cost> price(const Machine& machine, std::span<const Work> work, Rate rate,
                   int compute_groups);
Result<Cost> price(const Machine& machine, const Work& work, Rate rate, int compute_groups);

/// Alternatives for `works`: all works of one kind done by another kind of the machine. The first
/// element is the works unchanged. `name` is the replacing kind; of the first element, the kind to
/// be replaced. Empty if the works have no alternative. Cost: linear in works and alternatives.
struct Choice {
  std::string name;
  std::vector<Work> works;
};
std::vector<Choice> choices_of(const Machine& machine, std::vector<Work> works);

/// Cycles of a transfer: the delay that a dependence gains when a register tile of `bytes` changes
/// groups. Without bytes, the signal of a named barrier; with bytes, also the latencies of
/// "smem_store" and "smem_load".
Result<Cycles> transfer(const Machine& machine, std::int64_t bytes, Rate rate, int compute_groups);

/// Describes a machine for people: units, pipes, memories, pools, rules, numbers, sources.
std::string describe(const Machine& machine);

}  // namespace twill::machine
