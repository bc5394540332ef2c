#include "twill/tasks/check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/support/spelling.h"
#include "twill/tasks/apart.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/partitions.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

std::string shape_text(const std::vector<Size>& shape) {
  std::string text = "[";
  for (const Size& size : shape) text += (text.size() > 1 ? ", " : "") + to_string(size);
  return text + "]";
}

/// State of a tensor in an inner variant.
struct Known {
  Scalar scalar = Scalar::f32;
  std::vector<Size> shape;
  Privilege privilege = Privilege::updates;
  bool made = false;     ///< made in this variant
  bool written = false;  ///< by an earlier statement
};

/// An access within a prange.
struct Access {
  const Piece* piece = nullptr;
  Privilege use = Privilege::reads;
  const Launch* launch = nullptr;
};

class InnerCheck {
 public:
  InnerCheck(const Library& library, const TaskValue& task, const Variant& variant)
      : library_(library), task_(task), variant_(variant), inner_(std::get<Inner>(variant.body)) {}

  Result<void> run() {
    for (const Argument& argument : task_.arguments) {
      tensors_[argument.name] = {argument.scalar, argument.shape, argument.privilege, false,
                                 argument.privilege != Privilege::writes};
      for (const Size& size : argument.shape) names_.merge(names_in(size));
    }
    names_.insert(task_.positions.begin(), task_.positions.end());
    for (const std::string& tunable : inner_.tunables) {
      if (tunable == kDepth || tunable == kSpecialize) {
        return fail_task("T02", variant_.where,
                         "mappings have a meaning of their own for the name '" + tunable + "'",
                         "give it another name");
      }
      if (!names_.insert(tunable).second) {
        return fail_task("T02", variant_.where, "the name '" + tunable + "' is taken already",
                         "give it another name");
      }
      free_.insert(tunable);
    }
    TWILL_TRY_VOID(check_body(inner_.body));
    for (const Argument& argument : task_.arguments) {
      if (argument.privilege != Privilege::writes || tensors_[argument.name].written) continue;
      return fail_task("T14", variant_.where,
                       fmt::format("'{}' writes '{}', but '{}.{}' launches nothing that does",
                                   task_.name, argument.name, task_.name, variant_.name),
                       "launch a task that writes it, or declare it as 'reads'");
    }
    return {};
  }

