#include "twill/emit/cuda/copies.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "twill/emit/cuda/growth.h"
#include "twill/emit/cuda/pieces.h"
#include "twill/emit/cuda/role.h"
#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"

namespace twill::emit::cuda {

using ir::OpKind;
using plan::Step;

namespace {

/// Finds the allocations that a loaded tile fills; false if the tile has other uses.
bool find_allocations(const View& view, ir::ValueId tile, std::vector<ir::ValueId>& found) {
  const auto& uses = view.program().value(tile).uses;
  return std::all_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
    const ir::Op& op = view.program().op(use.op);
    if (op.kind == OpKind::relayout) return find_allocations(view, op.results[0], found);
    if (op.kind != OpKind::shared_alloc) return false;
    found.push_back(op.results[0]);
    return true;
  });
}

Result<SharedTile> tile_filled_by(const View& view, ir::OpId load, bool& flipped) {
  std::vector<ir::ValueId> allocations;
  const bool only = find_allocations(view, view.program().op(load).results.at(0), allocations);
  const auto encoding_of = [&](ir::ValueId value) {
    return ir::nvmma_shared_encoding(ir::type_of(view.program(), value)->encoding);
  };
  if (!only || allocations.empty()) {
    return view.refuse(load, "is not only copied into shared memory");
  }
  for (const ir::ValueId allocation : allocations) {
    const bool alike = ir::type_of(view.program(), allocation)->encoding ==
                       ir::type_of(view.program(), allocations[0])->encoding;
    if (!alike) return view.refuse(load, "fills shared memory of several layouts");
  }
  const auto encoding = encoding_of(allocations[0]);
  flipped = encoding && encoding->transposed;
  return shared_tile(view, allocations[0]);
}

}  // namespace

Result<ir::OpId> load_copied_by(const View& view, OpId op) {
  const auto& sources = view.origin(op).sources;
  const auto found = std::find_if(sources.begin(), sources.end(), [&](const auto& source) {
    const ir::Op& it = view.program().op(source.op);
    std::vector<ir::ValueId> filled;
    return it.kind == OpKind::load && find_allocations(view, it.results.at(0), filled) &&
           !filled.empty();
  });
  if (found != sources.end()) return found->op;
  return view.refuse(sources.front().op, "is copied by threads, and fills no tile of its own");
}

Result<Copy> copy_of(const View& view, ir::OpId load, int threads) {
  Copy copy;
  copy.load = load;
  copy.threads = threads;
  TWILL_TRY_VOID(view.check_load(copy.load));
  TWILL_TRY(copy.tile, tile_filled_by(view, copy.load, copy.flipped));
  const auto access = *ir::memory_access(view.program().op(copy.load));
  const auto other =
      access.other ? ir::constant_number(view.program(), *access.other) : std::nullopt;
  if (access.other && !(other && *other == 0)) {
    return view.refuse(copy.load, "puts other values than zeros where its mask is false");
  }
  copy.bytes = bytes_of_chunk(view, copy.load, copy.flipped ? 0 : 1);
  if (copy.bytes == 0) {
    auto refusal = view.refuse(
        copy.load, fmt::format("has no neighbours along dimension {} of which is known that they "
                               "lie side by side, aligned to 4 bytes, under one mask: threads copy "
                               "4, 8 or 16 bytes at once",
                               copy.flipped ? 0 : 1));
    refusal.value().hint =
        "a row length that is a number, as `C = 256` in a mapping of tasks, or an argument that is "
        "said to be a multiple of 2, says so; `twill emit ttgir` prints the kernel as it is";
    return refusal;
  }
  return copy;
}

namespace {

class Keeper {
 public:
  explicit Keeper(const View& view) : view_(view), program_(view.program()) {}

  void look_at(ir::ValueId value) {
    if (!seen_.insert(value).second) return;
    const ir::Op* op = ir::defining_op(program_, value);
    const bool tile = is_register_tile(ir::type_of(program_, value));
    const bool in_loop = !ir::is_invariant(program_, view_.loop(), value);
    const bool kept = tile && op != nullptr && is_costly(*op) && is_vector(value);
    if (!in_loop && (kept || !tile)) {  // values kept per tile are not needed in the loop
      if (kept) keep(value, false);
      return;
    }
    for (const ir::ValueId operand : behind(value)) look_at(operand);
    if (kept) keep(value, true);
    if (!tile && op != nullptr && op->kind == OpKind::load) kept_.scalars.push_back(value);
  }

