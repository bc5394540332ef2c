#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "twill/support/diagnostic.h"
#include "twill/tasks/size.h"

/// Parts by `mma`: shares of warps and threads in the operands of a tensor core's product.
namespace twill::tasks {

struct Block;
struct Where;

/// Operands of a product whose sums are in registers, in the tensor core's layout.
enum class Fragment {
  a,             ///< [M, K]: rows of the sums
  b,             ///< [K, N]: columns of the sums
  b_transposed,  ///< [N, K]
  c,             ///< [M, N]: the sums
};
/// Level of a part: a warp's share of a tile, or a thread's share of its warp's share.
enum class Level { warp, thread };
/// Name of an operand: "a", "b", "bt" or "c".
std::string_view name_of(Fragment fragment);
std::optional<Fragment> fragment_named(std::string_view name);

/// Elements along dimension `d` in a part by `mma`: runs of `run` adjacent elements, `stride`
/// apart, from `offset` on. With a stride of 1, the part has all elements.
struct Lanes {
  std::int64_t run = 1;
  std::int64_t stride = 1;
  std::int64_t offset = 0;
};
/// Elements of part `index`. Precondition: a block of `mma`, d < 2, and an index below `parts_of`.
Lanes lanes_of(const Block& block, std::size_t d, std::int64_t index);
/// Number of parts that `mma` makes: 4 warps, or 32 threads.
std::int64_t parts_of(const Block& block);
/// Whether dimension d of the operand runs along the rows of the sums.
bool has_rows(const Block& block, std::size_t d);
/// Number of parts into which `mma` cuts dimension d.
std::int64_t cuts_of(const Block& block, std::size_t d);
/// Checks that the instruction exists (M09). It must divide a tile with these extents; a numeric
/// index must be within the parts (T11). Precondition: a block of `mma` whose instruction is three
/// numbers, and two extents.
Result<void> check_fragment(const Block& block, const std::vector<std::int64_t>& extents,
                            const Where& where);

}  // namespace twill::tasks
