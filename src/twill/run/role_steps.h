#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "twill/concurrent/machine.h"
#include "twill/run/bindings.h"
#include "twill/run/translation.h"

/// Internal to the room: one role of a module, compared with the steps of its plan.
namespace twill::run {

/// Whether a value is computed from indices and constants alone. Roles compute such values
/// anywhere, without a step of the plan: no other role has to come first.
bool is_of_indices(const ir::Program& program, ir::ValueId value);

/// Facts that all roles of a run share.
struct Comparison {
  const Translated& what;
  std::int64_t trips = 0;        ///< iterations of each tile
  int walks = 0;                 ///< loops over tiles that the roles have around the planned loop
  bool products_around = false;  ///< the kernel has products in no loop, without steps of a plan
  std::set<ir::OpId> branches;   ///< branches of the module that are done in one piece
  std::set<ir::OpId> of_kernel;  ///< the kernel's branches with products
  /// Memory of helpers, which is outside of the plan: an allocation, or its view with another type.
  std::set<std::pair<const execute::Tile*, std::size_t>> of_helpers;
  /// Memory that roles write without a step of the plan, and the first op that writes there. No
  /// buffer of the plan lies there.
  std::map<const execute::Tile*, ir::OpId> written_aside;
  Bindings bindings;
};

/// Whether a frame is of a loop.
bool is_loop_frame(const concurrent::Frame& frame);

/// The ops around an op, from the inside out.
std::vector<ir::OpId> around(const ir::Program& program, ir::OpId op);

/// Branches around an op, within the loop that it stands in.
std::vector<ir::OpId> branches_around(const ir::Program& program, ir::OpId op);

/// Whether an op uses an mbarrier that a role makes itself, and that the function does not make.
bool has_own_barrier(const ir::Program& module, ir::OpId function, ir::OpId op);

/// Follows a role op by op, and the plan's role step by step.
class RoleSteps {
 public:
  RoleSteps(Comparison& all, const plan::Role& role);

  /// Compares an op that the role has done with the plan. Returns the difference; empty: none.
  std::string take(const concurrent::Role& state, ir::OpId op);
  /// Compares the end of the role with the plan. Returns the difference; empty: none.
  std::string end();

 private:
  /// A step and its iteration in the tile. `instance` goes on from tile to tile, or counts tiles.
  /// Instances used by loops beside the planned loop are not counted.
  struct Placed {
    const plan::Step* step = nullptr;
    std::int64_t iteration = 0;
    std::int64_t instance = 0;
    bool is_per_tile = false;  ///< before or after the sections
  };
  /// Arithmetic on a tile, and the latest iteration among the values from which the result is
  /// computed.
  struct Computed {
    ir::OpKind kind = ir::OpKind::other;
    std::optional<std::int64_t> iteration;
    std::vector<std::int64_t> shape = {};  ///< shape of the result
  };
  /// A read of a copy in shared memory: a value of an iteration, or an invariant tile.
  struct Read {
    plan::BufferId buffer;
    std::int64_t instance = 0;
    std::optional<plan::OpId> value;
    std::int64_t iteration = 0;
  };

  void add_tile();
  void add_tail(const concurrent::Role& state);
  void place(const std::vector<plan::Step>& steps, std::int64_t window, bool is_per_tile);
  std::optional<plan::BufferId> box_of(const plan::Step& step) const;
  bool is_of_box(plan::ChannelId channel) const;
  /// The channel whose mbarriers a channel uses. Channels from roles that fill one box share
  /// mbarriers.
  plan::ChannelId barriers_of(plan::ChannelId channel) const {
    return barriers_of_[channel.index()];
  }
  bool shows(const Placed& placed) const;
  std::string pass(const Placed& placed);
  bool is_left(const Placed& placed) const;
  bool is_of_shape(const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& whole) const;
  bool has_own_step(const extract::Source& source) const;
  std::string check_computed(const Placed& placed);
  std::string to_next();
  bool is_beside(const concurrent::Role& state) const;
  bool is_around(ir::OpKind kind);
  bool fills_box() const;
  bool is_in_branch(const concurrent::Role& state) const;
  std::string check_in_branch(const concurrent::Role& state, ir::OpId op) const;
  void note_aside(const concurrent::Role& state, ir::OpId op);
  bool hands_over_indices(plan::OpId op) const;
  bool is_of_branch(const Placed& placed) const;
  std::optional<plan::BufferId> written_by(const plan::Step& step) const;
  bool writes(plan::BufferId buffer) const;
  std::vector<Read> read_by(const Placed& placed) const;
  bool is_product_step(const Placed& placed) const;
  bool fits_read(const Read& read, const Spot& at);
  std::int64_t used_beside(plan::ChannelId channel) const;
  std::int64_t used_beside(plan::BufferId buffer) const;
  std::string take_beside(const concurrent::Role& state, ir::OpId op);
  std::string words(const Placed& placed) const;