  /// Marks values with readers other than kept vectors, which are computed from them at once.
  /// `vector`: the reader is a kept vector, or a value from which one is computed.
  void read_by(bool vector, ir::ValueId value) {
    if (!read_.emplace(value, vector).second) return;
    const auto& all = kept_.vectors;
    const bool kept = std::any_of(all.begin(), all.end(), [&](const KeptVector& it) {
      return it.in_loop && it.value == value;
    });
    for (const ir::ValueId operand : behind(value)) read_by(kept || vector, operand);
  }

  Kept kept() && {
    std::erase_if(kept_.vectors, [&](const KeptVector& it) {
      return it.in_loop && !read_.contains({it.value, false});
    });
    return std::move(kept_);
  }

 private:
  bool is_vector(ir::ValueId value) const {
    const auto& shape = ir::type_of(program_, value)->shape;
    return std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n > 1; }) <= 1;
  }

  /// Sources of a value; for a carried value, its initial value and its increment.
  std::vector<ir::ValueId> behind(ir::ValueId value) const {
    if (const ir::Op* op = ir::defining_op(program_, value)) return op->operands;
    const auto advance = ir::advance_of(program_, view_.loop(), value);
    return advance ? std::vector{advance->init, advance->by} : std::vector<ir::ValueId>();
  }

  static bool is_costly(const ir::Op& op) {
    switch (op.kind) {
      case OpKind::sdiv:
      case OpKind::udiv:
      case OpKind::srem:
      case OpKind::urem:
      case OpKind::load:
        return true;
      default:
        return false;
    }
  }

  void keep(ir::ValueId value, bool in_loop) {
    const auto& shape = ir::type_of(program_, value)->shape;
    const bool rows = shape.size() == 1 ? view_.along(value) == Along::rows : shape[1] == 1;
    kept_.vectors.push_back({value, in_loop, rows});
  }

  const View& view_;
  const ir::Program& program_;
  std::set<ir::ValueId> seen_;
  std::set<std::pair<ir::ValueId, bool>> read_;  ///< by a kept vector (true) or by other readers
                                                 ///< (false)
  Kept kept_;
};

}  // namespace

Kept kept_for(const View& view, const std::vector<ir::ValueId>& computed) {
  Keeper keeper(view);
  for (const ir::ValueId value : computed) keeper.look_at(value);
  for (const ir::ValueId value : computed) keeper.read_by(false, value);
  return std::move(keeper).kept();
}

