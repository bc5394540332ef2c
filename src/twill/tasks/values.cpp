#include "twill/tasks/values.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "twill/tasks/partitions.h"

namespace twill::tasks {
namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& it) { return it.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name_of(Privilege privilege) {
  switch (privilege) {
    case Privilege::reads:
      return "reads";
    case Privilege::writes:
      return "writes";
    case Privilege::updates:
      return "updates";
    case Privilege::reduces:
      break;
  }
  return "reduces(+)";
}

bool may_give(Privilege have, Privilege give) {
  return have == give || (have == Privilege::updates);
}

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

/// Dimension of an operand in which its rows are those of the sums, and columns theirs.
bool has_rows(const Block& block, std::size_t d) {
  return d == 0 && (block.fragment == Fragment::a || block.fragment == Fragment::c);
}
bool has_columns(const Block& block, std::size_t d) {
  return block.fragment == Fragment::b_transposed ? d == 0
                                                  : d == 1 && block.fragment != Fragment::a;
}

}  // namespace

std::int64_t parts_of(const Block& block) { return block.level == Level::thread ? 32 : 4; }

std::int64_t cuts_of(const Block& block, std::size_t d) {
  if (has_rows(block, d)) return block.level == Level::thread ? 8 : 4;
  return block.level == Level::thread && has_columns(block, d) ? 4 : 1;
}

std::int64_t granule_of(const Block& block, std::size_t d) {
  if (has_rows(block, d)) return block.level == Level::thread ? 16 : 64;
  return has_columns(block, d) ? 8 : 1;
}

Lanes lanes_of(const Block& block, std::size_t d, std::int64_t index) {
  if (has_rows(block, d)) {
    return block.level == Level::thread ? Lanes{1, 8, index / 4} : Lanes{16, 64, 16 * index};
  }
  if (block.level == Level::thread && has_columns(block, d)) return {2, 8, 2 * (index % 4)};
  return {};
}

PartAxes axes_of(const Block& block, std::size_t rank) {
  std::vector<Axis> axes(rank, Axis::all);
  for (std::size_t d = 0; d < rank; ++d) {
    if (block.cut != Cut::mma) {
      axes[d] = d == 0 ? Axis::rows : Axis::all;
    } else if (cuts_of(block, d) > 1) {
      axes[d] = has_rows(block, d) ? Axis::rows : Axis::columns;
    }
  }
  return {std::move(axes), is_disjoint(block) == Fact::yes};
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

std::vector<Size> shape_of(const Block& block, const std::vector<Size>& shape) {
  if (block.cut == Cut::mma) {
    std::vector<Size> part = shape;
    for (std::size_t d = 0; d < part.size(); ++d) {
      if (cuts_of(block, d) > 1) part[d] = part[d] / Size(cuts_of(block, d));
    }
    return part;
  }
  if (block.cut != Cut::pick) return block.tile;
  std::vector<Size> rest = shape;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(block.picked));
  return rest;
}

bool fits_rank(const Block& block, std::size_t rank) {
  if (block.cut == Cut::pick) return block.picked < rank && rank > 1 && block.index.size() == 1;
  if (block.cut == Cut::mma) {
    return rank == 2 && block.index.size() == 1 && block.tile.size() == 3;
  }
  const bool steps = block.cut == Cut::blocks || block.step.size() == rank;
  return steps && block.tile.size() == rank && block.index.size() == rank;
}

Block substituted(Block block, const SizeMap& by) {
  for (auto* sizes : {&block.tile, &block.index, &block.step}) {
    for (Size& size : *sizes) size = substituted(size, by);
  }
  return block;
}

const TaskValue* find_task(const Library& library, std::string_view name) {
  return find_named(library.tasks, name);
}

const Variant* find_variant(const TaskValue& task, std::string_view name) {
  return find_named(task.variants, name);
}

const Argument* find_argument(const TaskValue& task, std::string_view name) {
  return find_named(task.arguments, name);
}

SizeComparison opposite(const SizeComparison& condition) {
  const auto how = [&] {
    switch (condition.how) {
      case Function::less:
        return Function::greater_equal;
      case Function::less_equal:
        return Function::greater;
      case Function::greater:
        return Function::less_equal;
      case Function::greater_equal:
        return Function::less;
      case Function::equal:
        return Function::unequal;
      default:
        return Function::equal;
    }
  };
  return {condition.left, how(), condition.right};
}

Size count_of(const SizeComparison& condition) {
  const Size& a = condition.left;
  const Size& b = condition.right;
  const auto if_positive = [](const Size& size) { return min(Size(1), max(Size(0), size)); };
  switch (condition.how) {
    case Function::less:
      return if_positive(b - a);
    case Function::less_equal:
      return if_positive(b - a + 1);
    case Function::greater:
      return if_positive(a - b);
    case Function::greater_equal:
      return if_positive(a - b + 1);
    case Function::unequal:
      return if_positive(max(a - b, b - a));
    default:
      return Size(1) - if_positive(max(a - b, b - a));
  }
}

SizeComparison substituted(const SizeComparison& condition, const SizeMap& by) {
  return {substituted(condition.left, by), condition.how, substituted(condition.right, by)};
}

Result<Leaf> external_leaf(const TaskValue& task, External external) {
  const Variant* meaning = find_variant(task, external.meaning);
  const Leaf* means = meaning == nullptr ? nullptr : std::get_if<Leaf>(&meaning->body);
  if (means == nullptr || means->external) {
    return fail_task("T15", external.where,
                     "'" + task.name + "' has no leaf '" + external.meaning +
                         "' before this line, which would say what '" + external.function +
                         "' means",
                     "write the same as an expression, and the code beside it");
  }
  if (external.code.find("\"\"\"") != std::string::npos) {
    return fail_task(
        "T15", external.where,
        "the code of '" + external.function + "' has \"\"\" in it, which ends it in text",
        "write \"\" \" in the code");
  }
  Leaf leaf = *means;
  leaf.external = std::move(external);
  return leaf;
}

bool has_position(const TaskValue& task, std::string_view name) {
  return std::find(task.positions.begin(), task.positions.end(), name) != task.positions.end();
}

tl::unexpected<Diagnostic> fail_task(const char* code, const Where& where,
                                     const std::string& message, std::string hint) {
  return fail(where.at, std::string(code) + ": " + message, std::move(hint));
}

}  // namespace twill::tasks
