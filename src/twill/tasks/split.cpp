#include "twill/tasks/split.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "twill/support/spelling.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

using Names = std::set<std::string>;

Names sizes_of(const TaskValue& task) {
  Names names;
  for (const Argument& argument : task.arguments) {
    for (const Size& size : argument.shape) {
      if (!size.name().empty()) names.insert(size.name());
    }
  }
  return names;
}

/// The size in lower case, with underscores added until no other name is equal.
std::string index_of(const std::string& size, const Names& taken) {
  std::string index = size;
  for (char& c : index) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (taken.count(index) > 0) index += '_';
  return index;
}

Result<void> check_splits(const TaskValue& task, const std::vector<Split>& splits,
                          const Where& where) {
  if (!task.positions.empty()) {
    return fail_task(
        "T01", where,
        "'split' of '" + task.name + "', which takes the position " + in_quotes(task.positions[0]),
        "say by a prange which position each part has");
  }
  const Names sizes = sizes_of(task);
  Names seen;
  for (const Split& it : splits) {
    if (sizes.count(it.size) == 0) {
      const std::vector<std::string_view> names(sizes.begin(), sizes.end());
      return fail_task(
          "T02", it.where,
          "there is no size " + in_quotes(it.size) + " in the signature of '" + task.name + "'",
          names_like(it.size, names));
    }
    if (seen.insert(it.size).second) continue;
    return fail_task("T02", it.where, in_quotes(it.size) + " is split twice",
                     "split the parts by a variant of their own");
  }
  return {};
}

/// A split with its index.
struct Cutting {
  const Split* split;
  std::string index;

  Size tile() const {
    const Size whole = Size::named(split->size);
    return split->into ? whole / split->by : split->by;
  }
  Size parts() const { return split->into ? split->by : cdiv(Size::named(split->size), split->by); }
};

Piece part_of_argument(const Argument& argument, const std::vector<Cutting>& cuttings,
                       const Where& where) {
  Block block;
  bool is_cut = false;
  for (const Size& size : argument.shape) {
    const auto cutting = std::find_if(cuttings.begin(), cuttings.end(), [&](const Cutting& it) {
      return it.split->size == size.name();
    });
    const bool here = cutting != cuttings.end();
    is_cut = is_cut || here;
    block.tile.push_back(here ? cutting->tile() : size);
    block.index.push_back(here ? Size::named(cutting->index) : Size(0));
  }
  Piece piece{argument.name, {}, where};
  if (is_cut) piece.blocks.push_back(std::move(block));
  return piece;
}

}  // namespace

Result<Inner> split_into(const TaskValue& task, const std::vector<Split>& splits,
                         const Where& where) {
  TWILL_TRY_VOID(check_splits(task, splits, where));
  Names taken = sizes_of(task);
  for (const Argument& argument : task.arguments) taken.insert(argument.name);
  Inner made;
  for (const Split& it : splits) {
    const std::string& tunable = it.by.name();
    if (!tunable.empty() && taken.insert(tunable).second) made.tunables.push_back(tunable);
  }
  Range range;
  range.parallel = true;
  range.where = where;
  std::vector<Cutting> cuttings;
  for (const Split& it : splits) {
    cuttings.push_back({&it, index_of(it.size, taken)});
    taken.insert(cuttings.back().index);
    range.dimensions.push_back({cuttings.back().index, cuttings.back().parts()});
  }
  Launch launch{task.name, {}, where};
  for (const Argument& argument : task.arguments) {
    launch.pieces.push_back(part_of_argument(argument, cuttings, where));
  }
  range.body.push_back({std::move(launch)});
  made.body.push_back({std::move(range)});
  return made;
}

}  // namespace twill::tasks
