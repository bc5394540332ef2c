#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/tasks/instantiate.h"

/// The flow of a tree of tasks, as it uses memory: allocations, copies and calls of leaves, ordered
/// by events. This is the intermediate form of Cypress. `analyse` makes it, with a copy for each
/// argument whose memory differs from its caller's. `vectorize` and `eliminate` remove copies and
/// calls that are not needed.
namespace twill::tasks {

struct Buffer {
  std::string name;
  Scalar scalar = Scalar::f32;
  std::vector<Size> shape;  ///< by sizes of the entry and indices
  Memory memory = Memory::none;
  bool is_argument = false;  ///< of the entry; these come first, in its order
};

/// A buffer, or a part of it, or a part of that.
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
  Processor processor = Processor::host;  ///< that runs the loop
  std::vector<Dimension> dimensions;
  std::vector<FlowStep> body;
};

/// An event that has to be there before. `all`: of every iteration of a parallel loop.
struct After {
  std::size_t event = 0;
  bool all = false;
  friend bool operator==(const After&, const After&) = default;
};

struct FlowStep {
  std::variant<Copy, Call, FlowLoop> what;
  std::size_t event = 0;     ///< that there is when the step is done; numbered from 1
  std::vector<After> after;  ///< RAW, WAR and WAW, of steps around or before in the same iteration
  Where where;
};

struct Flow {
  std::shared_ptr<const Library> library;
  const TaskValue* entry = nullptr;
  std::map<std::string, std::int64_t> sizes;  ///< of the entry, that the mapping gives
  std::vector<Buffer> buffers;
  std::vector<FlowStep> steps;
};

/// A fresh buffer for each tensor that a task has in another memory than its caller; a copy into it
/// if the task reads, and out of it if the task writes.
Flow analyse(const Tree& tree);

/// Parallel loops within a block whose leaves go by rows become calls on all rows.
Flow vectorize(Flow flow);

/// A tensor that lies nowhere takes the place of the buffers that are copies of it; equal copies of
/// tensors that are never written are made once, and in front of loops in which they are the same.
/// Events are made anew.
Flow eliminate(Flow flow);

/// Fails (M08) if the flow copies from or to a buffer in memory `none`, and names the first such
/// copy. A flow before `eliminate` has many.
Result<void> check_none(const Flow& flow);

/// Runs the flow as `run` runs its tree; it leaves the same bits.
Result<std::map<std::string, execute::Tile>> run(
    const Flow& flow, const std::map<std::string, execute::Tile>& arrays);

/// Copies and calls, in loops too.
struct FlowCount {
  std::size_t copies = 0;
  std::size_t calls = 0;
};
FlowCount count(const Flow& flow);

std::string to_string(const Flow& flow);

/// Numbers events and says which come after which; see `FlowStep`.
void order(Flow& flow);

}  // namespace twill::tasks
