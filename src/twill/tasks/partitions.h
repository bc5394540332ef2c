#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/tasks/values.h"

/// Facts about the parts into which tensors are cut.
namespace twill::tasks {

enum class Fact { no, yes, unknown };

/// Whether a size is at most another.
Fact is_at_most(const Size& a, const Size& b);
/// Whether windows with different indices in a dimension share no element.
Fact is_disjoint(const Block& windows, std::size_t dimension);
/// Whether parts with different indices share no element.
Fact is_disjoint(const Block& block);
/// Fails (T13) for windows with a distance of 0 between elements, as far as sizes are known.
Result<void> check_every(const Block& block, const Where& where);
/// Whether the parts of all indices together are the whole.
Fact is_complete(const Block& block);

/// Difference between two parts of a tensor in a dimension.
enum class Axis {
  all,      ///< no difference: each part is the whole
  rows,     ///< rows of a product's sums, or of other tensors cut into rows
  columns,  ///< columns of the sums
};
/// Difference between the parts of a tensor.
struct PartAxes {
  std::vector<Axis> axes;    ///< by dimension; empty: all parts are the whole
  bool is_disjoint = false;  ///< no two parts share an element
};
/// Relation between the parts of a tensor that the index of a range selects. Parts by `blocks` are
/// cut in the first dimension.
PartAxes axes_of(const Block& block, std::size_t rank);
/// Union of the blocks of all `count` iterations of a prange with that index. nullopt for parts by
/// `mma`, whose union is the whole. Fails if the union is no block.
tl::expected<std::optional<Block>, std::string> united(Block block, const std::string& index,
                                                       const Size& count);

/// Lists all parts on which inner variants launch tasks: a line for each, with these facts and the
/// task's use of the part.
std::string partitions_text(const Library& library);

}  // namespace twill::tasks
