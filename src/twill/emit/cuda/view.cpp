#include "twill/emit/cuda/view.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "twill/extract/memory_order.h"
#include "twill/ir/arrays.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::emit::cuda {

using ir::OpKind;

bool is_register_tile(ir::Type type) {
  return type->kind == ir::TypeKind::tensor && !type->shape.empty();
}

std::string cpp_type(ir::Type type) {
  if (is_register_tile(type)) return cpp_type(type->element);
  if (type->kind == ir::TypeKind::pointer) {
    const std::string pointee = cpp_type(type->element);
    return pointee.empty() ? pointee : pointee + "*";
  }
  if (type->kind == ir::TypeKind::index) return "long long";
  static const std::map<std::string, std::string> known = {{"f32", "float"},
                                                           {"f16", "__half"},
                                                           {"bf16", "__nv_bfloat16"},
                                                           {"i1", "bool"},
                                                           {"i8", "signed char"},
                                                           {"i16", "short"},
                                                           {"i32", "int"},
                                                           {"i64", "long long"},
                                                           {"f8E4M3FN", "__nv_fp8_e4m3"},
                                                           {"f8E5M2", "__nv_fp8_e5m2"}};
  const auto found = known.find(type->name);
  return found == known.end() ? std::string() : found->second;
}

std::string constant_of(const std::string& type, const std::string& name) {
  return type.back() == '*' ? type + " const " + name : "const " + type + " " + name;
}

bool is_packed(ir::Type type) {
  const ir::Type element = is_register_tile(type) ? type->element : type;
  return element->name == "f16" || element->name == "bf16";
}

std::int64_t elements_per_thread(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::matrix:
      return shape.rows * shape.columns / 128;
    case Shape::Kind::row_vector:
      return shape.rows / 32;
    case Shape::Kind::column_vector:
      return shape.columns / 4;
  }
  return 0;
}

Result<View> View::of(const KernelParts& parts) {
  View view;
  view.program_ = &parts.program;
  view.plan_ = &parts.plan.plan();
  view.origins_ = parts.origins;
  view.input_ = parts.input;
  view.stamps_ = parts.stamps;
  const auto loop = ir::as_loop(parts.program, parts.loop);
  if (!loop || !loop->induction) return view.refuse(parts.loop, "is no counting loop");
  view.loop_ = *loop;
  if (!view.plan_->kernel) return view.refuse(parts.loop, "has a plan without a kernel");
  TWILL_TRY_VOID(view.check_nested());
  const auto function = ir::enclosing(parts.program, parts.loop, OpKind::function);
  if (!function) return view.refuse(parts.loop, "is in no function");
  view.function_ = *function;
  TWILL_TRY_VOID(view.check_chains());
  const auto parent = ir::parent(parts.program, parts.loop);
  if (parent != function) {
    view.outer_ = ir::as_loop(parts.program, *parent);
    if (!view.outer_ || !view.outer_->induction) {
      return view.refuse(*parent, "contains the loop, and is no counting loop");
    }
    if (!view.outer_->carried.empty()) {
      return view.refuse(*parent, "carries values from tile to tile");
    }
    if (ir::parent(parts.program, *parent) != function) {
      return view.refuse(*parent, "is in another loop");
    }
  }
  for (const extract::OpOrigin& origin : parts.origins) {
    if (origin.part >= 0 && origin.row_end > 0) {
      view.parts_[origin.part] = {origin.row_begin, origin.row_end};
    }
  }
  TWILL_TRY_VOID(view.find_exits());
  TWILL_TRY_VOID(view.find_per_tile_ops());
  TWILL_TRY_VOID(view.check_complete());
  view.orient();
  return view;
}

