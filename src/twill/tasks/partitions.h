#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/tasks/values.h"

/// Facts about the parts that tensors are cut into.
namespace twill::tasks {

enum class Fact { no, yes, unknown };

/// Whether a size is at most another.
Fact is_at_most(const Size& a, const Size& b);
/// Whether windows with different indices in a dimension share no element.
Fact is_disjoint(const Block& windows, std::size_t dimension);
/// Whether parts with different indices share no element.
Fact is_disjoint(const Block& block);
/// Fails for windows whose elements are no element apart (T13), of the sizes that are known.
Result<void> check_every(const Block& block, const Where& where);
/// Whether all indices together are the whole.
Fact is_complete(const Block& block);

/// Difference between two parts of a tensor in a dimension.
enum class Axis {
  all,      ///< no difference: each part has all of it
  rows,     ///< rows of the sums of a product, or of whatever is cut into rows
  columns,  ///< columns of the sums
};
/// Difference between the parts of a tensor.
struct PartAxes {
  std::vector<Axis> axes;    ///< by dimension; empty: all parts are the whole
  bool is_disjoint = false;  ///< no two parts share an element
};
/// Parts of a tensor whose block the index of a range chooses, of `blocks` in the first dimension.
PartAxes axes_of(const Block& block, std::size_t rank);
/// The block that all `count` iterations of a prange with that index touch together. nullopt for
/// parts by `mma`, which together are the whole. Fails if the union is no block.
tl::expected<std::optional<Block>, std::string> united(Block block, const std::string& index,
                                                       const Size& count);

/// Lists all parts on which inner variants launch tasks: a line for each, with these facts and the
/// task's use of the part.
std::string partitions_text(const Library& library);

}  // namespace twill::tasks
