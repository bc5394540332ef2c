#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/tasks/instantiate.h"

/// Runs tasks on the CPU, in the order of their text. The result is the tasks' meaning.
namespace twill::tasks {

/// Order in which iterations of pranges run. Results do not depend on the order.
enum class Order { forward, backward, shuffled };

struct RunOptions {
  Order order = Order::forward;
  std::uint64_t seed = 0;  ///< for shuffled order
};

/// Runs the tree on arrays, by argument of the root; only the shape of written arrays counts.
/// Returns the contents after the run. Fails where
/// - shapes do not fit (T03), a block does not divide (T11), or a size has no value (T13),
/// - an element is read before it is written (T06),
/// - iterations of a prange touch the same element (T07),
/// - an element of a `writes` argument is not written (T14).
Result<std::map<std::string, execute::Tile>> run(const Tree& tree,
                                                 const std::map<std::string, execute::Tile>& arrays,
                                                 const RunOptions& options = {});

}  // namespace twill::tasks