/// Fails for chains of operands that would overflow the stack. No kernel in use has such chains.
Result<void> View::check_chains() const {
  constexpr int kLongest = 2000;
  std::map<ir::ValueId, int> behind;
  for (const ir::OpId id : ir::walk(*program_, function_)) {
    const ir::Op& op = program_->op(id);
    int longest = 0;
    for (const ir::ValueId operand : op.operands) {
      const auto known = behind.find(operand);
      if (known != behind.end()) longest = std::max(longest, known->second);
    }
    if (longest > kLongest) {
      return refuse(id, fmt::format("follows a chain of more than {} operations", kLongest));
    }
    for (const ir::ValueId result : op.results) {
      behind[result] = std::max(behind[result], longest + 1);
    }
    const auto per_tile_ops = ir::parent(*program_, id);
    if (!op.results.empty() || !per_tile_ops) continue;
    for (const ir::ValueId result :
         program_->op(*per_tile_ops).results) {  // results of the region's yields
      behind[result] = std::max(behind[result], longest + 1);
    }
  }
  return {};
}

/// Fails for a loop over the steps of all tiles, one tile after the other. Its epilogue ops are in
/// the loop under a condition, and no section of a role has such ops.
Result<void> View::check_nested() const {
  for (const ir::OpId id : ir::walk(*program_, loop_.op)) {
    const auto access = ir::memory_access(program_->op(id));
    const bool writes = access && access->writes && access->space == ir::AccessSpace::global;
    const auto branch = ir::enclosing(*program_, id, OpKind::branch);
    if (!writes || !branch || !ir::is_inside(*program_, *branch, loop_.op)) continue;
    auto refusal = refuse(*branch, "writes to memory (" + words(id) +
                                       ") in some iterations only, as where a loop over tiles is "
                                       "flattened into the main loop");
    refusal.value().hint =
        "give the kernel with its loops nested (no flatten=True), or without the loop over tiles, "
        "which the plan adds";
    return refusal;
  }
  return {};
}

Result<void> View::find_exits() {
  auto returns = ir::returns_before(*program_, outer_ ? outer_->op : loop_.op);
  if (returns.other) {
    return refuse(*returns.other,
                  "branches otherwise than on to the loop or to the function's end");
  }
  exits_ = std::move(returns.exits);
  if (!exits_.empty() && plan_->kernel->cluster > 1) {
    return refuse(exits_.front().branch, "may leave the kernel in one CTA of a cluster only");
  }
  return {};
}

/// Whether a step of the plan does the op.
bool View::is_carried_out(ir::OpId op) const {
  if (per_tile_op_of(op) != nullptr) return true;
  return std::any_of(origins_.begin(), origins_.end(), [&](const extract::OpOrigin& origin) {
    return std::any_of(origin.sources.begin(), origin.sources.end(),
                       [&](const extract::Source& source) { return source.op == op; });
  });
}

/// Whether an op has unknown effects, or orders others as volatile loads do.
bool is_unknown(const ir::Op& op) {
  if (op.is_volatile) return true;
  if (op.kind == OpKind::call || op.kind == OpKind::inline_asm) return true;
  return ir::effect_of(op) == ir::Effect::unknown;
}

/// Checks that a step does every op that changes or orders memory: other ops are printed only if
/// read.
Result<void> View::check_complete() const {
  for (const ir::OpId id : ir::walk(*program_, function_)) {
    const ir::Op& op = program_->op(id);
    const auto access = ir::memory_access(op);
    const bool writes = access && access->writes && access->space == ir::AccessSpace::global;
    if ((writes || is_unknown(op)) && !is_carried_out(id)) {
      return refuse(id, writes           ? "writes to memory, but no step of the plan does it"
                        : op.is_volatile ? "is volatile, and no step of the plan does it"
                                         : "has unknown effects, and no step of the plan does it");
    }
  }
  return {};
}

Result<void> View::check_printed(const std::set<ir::OpId>& printed) const {
  for (const ir::OpId id : ir::walk(*program_, function_)) {
    const ir::Op& op = program_->op(id);
    const ir::Effect effect = ir::effect_of(op);
    const bool loads = ir::class_of(op.kind) == ir::OpClass::load;
    if (effect == ir::Effect::none || effect == ir::Effect::remark || loads) continue;
    const auto access = ir::memory_access(op);
    // The memory is a buffer of the plan.
    if (access && access->space != ir::AccessSpace::global) continue;
    if (printed.contains(id)) continue;
    auto refusal = refuse(id, "has an effect that is not printed as CUDA yet");
    refusal.value().hint = "`twill emit ttgir` prints other effects than `twill emit cuda`";
    return refusal;
  }
  return {};
}

