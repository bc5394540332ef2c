#pragma once

#include <map>
#include <set>
#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Unites the dimensions of a loop's tiles to axes (see AxisId). Index row vectors (integers and
/// pointers) keep separate axes: they are cheap, and unrelated dimensions often share their ranges.
/// Index vectors computed from numbers are united like other tiles. Index tiles follow the tiles
/// that use them, but never unite two dimensions of one tile: two loads may share offsets.
class Axes {
 public:
  explicit Axes(const Body& body);

  /// The dimensions of a value that are longer than 1.
  Space space_of(ir::ValueId value) const;
  /// One dimension of a value.
  Extent extent_of(ir::ValueId value, std::size_t dimension) const;
  /// All axes, by id.
  const std::vector<Axis>& table() const { return table_; }

 private:
  void find_data();
  bool is_index(ir::ValueId value) const;
  std::size_t find(std::size_t node);
  void add(ir::ValueId value);
  void unite(ir::ValueId a, std::size_t i, ir::ValueId b, std::size_t j);
  bool are_of_one_tile(std::size_t x, std::size_t y);
  void unite_alike(ir::ValueId a, ir::ValueId b);
  void unite_prefix(ir::ValueId a, ir::ValueId b);
  void freeze(ir::ValueId value, const std::string& why);
  void visit(ir::OpId id);
  void visit_view(const ir::Op& op, ir::ValueId from, ir::ValueId to);
  void visit_product(const ir::Op& op);
  void visit_reduction(ir::OpId id);
  const std::vector<std::int64_t>& shape(ir::ValueId value) const;

  const Body& body_;
  std::map<ir::ValueId, std::size_t> first_;  ///< node of dimension 0
  std::set<ir::ValueId> data_;                ///< integers computed from numbers
  std::vector<std::size_t> up_;
  std::vector<std::int64_t> size_;
  std::vector<std::string> frozen_;
  std::vector<bool> has_data_;  ///< axes with more than indices, masks and pointers
  bool joins_index_ = false;    ///< unites tiles of indices with others, after all other unions
  std::vector<AxisId> axis_;    ///< axis of each node, after all unions
  std::vector<Axis> table_;
};

}  // namespace twill::extract
