#include "twill/tasks/fragments.h"

#include <utility>

#include "twill/tasks/partitions.h"
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

namespace {

constexpr std::int64_t kWarps = 4;
constexpr std::int64_t kThreads = 32;

/// Dimension of an operand in which its rows are those of the sums, and columns theirs.
bool has_rows(const Block& block, std::size_t d) {
  return d == 0 && (block.fragment == Fragment::a || block.fragment == Fragment::c);
}
bool has_columns(const Block& block, std::size_t d) {
  return block.fragment == Fragment::b_transposed ? d == 0
                                                  : d == 1 && block.fragment != Fragment::a;
}

}  // namespace

std::int64_t parts_of(const Block& block) {
  return block.level == Level::thread ? kThreads : kWarps;
}

std::int64_t cuts_of(const Block& block, std::size_t d) {
  if (has_rows(block, d)) return block.level == Level::thread ? 8 : 4;
  return block.level == Level::thread && has_columns(block, d) ? 4 : 1;
}

Lanes lanes_of(const Block& block, std::size_t d, std::int64_t index) {
  if (has_rows(block, d)) {
    return block.level == Level::thread ? Lanes{1, 8, index / 4} : Lanes{16, 64, 16 * index};
  }
  if (block.level == Level::thread && has_columns(block, d)) return {2, 8, 2 * (index % 4)};
  return {};
}

namespace {

bool is_instruction(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return rows == 64 && columns >= 8 && columns <= 256 && columns % 8 == 0 && depth == 16;
}

/// Elements of dimension d that belong to one instruction.
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
                         " parts, and this is number " + std::to_string(*index));
  }
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t granule = granule_of(block, d);
    if (extents[d] % granule == 0) continue;
    return fail_task("T11", where,
                     "the instruction of 'mma' has " + std::to_string(granule) +
                         " elements in dimension " + std::to_string(d) + ", which do not divide " +
                         std::to_string(extents[d]));
  }
  return {};
}

PartAxes axes_of(const Block& block, std::size_t rank, const Size& extent) {
  std::vector<Axis> axes(rank, Axis::all);
  std::vector<std::int64_t> cuts(rank, 1);
  for (std::size_t d = 0; d < rank; ++d) {
    if (block.cut != Cut::mma) {
      axes[d] = d == 0 ? Axis::rows : Axis::all;
      cuts[d] = d == 0 ? extent.constant().value_or(1) : 1;
    } else if (cuts_of(block, d) > 1) {
      axes[d] = has_rows(block, d) ? Axis::rows : Axis::columns;
      cuts[d] = cuts_of(block, d);
    }
  }
  return {std::move(axes), std::move(cuts), is_disjoint(block) == Fact::yes};
}

tl::expected<std::optional<Block>, std::string> united(Block block, const std::string& index,
                                                       const Size& count) {
  const bool chosen = block.index[0] == Size::named(index);
  if (block.cut == Cut::mma) {
    if (!chosen) return tl::unexpected("its index is " + to_string(block.index[0]));
    if (count == Size(parts_of(block))) return std::nullopt;
    return tl::unexpected("'mma' has " + std::to_string(parts_of(block)) +
                          " parts, and there are " + to_string(count) + " iterations");
  }
  if (block.cut != Cut::blocks || !chosen)
    return tl::unexpected(std::string("it is no block of rows"));
  block.tile[0] = block.tile[0] * count;
  block.index[0] = Size(0);
  for (const Size& at : block.index) {
    if (names_in(at).count(index) > 0) return tl::unexpected(std::string("it is no block of rows"));
  }
  return block;
}

}  // namespace twill::tasks
