#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "twill/device/build.h"
#include "twill/device/sketch.h"
#include "twill/plan/stores.h"

/// Internal to the room: contents of shared memory, and barriers between roles.
namespace twill::device {

/// A buffer of the plan, or the barriers of one direction of a channel.
struct Ring {
  ValueId value;           ///< all copies
  ir::Type one = nullptr;  ///< the type of a copy
  int depth = 1;
  bool single = false;  ///< no ring: `value` is the only copy, or the barriers of a box
  bool joint = false;   ///< several buffers of the plan, each with the rows of a part
};

/// A box that one role stores and other roles fill.
struct Box {
  ir::OpId store;  ///< op of the Program
  ValueId value;   ///< the buffer
};

/// A scalar that a role sends to other roles with a channel.
struct Brief {
  ir::ValueId what;
  ValueId value;  ///< the buffer of one element
};

/// Memory of the kernel, and the nodes that make it.
struct Memory {
  std::map<plan::BufferId, Ring> rings;
  std::map<plan::ChannelId, Ring> full, empty;           ///< barriers
  std::map<plan::ChannelId, std::vector<Brief>> briefs;  ///< scalars that each channel brings
  std::map<std::size_t, Box> boxes;                      ///< by per-tile op
  std::map<std::size_t, ir::ValueId> invariant_buffers;  ///< loaded value by per-tile op
  std::map<ir::ValueId, ValueId> kept;  ///< values made in front of the roles, and not made again
  std::vector<Node> setup;
};

/// Lays out buffers, barriers and boxes; adds their values to `kernel`.
Result<Memory> lay_out(const Sketch& sketch, Kernel& kernel);

/// The stores behind the loop for which all roles share a box, with possible places of the box.
Result<std::vector<plan::WholeStore>> whole_stores(const Sketch& sketch, const Parts& parts);

}  // namespace twill::device
