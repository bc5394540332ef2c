#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/ir/program.h"
#include "twill/plan/proof.h"
#include "twill/support/id.h"

/// A kernel as a tree without text: the result of a proven plan and its Program, which a printer
/// spells. The tree has buffers and barriers in shared memory, and roles that run side by side. A
/// role is a block of nodes with loops and branches, in static single assignment.
///
/// The tree has all decisions of the plan: order, rings, slots and phases, arrivals, rows and
/// layouts of each role. A printer only chooses words.
namespace twill::device {

struct ValueTag;
using ValueId = Id<ValueTag>;

/// A value of a role or the kernel: a scalar, a tile in registers with its layout, a tile in shared
/// memory, or barriers. Types are nodes of the Program's table, which must outlive the
/// kernel.
struct Value {
  std::string name;  ///< for people; not unique
  ir::Type type = nullptr;
};

enum class NodeKind : unsigned char {
  source,    ///< an operation of the Program, with other rows, layouts and operands
  constant,  ///< `numbers[0]`, an integer or a truth value
  // Integers: two operands each.
  add,
  subtract,
  multiply,
  divide,  ///< signed, towards zero
  exclusive_or,
  equal,
  at_most,  ///< signed
  choose,   ///< condition, then, otherwise
  both,     ///< truth values, also of tiles
  spread,   ///< a scalar as a tile
  only,     ///< the scalar in a tile of one element
  convert,  ///< an integer to one of another width; truth values become 0 and 1
  // Control.
  loop,    ///< first, end, step, then initial values; a block with counter and carried values
  repeat,  ///< initial values; a block that yields whether to go on, and the body's values; the
           ///< body
  branch,  ///< a condition; two blocks
  leave,   ///< only in `setup`: the kernel ends if the operand is `numbers[0]`
  // Memory on the chip.
  allocate,   ///< a buffer with undefined contents; or `numbers[0]` barriers
  element,    ///< copy number `operands[1]` of a ring of buffers or barriers
  rows,       ///< a part of a buffer, from `numbers` on
  overlay,    ///< the memory of a buffer, or of a ring, as a buffer of another type
  read,       ///< a tile from a buffer
  write,      ///< tile, buffer
  relayout,   ///< a tile in another layout
  transpose,  ///< a buffer with its dimensions in the order of `numbers`
  // Maps of TMA in global memory, behind descriptors.
  scratch,        ///< `numbers[0]` bytes of global memory of the CTA's own
  create_map,     ///< map, base, then box, extents, strides and steps, innermost first; `numbers`:
                  ///< rank, and of the driver's enumerations type, fill and swizzle
  acquire_map,    ///< makes earlier writes of the map visible to TMA
  as_descriptor,  ///< the map's memory as a descriptor
  // Barriers: the barrier is the first operand.
  init_barrier,  ///< for `numbers[0]` arrivals
  end_barrier,   ///< after the last use by any warp
  wait,          ///< for the phase of parity `operands[1]`
  arrive,        ///< one arrival; only if `operands[1]`, where there is one
  expect,        ///< `numbers[0]` bytes if `operands[1]`, which counts as an arrival
  meet,          ///< the role's warps wait for each other, and see each other's writes
  // Asynchronous work.
  proxy_fence,    ///< makes writes of threads to shared memory visible to bulk copies and products
  global_fence,   ///< as `proxy_fence`, and also for writes to global memory
  load_box,       ///< descriptor, coordinates, barrier, buffer, whether to load
  store_box,      ///< descriptor, coordinates, buffer; adds or reduces where the `source` does
  wait_stores,    ///< until at most `numbers[0]` bulk stores have not read their boxes
  end_stores,     ///< until at most `numbers[0]` bulk stores are incomplete in global memory
  copy,           ///< pointers, buffer, then mask and other where the `source` has them
  arrive_copied,  ///< each thread arrives once its own copies are done
  product,        ///< a, b, accumulator, whether to add the accumulator; the rest as in `source`
  wait_products,  ///< until at most `numbers[0]` are in flight; results are the operands, complete
};

struct Node;

/// Nodes in order, with the block's arguments and results.
struct Block {
  std::vector<ValueId> arguments;
  std::vector<Node> nodes;
  std::vector<ValueId> yields;
};

struct Node {
  NodeKind kind = NodeKind::source;
  std::vector<ValueId> operands = {};
  std::vector<ValueId> results = {};
  std::vector<std::int64_t> numbers = {};  ///< of a range (`source`): start and end
  std::optional<ir::OpId> source = {};     ///< op of the Program that is carried over
  std::vector<Block> blocks = {};
  std::string remark = {};  ///< the step of the plan that begins here, for people
  std::size_t span = 0;     ///< length of the step: this node and the nodes behind it
};

/// Calls `visit` for each node, and for all nodes in its blocks.
template <class Visit>
void walk(const std::vector<Node>& nodes, const Visit& visit) {
  for (const Node& node : nodes) {
    visit(node);
    for (const Block& block : node.blocks) walk(block.nodes, visit);
  }
}

/// Warps that run one block.
struct Role {
  std::string name;
  int warps = 4;
  int registers = 0;  ///< per thread while it runs; 0: as launched
  Block body;         ///< its arguments are the kernel's captures, except in the first role
};

struct Kernel {
  ir::OpId function;               ///< op of the Program: name, arguments, attributes
  std::vector<Value> values;       ///< by ValueId
  std::vector<ValueId> arguments;  ///< arguments of the function
  std::vector<Node> setup;         ///< buffers and barriers, before the roles begin
  std::vector<ValueId> captures;   ///< values of `setup` and arguments that roles use
  std::vector<Role> roles;         ///< the first role runs in the launch's own warps
  std::vector<Node> finish;        ///< nodes after the end of all roles
  int registers_at_launch = 0;     ///< of each thread; 0: chosen by the compiler
  std::vector<std::string> notes;  ///< decisions of this room that are not in the plan
  /// The plan from which the tree is made, with the role that stores boxes.
  std::optional<plan::ProvenPlan> plan;

  const Value& operator[](ValueId id) const { return values[id.index()]; }
};

}  // namespace twill::device
