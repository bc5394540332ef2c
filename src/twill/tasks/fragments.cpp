#include "twill/tasks/fragments.h"

#include <utility>

#include "twill/tasks/values.h"

namespace twill::tasks {

std::string_view name_of(Fragment fragment) {
  switch (fragment) {
    case Fragment::a:
      return "a";
    case Fragment::b:
      return "b";
    case Fragment::b_transposed:
      return "bt";
    case Fragment::c:
      break;
  }
  return "c";
}

std::optional<Fragment> fragment_named(std::string_view name) {
  for (const Fragment it : {Fragment::a, Fragment::b, Fragment::b_transposed, Fragment::c}) {
    if (name_of(it) == name) return it;
  }
  return std::nullopt;
}

bool has_rows(const Block& block, std::size_t d) {
  return d == 0 && (block.fragment == Fragment::a || block.fragment == Fragment::c);
}

namespace {

// Layout of an m64nNk16 instruction's sums in a warpgroup, by its definition. Warp w has rows 16 w
// to 16 w + 15 of every 64 rows. Of these, lane l has rows l / 4 and l / 4 + 8; of every 8 columns,
// the pair from 2 (l % 4) on.
constexpr std::int64_t kWarps = 4;
constexpr std::int64_t kThreads = 32;
constexpr std::int64_t kInstructionRows = 64;
constexpr std::int64_t kInstructionDepth = 16;
constexpr std::int64_t kRowsOfWarp = kInstructionRows / kWarps;
constexpr std::int64_t kColumns = 8;  ///< adjacent columns of a row of lanes
constexpr std::int64_t kMostColumns = 256;
constexpr std::int64_t kPair = 2;                       ///< columns of a lane
constexpr std::int64_t kLanesOfRow = kColumns / kPair;  ///< lanes that share a row
constexpr std::int64_t kRowsOfLanes =
    kThreads / kLanesOfRow;  ///< rows between the two rows of a lane

/// Whether dimension d of the operand runs along the columns of the sums.
bool has_columns(const Block& block, std::size_t d) {
  return block.fragment == Fragment::b_transposed ? d == 0
                                                  : d == 1 && block.fragment != Fragment::a;
}

}  // namespace

std::int64_t parts_of(const Block& block) {
  return block.level == Level::thread ? kThreads : kWarps;
}

std::int64_t cuts_of(const Block& block, std::size_t d) {
  if (has_rows(block, d)) return block.level == Level::thread ? kRowsOfLanes : kWarps;
  return block.level == Level::thread && has_columns(block, d) ? kLanesOfRow : 1;
}

Lanes lanes_of(const Block& block, std::size_t d, std::int64_t index) {
  if (has_rows(block, d)) {
    return block.level == Level::thread ? Lanes{1, kRowsOfLanes, index / kLanesOfRow}
                                        : Lanes{kRowsOfWarp, kInstructionRows, kRowsOfWarp * index};
  }
  if (block.level == Level::thread && has_columns(block, d)) {
    return {kPair, kColumns, kPair * (index % kLanesOfRow)};
  }
  return {};
}

namespace {

bool is_instruction(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return rows == kInstructionRows && columns >= kColumns && columns <= kMostColumns &&
         columns % kColumns == 0 && depth == kInstructionDepth;
}

/// Number of elements along dimension d that belong to one instruction.
std::int64_t granule_of(const Block& block, std::size_t d) {
  if (has_rows(block, d)) {
    return *block.tile[0].constant() / (block.level == Level::thread ? kWarps : 1);
  }
  return *block.tile[has_columns(block, d) ? 1 : 2].constant();
}

}  // namespace

Result<void> check_fragment(const Block& block, const std::vector<std::int64_t>& extents,
                            const Where& where) {
  const auto at = [&](std::size_t d) { return *block.tile[d].constant(); };
  if (!is_instruction(at(0), at(1), at(2))) {
    return fail_task("M09", where,
                     "there is no instruction of " + std::to_string(at(0)) + " rows, " +
                         std::to_string(at(1)) + " columns and depth " + std::to_string(at(2)),
                     "it has 64 rows, columns are a multiple of 8 up to 256, and the depth is 16");
  }
  const auto index = block.index[0].constant();
  if (index && *index >= parts_of(block)) {
    return fail_task("T11", where,
                     "'mma' has " + std::to_string(parts_of(block)) +
                         " parts, and this is number " + std::to_string(*index),
                     "parts are counted from 0");
  }
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t granule = granule_of(block, d);
    if (extents[d] % granule == 0) continue;
    return fail_task("T11", where,
                     "the instruction of 'mma' has " + std::to_string(granule) +
                         " elements in dimension " + std::to_string(d) + ", which do not divide " +
                         std::to_string(extents[d]),
                     "tiles are a multiple of the instruction");
  }
  return {};
}

}  // namespace twill::tasks
