#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"
#include "twill/support/id.h"

/// The loop body as tile operations. `contract` makes the graph from the Program, `fuse` makes it
/// coarser, `sub_tile` cuts it into rows, and `assemble` makes a Problem from it. Independent of
/// the machine.
namespace twill::extract {

struct AxisTag;
struct TileOpTag;
/// Tile dimensions that must be cut together: element-wise partners, the two sides of a
/// transposition, the contracted dimension of a product's operands, ...
using AxisId = Id<AxisTag>;
using TileOpId = Id<TileOpTag>;

struct Extent {
  AxisId axis;
  std::int64_t size = 1;
  friend bool operator==(const Extent&, const Extent&) = default;
};
/// Dimensions of size 1 are left out: a column of 128 x 1 is a row vector.
using Space = std::vector<Extent>;

std::int64_t elements_of(const Space& space);

/// Where the result of a tile op lives.
enum class Home { none, registers, shared, tensor };

constexpr bool is_memory(Home home) { return home == Home::shared || home == Home::tensor; }

enum class Action {
  copy,         ///< asynchronous, from global to shared memory
  load,         ///< blocking, from global memory into registers
  product,      ///< space: m, n, k
  elementwise,  ///< space of the result
  reduction,    ///< space of the input; `reduced` is an index into it
  move,         ///< between registers, shared and tensor memory, or inside a warp
  store,        ///< to global memory
  conditional,  ///< a rare branch as one op
  unknown,
};

/// The unit class of an element-wise op. Chains are split where it changes.
enum class Unit { core, mufu, narrowing };

/// A part of an op with a price of its own.
struct Piece {
  std::string kind;  ///< a key of the machine's "operations"
  int bits = 32;     ///< per element
  std::int64_t times = 1;
  std::string form;           ///< of a product: "SS", "RS", "TS"
  std::int64_t elements = 0;  ///< number of computed elements; 0: those of the op's space
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Lines of the Program that an op stands for.
struct Source {
  ir::OpId op;
  Location where;
  std::string text;       ///< "arith.subf @ 57:11"
  bool absorbed = false;  ///< index arithmetic, which each access repeats
};

struct TileOp {
  std::string name;  ///< unique, see name_ops; empty before
  Action action = Action::unknown;
  Unit unit = Unit::core;          ///< of element-wise ops
  std::vector<std::string> words;  ///< its actions in order: "scale", "sub"
  std::vector<Piece> pieces;
  Space space;
  std::optional<std::size_t> reduced;
  Space result;
  int result_bits = 0;
  Home home = Home::none;
  bool holds_memory = true;  ///< false: the buffer is accounted for by another op
  bool forwards =
      false;  ///< moves values to another place, unchanged; `sources` lists the ops that need them
  bool one_warp = false;                ///< issued by one thread, for any tile
  std::optional<ir::OpId> branch = {};  ///< the outermost branch of the loop around it
  std::vector<Source> sources;
  std::int64_t row_begin = 0;  ///< first row along the cut axis; both 0 if not cut
  std::int64_t row_end = 0;
  int part = -1;  ///< sub-tile, -1: shared or not cut
};

enum class Flow {
  value,     ///< `to` reads the result of `from`
  in_place,  ///< `to` overwrites the result: one buffer
  order,     ///< `to` comes after `from`, and keeps no value alive
  memory,    ///< order through global memory: all parts of `to` after all parts of `from`
};

struct TileEdge {
  TileOpId from;
  TileOpId to;
  int distance = 0;
  Flow flow = Flow::value;
  friend bool operator==(const TileEdge&, const TileEdge&) = default;
};

/// A tile that lives through the whole loop.
struct InvariantBuffer {
  std::string name;  ///< "Q of mma0", or the source line
  Home home = Home::shared;
  Space space;
  int bits = 16;
  std::string why;  ///< "loaded before the loop", "staging of a store in the outer loop"
  std::optional<ir::OpId>
      op;                ///< op that makes the tile: an allocation, or arithmetic before the loop
  bool staging = false;  ///< staging of a store after the loop
};

/// Loads for which an op waits between two executions, `distance` iterations apart. Each load's
/// address comes from the load before.
struct LoadChain {
  TileOpId op;
  int loads = 0;
  int distance = 0;
};

/// Axes that must not be cut, with the reason.
struct Axis {
  std::int64_t size = 1;
  std::string frozen;  ///< empty: may be cut
};

struct TileGraph {
  // Defined in the source file to be compiled once.
  TileGraph();
  TileGraph(const TileGraph&);
  TileGraph(TileGraph&&) noexcept;
  TileGraph& operator=(const TileGraph&);
  TileGraph& operator=(TileGraph&&) noexcept;
  ~TileGraph();

  std::vector<TileOp> ops;  ///< in program order
  std::vector<TileEdge> edges;
  std::vector<Axis> axes;
  std::vector<InvariantBuffer> invariant_buffers;
  std::vector<std::vector<TileOpId>> together;  ///< ops that one group must run (see meetings)
  std::vector<LoadChain> chains;                ///< see load_chains
  /// Ordered accesses to global memory without an edge, since one of them is no op of the graph.
  std::vector<std::pair<ir::OpId, ir::OpId>> unkept;
  std::vector<Diagnostic> warnings;
  std::vector<std::string> notes;  ///< notes on contraction and fusion, for people
};

/// Whether at most one dimension is longer than 1: rows, columns and single values.
bool is_row(const Space& space);

/// Position of `axis` in `space`.
std::optional<std::size_t> find_axis(const Space& space, AxisId axis);

/// Adds an edge unless an equal one exists.
void connect(TileGraph& graph, TileEdge edge);

}  // namespace twill::extract
