#include "twill/tasks/values.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace twill::tasks {
namespace {

constexpr std::size_t kCodeLength = 3;  // "T05"

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
      return "reduces(+)";
    case Privilege::reduces_max:
      return "reduces(max)";
    case Privilege::reduces_min:
      break;
  }
  return "reduces(min)";
}

std::optional<Function> combines_by(Privilege privilege) {
  if (privilege == Privilege::reduces) return Function::add;
  if (privilege == Privilege::reduces_max) return Function::max;
  if (privilege == Privilege::reduces_min) return Function::min;
  return std::nullopt;
}

std::string_view assignment_of(Function combines) {
  return combines == Function::add ? "+=" : combines == Function::max ? "max=" : "min=";
}

std::string_view name_of(Edge edge) {
  switch (edge) {
    case Edge::zero:
      return "zero";
    case Edge::exact:
      return "exact";
    case Edge::clip:
      return "clip";
    case Edge::fill:
      break;
  }
  return "fill";
}

bool may_give(Privilege have, Privilege give) {
  return have == give || (have == Privilege::updates);
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

Size every_of(const Block& block, std::size_t dimension) {
  return block.every.empty() ? Size(1) : block.every[dimension];
}

Size reach_of(const Block& block, std::size_t dimension) {
  const Size& tile = block.tile[dimension];
  const Size every = every_of(block, dimension);
  return every == Size(1) ? tile : (tile - 1) * every + 1;
}

bool fits_rank(const Block& block, std::size_t rank) {
  if (block.cut == Cut::pick) return block.picked < rank && rank > 1 && block.index.size() == 1;
  if (block.cut == Cut::mma) {
    return rank == 2 && block.index.size() == 1 && block.tile.size() == 3;
  }
  const bool apart = block.every.empty() || block.every.size() == rank;
  const bool steps = block.cut == Cut::blocks || (block.step.size() == rank && apart);
  return steps && block.tile.size() == rank && block.index.size() == rank;
}

Block substituted(Block block, const SizeMap& by) {
  for (auto* sizes : {&block.tile, &block.index, &block.step, &block.every}) {
    for (Size& size : *sizes) size = substituted(size, by);
  }
  return block;
}

tl::expected<Block, NoNumber> with_values(Block block,
                                          const std::map<std::string, std::int64_t>& names) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  for (auto* sizes : {&block.tile, &block.step, &block.every, &block.index}) {
    const bool any = sizes == &block.index && block.cut == Cut::windows;
    const std::int64_t least = any ? -kMost : sizes == &block.every ? 1 : 0;
    for (Size& size : *sizes) {
      const auto value = value_of(size, names);
      if (!value) {
        return tl::unexpected(
            NoNumber{to_string(size) + ": " + value.error().why, value.error().has_remainder});
      }
      if (*value > kMost || *value < least) {
        return tl::unexpected(NoNumber{to_string(size) + " is " + std::to_string(*value)});
      }
      size = Size(*value);
    }
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

std::size_t count_launches(const std::vector<Statement>& body) {
  std::size_t count = 0;
  for (const Statement& statement : body) {
    if (std::holds_alternative<Launch>(statement.what)) ++count;
    const auto* range = std::get_if<Range>(&statement.what);
    if (range != nullptr) count += count_launches(range->body);
  }
  return count;
}

bool has_position(const TaskValue& task, std::string_view name) {
  return std::find(task.positions.begin(), task.positions.end(), name) != task.positions.end();
}

tl::unexpected<Diagnostic> fail_task(const char* code, const Where& where,
                                     const std::string& message, std::string hint) {
  return fail(where.at, std::string(code) + ": " + message, std::move(hint));
}

std::string_view code_of(const Diagnostic& failure) {
  const std::string_view message = failure.message;
  const std::size_t end = message.find(": ");
  return end == kCodeLength ? message.substr(0, end) : std::string_view();
}

}  // namespace twill::tasks
