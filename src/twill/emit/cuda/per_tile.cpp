#include <algorithm>

#include <fmt/format.h>

#include "twill/emit/cuda/role.h"
#include "twill/emit/cuda/shared_tiles.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::emit::cuda {

using plan::Step;

/// The results of the loop from which `value` is computed.
std::set<ir::ValueId> RolePrinter::results_behind(ir::ValueId value) const {
  std::set<ir::ValueId> results, seen = {value};
  std::vector<ir::ValueId> open = {value};
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    open.pop_back();
    const ir::Op* op = ir::defining_op(view_.program(), next);
    if (view_.carried_result(next) != nullptr) {
      results.insert(next);
    } else if (op != nullptr) {
      for (const ir::ValueId operand : op->operands) {
        if (seen.insert(operand).second) open.push_back(operand);
      }
    }
  }
  return results;
}

/// Parts of rows for which this role has every source of `value` after the loop.
Result<std::vector<int>> RolePrinter::parts_held(ir::ValueId value) const {
  const std::set<ir::ValueId> results = results_behind(value);
  std::vector<int> held;
  for (const int part : registers_.parts()) {
    const bool all = std::all_of(results.begin(), results.end(), [&](ir::ValueId result) {
      const ir::ValueId yielded = view_.behind_views(view_.carried_result(result)->yielded);
      return registers_.find(yielded, part) != nullptr;
    });
    if (all) held.push_back(part);
  }
  if (held.empty()) return tl::unexpected(missing_after_loop(value, results));
  return held;
}

/// Refusal of a value after the loop: this role's registers have all needed results of the loop for
/// no part.
Diagnostic RolePrinter::missing_after_loop(ir::ValueId value,
                                           const std::set<ir::ValueId>& results) const {
  std::string missing;
  for (const ir::ValueId result : results) {
    const ir::ValueId yielded = view_.behind_views(view_.carried_result(result)->yielded);
    const bool is_held =
        std::any_of(registers_.parts().begin(), registers_.parts().end(),
                    [&](int part) { return registers_.find(yielded, part) != nullptr; });
    const auto& op = view_.program().value(yielded).op;
    if (is_held || !op) continue;
    const ir::Program& program = view_.program();
    missing =
        fmt::format("{} of line {}{}, which the loop leaves in another role", program.op(*op).name,
                    ir::text_location(program, *op).line, ir::source_words(program, *op));
    break;
  }
  if (missing.empty()) missing = "results of the loop for different rows";
  auto refusal = view_.refuse(
      value,
      fmt::format("is needed after the loop by role {}, and made from {}", role_.name, missing));
  refusal.value().hint = "`twill emit ttgir` tries plans of other kinds, too";
  return refusal.value();
}

Result<std::int64_t> RolePrinter::rows_held(ir::ValueId value,
                                            const std::vector<int>& parts) const {
  std::int64_t rows = 0;
  for (const int part : parts) {
    TWILL_TRY(const Shape shape, view_.shape_of(value, part));
    rows += shape.rows;
  }
  return rows;
}

const plan::BufferId* RolePrinter::staging_of(std::size_t index) const {
  const plan::PerTileOp& per_tile_op = plan_.kernel->per_tile_ops[index];
  const auto role = std::find(per_tile_op.roles.begin(), per_tile_op.roles.end(), id_);
  if (role == per_tile_op.roles.end()) return nullptr;
  return &per_tile_op.buffers.at(static_cast<std::size_t>(role - per_tile_op.roles.begin()));
}

namespace {

constexpr std::int64_t kPanel = 128;  ///< bytes of a row of a panel

/// Columns of a panel.
std::int64_t panel_of(ir::Type tile) { return kPanel * 8 / ir::element_bits(tile); }

/// First columns of the panels of a stored tile. The last panel ends with the tile. A last panel
/// that would not be full begins in the previous panel, and both store the same values there.
std::vector<std::int64_t> panels_of(std::int64_t columns, std::int64_t panel) {
  std::vector<std::int64_t> first;
  for (std::int64_t column = 0; column < columns; column += panel) {
    first.push_back(std::min(column, columns - panel));
  }
  return first;
}

}  // namespace

const char* why_not_around(ir::OpKind kind) {
  if (kind != ir::OpKind::branch) {
    return "is a second loop with tiles: only kernels with one are printed as CUDA";
  }
  return "is a branch with tiles beside the loop: as CUDA, only a select has tiles that depend on "
         "a condition there";
}