 private:
  Result<void> check_body(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (const auto* make = std::get_if<Make>(&statement.what)) {
        TWILL_TRY_VOID(check_make(*make));
      } else if (const auto* range = std::get_if<Range>(&statement.what)) {
        TWILL_TRY_VOID(check_range(*range));
      } else {
        TWILL_TRY_VOID(check_launch(std::get<Launch>(statement.what)));
      }
    }
    return {};
  }

  Result<void> check_names(const Size& size, const Where& where) const {
    for (const std::string& name : names_in(size)) {
      if (names_.count(name) > 0) continue;
      const std::vector<std::string_view> all(names_.begin(), names_.end());
      return fail_task("T13", where, "there is no size " + in_quotes(name) + " here",
                       names_like(name, all));
    }
    return {};
  }
  Result<void> check_names(const std::vector<Size>& sizes, const Where& where) const {
    for (const Size& size : sizes) {
      TWILL_TRY_VOID(check_names(size, where));
    }
    return {};
  }

  Result<void> check_make(const Make& make) {
    if (tensors_.count(make.name) > 0) {
      return fail_task("T02", make.where, "there is a tensor " + in_quotes(make.name) + " already",
                       "give it another name");
    }
    TWILL_TRY_VOID(check_names(make.shape, make.where));
    tensors_[make.name] = {make.scalar, make.shape, Privilege::updates, true, false};
    for (auto& seen : accesses_) seen.own.insert(make.name);
    return {};
  }

  /// Checks a range; tensors and indices made within it end with it.
  Result<void> check_range(const Range& range) {
    const auto names = names_;
    const auto free = free_;
    std::set<std::string> before;
    for (const auto& [name, known] : tensors_) before.insert(name);
    for (const Dimension& dimension : range.dimensions) {
      TWILL_TRY_VOID(check_names(dimension.extent, range.where));
    }
    if (range.when) {
      TWILL_TRY_VOID(check_names({range.when->left, range.when->right}, range.where));
    }
    for (const Dimension& dimension : range.dimensions) {
      if (names_.insert(dimension.index).second) continue;
      return fail_task("T02", range.where, "the name '" + dimension.index + "' is taken already",
                       "give it another name");
    }
    if (range.parallel) accesses_.emplace_back();
    TWILL_TRY_VOID(check_body(range.body));
    if (range.parallel) {
      TWILL_TRY_VOID(check_apart(range, accesses_.back().all));
      accesses_.pop_back();
    }
    names_ = names;
    free_ = free;
    std::erase_if(tensors_, [&](const auto& it) { return before.count(it.first) == 0; });
    return {};
  }

  // --- Launches ---------------------------------------------------------------------------------

  Result<void> check_launch(const Launch& launch) {
    const TaskValue* callee = find_task(library_, launch.task);
    if (callee == nullptr) {
      return fail_task("T09", launch.where, "there is no task " + in_quotes(launch.task),
                       names_like(launch.task, names_of(library_.tasks)));
    }
    if (launch.pieces.size() != callee->arguments.size()) {
      return fail_task("T01", launch.where,
                       fmt::format("'{}' takes {} tensors, not {}", callee->name,
                                   callee->arguments.size(), launch.pieces.size()),
                       "its signature: " + signature_text(*callee));
    }
    if (launch.positions.size() != callee->positions.size()) {
      return fail_task("T01", launch.where,
                       fmt::format("'{}' takes {} positions, not {}", callee->name,
                                   callee->positions.size(), launch.positions.size()),
                       "its signature: " + signature_text(*callee));
    }
    TWILL_TRY_VOID(check_names(launch.positions, launch.where));
    SizeMap sizes;
    for (std::size_t a = 0; a < launch.pieces.size(); ++a) {
      TWILL_TRY_VOID(
          check_argument(launch, launch.pieces[a], callee->arguments[a], *callee, sizes));
    }
    for (std::size_t a = 0; a < launch.pieces.size(); ++a) {
      const Argument& argument = callee->arguments[a];
      if (may_write(argument.privilege)) tensors_[launch.pieces[a].tensor].written = true;
      for (auto& seen : accesses_) {
        if (seen.own.count(launch.pieces[a].tensor) > 0) continue;
        seen.all.push_back({&launch.pieces[a], argument.privilege, &launch});
      }
    }
    return check_aliases(launch, *callee);
  }

  /// Refuses a tensor that occurs twice in a launch, unless both uses only read.
  Result<void> check_aliases(const Launch& launch, const TaskValue& callee) const {
    for (std::size_t a = 0; a < launch.pieces.size(); ++a) {
      for (std::size_t b = 0; b < launch.pieces.size(); ++b) {
        const bool same = a != b && launch.pieces[a].tensor == launch.pieces[b].tensor;
        if (!same || !may_write(callee.arguments[a].privilege)) continue;
        return fail_task("T07", launch.where,
                         fmt::format("'{}' gets '{}' twice, and writes it as '{}'", callee.name,
                                     launch.pieces[a].tensor, callee.arguments[a].name),
                         "give it tensors of their own");
      }
    }
    return {};
  }

  Result<void> check_argument(const Launch& launch, const Piece& piece, const Argument& argument,
                              const TaskValue& callee, SizeMap& sizes) {
    const auto found = tensors_.find(piece.tensor);
    if (found == tensors_.end()) {
      std::vector<std::string_view> names;
      for (const auto& [name, known] : tensors_) names.push_back(name);
      return fail_task("T02", piece.where, "there is no tensor " + in_quotes(piece.tensor),
                       names_like(piece.tensor, names));
    }
    const Known& known = found->second;
    TWILL_TRY_VOID(check_privilege(launch, known, piece, argument, callee));
    const bool is_clipped = std::any_of(piece.blocks.begin(), piece.blocks.end(),
                                        [](const Block& it) { return it.edge == Edge::clip; });
    if (is_clipped && may_read(argument.privilege)) {
      return fail_task("T12", piece.where,
                       fmt::format("'{}' reads '{}', of which blocks that are clipped have nothing "
                                   "beyond the edge",
                                   callee.name, piece.tensor),
                       "leave clip out for zeros, or say fill(NUMBER)");
    }
    if (known.scalar != argument.scalar) {
      return fail_task("T04", piece.where,
                       fmt::format("'{}' of '{}' is {}, and '{}' is {}", argument.name, callee.name,
                                   name_of(argument.scalar), piece.tensor, name_of(known.scalar)),
                       "a task with a leaf cast(TYPE, x) makes one of the other");
    }
    TWILL_TRY(const std::vector<Size> shape, shape_of(piece, known));
    return unify(shape, piece, argument, callee, sizes);
  }

  Result<void> check_privilege(const Launch& launch, const Known& known, const Piece& piece,
                               const Argument& argument, const TaskValue& callee) const {
    if (!may_give(known.privilege, argument.privilege)) {
      return fail_task("T05", launch.where,
                       fmt::format("'{}' {} '{}', but '{}' only {} '{}'", callee.name,
                                   name_of(argument.privilege), argument.name, task_.name,
                                   name_of(known.privilege), piece.tensor),
                       known.privilege == Privilege::writes
                           ? "compute in a tensor that is made here, and write that at the end"
                           : "declare it as 'updates' of '" + task_.name + "'");
    }
    if (argument.privilege == Privilege::writes || known.written) return {};
    return fail_task("T06", launch.where,
                     fmt::format("'{}' {} '{}', and '{}' was not written before", callee.name,
                                 name_of(argument.privilege), argument.name, piece.tensor),
                     "launch a task that writes it first");
  }

  Result<std::vector<Size>> shape_of(const Piece& piece, const Known& known) const {
    std::vector<Size> shape = known.shape;
    for (const Block& block : piece.blocks) {
      for (const auto* sizes : {&block.tile, &block.step, &block.every, &block.index}) {
        TWILL_TRY_VOID(check_names(*sizes, piece.where));
      }
      TWILL_TRY_VOID(check_rank(block, shape, piece.where));
      TWILL_TRY_VOID(check_every(block, piece.where));
      shape = tasks::shape_of(block, shape);
    }
    return shape;
  }

  static Result<void> check_rank(const Block& block, const std::vector<Size>& shape,
                                 const Where& where) {
    if (fits_rank(block, shape.size())) return {};
    if (block.cut == Cut::pick) {
      return fail_task("T03", where,
                       fmt::format("a pick in dimension {} of a tensor of shape {}", block.picked,
                                   shape_text(shape)),
                       shape.size() == 1 ? "a vector has no parts of fewer dimensions"
                                         : "dimensions are counted from 0");
    }
    if (block.cut == Cut::mma) {
      return fail_task("T03", where, "parts by 'mma' of a tensor of shape " + shape_text(shape),
                       "as in `mma(C, c, warp, 64, 256, 16)[w]` of a tile of two dimensions");
    }
    const bool windows = block.cut == Cut::windows;
    return fail_task(
        "T03", where,
        fmt::format("{} {}{}{} at {} of a tensor of shape {}", windows ? "windows" : "blocks",
                    shape_text(block.tile), windows ? " by " + shape_text(block.step) : "",
                    block.every.empty() ? "" : " every " + shape_text(block.every),
                    shape_text(block.index), shape_text(shape)),
        "a block has a size and an index for each dimension; pick(X, i) leaves one out");
  }

  /// Whether two sizes may be equal once tunables have values, even if their texts differ.
  bool may_be_equal(const Size& a, const Size& b) const {
    if (a == b) return true;
    std::set<std::string> names = names_in(a);
    names.merge(names_in(b));
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return free_.count(name) > 0; });
  }

  Result<void> unify(const std::vector<Size>& shape, const Piece& piece, const Argument& argument,
                     const TaskValue& callee, SizeMap& sizes) const {
    bool fits = shape.size() == argument.shape.size();
    std::vector<Size> wanted;
    for (std::size_t d = 0; fits && d < shape.size(); ++d) {
      const Size& formal = argument.shape[d];
      if (!formal.constant()) sizes.try_emplace(formal.name(), shape[d]);
      wanted.push_back(substituted(formal, sizes));
      fits = may_be_equal(wanted.back(), shape[d]);
    }
    if (fits) return {};
    std::string hint = "its signature: " + signature_text(callee);
    if (!wanted.empty()) {
      const std::size_t d = wanted.size() - 1;
      hint = fmt::format("its '{}' is {}, from an argument before it", to_string(argument.shape[d]),
                         to_string(wanted[d]));
    }
    return fail_task("T03", piece.where,
                     fmt::format("'{}' of '{}' is {}, and {} is {}", argument.name, callee.name,
                                 shape_text(argument.shape), to_string(piece), shape_text(shape)),
                     std::move(hint));
  }

  // --- Pranges ----------------------------------------------------------------------------------

  static bool depends_on(const Piece& piece, const std::string& index) {
    for (const Block& block : piece.blocks) {
      for (const Size& at : block.index) {
        if (names_in(at).count(index) > 0) return true;
      }
    }
    return false;
  }

  Result<void> check_apart(const Range& range, const std::vector<Access>& accesses) const {
    for (const Access& access : accesses) {
      if (!may_write(access.use) || only_reduced(access, accesses)) continue;
      const auto needed = tell_apart(access.piece->blocks, range.dimensions);
      if (!needed) return same_part(access, range);
      for (const Access& other : accesses) {
        TWILL_TRY_VOID(check_pair(access, other, *needed));
      }
    }
    return {};
  }

  /// Whether iterations only reduce common elements by one function; such combinations commute.
  static bool only_reduced(const Access& access, const std::vector<Access>& accesses) {
    return std::all_of(accesses.begin(), accesses.end(), [&](const Access& other) {
      return other.piece->tensor != access.piece->tensor ||
             (other.use == access.use && combines_by(other.use));
    });
  }

  /// Failure for iterations that write the same part, or may do so.
  static tl::unexpected<Diagnostic> same_part(const Access& access, const Range& range) {
    const Piece& piece = *access.piece;
    std::string names;
    for (const Dimension& it : range.dimensions) names += (names.empty() ? "" : ", ") + it.index;
    const auto two = with_same_part(piece.blocks, range.dimensions);
    if (!two) {
      return fail_task("T08", access.launch->where,
                       fmt::format("iterations of the prange may write the same part of '{}': "
                                   "nothing says that {} differs with {}",
                                   piece.tensor, to_string(piece), names),
                       "use each index alone as an index of the block, or srange");
    }
    std::string one, other, missing;
    for (std::size_t d = 0; d < range.dimensions.size(); ++d) {
      if (two->one[d] == two->other[d]) continue;
      const std::string& index = range.dimensions[d].index;
      one += fmt::format("{}{} = {}", one.empty() ? "" : ", ", index, two->one[d]);
      other += fmt::format("{}{} = {}", other.empty() ? "" : ", ", index, two->other[d]);
      if (!depends_on(piece, index)) missing = " does not depend on " + index;
    }
    return fail_task("T07", access.launch->where,
                     fmt::format("iterations {} and {} of the prange write the same part of '{}': "
                                 "{}{}",
                                 one, other, piece.tensor, to_string(piece),
                                 missing.empty() ? " is the same in both" : missing),
                     "use srange, or a task that reduces it");
  }

  /// Refuses two accesses to one tensor unless they use equal blocks, in the first `needed` blocks.
  static Result<void> check_pair(const Access& written, const Access& other, std::size_t needed) {
    if (written.piece->tensor != other.piece->tensor) return {};
    const std::vector<Block>& a = written.piece->blocks;
    const std::vector<Block>& b = other.piece->blocks;
    bool same = b.size() >= needed;
    for (std::size_t i = 0; same && i < needed; ++i) same = a[i] == b[i];
    if (same) return {};
    return fail_task("T08", other.launch->where,
                     fmt::format("iterations of the prange may touch what others write: {} and {}",
                                 to_string(*written.piece), to_string(*other.piece)),
                     "use srange");
  }

  struct Seen {
    std::vector<Access> all;
    std::set<std::string> own;  ///< tensors that an iteration makes
  };

  const Library& library_;
  const TaskValue& task_;
  const Variant& variant_;
  const Inner& inner_;
  std::map<std::string, Known> tensors_;
  std::set<std::string> names_;  ///< names of sizes
  std::set<std::string> free_;   ///< tunables among the names
  std::vector<Seen> accesses_;   ///< accesses in the surrounding pranges
};