  std::string match(const concurrent::Role& state, ir::OpId op);
  bool fits(const concurrent::Role& state, ir::OpId op, const Placed& placed);
  bool fits_barrier(const concurrent::Role& state, ir::OpId op, const Placed& placed);
  bool fits_copy(const concurrent::Role& state, ir::OpId op, const Placed& placed);
  bool fits_product(const concurrent::Role& state, ir::OpId op, const Placed& placed);
  bool fits_write(const concurrent::Role& state, ir::OpId op, const Placed& placed);
  std::string take_read(const concurrent::Role& state, ir::OpId op);
  std::optional<Spot> spot(const concurrent::Role& state, ir::ValueId value) const;
  bool is_of_helpers(const concurrent::Role& state, ir::OpId op) const;
  bool is_of_own_memory(const concurrent::Role& state, ir::OpId op) const;

  void carry(const concurrent::Role& state, ir::OpId op, bool left_aside);
  void carry_branch(ir::OpId branch, std::optional<ir::BlockId> entered);
  void note_result(ir::OpId op, std::optional<std::int64_t> latest);
  void forward(std::span<const ir::ValueId> from, std::span<const ir::ValueId> to);
  std::optional<std::int64_t> iteration_of(const ir::Op& op) const;
  std::optional<std::int64_t> latest_in(plan::OpId op, std::int64_t iteration, bool held);
  std::optional<std::int64_t> made_by(const problem::Dependence& it, std::int64_t iteration,
                                      bool held);
  bool is_made_of(plan::OpId op, std::int64_t iteration, std::optional<std::int64_t> made);
  bool is_made_of(plan::OpId op, ir::OpId source, std::int64_t iteration,
                  std::optional<std::int64_t> made);

  Comparison& all_;
  const plan::Plan& plan_;
  const plan::Role& role_;
  std::vector<plan::ChannelId> barriers_of_;
  std::vector<Placed> steps_;
  std::size_t next_ = 0;
  std::int64_t tiles_ = 0;
  bool behind_tiles_ = false;     ///< the steps after the last tile are placed
  std::optional<ir::OpId> loop_;  ///< the planned loop
  bool arrives_next_ = false;     ///< a copy by threads is issued, and its arrival comes next
  bool fenced_ = false;           ///< a fence came after the last step with an op of its own
  std::int64_t open_products_ = 0;
  std::vector<Computed> computed_;  ///< arithmetic since the last step with an op of its own
  /// Ops of the kernel that one part has done on a whole tile for all parts, each with the
  /// iteration.
  std::set<std::pair<ir::OpId, std::int64_t>> for_all_parts_;
  std::vector<Spot> read_here_;  ///< reads by threads after that step
  std::map<ir::ValueId, std::int64_t> made_in_;
  std::deque<Read> read_;  ///< reads by past steps
  /// Memory that the role has allocated, with the allocation. In the plan this memory is a tile
  /// that the role writes before the loop, or has no counterpart.
  std::map<const execute::Tile*, ir::OpId> own_memory_;
  std::map<ir::OpId, plan::BufferId> own_copies_;  ///< tiles of that kind, by op
  /// Fillings of channels that loops beside the planned loop have used: up to now, and before the
  /// tile.
  std::map<plan::ChannelId, std::int64_t> beside_;
  std::map<plan::ChannelId, std::int64_t> beside_before_;
  std::map<std::tuple<plan::OpId, std::int64_t, bool>, std::optional<std::int64_t>> latest_;
  /// Fillings of a channel that the role has released, and fillings for which it has waited.
  struct Held {
    std::int64_t released = 0;
    std::int64_t waited = 0;
  };
  std::map<plan::ChannelId, Held> held_;
};

}  // namespace twill::run
