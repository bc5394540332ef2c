#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "twill/frontend/tasks/module_text.h"
#include "twill/tasks/instantiate.h"
#include "twill/tasks/partitions.h"

/// Internal to the lowering of tasks. The tree is walked in the order of its text, and every tensor
/// has a place. Tensors in registers, or without a memory, are values. A tensor in another memory
/// than a leaf needs is copied.
namespace twill::frontend::from_tasks {

/// Place of a variant's tensor: a part of an argument in global memory, or a value.
struct Place {
  bool is_global = true;
  std::size_t argument = 0;         ///< argument of the entry
  std::vector<tasks::Size> offset;  ///< in elements, by sizes and indices of the kernel
  std::vector<tasks::Size> extent;  ///< also set for values
  std::size_t cell = 0;             ///< number of a value's cell
  /// For each dimension of the part, the dimension of the argument. Picked dimensions are left out.
  std::vector<std::size_t> dimensions;
  bool may_begin_before = false;  ///< may begin before the argument's first element
  /// Elements of the argument from one element of the part to the next, by the argument's
  /// dimension; 1 without an entry.
  std::map<std::size_t, tasks::Size> every = {};
  std::map<std::size_t, double> fills = {};  ///< numbers beyond the edge, by dimension that is cut
};

/// Elements of the argument from one element of the part to the next.
inline tasks::Size every_of(const Place& place, std::size_t dimension) {
  const auto every = place.every.find(dimension);
  return every == place.every.end() ? tasks::Size(1) : every->second;
}

/// A temporary tensor with its newest value. A cell kept in parts has no value of its own.
struct Cell {
  std::string name;
  TileType type;
  std::string value;                    ///< empty: not written yet
  std::string key = {};                 ///< equal in each walk of the tree
  Extents cuts = {};                    ///< number of parts of each dimension; empty: kept whole
  std::vector<std::size_t> parts = {};  ///< cells of the parts, the last dimension counted fastest
};

/// A descriptor or pointer among the kernel's parameters.
struct Parameter {
  std::size_t argument = 0;
  std::string name;
  std::string type;
  bool aligned = false;  ///< aligned to 16 bytes, as TMA needs
};

/// A tile that was loaded into registers.
struct Loaded {
  std::string value;
  TileType type;
};

/// A tensor that a prange cuts.
struct Parts {
  tasks::PartAxes axes;              ///< differences between the parts of different indices
  std::vector<std::int64_t> counts;  ///< number of parts, by dimension
};
/// The tensors that a prange cuts, by name.
using Cuts = std::map<std::string, Parts>;

/// A variant during its walk.
struct Frame {
  const tasks::TreeNode* node = nullptr;
  tasks::SizeMap sizes;  ///< names of the variant, by sizes and indices of the kernel
  std::map<std::string, Place> tensors;
  std::size_t launches = 0;
  /// Cuts of each surrounding prange whose iterations are one op.
  std::vector<Cuts> parts = {};
  /// First index of each size of which the leaf has only a part.
  std::map<std::string, std::int64_t> first = {};
  /// Arguments that a later part of the same leaf assigns to.
  std::set<std::string> left_out = {};
};
/// Several iterations of one variant that are walked side by side.
using Frames = std::vector<Frame>;

/// An index of the kernel: from the grid, or from a loop that counts elements.
struct Index {
  std::string value;      ///< variable that counts
  std::int64_t step = 1;  ///< increase of the variable from one index to the next
  std::size_t scope = 0;
  std::optional<std::int64_t> count = {};  ///< number of indices, from 0 on
};

/// Most loops in each other. Bodies of loops are walked twice, bodies within them four times, and
/// so on.
inline constexpr std::size_t kMostLoops = 6;

/// Whether all lanes agree in a fact of their frames.
template <class Of>
bool same_in_all(const Frames& lanes, Of of) {
  const auto first = of(lanes[0]);
  return std::all_of(lanes.begin() + 1, lanes.end(),
                     [&](const Frame& lane) { return of(lane) == first; });
}
/// Walks the lanes one after the other.
Result<void> each_lane(Frames& lanes, const std::function<Result<void>(Frames&)>& walk);

/// Sets the indices of a range for one of its iterations. Precondition: its extents are numbers
/// above 0.
void at_iteration(const tasks::Range& range, std::int64_t iteration, tasks::SizeMap& sizes);

/// Name of the op for operands of that type, followed by the predicate of a comparison.
std::string op_of(tasks::Function function, tasks::Scalar scalar);
/// A function that is called for each element.
struct Callee {
  std::string_view library, path;
  std::string symbol;
};
std::string call_text(const Callee& callee, const std::vector<std::string>& operands,
                      const std::vector<std::string>& types, const std::string& type);

class Lowering {
 public:
  Lowering(const tasks::Tree& tree, std::string file, const Products& products)
      : tree_(tree), state_(ModuleText(std::move(file), products)) {}
  Result<std::string> run();
  /// Facts of the products in the tree; without products, the given facts.
  Products products() const;