Result<void> check_signature(const TaskValue& task) {
  std::set<std::string> names;
  for (const Argument& argument : task.arguments) {
    if (!names.insert(argument.name).second) {
      return fail_task("T02", argument.where,
                       "'" + task.name + "' has two arguments " + in_quotes(argument.name),
                       "give one of them another name");
    }
    const auto combines = combines_by(argument.privilege);
    const bool has_atomics =
        argument.scalar == Scalar::f32 || (combines == Function::add && !is_byte(argument.scalar));
    if (combines && !has_atomics) {
      return fail_task("T04", argument.where,
                       fmt::format("{} of {}; there are atomics for the largest and the least of "
                                   "f32 alone, and for sums of 16 bits and more",
                                   name_of(argument.privilege), name_of(argument.scalar)),
                       "let it be f32");
    }
    for (const Size& size : argument.shape) {
      const bool constant = size.constant().value_or(0) >= 1;
      if (constant || size.kind() == Size::Kind::name) continue;
      return fail_task("T13", argument.where,
                       fmt::format("a size of '{}' is {}; it is a name or a positive number",
                                   argument.name, to_string(size)),
                       "give the size a name, and compute with that in variants");
    }
  }
  std::set<std::string> sizes;
  for (const Argument& argument : task.arguments) {
    for (const Size& size : argument.shape) sizes.merge(names_in(size));
  }
  for (const std::string& position : task.positions) {
    if (names.insert(position).second && sizes.insert(position).second) continue;
    return fail_task("T02", task.where, "the name '" + position + "' is taken already",
                     "give it another name");
  }
  return {};
}