namespace {

/// "i * 16", for a sum.
std::string times(const std::string& i, std::int64_t by) {
  return i == "0" ? "" : fmt::format("{} * {} + ", i, by);
}

/// Prints row and column of a chunk: from its slots, or from its number.
void print_row(Text& text, const Copy& copy, const std::string& slot) {
  const std::string number = fmt::format("({} * {} + thread)", slot, copy.threads);
  text.line("[[maybe_unused]] const int row = " +
            (copy.even()
                 ? fmt::format("{}thread / {};", times(slot, copy.rows_at_once()), copy.in_row())
                 : fmt::format("{} / {} % {};", number, copy.in_row(), copy.tile.rows)));
}
void print_column(Text& text, const Copy& copy, const std::string& slot) {
  const std::int64_t panel = panel_elements(copy.tile);
  const std::string in_panel = fmt::format("% {} * {};", copy.in_row(), copy.elements());
  const std::string number = fmt::format("({} * {} + thread)", slot, copy.threads);
  text.line("[[maybe_unused]] const int column = " +
            (copy.even() ? fmt::format("{}thread {}", times(slot, panel), in_panel)
                         : fmt::format("{0} / {1} * {2} + {0} {3}", number,
                                       copy.in_row() * copy.tile.rows, panel, in_panel)));
}

/// Chunk `i` as the slots of the thread's rows and of its columns.
std::string row_slot(const Copy& copy, const std::string& i) {
  if (!copy.even() || copy.column_slots() == 1) return i;
  return copy.row_slots() == 1 ? "0" : fmt::format("{} % {}", i, copy.row_slots());
}
std::string column_slot(const Copy& copy, const std::string& i) {
  if (!copy.even() || copy.row_slots() == 1) return i;
  return copy.column_slots() == 1 ? "0" : fmt::format("{} / {}", i, copy.row_slots());
}

/// A place of the load: rows of the load are columns of the slot if the copy is flipped.
Tiles::Place place_of(const Copy& copy, const std::string& row_slot,
                      const std::string& column_slot) {
  if (copy.flipped) return {"column", "row", column_slot, row_slot};
  return {"row", "column", row_slot, column_slot};
}

/// Whether a vector runs along the rows of the slot.
bool is_of_rows(const Copy& copy, const KeptVector& vector) {
  return vector.along_rows != copy.flipped;
}

/// Registers of a thread, of 32 bits, for one address of each chunk.
int registers_of_addresses(const Copy& copy) { return 2 * static_cast<int>(copy.each()); }

/// Chunk `i` with its place, at the head of a loop over a thread's chunks.
Tiles::Place print_place(Text& text, const Copy& copy) {
  if (copy.chunks() % copy.threads != 0) {
    text.line(fmt::format("if (i * {} + thread >= {}) continue;", copy.threads, copy.chunks()));
  }
  const std::string row = row_slot(copy, "i"), column = column_slot(copy, "i");
  print_row(text, copy, row);
  print_column(text, copy, column);
  return place_of(copy, row, column);
}

/// The kept vectors that are computed once an iteration, or once a tile.
std::vector<KeptVector> of_scope(const Kept& kept, bool in_loop) {
  std::vector<KeptVector> vectors;
  std::copy_if(kept.vectors.begin(), kept.vectors.end(), std::back_inserter(vectors),
               [&](const KeptVector& it) { return it.in_loop == in_loop; });
  return vectors;
}

}  // namespace

/// Reads the thread's number anew at each use. Otherwise, values that follow from the number would
/// be computed before the loop, and take registers that the role does not have.
std::string RolePrinter::thread_of_role() const {
  const std::string first =
      role_.first_warp == 0 ? "" : fmt::format(" - {}", 32 * role_.first_warp);
  return fmt::format("const int thread = twill::thread_here(){};", first);
}

Tiles RolePrinter::tiles_at(const std::string& iteration) {
  return {view_, scalars_, -1, iteration, [this](ir::ValueId value) {
            const auto found = kept_.find(value);
            return found == kept_.end() ? std::nullopt
                                        : std::optional(Found{&found->second, found->second.name});
          }};
}

/// Prints two loops: one for vectors along the rows of the slot, one for its columns.
Result<void> RolePrinter::keep_vectors(Text& declarations, Text& text, const Copy& copy,
                                       const std::vector<KeptVector>& all,
                                       const std::string& iteration) {
  for (const bool of_rows : {true, false}) {
    std::vector<ir::ValueId> values;
    std::vector<Variable> variables;
    const std::int64_t count = of_rows ? copy.row_slots() : copy.column_slots();
    for (const KeptVector& kept : all) {
      if (is_of_rows(copy, kept) != of_rows) continue;
      const ir::Op& op = view_.program().op(*view_.program().value(kept.value).op);
      if (op.kind == OpKind::load) {
        TWILL_TRY_VOID(view_.check_load(*view_.program().value(kept.value).op));
        TWILL_TRY_VOID(view_.check_fresh(*view_.program().value(kept.value).op));
      }
      const auto kind = kept.along_rows ? Shape::Kind::row_vector : Shape::Kind::column_vector;
      const std::string name =
          fmt::format("v{}_{}", identifier(view_.program().value(kept.value).name),
                      identifier(plan_[copy.tile.buffer].name));
      const std::string type = cpp_type(ir::type_of(view_.program(), kept.value));
      if (type.empty()) return view_.refuse(kept.value, "has elements CUDA has no type for");
      values.push_back(kept.value);
      variables.push_back({name, {kind, 0, 0}, type, false, 1, std::nullopt});
      declarations.line(fmt::format("{} {}[{}];", type, name, count));
    }
    if (values.empty()) continue;
    text.line(kUnroll);
    text.open(fmt::format("for (int i = 0; i < {}; ++i)", count));
    print_row(text, copy, of_rows || !copy.even() ? "i" : "0");
    print_column(text, copy, of_rows && copy.even() ? "0" : "i");
    TWILL_TRY(const auto made, tiles_at(iteration).at(text, values, place_of(copy, "i", "i")));
    for (std::size_t v = 0; v < values.size(); ++v) {
      text.line(fmt::format("{}[i] = {};", variables[v].name, made[v]));
    }
    text.close();
    for (std::size_t v = 0; v < values.size(); ++v) {
      kept_.insert_or_assign(values[v], std::move(variables[v]));
    }
  }
  return {};
}

