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

/// Internal to the lowering of tasks: the tree is walked in the order of its text, and every tensor
/// is a place. Tensors that live in registers, or nowhere, are values; what lies elsewhere than a
/// leaf wants it is copied there.
namespace twill::frontend::from_tasks {

/// Meaning of a tensor of a variant: a part of an argument in global memory, or a value.
struct Place {
  bool is_global = true;
  std::size_t argument = 0;         ///< of the entry
  std::vector<tasks::Size> offset;  ///< in elements, by sizes and indices of the kernel
  std::vector<tasks::Size> extent;  ///< also of values
  std::size_t cell = 0;             ///< of a value
  /// By dimension of the part that of the argument: those that were picked are missing.
  std::vector<std::size_t> dimensions;
  bool may_begin_before = false;  ///< in front of the argument's first element
  /// Elements of the argument from one of the part to the next, by the argument's dimension; 1 if
  /// it is missing.
  std::map<std::size_t, tasks::Size> every = {};
  std::map<std::size_t, double> fills = {};  ///< beyond the edge, by dimension that is cut
};

/// Elements of the argument from one of the part to the next.
inline tasks::Size every_of(const Place& place, std::size_t dimension) {
  const auto every = place.every.find(dimension);
  return every == place.every.end() ? tasks::Size(1) : every->second;
}

/// A temporary tensor: the newest of its values. One that is kept in parts has none of its own.
struct Cell {
  std::string name;
  TileType type;
  std::string value;                    ///< empty: not written yet
  std::string key = {};                 ///< the same each time that the tree is walked
  Extents cuts = {};                    ///< of each dimension; empty: it is kept whole
  std::vector<std::size_t> parts = {};  ///< cells, the last dimension counted fastest
};

/// A descriptor or pointer that the kernel takes.
struct Parameter {
  std::size_t argument = 0;
  std::string name;
  std::string type;
  bool aligned = false;  ///< to 16 bytes, as what TMA copies from is
};

/// A tile that was loaded into registers.
struct Loaded {
  std::string value;
  TileType type;
};

/// A tensor that a prange cuts.
struct Parts {
  tasks::PartAxes axes;              ///< that its index tells apart
  std::vector<std::int64_t> counts;  ///< of parts, by dimension
};
/// The tensors that a prange cuts, by name.
using Cuts = std::map<std::string, Parts>;

/// A variant that is being walked.
struct Frame {
  const tasks::TreeNode* node = nullptr;
  tasks::SizeMap sizes;  ///< its names, by sizes and indices of the kernel
  std::map<std::string, Place> tensors;
  std::size_t launches = 0;
  /// A map for each prange around it that is carried out at once.
  std::vector<Cuts> parts = {};
  /// First index of a size that a leaf on one part has less of.
  std::map<std::string, std::int64_t> first = {};
  /// Arguments that a later part of the same leaf assigns to.
  std::set<std::string> left_out = {};
};
/// One variant in several iterations of pranges, which are walked side by side.
using Frames = std::vector<Frame>;

/// An index of the kernel: of the grid, or of a loop that counts elements.
struct Index {
  std::string value;      ///< of the variable that counts
  std::int64_t step = 1;  ///< of that variable from one index to the next
  std::size_t scope = 0;
  std::optional<std::int64_t> count = {};  ///< of indices, from 0 on
};

/// Bodies of loops are walked twice, those within them four times, and so on.
inline constexpr std::size_t kMostLoops = 6;

/// Whether a fact of frames is the same in all lanes.
template <class Of>
bool same_in_all(const Frames& lanes, Of of) {
  const auto first = of(lanes[0]);
  return std::all_of(lanes.begin() + 1, lanes.end(),
                     [&](const Frame& lane) { return of(lane) == first; });
}
/// Walks one lane after the other.
Result<void> each_lane(Frames& lanes, const std::function<Result<void>(Frames&)>& walk);

/// Gives the indices of a range their values in one of its iterations. Precondition: its extents
/// are numbers above 0.
void at_iteration(const tasks::Range& range, std::int64_t iteration, tasks::SizeMap& sizes);

/// The op of operands of that type, and in front of these what it compares by.
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
  /// Facts of the products that were met; those that were given where there is none.
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
  /// `parts`: what the prange around it tells apart, by argument.
  Result<void> launch(const tasks::Launch& launch, Frames& lanes,
                      const std::optional<Cuts>& parts = std::nullopt);

  // Ranges: ranges.cpp.
  Result<void> grid(const tasks::Range& range, Frames& lanes);
  /// `when`: a condition without which there are no iterations; empty: none.
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
  /// The least and the greatest value; nullopt if nothing is known.
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
  /// Tiles come by TMA, or through pointers if threads are to load them into registers, or for
  /// numbers beyond the edge that are no zeros. `swizzle`: of the copy in shared memory; 0: the
  /// largest.
  Result<Loaded> load(const Place& place, const std::string& name, const tasks::Where& where,
                      bool by_threads, int swizzle = 0);
  Result<std::string> load_shared(const Place& place, const std::string& name, int swizzle,
                                  const tasks::Where& where);
  Result<void> store(const Place& place, const std::string& tile, const tasks::Where& where);
  /// The box by which TMA writes the tile; nullopt if threads have to.
  std::optional<TileType> written_box(const Place& place, const TileType& type) const;
  /// `op`: "tt.descriptor_store"
  void write_box(const std::string& op, const Place& place, const TileType& type, TileType box,
                 const std::string& tile, const tasks::Where& where);
  Result<TileType> type_of(const Place& place, const tasks::Where& where);
  /// Combines a tile with what is there by add, max or min, each element as one whole.
  Result<void> reduce(tasks::Function by, const Place& place, const std::string& tile,
                      const tasks::Where& where);
  bool is_by_pointers(const Place& place) const;
  std::optional<TileType> box_of(const Place& place, const TileType& tile) const;
  tasks::Size stride_of(const Place& place, std::size_t dimension) const;
  std::string base_of(const Place& place, const std::string& scalar, std::size_t scope,
                      const tasks::Where& where);
  std::string parameter(std::size_t argument, const std::string& type);
  /// Arguments that are written and have several parameters.
  std::set<std::size_t> written_through_several() const;
  /// One pointer for each element; `mask`: those that the tensor has.
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
  /// Sizes of the entry that the mapping gives.
  tasks::SizeMap fixed_sizes() const;

  /// All that a walk changes: a loop's body is walked twice, the first time to see what it carries.
  struct State {
    explicit State(ModuleText made) : text(std::move(made)) {}
    ModuleText text;
    std::vector<Cell> cells;
    std::map<std::string, Index> indices;
    std::vector<Parameter> parameters;
    std::map<std::string, bool> sizes;  ///< of the entry, that the kernel needs
    std::size_t count = 0;              ///< of indices
    std::size_t temporaries = 0;        ///< made so far
    std::size_t branch = 0;             ///< scope of the innermost branch; loads stay within it
    bool has_grid = false;
    std::vector<Extents> products;  ///< shapes of their results
    std::int64_t depth = 16;        ///< of an instruction of the first product
    bool is_whole = false;          ///< the first product multiplies integers
  };

  const tasks::Tree& tree_;
  State state_;
  /// Arguments with one parameter for all accesses, so that the order of these is known.
  std::set<std::size_t> by_pointers_;
  /// Temporary tensors that are kept in parts, with the number of these in each dimension.
  std::map<std::string, Extents> cuts_;
  /// One more of these, with which the tree is to be walked again.
  std::optional<std::pair<std::string, Extents>> wanted_;
};

}  // namespace twill::frontend::from_tasks