Result<void> check_leaf(const TaskValue& task, const Variant& variant) {
  const Leaf& leaf = std::get<Leaf>(variant.body);
  TWILL_TRY_VOID(types_of(task, leaf));
  if (leaf.external) {
    TWILL_TRY_VOID(element_arguments(task, leaf));
  }
  for (const Argument& argument : task.arguments) {
    const bool written =
        std::any_of(leaf.outputs.begin(), leaf.outputs.end(),
                    [&](const Output& output) { return output.argument == argument.name; });
    if (written || argument.privilege != Privilege::writes) continue;
    return fail_task("T14", variant.where,
                     fmt::format("'{}' writes '{}', but '{}.{}' assigns nothing to it", task.name,
                                 argument.name, task.name, variant.name),
                     "assign to it, or declare it as 'reads'");
  }
  return {};
}

}  // namespace

Result<void> check(const Library& library) {
  std::set<std::string> names;
  for (const TaskValue& task : library.tasks) {
    if (!names.insert(task.name).second) {
      return fail_task("T02", task.where, "there are two tasks " + in_quotes(task.name),
                       "variants of one task stand behind one signature");
    }
    TWILL_TRY_VOID(check_signature(task));
  }
  for (const TaskValue& task : library.tasks) {
    std::set<std::string> variants;
    for (const Variant& variant : task.variants) {
      if (!variants.insert(variant.name).second) {
        return fail_task(
            "T02", variant.where,
            fmt::format("'{}' has two variants {}", task.name, in_quotes(variant.name)),
            "give one of them another name");
      }
      if (variant.is_leaf()) {
        TWILL_TRY_VOID(check_leaf(task, variant));
      } else {
        TWILL_TRY_VOID(InnerCheck(library, task, variant).run());
      }
    }
  }
  return {};
}

}  // namespace twill::tasks