Result<void> View::find_per_tile_ops() {
  for (const ir::OpId op : ir::walk(*program_, function_)) {
    by_place_.try_emplace({program_->op(op).line, program_->op(op).column}, op);
  }
  for (const plan::PerTileOp& per_tile_op : plan_->kernel->per_tile_ops) {
    TWILL_TRY(const ir::OpId op, op_at({per_tile_op.what, per_tile_op.line, per_tile_op.column}));
    if (per_tile_op.alone) {
      return refuse(op,
                    "is an effect on scalars between other effects, which is not printed as CUDA");
    }
    if (per_tile_op.when == plan::PerTileOp::When::end) {
      return refuse(op, "is done once behind a loop over tiles, which is not printed as CUDA");
    }
    per_tile_ops_.push_back(op);
  }
  return {};
}

Result<ir::OpId> View::op_at(const plan::Place& place) const {
  const auto found = by_place_.find({place.line, place.column});
  if (found != by_place_.end()) return found->second;
  return fail({input_}, "the plan is of another kernel: it has " + place.what);
}

const plan::PerTileOp* View::per_tile_op_of(ir::OpId op) const {
  const auto found = std::find(per_tile_ops_.begin(), per_tile_ops_.end(), op);
  if (found == per_tile_ops_.end()) return nullptr;
  return &plan_->kernel->per_tile_ops[static_cast<std::size_t>(found - per_tile_ops_.begin())];
}

const ir::Carried* View::carried_argument(ir::ValueId value) const {
  for (const ir::Carried& carried : loop_.carried) {
    if (carried.argument == value) return &carried;
  }
  return nullptr;
}

const ir::Carried* View::carried_result(ir::ValueId value) const {
  for (const ir::Carried& carried : loop_.carried) {
    if (carried.result == value) return &carried;
  }
  return nullptr;
}

ir::ValueId View::behind_views(ir::ValueId value) const {
  return ir::behind_views(*program_, value);
}

ir::ValueId View::without_ones(ir::ValueId value) const {
  const auto& shape = ir::type_of(*program_, value)->shape;
  if (shape.size() < 3) return value;
  ir::ValueId from = value;
  while (const ir::Op* op = ir::defining_op(*program_, from)) {
    if (op->kind != OpKind::relayout && op->kind != OpKind::reshape) break;
    from = op->operands[0];
    const auto& now = ir::type_of(*program_, from)->shape;
    if (now.size() == 2 && std::equal(now.begin(), now.end(), shape.end() - 2) &&
        std::all_of(shape.begin(), shape.end() - 2, [](std::int64_t n) { return n == 1; })) {
      return from;
    }
  }
  return value;
}

std::optional<View::Half> View::half_of(ir::ValueId value) const {
  const auto made = [&](ir::ValueId of, OpKind kind) -> const ir::Op* {
    const ir::Op* op = ir::defining_op(*program_, behind_views(of));
    return op != nullptr && op->kind == kind ? op : nullptr;
  };
  const ir::Op* split = made(value, OpKind::split);
  const ir::Op* trans = split != nullptr ? made(split->operands[0], OpKind::transpose) : nullptr;
  const ir::Op* reshape = trans != nullptr ? made(trans->operands[0], OpKind::reshape) : nullptr;
  if (reshape == nullptr) return std::nullopt;
  const auto& from = ir::type_of(*program_, reshape->operands[0])->shape;
  const auto& to = ir::type_of(*program_, reshape->results[0])->shape;
  const bool halves = from.size() == 2 && to.size() == 3 && to[0] == from[0] && to[1] == 2 &&
                      trans->order == std::vector<std::int64_t>{0, 2, 1};
  const bool reorders = reshape->reorders;
  if (!halves || reorders) return std::nullopt;
  const auto index = program_->value(behind_views(value)).index;
  return Half{reshape->operands[0], static_cast<int>(index)};
}

