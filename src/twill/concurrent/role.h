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

/// Where a role is within a block.
struct Frame {
  enum class Kind { function, loop, before, after, branch, roles, partition };
  Kind kind = Kind::function;
  ir::OpId op;  ///< the loop, the branch or what else holds the block
  ir::BlockId block;
  std::size_t next = 0;        ///< op of the block
  std::int64_t iteration = 0;  ///< of loops, from 0
  std::int64_t induction = 0;  ///< of counting loops
  std::int64_t upper = 0;
  std::int64_t step = 1;
  std::optional<std::size_t> quantity = {};  ///< of loops that are followed (`Guide`): its id
  std::int64_t position = 0;                 ///< the loop goes on while the quantity is more
  std::int64_t in_tile = 0;  ///< of `Guide::wraps`: iterations that the tile has had
};

/// A thread of control at the level of tiles: the default warps, or those of a partition, which
/// meet wherever tiles or mbarriers need that.
struct Role {
  Role(std::string its_name, execute::Interpreter its_values)
      : name(std::move(its_name)), values(std::move(its_values)) {}

  std::string name;             ///< "default", "partition0"
  execute::Interpreter values;  ///< what its SSA values are
  std::vector<Frame> frames;    ///< empty: it has ended
  std::size_t agent = 0;
  std::uint32_t time = 0;
  Knowledge known;
  Queue products;                           ///< wgmma
  Queue copies;                             ///< cp.async
  Queue stores;                             ///< bulk stores
  Queue tensor;                             ///< tcgen05
  std::vector<std::uint32_t> copy_groups;   ///< what was issued when each group was committed
  std::vector<std::uint32_t> store_groups;  ///< each store is a group
  std::int64_t warps = 4;
  std::map<ir::ValueId, std::uint32_t> in_flight;  ///< results of products that were not waited for
  std::optional<std::size_t> parent;               ///< that waits for the end of this one
  std::size_t children = 0;                        ///< that have not ended
  bool waits = false;                              ///< at its next op
  /// A named barrier that it has arrived at there, and the phase that it waits for.
  std::optional<std::pair<std::int64_t, std::uint32_t>> synchronizes;
  std::map<ir::ValueId, Number> numbers;  ///< of `HandedOn`, scalars only where they are draws
  std::set<std::size_t> shifted;          ///< of `Guide::shifts`: counters went on before

  bool ended() const { return frames.empty(); }
  /// "partition0 in iteration 3"
  std::string where() const;
  /// The same, one for all that it does there.
  Whereabouts whereabouts() const;

 private:
  mutable std::vector<std::int64_t> last_iterations_;
  mutable Whereabouts last_whereabouts_;
};

}  // namespace twill::concurrent