/// Fails for boxes that are not written from panels of 128 bytes, or that are combined by another
/// operation than add.
Result<void> RolePrinter::check_panels(ir::OpId store, std::int64_t columns) const {
  const ir::Op& op = view_.program().op(store);
  const ir::Type descriptor = ir::type_of(view_.program(), ir::memory_access(op)->address);
  const std::int64_t panel = panel_of(descriptor->element);
  const bool combines = op.kind == ir::OpKind::block_update;
  if (combines && op.update != ir::Update::fadd) {
    return view_.refuse(store, "combines blocks by another operation than add");
  }
  if (written_swizzle_of(descriptor) != kPanel) {
    return view_.refuse(store, "stores blocks that are not swizzled by 128 bytes");
  }
  if (columns < panel) {
    return view_.refuse(store, "stores rows that do not fill a panel of 128 bytes");
  }
  const bool twice = columns % panel != 0;  // two panels have columns in common
  if (twice && (combines || panel * 4 == kPanel)) {
    return view_.refuse(store, "writes rows that are no whole panels of 128 bytes");
  }
  return {};
}

/// Stages the role's rows of a stored tile, part after part, in panels of 128 bytes.
Result<void> RolePrinter::stage_store(Text& text, const Step& step, const Point& point) {
  const ir::OpId store = view_.op_of_per_tile(*step.per_tile_op);
  const auto access = *ir::memory_access(view_.program().op(store));
  const ir::ValueId source = view_.without_ones(*access.source);
  const plan::BufferId* buffer = staging_of(*step.per_tile_op);
  if (buffer == nullptr) return view_.refuse(store, "has no staging buffer of this role");
  TWILL_TRY(const std::vector<int> parts, parts_held(source));
  TWILL_TRY(const std::int64_t rows, rows_held(source, parts));
  std::int64_t row = 0;
  for (const int part : parts) {
    TWILL_TRY(const Shape shape, view_.shape_of(source, part));
    TWILL_TRY_VOID(check_panels(store, shape.columns));
    const ir::Type type = ir::type_of(view_.program(), source);
    const bool words = ir::element_bits(type) == 32;
    const Variable out{"out", shape, cpp_type(type), !words, 1, std::nullopt};
    text.open("");
    text.line("// " + comment(step));
    text.line(fmt::format("{} out[{}];", words ? "float" : "uint32_t", array_length(out)));
    imported_.clear();
    Text prelude(text.depth()), body(text.depth());
    TWILL_TRY_VOID(tiles(step, part, point, prelude, {}).assign(body, {{&out, source}}));
    text.append(prelude);
    text.append(body);
    const std::int64_t columns = panel_of(type), whole = shape.columns / columns * columns;
    const std::int64_t panel = rows * kPanel;
    for (std::int64_t block = 0; block < shape.rows / 64; ++block, row += 64) {
      const std::int64_t first = block * shape.columns / (words ? 2 : 4);
      text.line(fmt::format("twill::{}<{}, {}>({}, out, {}, {});",
                            words ? "store_words" : "store_fragment", whole, first,
                            address(*buffer, ""), row, panel));
      if (whole == shape.columns) continue;
      text.line(fmt::format("twill::store_fragment<{}, {}>({} + {}, out, {}, {});", columns,
                            first + (shape.columns - columns) / 4, address(*buffer, ""),
                            whole / columns * panel, row, panel));
    }
    text.close();
  }
  return {};
}

bool RolePrinter::wants_own(const Step& step) {
  const bool wants =
      plan_.kernel->cluster > 1 && plan_.kernel->per_tile_ops[*step.per_tile_op].writes;
  asks_own_ = asks_own_ || wants;
  return wants;
}