/// Gives one-dimensional tiles a direction, from the reductions and broadcasts in which they occur.
void View::orient() {
  const auto is_vector = [&](ir::ValueId value) {
    const ir::Type type = ir::type_of(*program_, value);
    return is_register_tile(type) && type->shape.size() == 1;
  };
  bool changed = true;
  const auto set = [&](ir::ValueId value, Along along) {
    if (is_vector(value)) changed = along_.try_emplace(value, along).second || changed;
  };
  const auto join = [&](const std::vector<ir::ValueId>& values) {
    for (const ir::ValueId value : values) {
      const auto known = along_.find(value);
      if (known == along_.end()) continue;
      const Along found = known->second;
      for (const ir::ValueId other : values) set(other, found);
      return;
    }
  };
  const std::vector<ir::OpId> ops = ir::walk(*program_, function_);
  while (changed) {
    changed = false;
    for (const ir::OpId id : ops) {
      const ir::Op& op = program_->op(id);
      if (const auto reduction = ir::reduction(*program_, id)) {
        for (const ir::ValueId result : op.results) {
          set(result, reduction->axis == 1 ? Along::rows : Along::columns);
        }
      } else if (op.kind == OpKind::expand_dims) {
        set(op.operands[0], op.axis == 1 ? Along::rows : Along::columns);
      } else if (op.kind != OpKind::for_loop && op.kind != OpKind::yield) {
        std::vector<ir::ValueId> alike = op.operands;
        alike.insert(alike.end(), op.results.begin(), op.results.end());
        std::erase_if(alike, [&](ir::ValueId value) {
          const ir::Op* from = ir::defining_op(*program_, value);
          return !is_vector(value) ||
                 (from && (from->kind == OpKind::range || from->kind == OpKind::splat ||
                           from->kind == OpKind::constant));
        });
        join(alike);
      }
    }
    for (const ir::Carried& carried : loop_.carried) {
      std::vector<ir::ValueId> alike = {carried.argument, carried.yielded};
      if (carried.result) alike.push_back(*carried.result);
      join(alike);
    }
  }
}

Along View::along(ir::ValueId value) const {
  const auto found = along_.find(value);
  return found == along_.end() ? Along::rows : found->second;
}

std::pair<std::int64_t, std::int64_t> View::rows_of(int part, std::int64_t all) const {
  const auto found = parts_.find(part);
  return found == parts_.end() ? std::pair<std::int64_t, std::int64_t>{0, all} : found->second;
}

Result<Shape> View::shape_of(ir::ValueId value, int part) const {
  const ir::Type type = ir::type_of(*program_, value);
  if (!is_register_tile(type)) return refuse(value, "is no tile of registers");
  if (type->shape.size() > 2) return refuse(value, "has more than two dimensions");
  // A matrix of one row or of one column is held as a vector.
  const bool matrix = type->shape.size() == 2;
  const bool columns =
      matrix ? type->shape[0] == 1 && type->shape[1] > 1 : along(value) == Along::columns;
  const auto [begin, end] = rows_of(part, type->shape[0]);
  if (!columns && end > type->shape[0])
    return refuse(value, "is cut at rows that it does not have");
  Shape shape;
  if (columns) {
    shape = {Shape::Kind::column_vector, 0, type->shape.back()};
  } else if (!matrix || type->shape[1] == 1) {
    shape = {Shape::Kind::row_vector, end - begin, 1};
  } else {
    shape = {Shape::Kind::matrix, end - begin, type->shape[1]};
  }
  if (shape.kind != Shape::Kind::column_vector && shape.rows % 64 != 0) {
    return refuse(value, "has rows that are no multiple of 64, the height of a wgmma fragment");
  }
  if (shape.kind != Shape::Kind::row_vector && shape.columns % 8 != 0) {
    return refuse(value, "has columns that are no multiple of 8");
  }
  return shape;
}

