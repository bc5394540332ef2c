#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "twill/device/build.h"
#include "twill/device/sketch.h"

/// Internal to the room: what lies in shared memory, and who waits for whom.
namespace twill::device {

/// A buffer of the plan, or the barriers of one direction of a channel.
struct Ring {
  ValueId value;           ///< all copies
  ir::Type one = nullptr;  ///< the type of a copy
  int depth = 1;
  bool single = false;  ///< no ring: `value` is the copy
  bool joint = false;   ///< several buffers of the plan, each with the rows of a part
};

/// A box that bulk stores behind the loop take tiles from. The host made descriptors of whole
/// tiles, so roles that hold rows of one fill its box together, and one warp stores it.
struct Box {
  ir::OpId store;  ///< of the Program
  ValueId value;   ///< the buffer
  ir::Type type = nullptr;
  Ring full;                 ///< barrier: all rows are there
  std::optional<Ring> free;  ///< barrier: what was stored has left, the next box takes its place
  /// Per-tile op whose box lies here before: of the same tile, or of the tile before.
  std::optional<std::size_t> after;
  bool of_last_tile = false;
  std::optional<plan::ChannelId> lay;  ///< of the tile that lay here: all roles have released it
};

/// A scalar that a role brings to others with a channel.
struct Brief {
  ir::ValueId what;
  ValueId value;  ///< the buffer, of one element
};

/// All of that, and the nodes that make it.
struct Memory {
  std::map<plan::BufferId, Ring> rings;
  std::map<plan::ChannelId, Ring> full, empty;           ///< barriers
  std::map<plan::ChannelId, std::vector<Brief>> briefs;  ///< what such a channel brings
  std::map<std::size_t, Box> boxes;                      ///< by per-tile op
  std::map<std::size_t, ir::ValueId> invariant_buffers;  ///< by per-tile op: what it loads
  std::map<ir::ValueId, ValueId> kept;  ///< made in front of the roles, and not made again
  std::vector<Node> setup;
};

/// Lays out buffers, barriers and boxes; adds their values to `kernel`.
Result<Memory> lay_out(const Sketch& sketch, const Parts& parts, Kernel& kernel);

}  // namespace twill::device
