#include <algorithm>

#include <fmt/format.h>

#include "twill/device/sketch.h"
#include "twill/extract/copied.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

/// Operations of the Program for which the plan's ops and its per-tile ops stand.
namespace twill::device {

using ir::OpClass;
using ir::OpKind;

namespace {

/// Whether all readers of a value are one product, perhaps behind changes of layout.
bool is_only_read_by(const ir::Program& program, ir::ValueId value, ir::OpId product) {
  const auto& uses = program.value(value).uses;
  return std::all_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
    const ir::Op& user = program.op(use.op);
    return use.op == product || (user.kind == OpKind::relayout &&
                                 is_only_read_by(program, user.results.front(), product));
  });
}

}  // namespace

bool is_region(const ir::Op& op) {
  return !op.regions.empty() && op.kind != OpKind::reduce && op.kind != OpKind::scan;
}

bool is_tile(ir::Type type) { return ir::is_tensor(type) && !type->shape.empty(); }

bool is_elementwise(const ir::Op& op) {
  const OpClass of = ir::class_of(op.kind);
  return of == OpClass::elementwise || op.kind == OpKind::load || op.kind == OpKind::scan ||
         op.kind == OpKind::library_call;
}

std::string Sketch::words(ir::OpId id) const {
  const ir::Op& op = program_->op(id);
  return fmt::format("{} @ {}:{}", op.name, op.line, op.column);
}

tl::unexpected<Diagnostic> Sketch::refuse(ir::OpId id, const std::string& why,
                                          const std::string& hint) const {
  std::string message = program_->op(id).name + " " + why;
  const Location place = ir::text_location(*program_, id);
  if (const auto source = ir::source_location(*program_, id); source && *source != place) {
    message += fmt::format(" ({}:{} of the source)", source->file, source->line);
  }
  return fail(place, message, hint);
}

Where Sketch::where(ir::OpId op) const {
  if (op <= loop_.op) return Where::before;
  return op <= last_of_loop_ ? Where::loop : Where::after;
}

std::optional<ir::OpId> Sketch::definition(ir::ValueId value) const {
  return program_->value(value).op;
}

const ir::Carried* Sketch::carried_argument(ir::ValueId value) const {
  for (const ir::Carried& carried : loop_.carried) {
    if (carried.argument == value) return &carried;
  }
  return nullptr;
}

const ir::Carried* Sketch::carried_result(ir::ValueId value) const {
  for (const ir::Carried& carried : loop_.carried) {
    if (carried.result == value) return &carried;
  }
  return nullptr;
}

const ir::Carried* Sketch::carried_around(ir::ValueId value) const {
  for (const ir::Loop& outer : around_) {
    for (const ir::Carried& carried : outer.carried) {
      if (carried.argument == value || carried.result == value) return &carried;
    }
  }
  return nullptr;
}

ir::ValueId Sketch::behind_relayouts(ir::ValueId value) const {
  while (true) {
    const ir::Op* op = ir::defining_op(*program_, value);
    if (op == nullptr || op->kind != OpKind::relayout) return value;
    value = op->operands.front();
  }
}

std::optional<OpId> Sketch::copy_of(ir::ValueId value) const {
  const auto found = copied_.find(value);
  return found == copied_.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<OpId>& Sketch::makers_of(ir::ValueId value) const {
  static const std::vector<OpId> kNone;
  const auto found = made_.find(value);
  return found == made_.end() ? kNone : found->second;
}

Result<ir::OpId> Sketch::load_of(OpId copy) const {
  for (const auto& [value, op] : copied_) {
    if (op == copy) return *definition(value);
  }
  return refuse(loop_.op, "has a copy into shared memory that no operation stands for: " +
                              plan_->problem[copy].name);
}

/// The last value of an op's operations that another operation reads.
std::optional<ir::ValueId> Sketch::last_read(OpId op) const {
  const auto& sources = origin(op).sources;
  const auto is_own = [&](ir::OpId user) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const extract::Source& source) { return source.op == user; });
  };
  std::optional<ir::ValueId> last;
  for (const extract::Source& source : sources) {
    if (source.absorbed) continue;  // each reader computes addresses for itself
    for (const ir::ValueId result : program_->op(source.op).results) {
      const auto& uses = program_->value(result).uses;
      const bool read = std::any_of(uses.begin(), uses.end(),
                                    [&](const ir::Use& use) { return !is_own(use.op); });
      const bool later = !last || *definition(*last) < source.op;
      if (read && later && is_tile(ir::type_of(*program_, result))) last = result;
    }
  }
  return last ? std::optional(behind_relayouts(*last)) : std::nullopt;
}