 private:
  Result<std::string> run_once();
  // Inner variants: walk.cpp.
  /// `parts`: as in Frame.
  Result<Frame> frame_of(const tasks::TreeNode& node, std::vector<Place> arguments,
                         const std::vector<tasks::Size>& positions, const tasks::Where& where,
                         std::vector<Cuts> parts = {}) const;
  Result<void> walk(Frames lanes, const tasks::Where& where);
  Result<void> walk_body(const std::vector<tasks::Statement>& body, Frames& lanes);
  Result<void> walk_range(const tasks::Range& range, Frames& lanes);
  Result<void> make(const tasks::Make& make, Frame& frame);
  /// `parts`: cuts by the surrounding prange, by argument.
  Result<void> launch(const tasks::Launch& launch, Frames& lanes,
                      const std::optional<Cuts>& parts = std::nullopt);

  // Ranges: ranges.cpp.
  Result<void> grid(const tasks::Range& range, Frames& lanes);
  /// `when`: condition for any iterations; empty: none.
  Result<void> loop(const tasks::Range& range, Frames& lanes, const std::string& when = {});
  std::optional<std::int64_t> iterations_apart(const tasks::Range& range, const Frame& frame) const;
  Result<void> one_by_one(const tasks::Range& range, std::int64_t iterations, Frames& lanes);
  void split(const tasks::Range& range, const std::string& counter, Frames& lanes);

  // Branches: branches.cpp.
  Result<void> branch(const tasks::Range& range, const tasks::Range* otherwise, Frames& lanes);
  Result<void> arms(const tasks::Range& range, const tasks::Range* otherwise,
                    const std::string& when, Frames& lanes);
  Result<std::vector<std::size_t>> changed_by(const std::vector<tasks::Statement>& body,
                                              Frames& lanes, const std::function<void()>& enter);

  // Iterations of pranges within a block, as one or side by side: parts.cpp and lanes.cpp.
  Result<void> parallel(const tasks::Range& range, Frames& lanes);
  Result<void> side_by_side(const tasks::Range& range, Frames& lanes);
  Result<void> parts(const tasks::Range& range, Frame& frame);
  Result<void> check_instruction(const tasks::Block& block, const tasks::Piece& of,
                                 const Frame& frame);
  Result<void> check_parts(const Frame& frame, const tasks::Where& where) const;
  Result<Place> part_of_cell(const Place& place, const tasks::Block& block,
                             const tasks::SizeMap& sizes, const tasks::Piece& piece);
  void keep_in_parts(std::size_t cell);
  tl::unexpected<Diagnostic> cut_again(const Cell& cell, Extents cuts, const tasks::Where& where);
  Result<Frames> lanes_of(const Frame& leaf, const tasks::Where& where);
  Result<std::map<std::string, std::int64_t>> cut_sizes(const Frame& leaf,
                                                        const tasks::Where& where) const;
  Result<Place> place_of(const tasks::Piece& piece, const Frame& frame);
  /// Least and greatest value of a size; nullopt if unknown.
  std::optional<std::pair<std::int64_t, std::int64_t>> bounds_of(const tasks::Size& size) const;
  static Place part_of(Place place, const tasks::Block& block, const tasks::SizeMap& sizes);
  Result<void> check_nested(const Place& place, const tasks::Block& block,
                            const tasks::SizeMap& sizes, const tasks::Piece& piece) const;
  Result<TileType> type_of(const std::vector<tasks::Size>& shape, tasks::Scalar scalar,
                           const std::string& name, const tasks::Where& where);

