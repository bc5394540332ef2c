#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "twill/concurrent/clock.h"
#include "twill/concurrent/finding.h"
#include "twill/concurrent/number.h"
#include "twill/execute/interpreter.h"
#include "twill/ir/loop.h"

namespace twill::concurrent {

/// Work of one kind that a role has begun, in order.
struct Queue {
  std::size_t agent = 0;
  std::uint32_t issued = 0;
};

/// Position of a role within a block.
struct Frame {
  enum class Kind { function, loop, before, after, branch, roles, partition };
  Kind kind = Kind::function;
  ir::OpId op;  ///< the loop, branch or other op that holds the block
  ir::BlockId block;
  std::size_t next = 0;        ///< number of the next op in the block
  std::int64_t iteration = 0;  ///< iteration of a loop, from 0
  std::int64_t induction = 0;  ///< induction variable of a counting loop
  std::int64_t upper = 0;
  std::int64_t step = 1;
  std::optional<std::size_t> quantity = {};  ///< id of the quantity of a followed loop (`Guide`)
  std::int64_t position = 0;  ///< the loop goes on while the quantity is more than this number
  std::int64_t in_tile = 0;  ///< iterations of the present tile so far, for loops of `Guide::wraps`
};

/// A thread of control at the level of tiles: the default warps, or the warps of a partition. These
/// warps meet wherever tiles or mbarriers need that.
struct Role {
  Role(std::string its_name, execute::Interpreter its_values)
      : name(std::move(its_name)), values(std::move(its_values)) {}

  std::string name;             ///< "default", "partition0"
  execute::Interpreter values;  ///< values of its SSA names
  std::vector<Frame> frames;    ///< empty: the role has ended
  std::size_t agent = 0;
  std::uint32_t time = 0;
  Knowledge known;
  Queue products;                           ///< wgmma
  Queue copies;                             ///< cp.async
  Queue stores;                             ///< bulk stores
  Queue tensor;                             ///< tcgen05
  std::vector<std::uint32_t> copy_groups;   ///< copies issued before each commit of a group
  std::vector<std::uint32_t> store_groups;  ///< stores up to the end of each group
  std::int64_t warps = 4;
  std::map<ir::ValueId, std::uint32_t> in_flight;  ///< results of products in flight
  std::optional<std::size_t> parent;               ///< the role that waits for the end of this role
  std::size_t children = 0;                        ///< children that have not ended
  bool waits = false;                              ///< the role waits at its next op
  /// Number of the named barrier at which the role has arrived, and the phase for which it waits.
  std::optional<std::pair<std::int64_t, std::uint32_t>> synchronizes;
  std::map<ir::ValueId, Number> numbers;  ///< numbers of `HandedOn`; scalars only if drawn
  std::set<std::size_t> shifted;          ///< counters of these `Guide::shifts` were shifted before

  bool ended() const { return frames.empty(); }
  /// Place of the role, as "partition0 in iteration 3".
  std::string where() const;
  /// The same place as shared text, one for all steps of the role there.
  Whereabouts whereabouts() const;

 private:
  mutable std::vector<std::int64_t> last_iterations_;
  mutable Whereabouts last_whereabouts_;
};

}  // namespace twill::concurrent
