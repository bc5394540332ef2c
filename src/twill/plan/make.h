#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/machine/machine.h"
#include "twill/plan/plan.h"
#include "twill/schedule/region.h"
#include "twill/support/diagnostic.h"
#include "twill/verify/verify.h"

namespace twill::plan {

/// A load of a loop after the planned loop.
struct LoadRequest {
  Place load;
  std::vector<OpId> like;      ///< ops of the planned loop that load a tile of the same kind in the
                               ///< same manner, in the order of the program
  bool runs_ahead = false;     ///< a role that only loads can compute its place
  bool by_descriptor = false;  ///< else each role that needs the tile may load it for itself
};

/// A prologue or epilogue op of the kernel, before its roles are known.
struct PerTileRequest {
  PerTileOp what;                               ///< without roles and buffers
  std::optional<std::size_t> invariant_buffer;  ///< tma_load, cp_async: the buffer of
                                                ///< Setting::invariant_buffers that the op fills
  std::vector<std::size_t> reads;  ///< buffers of Setting::invariant_buffers that the op reads
  std::string memory;              ///< bulk_store: the memory in which its tile can be staged
  Amount bytes = 0;                ///< bulk_store: size of the tile
  std::vector<OpId> uses;    ///< after the loop: ops of the loop whose values it needs, directly or
                             ///< through other ops
  std::vector<OpId> tensor;  ///< ops of the loop whose tensor memory it accesses; empty: none
  std::vector<OpId> copies;  ///< before the loop: copies by threads that use it in their addresses
  bool only_copies = false;  ///< whether these copies are its only use
  bool brings = false;       ///< alone: whether its result is read
  std::vector<LoadRequest>
      loads;  ///< loads of a loop after the planned loop, in the order of the program
};

/// A row sum that may be kept in parts, as in the text of the loop (ir/row_sums.h).
struct RowSum {
  Place reduction, addition;
  std::vector<OpId> ops;   ///< ops of the Problem that compute the value, or an addend; ascending
  std::vector<OpId> sums;  ///< the ops of `ops` that compute the carried value, one for each part
};

/// A Whole, before its place among the ops is known.
struct WholeRequest {
  Whole what;                ///< the operation, without `placing`, `ops` and `last`
  std::vector<OpId> within;  ///< ops of the loop in the branch
  std::vector<OpId> needs;   ///< ops from whose results its effects are computed
  bool acts = false;         ///< whether it has effects that no op of the plan has
};

/// Input of a Plan beside the schedule. All members have defaults: a `.loop` text has no machine
/// and no kernel.
struct Setting {
  // Defined in the source file, so that they are compiled once.
  Setting();
  Setting(const Setting&);
  Setting(Setting&&) noexcept;
  Setting& operator=(const Setting&);
  Setting& operator=(Setting&&) noexcept;
  ~Setting();

  const machine::Machine* machine = nullptr;
  std::string pool;  ///< a pool of the machine; the schedule's groups are its groups
  std::vector<std::optional<Mechanism>>
      mechanisms;  ///< by OpId, where the kernel has them; may be empty
  std::vector<Buffer>
      invariant_buffers;  ///< tiles that live through the whole loop; without offsets
  std::vector<std::pair<std::string, Amount>> reserved;  ///< amount of each memory that is reserved
                                                         ///< beyond the Problem's own use
  std::optional<Kernel> kernel;                          ///< without prologue and epilogue ops
  std::vector<PerTileRequest> per_tile_ops;              ///< in the order of the program
  std::vector<Rematerialized> rematerialized;            ///< without roles
  std::vector<RowSum> row_sums;      ///< in the order in which the loop carries them
  std::vector<WholeRequest> wholes;  ///< in the order of the program
  std::vector<RowShare> shares;      ///< by OpId; may be empty
  bool tokens = true;  ///< whether tokens keep the order of tensor-core work across roles
  bool pins = false;   ///< whether the compiler is kept from moving math over the waits with which
                       ///< it overlaps
  schedule::Regions regions;      ///< regions in which roles take turns, beside `tokens`
  std::optional<int> ring_depth;  ///< copies of loads that run ahead; empty: as many as hide their
                                  ///< latency
  bool every_wait = false;        ///< whether waits are kept that other waits imply
  bool staging = true;  ///< whether tiles stored through descriptors are staged; else the threads
                        ///< store them
  bool shrink = false;  ///< take fewer copies than the schedule keeps where memory is short: the
                        ///< plan is then slower than the schedule, or may fail
};

/// Whether a value has to be staged.
bool stages(const Setting& setting);

/// Largest number of windows over which one group may spread an iteration.
inline constexpr int kLargestSpread = 64;

/// Decides all that a kernel needs beyond the schedule. The Plan is not proven yet.
///
/// Fails, naming op, buffer or group, if the schedule cannot be carried out. Either a group
/// spreads an iteration over too many windows, or buffers and staging do not fit their memory.
/// Or the order needs more registers than a group has, or more named barriers than exist.
/// Deterministic. Cost: about O(steps^2).
Result<Plan> draft_plan(const verify::CheckedSchedule& checked, const Setting& setting);

/// Reason why a CTA cannot go on to another tile: no step of the plan fills or empties a buffer
/// from tile to tile. Empty if the CTA can.
std::optional<std::string> bound_to_one_tile(const Plan& plan);

}  // namespace twill::plan