  // Leaves: leaf.cpp.
  friend class LeafLowering;
  Result<void> leaf(const Frame& frame, const tasks::Where& where);

  // Global memory: access.cpp.
  Result<double> fill_of(const Place& place, const tasks::Where& where) const;
  /// Loads a tile by TMA. Tiles come through pointers if threads load them into registers, or if
  /// numbers other than zero are beyond the edge. `swizzle`: of the copy in shared memory; 0: the
  /// largest.
  Result<Loaded> load(const Place& place, const std::string& name, const tasks::Where& where,
                      bool by_threads, int swizzle = 0);
  Result<std::string> load_shared(const Place& place, const std::string& name, int swizzle,
                                  const tasks::Where& where);
  Result<void> store(const Place& place, const std::string& tile, const tasks::Where& where);
  /// Box in which TMA writes the tile; nullopt if threads must write.
  std::optional<TileType> written_box(const Place& place, const TileType& type) const;
  /// `op`: "tt.descriptor_store"
  void write_box(const std::string& op, const Place& place, const TileType& type, TileType box,
                 const std::string& tile, const tasks::Where& where);
  Result<TileType> type_of(const Place& place, const tasks::Where& where);
  /// Combines a tile with memory by add, max or min; each element is updated atomically.
  Result<void> reduce(tasks::Function by, const Place& place, const std::string& tile,
                      const tasks::Where& where);
  bool is_by_pointers(const Place& place) const;
  std::optional<TileType> box_of(const Place& place, const TileType& tile) const;
  tasks::Size stride_of(const Place& place, std::size_t dimension) const;
  std::string base_of(const Place& place, const std::string& scalar, std::size_t scope,
                      const tasks::Where& where);
  std::string parameter(std::size_t argument, const std::string& type);
  /// Written arguments with several parameters.
  std::set<std::size_t> written_through_several() const;
  /// A pointer for each element; `mask`: elements within the tensor.
  struct Pointers {
    std::string addresses, mask, type;
  };
  Pointers pointers(const Place& place, const TileType& type, std::size_t scope,
                    const tasks::Where& where);
  friend class PointerText;
  std::vector<std::string> coordinates(const Place& place, const tasks::Where& where);
  std::string integer(const tasks::Size& size, const tasks::Where& where);
  std::size_t scope_of(const tasks::Size& size) const;
  std::size_t scope_of(const Place& place) const;
  Result<std::string> argument_text() const;
  /// Sizes of the entry that the mapping fixes.
  tasks::SizeMap fixed_sizes() const;

  /// State of a walk. A loop's body is walked twice: the first walk finds what the loop carries.
  struct State {
    explicit State(ModuleText made) : text(std::move(made)) {}
    ModuleText text;
    std::vector<Cell> cells;
    std::map<std::string, Index> indices;
    std::vector<Parameter> parameters;
    std::map<std::string, bool> sizes;  ///< sizes of the entry that the kernel needs
    std::size_t count = 0;              ///< number of indices
    std::size_t temporaries = 0;        ///< number of temporaries so far
    std::size_t branch = 0;             ///< scope of the innermost branch; loads stay within it
    bool has_grid = false;
    std::vector<Extents> products;  ///< shapes of their results
    std::int64_t depth = 16;        ///< depth of an instruction of the first product
    bool is_whole = false;          ///< the first product multiplies integers
  };

  const tasks::Tree& tree_;
  State state_;
  /// Arguments with a single parameter for all accesses, which keeps the order of accesses known.
  std::set<std::size_t> by_pointers_;
  /// Temporary tensors kept in parts, with the number of parts in each dimension.
  std::map<std::string, Extents> cuts_;
  /// Another such tensor, for which the tree must be walked again.
  std::optional<std::pair<std::string, Extents>> wanted_;
};

}  // namespace twill::frontend::from_tasks
