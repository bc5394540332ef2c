#include "twill/tasks/partitions.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

Fact all_of(Fact a, Fact b) {
  if (a == Fact::no || b == Fact::no) return Fact::no;
  return a == Fact::unknown ? a : b;
}

std::string in_words(Fact fact, const char* yes, const char* no) {
  if (fact == Fact::unknown) return fmt::format("{} or {}", yes, no);
  return fact == Fact::yes ? yes : no;
}

class Listing {
 public:
  explicit Listing(const Library& library) : library_(library) {}

  std::string run() {
    for (const TaskValue& task : library_.tasks) {
      for (const Variant& variant : task.variants) {
        if (variant.is_leaf()) continue;
        head_ = fmt::format("{}.{}\n", task.name, variant.name);
        add(std::get<Inner>(variant.body).body);
      }
    }
    return std::move(out_);
  }

 private:
  void add(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (const auto* range = std::get_if<Range>(&statement.what)) add(range->body);
      if (const auto* launch = std::get_if<Launch>(&statement.what)) add(*launch);
    }
  }

  void add(const Launch& launch) {
    const TaskValue* task = find_task(library_, launch.task);  // existence was checked before
    for (std::size_t p = 0; p < launch.pieces.size(); ++p) {
      const Piece& piece = launch.pieces[p];
      if (piece.blocks.empty()) continue;
      Fact disjoint = Fact::yes, complete = Fact::yes;
      for (const Block& block : piece.blocks) {
        disjoint = all_of(disjoint, is_disjoint(block));
        complete = all_of(complete, is_complete(block));
      }
      out_ += head_;
      head_.clear();
      out_ += fmt::format("  {}: {}, {}; {} {}\n", to_string(piece),
                          in_words(disjoint, "disjoint", "shared"),
                          in_words(complete, "complete", "with gaps"), launch.task,
                          name_of(task->arguments[p].privilege));
    }
  }

  const Library& library_;
  std::string head_;  ///< name of a variant that is not printed so far
  std::string out_;
};

}  // namespace

Fact is_at_most(const Size& a, const Size& b) {
  if (a == b) return Fact::yes;
  if (!a.constant() || !b.constant()) return Fact::unknown;
  return *a.constant() <= *b.constant() ? Fact::yes : Fact::no;
}

/// Whether windows are disjoint. Windows meet where a multiple of the step is a multiple of the
/// distance of elements.
Fact is_disjoint(const Block& windows, std::size_t dimension) {
  const Size& tile = windows.tile[dimension];
  const Size& step = windows.step[dimension];
  const Size every = every_of(windows, dimension);
  if (every == Size(1)) return is_at_most(tile, step);
  if (step == tile * every || step == every * tile) return Fact::yes;
  if (!tile.constant() || !step.constant() || !every.constant()) return Fact::unknown;
  const std::int64_t apart = std::lcm(*step.constant(), *every.constant()) / *every.constant();
  return apart >= *tile.constant() ? Fact::yes : Fact::no;
}

Fact is_disjoint(const Block& block) {
  Fact disjoint = Fact::yes;
  if (block.cut == Cut::mma) {
    disjoint = cuts_of(block, 0) * cuts_of(block, 1) == parts_of(block) ? Fact::yes : Fact::no;
  }
  for (std::size_t d = 0; d < block.step.size(); ++d) {
    disjoint = all_of(disjoint, is_disjoint(block, d));
  }
  return disjoint;
}

Result<void> check_every(const Block& block, const Where& where) {
  for (const Size& every : block.every) {
    if (every.constant().value_or(1) >= 1) continue;
    return fail_task("T13", where,
                     "elements of windows are one apart or more, not " + to_string(every),
                     "leave `every` out for elements that are side by side");
  }
  return {};
}

Fact is_complete(const Block& block) {
  Fact complete = Fact::yes;
  for (std::size_t d = 0; d < block.step.size(); ++d) {
    const bool beside = every_of(block, d) == Size(1);
    complete = all_of(complete, beside ? is_at_most(block.step[d], block.tile[d]) : Fact::unknown);
  }
  return complete;
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

std::string partitions_text(const Library& library) { return Listing(library).run(); }

}  // namespace twill::tasks
