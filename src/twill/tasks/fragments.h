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

/// Operands of a product whose sums lie in registers as the tensor core leaves them.
enum class Fragment {
  a,             ///< [M, K]: the rows that the sums have
  b,             ///< [K, N]: the columns that the sums have
  b_transposed,  ///< [N, K]
  c,             ///< [M, N]: the sums
};
/// Level of a part: the share of a warp in a tile, or of a thread in its warp's share.
enum class Level { warp, thread };
/// "a", "b", "bt" or "c".
std::string_view name_of(Fragment fragment);
std::optional<Fragment> fragment_named(std::string_view name);

/// Elements of dimension `d` that a part by `mma` has: `run` side by side, `stride` apart, from
/// `offset` on. With a stride of 1 a part has all elements.
struct Lanes {
  std::int64_t run = 1;
  std::int64_t stride = 1;
  std::int64_t offset = 0;
};
/// Precondition: a block of `mma`, d < 2, and an index below `parts_of`.
Lanes lanes_of(const Block& block, std::size_t d, std::int64_t index);
/// How many parts `mma` makes: 4 warps, or 32 threads.
std::int64_t parts_of(const Block& block);
/// Whether dimension d of the operand runs along the sums' rows.
bool has_rows(const Block& block, std::size_t d);
/// In how many parts `mma` cuts dimension d.
std::int64_t cuts_of(const Block& block, std::size_t d);
/// Checks that there is such an instruction (M09). Instructions have to divide a tile with these
/// extents, and an index that is a number has to be one of a part (T11). Precondition: a block of
/// `mma` whose instruction is three numbers, and two extents.
Result<void> check_fragment(const Block& block, const std::vector<std::int64_t>& extents,
                            const Where& where);

}  // namespace twill::tasks