/// Ops that depend on the results of an op, by any path.
std::set<ir::OpId> View::readers_of(ir::OpId op) const {
  std::set<ir::OpId> readers;
  std::vector<ir::OpId> open = {op};
  while (!open.empty()) {
    const ir::OpId id = open.back();
    open.pop_back();
    for (const ir::ValueId result : program_->op(id).results) {
      for (const ir::Use& use : program_->value(result).uses) {
        if (readers.insert(use.op).second) open.push_back(use.op);
      }
    }
  }
  return readers;
}

bool View::is_read_in_loop(ir::OpId op) const {
  const std::set<ir::OpId> readers = readers_of(op);
  return std::any_of(readers.begin(), readers.end(), [&](ir::OpId reader) {
    return reader != loop_.op && ir::is_inside(*program_, reader, loop_.op);
  });
}

Result<void> View::check_load(ir::OpId load) const {
  const auto parent = ir::parent(*program_, load);
  const bool always = parent == function_ || parent == loop_.op || (outer_ && parent == outer_->op);
  if (!always) return refuse(load, "is in a branch");
  if (cpp_type(ir::type_of(*program_, program_->op(load).results.at(0))).empty()) {
    return refuse(load, "loads elements CUDA has no type for");
  }
  return {};
}

Result<void> View::check_fresh(ir::OpId load) const {
  const bool in_loop = ir::is_inside(*program_, load, loop_.op);
  const std::set<ir::OpId> readers = readers_of(load);
  for (const ir::OpId write : ir::walk(*program_, function_)) {
    const auto access = ir::memory_access(program_->op(write));
    if (!access || !access->writes || access->space != ir::AccessSpace::global) continue;
    const ir::ValueId address = ir::memory_access(program_->op(load))->address;
    if (!ir::may_meet(*program_, address, access->address)) continue;
    const bool written_in_loop = ir::is_inside(*program_, write, loop_.op);
    const bool between =
        load < write && !readers.empty() && (in_loop ? written_in_loop : write < *readers.rbegin());
    if (between) {
      return refuse(load, "may read data that " + words(write) +
                              " wrote before, through the same argument or one that is not "
                              "known; load before the store");
    }
  }
  return {};
}

std::string View::assumed_apart() const {
  std::set<ir::ValueId> arrays;
  for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
    const auto access = ir::memory_access(program_->op(per_tile_ops_[i]));
    const bool loads = program_->op(per_tile_ops_[i]).kind == OpKind::load;
    const auto array = loads ? ir::array_of(*program_, access->address) : std::nullopt;
    const std::set<ir::OpId> readers = readers_of(per_tile_ops_[i]);
    for (std::size_t j = i + 1; array && !readers.empty() && j < per_tile_ops_.size(); ++j) {
      const auto write = ir::memory_access(program_->op(per_tile_ops_[j]));
      const bool between = write && write->writes && per_tile_ops_[j] < *readers.rbegin();
      const auto other = between ? ir::array_of(*program_, write->address) : std::nullopt;
      if (other && other != array) arrays.insert({*array, *other});
    }
  }
  return arrays.empty() ? "" : extract::apart_in_words(*program_, arrays);
}

std::string View::words(ir::OpId op) const { return ir::op_words(*program_, op); }

tl::unexpected<Diagnostic> View::refuse(ir::OpId op, const std::string& why) const {
  return fail(ir::text_location(*program_, op),
              "cannot be printed as CUDA: " + program_->op(op).name + " " + why +
                  ir::source_words(*program_, op));
}

tl::unexpected<Diagnostic> View::refuse(ir::ValueId value, const std::string& why) const {
  const auto& known = program_->value(value);
  if (known.op) return refuse(*known.op, why);
  return fail(ir::text_location(*program_, loop_.op), "cannot be printed as CUDA: the value %" +
                                                          known.name + " " + why +
                                                          ir::source_words(*program_, loop_.op));
}

}  // namespace twill::emit::cuda
