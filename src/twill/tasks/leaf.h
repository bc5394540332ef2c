#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/tasks/partitions.h"
#include "twill/tasks/values.h"

/// Leaves: construction of their graphs, and types and shapes of nodes.
namespace twill::tasks {

/// Builds a leaf, statement by statement. Checks are left to `types_of`.
class LeafBuilder {
 public:
  explicit LeafBuilder(const TaskValue& task) : task_(task) {}

  std::size_t constant(double number, const Where& where);
  std::size_t cast(Scalar to, std::size_t operand, const Where& where);
  std::size_t iota(Size length, const Where& where);
  /// Adds a function node. A sum with a product becomes a product that adds to a sum; arithmetic of
  /// constants is evaluated. Precondition: no argument, constant, iota or cast, and the right
  /// number of operands.
  std::size_t apply(Function function, std::vector<std::size_t> operands, const Where& where);

  /// Node of an argument's or position's current value: the last assigned value, or the value on
  /// entry.
  std::size_t value_of(const std::string& argument, const Where& where);
  void assign(const std::string& argument, std::size_t node, const Where& where);
  /// Combines the argument's current value with a node by add, max or min. For a reduced argument,
  /// its content in memory is combined.
  void combine(Function by, const std::string& argument, std::size_t node, const Where& where);

  std::size_t size() const { return nodes_.size(); }
  const Node& node(std::size_t index) const { return nodes_[index]; }
  /// Returns the leaf in canonical order: see `Leaf`.
  Leaf finish() const;

 private:
  std::size_t add(Node node);

  const TaskValue& task_;
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> entry_;
  std::map<std::string, Output> outputs_;
};

/// Limit of nodes, above any leaf written by hand; readers stop there.
inline constexpr std::size_t kMostNodes = 4096;

struct NodeType {
  bool is_constant = false;  ///< takes the type that its user wants
  Scalar scalar = Scalar::f32;
  /// Unset extents are as long as needed: the rows of a column, the columns of a row. An empty
  /// shape is one number for all elements.
  std::vector<std::optional<Size>> shape;
};

/// Types of all nodes. Fails if types (T04) or shapes (T03) do not fit, and if an argument is read
/// or written without the privilege (T05). Fails if a `writes` argument is not written (T14).
Result<std::vector<NodeType>> types_of(const TaskValue& task, const Leaf& leaf);

/// Use of an argument in each element of the result: the argument itself, or as columns or rows.
/// Fails (T15) for a leaf that no function of single elements can replace; `external` is named.
struct ElementArgument {
  std::string name;
  std::size_t node = 0;
};
Result<std::vector<ElementArgument>> element_arguments(const TaskValue& task, const Leaf& leaf);

/// Arguments that are operands of products, also transposed: left operands for side 0, right
/// operands for side 1.
std::set<std::string> product_operands(const Leaf& leaf, std::size_t side);

/// An argument that the leaf adds to while its parts share elements, so that each part would add to
/// them.
std::optional<std::string> added_by_all_parts(const Leaf& leaf,
                                              const std::map<std::string, PartAxes>& cut);

/// Whether running a leaf on all parts of the arguments `cut` gives the same as running it on the
/// whole. Then its results for a part follow from the same parts of these arguments, and from the
/// whole other arguments.
bool goes_by_parts(const TaskValue& task, const Leaf& leaf,
                   const std::map<std::string, PartAxes>& cut);
/// As `goes_by_parts`, for a cut along a size of the task, in all arguments with this size.
/// Positions of a part continue those of the previous part.
bool goes_along(const TaskValue& task, const Leaf& leaf, const std::string& size);

}  // namespace twill::tasks