/// Keeps pointers of a thread for its chunks, if they all grow alike and the role has registers for
/// them.
Result<void> RolePrinter::keep_pointers(Text& text, const Copy& copy, OpId op, int& spare) {
  const auto access = *ir::memory_access(view_.program().op(copy.load));
  const auto by = growth_of(view_, scalars_, access.address);
  if (!by || registers_of_addresses(copy) > spare) return {};
  spare -= registers_of_addresses(copy);
  Walking walking{"at_" + identifier(plan_.problem[op].name), *by == "0" ? "" : *by};
  text.line(fmt::format("const {}* {}[{}];", copy.tile.type, walking.name, copy.each()));
  text.open("");
  text.line(thread_of_role());
  kept_.clear();
  TWILL_TRY_VOID(keep_vectors(text, text, copy, kept_for(view_, {access.address}).vectors, ""));
  text.line(kUnroll);
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", copy.each()));
  const Tiles::Place place = print_place(text, copy);
  TWILL_TRY(const auto first, tiles_at("0").at(text, {access.address}, place));
  text.line(fmt::format("{}[i] = {};", walking.name, first[0]));
  text.close();
  text.close();
  walking_[op] = std::move(walking);
  return {};
}

/// Prints, before the loop, the loop-invariant parts of the addresses of the role's copies.
Result<void> RolePrinter::prepare_copies(Text& text) {
  int spare = role_.usable - role_.registers;
  for (const Step& step : role_.sections.steady) {
    if (step.kind != plan::StepKind::issue || !step.op) continue;
    if (plan_.mechanisms[step.op->index()] != plan::Mechanism::cp_async) continue;
    TWILL_TRY(const ir::OpId load, load_copied_by(view_, *step.op));
    TWILL_TRY(const Copy copy, copy_of(view_, load, 32 * role_.warps));
    text.line("// for the addresses of " + plan_.problem[*step.op].name);
    TWILL_TRY_VOID(keep_pointers(text, copy, *step.op, spare));
    kept_.clear();
    const Kept all = kept_for(view_, computed_for(step, load));
    for (const KeptVector& it : all.vectors) {
      spare -= static_cast<int>(is_of_rows(copy, it) ? copy.row_slots() : copy.column_slots());
    }
    // Computes all addresses at once; their loop-invariant parts stay in registers.
    if (!walking_.contains(*step.op) && registers_of_addresses(copy) <= spare) {
      spare -= registers_of_addresses(copy);
      at_once_.insert(*step.op);
    }
    const std::vector<KeptVector> kept = of_scope(all, false);
    if (kept.empty()) continue;
    Text body(text.depth() + 1);
    TWILL_TRY_VOID(keep_vectors(text, body, copy, kept, ""));
    text.open("");
    text.line(thread_of_role());
    text.append(body);
    text.close();
    prepared_[*step.op] = std::exchange(kept_, {});
  }
  kept_.clear();
  return {};
}

