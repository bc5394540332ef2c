#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/tasks/instantiate.h"

/// The flow of memory in a tree of tasks: allocations, copies and calls of leaves, ordered by
/// events. This is the intermediate form of Cypress. `analyse` makes a flow with a copy for each
/// argument whose memory differs from its caller's. `vectorize` and `eliminate` remove copies and
/// calls that are not needed.
namespace twill::tasks {

struct Buffer {
  std::string name;
  Scalar scalar = Scalar::f32;
  std::vector<Size> shape;  ///< in terms of the entry's sizes and of indices
  Memory memory = Memory::none;
  bool is_argument = false;  ///< argument of the entry; arguments come first, in order
};

/// A buffer, a part of a buffer, or a part of such a part.
struct Ref {
  std::size_t buffer = 0;
  std::vector<Block> blocks;
  friend bool operator==(const Ref&, const Ref&) = default;
};

struct Copy {
  Ref from;
  Ref to;
};

struct Call {
  const TaskValue* task = nullptr;
  const Variant* leaf = nullptr;
  std::vector<Ref> arguments;
  std::vector<Size> positions;
};

struct FlowStep;

struct FlowLoop {
  bool parallel = false;
  Processor processor = Processor::host;  ///< processor that runs the loop
  std::vector<Dimension> dimensions;
  std::vector<FlowStep> body;
};

/// An event that must have happened before. `all`: in every iteration of a parallel loop.
struct After {
  std::size_t event = 0;
  bool all = false;
  friend bool operator==(const After&, const After&) = default;
};

struct FlowStep {
  std::variant<Copy, Call, FlowLoop> what;
  std::size_t event = 0;  ///< event when the step is done; numbered from 1
  /// RAW, WAR and WAW on earlier or surrounding steps of the same iteration.
  std::vector<After> after;
  Where where;
};

struct Flow {
  std::shared_ptr<const Library> library;
  const TaskValue* entry = nullptr;
  std::map<std::string, std::int64_t> sizes;  ///< sizes of the entry that the mapping fixes
  std::vector<Buffer> buffers;
  std::vector<FlowStep> steps;
};

/// Makes a flow with a fresh buffer for each tensor whose memory differs between a task and its
/// caller. A copy fills the buffer if the task reads; another copy returns its contents if the task
/// writes.
Flow analyse(const Tree& tree);

/// Replaces parallel loops within a block, whose leaves go by rows, by calls on all rows.
Flow vectorize(Flow flow);

/// Removes copies. A tensor without a memory replaces the buffers that are copies of it. Equal
/// copies of tensors that are never written are made once, before loops in which they are equal.
/// Events are computed again.
Flow eliminate(Flow flow);

/// Fails (M08) at the first copy from or to a buffer in memory `none`. Before `eliminate`, a flow
/// has many such copies.
Result<void> check_none(const Flow& flow);

/// Runs the flow as `run` runs its tree; the results are the same bits.
Result<std::map<std::string, execute::Tile>> run(
    const Flow& flow, const std::map<std::string, execute::Tile>& arrays);

/// Count of copies and calls, including loops.
struct FlowCount {
  std::size_t copies = 0;
  std::size_t calls = 0;
};
FlowCount count(const Flow& flow);

std::string to_string(const Flow& flow);

/// Numbers events and determines their order; see `FlowStep`.
void order(Flow& flow);

}  // namespace twill::tasks