std::vector<std::pair<OpId, plan::BufferId>> Sketch::places_of(ir::ValueId value) const {
  std::vector<std::pair<OpId, plan::BufferId>> places;
  const auto add = [&](OpId op, std::optional<plan::BufferId> buffer) {
    if (buffer) places.emplace_back(op, *buffer);
  };
  const auto home = [&](OpId op) { return plan_->values[op.index()].home; };
  if (const auto copy = copy_of(value)) add(*copy, home(*copy));
  for (const OpId maker : makers_of(value)) {
    const bool moves = deed(maker).moves == value;
    const bool is_buffer = ir::type_of(*program_, value)->kind == ir::TypeKind::memdesc;
    if (moves || is_buffer) add(maker, home(maker));
    if (!moves && deed(maker).value == value) add(maker, plan_->values[maker.index()].staged);
  }
  return places;
}

bool Sketch::is_in_shared(OpId op) const {
  const auto home = plan_->values[op.index()].home;
  return home && (*plan_)[*home].residence == plan::Residence::shared;
}

/// The operation of the function at a place in the plan.
Result<ir::OpId> Sketch::at_place(const plan::Place& place) const {
  const auto found = by_place_.find({place.line, place.column});
  if (found != by_place_.end()) return found->second;
  return fail({program_->file()}, "the plan is of another kernel: it has " + place.what);
}

Result<void> Sketch::find_per_tile_ops() {
  for (const ir::OpId op : ir::walk(*program_, function_)) {
    by_place_.try_emplace({program_->op(op).line, program_->op(op).column}, op);
  }
  for (const plan::PerTileOp& it : plan_->kernel->per_tile_ops) {
    TWILL_TRY(per_tile_ops_.emplace_back(), at_place({it.what, it.line, it.column}));
  }
  return {};
}

void Sketch::find_sources() {
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const OpId op(i);
    const bool copies = plan::is_copy(plan_->mechanisms[i]);
    part_count_ = std::max(part_count_, origins_[i].part + 1);
    if (origins_[i].forwards) continue;
    if (copies) {
      const auto loaded = extract::loaded_by(*program_, origins_[i]);
      if (loaded) copied_.emplace(*loaded, op);
      continue;
    }
    for (const extract::Source& source : origins_[i].sources) {
      for (const ir::ValueId result : program_->op(source.op).results) {
        if (depends(result) && !source.absorbed) made_[result].push_back(op);
      }
    }
  }
  find_forwarded();
}

/// Finds operands in registers of a single product that reach it through shared memory: other
/// groups have the rows, or the rows have another order.
void Sketch::find_forwarded() {
  deeds_.resize(origins_.size());
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const bool moves = origins_[i].forwards && is_in_shared(OpId(i)) &&
                       plan_->mechanisms[i] == plan::Mechanism::threads;
    const ir::OpId product = origins_[i].sources.front().op;
    const auto operands = ir::mma_operands(program_->op(product));
    if (!moves || !operands || !is_tile(ir::type_of(*program_, operands->a))) continue;
    const ir::ValueId value = behind_relayouts(operands->a);
    const bool known = made_.contains(value) || copied_.contains(value);
    if (!known && definition(value) && is_only_read_by(*program_, value, product)) {
      deeds_[i].moves = value;
    }
  }
  for (std::size_t i = 0; i < deeds_.size(); ++i) {
    if (deeds_[i].moves) made_[*deeds_[i].moves].emplace_back(i);
  }
}