/// Values of a load that are computed for each chunk anew.
std::vector<ir::ValueId> RolePrinter::computed_for(const Step& step, ir::OpId load) const {
  const auto access = *ir::memory_access(view_.program().op(load));
  std::vector<ir::ValueId> values;
  if (!step.op || !walking_.contains(*step.op)) values.push_back(access.address);
  if (access.mask) values.push_back(*access.mask);
  return values;
}

/// Each thread copies its chunks, and arrives once they have landed.
Result<void> RolePrinter::issue_copy(Text& text, const plan::Step& step) {
  ir::OpId load{};
  if (step.per_tile_op) {
    load = view_.op_of_per_tile(*step.per_tile_op);
  } else {
    TWILL_TRY(load, load_copied_by(view_, *step.op));
    kept_ = prepared_[*step.op];
  }
  TWILL_TRY(const Copy copy, copy_of(view_, load, 32 * role_.warps));
  const std::string at = step.per_tile_op ? "" : iteration(step.instance);
  const std::vector<ir::ValueId> computed = computed_for(step, load);
  const Kept kept = kept_for(view_, computed);
  const auto walking = step.op ? walking_.find(*step.op) : walking_.end();
  text.open("");
  text.line("// " + comment(step));
  text.line(thread_of_role());
  text.line(fmt::format("char* const slot = {};",
                        address(copy.tile.buffer, slot_of(copy.tile.buffer, step.instance))));
  for (const ir::ValueId scalar : kept.scalars) {
    TWILL_TRY(const std::string value, scalars_(scalar, at));
    const std::string name = "v" + identifier(view_.program().value(scalar).name);
    text.line(fmt::format(
        "{} = {};", constant_of(cpp_type(ir::type_of(view_.program(), scalar)), name), value));
    scalars_.call(scalar, name);
  }
  if (step.per_tile_op) {  // no address was prepared for a copy outside the loop
    TWILL_TRY_VOID(keep_vectors(text, text, copy, of_scope(kept, false), at));
  }
  TWILL_TRY_VOID(keep_vectors(text, text, copy, of_scope(kept, true), at));
  // The swizzle repeats every 8 rows. So copies of a multiple of 8 rows at once have one place in
  // the pattern.
  const bool repeats = copy.even() && copy.rows_at_once() % 8 == 0;
  const std::int64_t panel = panel_elements(copy.tile);
  if (repeats) {
    text.line(
        fmt::format("char* const to = slot + twill::swizzled<{}>(thread / {}, thread % {} * {});",
                    copy.tile.swizzle, copy.in_row(), copy.in_row(), copy.bytes));
  }
  // Array elements are registers only if the index of each chunk is known at compile time.
  const bool indexed = !kept.vectors.empty() || walking != walking_.end();
  const bool at_once = indexed || (step.op && at_once_.contains(*step.op));
  text.line(at_once ? kUnroll : "#pragma unroll 4");
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", copy.each()));
  const Tiles::Place place = print_place(text, copy);
  TWILL_TRY(const auto made, tiles_at(at).at(text, computed, place));
  const auto access = *ir::memory_access(view_.program().op(load));
  const std::string mask = access.mask ? ", " + made.back() : "";
  const std::string from = walking != walking_.end() ? walking->second.name + "[i]" : made.front();
  const std::string to =
      repeats
          ? fmt::format("{}{}to", times(column_slot(copy, "i"), panel_bytes(copy.tile)),
                        times(row_slot(copy, "i"), copy.rows_at_once() * copy.tile.swizzle))
          : fmt::format("slot + column / {0} * {1} + twill::swizzled<{2}>(row, column % {0} * 2)",
                        panel, panel_bytes(copy.tile), copy.tile.swizzle);
  text.line(fmt::format("twill::copy_async<{}>({}, {}{});", copy.bytes, to, from, mask));
  if (walking != walking_.end() && !walking->second.by.empty()) {
    text.line(fmt::format("{} += {};", from, walking->second.by));
  }
  text.close();
  text.line(fmt::format("twill::copies_arrive({});", barrier(step, true)));
  text.close();
  for (const ir::ValueId scalar : kept.scalars) scalars_.call(scalar, "");
  kept_.clear();
  return {};
}

}  // namespace twill::emit::cuda