Result<void> RolePrinter::issue_store(Text& text, const Step& step) {
  const ir::OpId store = view_.op_of_per_tile(*step.per_tile_op);
  const auto access = *ir::memory_access(view_.program().op(store));
  const ir::ValueId source = view_.without_ones(*access.source);
  const plan::BufferId* buffer = staging_of(*step.per_tile_op);
  if (buffer == nullptr) return view_.refuse(store, "has no staging buffer of this role");
  const ir::Type tile = ir::type_of(view_.program(), access.address)->element;
  const auto& block = tile->shape;
  TWILL_TRY(const std::vector<int> parts, parts_held(source));
  TWILL_TRY(const std::int64_t rows, rows_held(source, parts));
  if (rows * block.back() * ir::element_bits(tile) / 8 > plan_[*buffer].size) {
    return view_.refuse(
        store, "is done for more rows by role " + role_.name + " than the plan has staging for");
  }
  const bool adds = view_.program().op(store).kind == ir::OpKind::block_update;
  const bool own = wants_own(step);
  text.open(alone() ? (own ? "if (own)" : "") : (own ? "if (leader && own)" : "if (leader)"));
  text.line("// " + comment(step));
  std::int64_t row = 0;
  for (const int part : parts) {
    TWILL_TRY(const Shape shape, view_.shape_of(source, part));
    TWILL_TRY(const std::string map, maps_.name(view_, access.address, shape.rows, MapUse::writes));
    const std::int64_t first = view_.rows_of(part, shape.rows).first;
    const std::vector<std::int64_t> panels = panels_of(block.back(), panel_of(tile));
    for (std::size_t panel = 0; panel < panels.size(); ++panel) {
      const std::int64_t column = panels[panel];
      std::string coordinates;
      for (std::size_t i = access.coordinates.size(); i-- > 0;) {
        TWILL_TRY(const std::string at, scalars_(access.coordinates[i], ""));
        const bool is_column = i + 1 == access.coordinates.size();
        const bool is_row = i + 2 == access.coordinates.size();
        coordinates += fmt::format(", {} + {}", at, is_column ? column : is_row ? first : 0);
      }
      text.line(fmt::format("twill::{}(&args.{}, {} + {}{});",
                            adds ? "tma_reduce_add" : "tma_store", map, address(*buffer, ""),
                            (static_cast<std::int64_t>(panel) * rows + row) * kPanel, coordinates));
    }
    row += shape.rows;
  }
  text.line("twill::bulk_commit();");
  printed_.insert(store);
  text.close();
  return {};
}

/// Loads a vector into registers if it cannot be loaded at its use, or is used many times.
Result<void> RolePrinter::load_vector(Text& text, const Step& step, const Point& point) {
  const ir::OpId id = view_.op_of_per_tile(*step.per_tile_op);
  const ir::ValueId value = *ir::memory_access(view_.program().op(id))->result;
  const ir::Type type = ir::type_of(view_.program(), value);
  if (!is_register_tile(type) || type->shape.size() != 1) return {};
  for (const int part : registers_.parts()) {
    TWILL_TRY(const Shape shape, view_.shape_of(value, part));
    const std::string name = fmt::format("v{}{}", identifier(view_.program().value(value).name),
                                         part < 0 ? "_here" : fmt::format("_of_{}", part));
    const Variable variable{name, shape, cpp_type(type), false, 1, std::nullopt};
    if (variable.type.empty()) return view_.refuse(id, "loads elements CUDA has no type for");
    text.line(fmt::format("{} {}[{}];", variable.type, name, array_length(variable)));
    text.open("");
    text.line("// " + comment(step));
    imported_.clear();
    Text prelude(text.depth()), body(text.depth());
    TWILL_TRY_VOID(tiles(step, part, point, prelude, {value}).assign(body, {{&variable, value}}));
    text.append(prelude);
    text.append(body);
    text.close();
    loaded_.emplace(std::pair{value, part}, variable);
  }
  return {};
}

/// Prints only ops whose results leave the registers; their sources are computed in the same place.
Result<void> RolePrinter::compute_per_tile(Text& text, const Step& step, const Point& point) {
  const ir::OpId id = view_.op_of_per_tile(*step.per_tile_op);
  const ir::Op& op = view_.program().op(id);
  if (op.kind == ir::OpKind::load && (view_.is_read_in_loop(id) || !view_.check_fresh(id))) {
    return load_vector(text, step, point);
  }
  const auto access = ir::memory_access(op);
  if (op.kind != ir::OpKind::store && op.kind != ir::OpKind::atomic_update) {
    const bool writes = plan_.kernel->per_tile_ops[*step.per_tile_op].writes;
    if (!op.regions.empty() && !ir::reduction(view_.program(), id)) {
      return view_.refuse(id, why_not_around(op.kind));
    }
    if (writes || op.results.empty()) return view_.refuse(id, "is not printed outside a loop");
    return {};
  }
  TWILL_TRY(const std::vector<int> parts, parts_held(*access->source));
  const bool own = wants_own(step);
  for (const int part : parts) {
    text.open(own ? "if (own)" : "");
    text.line("// " + comment(step));
    imported_.clear();
    Text prelude(text.depth()), body(text.depth());
    TWILL_TRY_VOID(tiles(step, part, point, prelude, {}).store(body, id));
    printed_.insert(id);
    text.append(prelude);
    text.append(body);
    text.close();
  }
  return {};
}

}  // namespace twill::emit::cuda