/// Finds the tiles that ops make for others or move, once their makers are known.
void Sketch::find_deeds() {
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const OpId op(i);
    const extract::OpOrigin& from = origin(op);
    const plan::Mechanism how = plan_->mechanisms[i];
    const bool shared = is_in_shared(op);
    Deed& deed = deeds_[i];
    deed.value = last_read(op);
    for (const extract::Source& source : from.sources) {
      const ir::Op& made = program_->op(source.op);
      const bool puts = made.kind == OpKind::shared_alloc && !made.operands.empty();
      if (puts && !plan::is_copy(how) && !deed.puts) deed.puts = source.op;
    }
    if (how != plan::Mechanism::threads) continue;
    if (!from.forwards) {
      if (shared && !deed.puts) deed.moves = deed.value;
      continue;
    }
    const ir::Op& reader = program_->op(from.sources.front().op);
    const auto access = ir::memory_access(reader);
    const bool stores = access && access->by_descriptor && access->writes && access->source;
    if (shared && stores) deed.boxes = from.sources.front().op;
    if (shared || reader.results.empty()) continue;
    const ir::ValueId value = behind_relayouts(reader.results.front());
    const bool is_known = !makers_of(value).empty() || copy_of(value);
    if (is_known && is_tile(ir::type_of(*program_, value))) deed.receives = value;
  }
}

/// Finds tiles of indices, addresses and conditions that a few ops compute from loaded rows.
void Sketch::find_light() {
  constexpr int kMostOps = 16;
  std::map<ir::ValueId, int> ops;  // of light values, each counted as often as it is read
  for (const ir::OpId id : ir::walk(*program_, function_)) {
    const ir::Op& op = program_->op(id);
    if (op.results.size() != 1 || !depends(op.results.front())) continue;
    const ir::Type type = ir::type_of(*program_, op.results.front());
    if (!is_tile(type) || type->element->kind == ir::TypeKind::floating) continue;
    int count = 1;
    if (op.kind != OpKind::load || type->shape.size() != 1) {
      const bool views = op.kind == OpKind::broadcast || op.kind == OpKind::expand_dims ||
                         op.kind == OpKind::relayout;
      if (!views && ir::class_of(op.kind) != OpClass::elementwise) continue;
      for (const ir::ValueId operand : op.operands) {
        const auto found = ops.find(operand);
        if (found != ops.end()) count += found->second;
        if (found == ops.end() && depends(operand)) count = kMostOps + 1;
      }
    }
    if (count <= kMostOps) ops.emplace(op.results.front(), count);
  }
  for (const auto& [value, count] : ops) light_.insert(value);
}

Result<Sketch> Sketch::of(const Parts& parts) {
  Sketch sketch;
  sketch.program_ = &parts.program;
  sketch.plan_ = &parts.plan.plan();
  sketch.origins_ = parts.origins;
  sketch.table_ = std::make_shared<ir::ProgramBuilder>(parts.program);
  const auto loop = ir::as_loop(parts.program, parts.loop);
  if (!loop || !loop->induction) return sketch.refuse(parts.loop, "is no counting loop");
  sketch.loop_ = *loop;
  sketch.last_of_loop_ = ir::walk(parts.program, parts.loop).back();
  if (!sketch.plan_->kernel) {
    return sketch.refuse(parts.loop, "has a plan without a kernel");
  }
  const auto function = ir::enclosing(parts.program, parts.loop, OpKind::function);
  if (!function) return sketch.refuse(parts.loop, "is in no function");
  sketch.function_ = *function;
  TWILL_TRY_VOID(sketch.find_around());
  TWILL_TRY_VOID(sketch.find_per_tile_ops());
  sketch.dependent_ = ir::computed_of_tiles(parts.program, *function);
  sketch.find_light();
  sketch.find_sources();
  TWILL_TRY_VOID(sketch.find_units());
  sketch.find_deeds();
  TWILL_TRY_VOID(sketch.find_beside());
  sketch.find_layouts();
  TWILL_TRY_VOID(sketch.find_cuts());
  sketch.find_made_by_part();
  TWILL_TRY_VOID(sketch.find_exits());
  TWILL_TRY_VOID(sketch.find_effects());
  return sketch;
}

}  // namespace twill::device
