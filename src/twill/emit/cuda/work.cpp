#include <algorithm>

#include <fmt/format.h>

#include "twill/emit/cuda/products.h"
#include "twill/emit/cuda/role.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"

namespace twill::emit::cuda {

using plan::Step;

std::string RolePrinter::address(plan::BufferId buffer, const std::string& slot) const {
  const plan::Buffer& it = plan_[buffer];
  if (it.depth == 1 || slot.empty()) return fmt::format("smem + {}", it.offset);
  return fmt::format("smem + {} + {} * {}", it.offset, slot, it.size);
}

std::string RolePrinter::slot_of(plan::BufferId buffer, const plan::Instance& instance) {
  const plan::Buffer& it = plan_[buffer];
  if (it.invariant_buffer || it.depth == 1) return "";
  return position(instance, it.depth) + ".slot";
}

namespace {

/// Whether a thread holds the tile in registers of 32 bits, the form of transfers.
bool is_staged_in_words(ir::Type tile, const Shape& shape) {
  return ir::element_bits(tile) == 32 || (is_packed(tile) && shape.kind == Shape::Kind::matrix);
}

}  // namespace

/// The op of another role that stages `value` for the step, `distance` iterations earlier. The
/// plan's dependences have all transfers, and only values that the op keeps are staged.
std::optional<OpId> RolePrinter::staged_by(const Step& step, int part, ir::ValueId value,
                                           int distance) const {
  if (!step.op) return std::nullopt;
  for (const problem::Dependence& d : plan_.problem.dependences()) {
    if (d.to != *step.op || !d.carries_value || d.distance != distance) continue;
    const int its = view_.origin(d.from).part;
    if (!plan_.values[d.from.index()].staged || (its >= 0 && its != part)) continue;
    const std::vector<ir::ValueId> kept = kept_results(view_, d.from);
    if (std::find(kept.begin(), kept.end(), value) != kept.end()) return d.from;
  }
  return std::nullopt;
}

/// Copies a value that another role staged into an array of its own, once per step. Before the
/// first iteration, this is the initial value of the loop.
std::optional<Found> RolePrinter::import_staged(const Step& step, int part, Text& prelude,
                                                ir::ValueId value, const ir::Carried* carried) {
  const int distance = carried == nullptr ? 0 : 1;
  const std::optional<OpId> from = staged_by(step, part, value, distance);
  if (!from) return std::nullopt;
  const plan::Value& its = plan_.values[from->index()];
  const auto shape = view_.shape_of(value, part);
  const ir::Type type = ir::type_of(view_.program(), value);
  const bool words = shape && is_staged_in_words(type, *shape);
  if (!words || (its.format != plan::StagingFormat::fragment &&
                 its.format != plan::StagingFormat::row_vector)) {
    refuse_once(
        view_.refuse(value, "is read by another role, in a form that is not printed").value());
    return std::nullopt;
  }
  const std::string name = "from_" + identifier(plan_[*its.staged].name);
  const Variable variable{distance == 0 ? name : name + "_before",
                          *shape,
                          cpp_type(type),
                          is_packed(type) && shape->kind == Shape::Kind::matrix,
                          1,
                          from};
  const auto [known, fresh] = imported_.try_emplace(variable.name, variable);
  const Found found{&known->second, variable.name};
  if (!fresh) return found;
  plan::Instance instance = step.instance;
  instance.offset -= distance;
  // Lower bound of the iteration's number.
  const int begins = instance.from == plan::Instance::From::first ? 0 : role_.sections.spread;
  const bool always = begins + instance.offset >= 0;
  const bool never = instance.from == plan::Instance::From::first && !always;
  prelude.line(fmt::format("{} {}[{}];", variable.packed ? "uint32_t" : variable.type,
                           variable.name, array_length(variable)));
  if (!always && !never) prelude.open(fmt::format("if ({} >= 0)", iteration(instance)));
  if (!never) {
    prelude.line(fmt::format("twill::read_staged({}, {});",
                             address(*its.staged, slot_of(*its.staged, instance)), variable.name));
  }
  if (always) return found;
  if (!never) prelude.otherwise("else");
  Tiles tiles(view_, scalars_, part, "", [](ir::ValueId) { return std::optional<Found>(); });
  const auto printed = tiles.assign(prelude, {{&known->second, carried->init}});
  if (!printed) refuse_once(printed.error());
  if (!never) prelude.close();
  return found;
}

/// Reads a tile that TMA loaded into registers.
std::optional<Found> RolePrinter::import_shared(const Step& step, int part, Text& prelude,
                                                ir::ValueId value) {
  const ir::Op* from = ir::defining_op(view_.program(), value);
  if (from == nullptr || from->kind != ir::OpKind::block_load) return std::nullopt;
  const auto tile = shared_tile(view_, value);
  const auto shape = view_.shape_of(value, part);
  if (!tile || !shape || shape->kind != Shape::Kind::matrix || tile->swizzle != 128 ||
      tile->transposed || shape->columns % 16 != 0) {
    const std::string how =
        tile && tile->swizzle != 128
            ? fmt::format("from rows that are swizzled within {} bytes: only 128 are printed",
                          tile->swizzle)
            : std::string("in a form that is not printed");
    refuse_once(tile ? view_.refuse(value, "is read into registers " + how).value() : tile.error());
    return std::nullopt;
  }
  Variable variable{
      "from_" + identifier(plan_[tile->buffer].name), *shape, tile->type, true, 1, {}};
  const auto [known, fresh] = imported_.try_emplace(variable.name, variable);
  if (fresh) {
    prelude.line(fmt::format("uint32_t {}[{}];", variable.name, array_length(variable)));
    const std::int64_t first = view_.rows_of(part, tile->rows).first;
    for (std::int64_t block = 0; block < shape->rows / 64; ++block) {
      prelude.line(fmt::format("twill::load_fragment<{}, {}>({}, {}, {}, {});", shape->columns,
                               block * shape->columns / 4, variable.name,
                               address(tile->buffer, slot_of(tile->buffer, step.instance)),
                               first + block * 64, panel_bytes(*tile)));
    }
  }
  return Found{&known->second, variable.name};
}

/// Computes a reduction of a prologue or epilogue op into an array of its own, before its reader.
std::optional<Found> RolePrinter::import_reduction(const Step& step, int part, const Point& point,
                                                   Text& prelude, ir::ValueId value) {
  const ir::Op* from = ir::defining_op(view_.program(), value);
  if (!step.per_tile_op || from == nullptr || from->kind != ir::OpKind::reduce) return std::nullopt;
  const ir::OpId reduction = *view_.program().value(value).op;
  const auto shape = view_.shape_of(value, part);
  if (!shape) {
    refuse_once(shape.error());
    return std::nullopt;
  }
  Variable variable{"v" + identifier(view_.program().value(value).name) + "_of_rows",
                    *shape,
                    cpp_type(ir::type_of(view_.program(), value)),
                    false,
                    1,
                    {}};
  const auto [known, fresh] = imported_.try_emplace(variable.name, variable);
  if (fresh) {
    Text body(prelude.depth() + 1);
    const auto printed =
        tiles(step, part, point, prelude, {}).reduce(body, known->second, reduction, false);
    if (!printed) refuse_once(printed.error());
    prelude.line(fmt::format("{} {}[{}];", variable.type, variable.name, array_length(variable)));
    prelude.open("");
    prelude.append(body);
    prelude.close();
  }
  return Found{&known->second, variable.name};
}

/// The registers that hold `value` for the step. Results of the step's own op in its iteration are
/// in that op's registers or in none. Another op of the role may compute the same value again.
const Variable* RolePrinter::held(const Step& step, int part, ir::ValueId value,
                                  int distance) const {
  const auto from = view_.program().value(value).op;
  if (step.kind == plan::StepKind::compute && step.op && distance == 0 && from) {
    const auto& sources = view_.origin(*step.op).sources;
    const bool own = std::any_of(sources.begin(), sources.end(),
                                 [&](const extract::Source& it) { return it.op == *from; });
    for (const Registers::Made& made : registers_.made_by(*step.op)) {
      if (made.value == value) return made.variable;
    }
    if (own) return nullptr;
  }
  return registers_.find(value, part);
}

std::optional<Found> RolePrinter::find(const Step& step, int part, const Point& point,
                                       Text& prelude, const std::vector<ir::ValueId>& computing,
                                       ir::ValueId value) {
  ir::ValueId base = value;
  const ir::Carried* carried = view_.carried_argument(value);
  const int distance = carried == nullptr ? 0 : 1;
  if (carried != nullptr) {
    base = view_.behind_views(carried->yielded);
  } else if (const ir::Carried* result = view_.carried_result(value)) {
    base = view_.behind_views(result->yielded);
  } else if (std::find(computing.begin(), computing.end(), value) != computing.end()) {
    base = value;
    const ir::Op* from = ir::defining_op(view_.program(), value);
    if (from != nullptr && from->kind == ir::OpKind::block_load) {
      return import_shared(step, part, prelude, value);
    }
    return std::nullopt;
  }
  const Variable* variable = held(step, part, base, distance);
  if (variable == nullptr) {
    const auto loaded = loaded_.find({base, part});
    if (loaded != loaded_.end()) return Found{&loaded->second, loaded->second.name};
    const ir::Op* from = ir::defining_op(view_.program(), base);
    if (from != nullptr && from->kind == ir::OpKind::load) {
      const auto fresh = view_.check_fresh(*view_.program().value(base).op);
      if (!fresh) refuse_once(fresh.error());
    }
    if (const auto staged = import_staged(step, part, prelude, base, carried)) {
      return staged;
    };
    const auto reduced = import_reduction(step, part, point, prelude, base);
    if (reduced) return reduced;
    return import_shared(step, part, prelude, base);
  }
  int back = 0;
  const auto latest = point.latest.find(variable->name);
  if (variable->depth > 1 && step.op && latest != point.latest.end()) {
    back = latest->second - (step.instance.offset - distance);
  }
  if (back < 0 || back >= variable->depth) {
    refuse_once(view_.refuse(value, "is needed when its registers hold another iteration").value());
    back = 0;
  }
  return Found{variable, copy_name(*variable, back)};
}

Tiles RolePrinter::tiles(const Step& step, int part, const Point& point, Text& prelude,
                         const std::vector<ir::ValueId>& computing) {
  return {view_, scalars_, part, step.op ? iteration(step.instance) : "",
          [this, &step, part, &point, &prelude, computing](ir::ValueId value) {
            return find(step, part, point, prelude, computing, value);
          }};
}

/// Whether an op keeps the result of an earlier iteration, as a copy in registers.
bool keeps_earlier(const plan::Plan& plan, OpId op) {
  const auto dependences = plan.problem.dependences();
  return std::any_of(dependences.begin(), dependences.end(), [&](const auto& it) {
    return it.to == op && it.carries_value && it.distance > 0;
  });
}

Result<void> RolePrinter::compute(Text& text, const Step& step, Point& point) {
  const extract::OpOrigin& origin = view_.origin(*step.op);
  const auto home = plan_.values[step.op->index()].home;
  const bool is_shared = home && plan_[*home].residence == plan::Residence::shared;
  if (origin.forwards && !is_shared && keeps_earlier(plan_, *step.op)) {
    return view_.refuse(origin.sources.front().op,
                        "adds to a sum of which a copy is kept in registers (" +
                            plan_.problem[*step.op].name + "), which is not printed as CUDA");
  }
  if (origin.forwards && is_shared) {
    return view_.refuse(origin.sources.front().op,
                        "goes from registers to shared memory as an op of the problem (" +
                            plan_.problem[*step.op].name + "), which is not printed");
  }
  const std::vector<Registers::Made> made = registers_.made_by(*step.op);
  for (const Registers::Made& it : made) {
    // Copies are shifted, so the product's operand would move while the product reads it.
    const bool is_read =
        std::any_of(point.in_flight.begin(), point.in_flight.end(),
                    [&](const Product& product) { return product.operand == it.variable; });
    if (is_read && it.variable->depth > 1) {
      return view_.refuse(origin.sources.front().op,
                          "is computed in several copies while a product reads one of them");
    }
  }
  const int part = origin.part;
  text.open("");
  text.line("// " + comment(step));
  imported_.clear();
  for (std::size_t i = 0; i < made.size();) {
    const auto from = *view_.program().value(made[i].value).op;
    Text prelude(text.depth()), body(text.depth());
    if (view_.program().op(from).kind == ir::OpKind::reduce) {
      TWILL_TRY_VOID(
          tiles(step, part, point, prelude, {made[i].value})
              .reduce(body, *made[i].variable, from, sums_.leaves_parts(*step.op, from)));
      point.latest[made[i].variable->name] = step.instance.offset;
      ++i;
    } else {
      // Results of one shape are computed in one loop, all of them before any is overwritten.
      std::size_t end = i + 1;
      while (end < made.size() && made[end].variable->shape == made[i].variable->shape &&
             made[end].variable->packed == made[i].variable->packed &&
             view_.program().op(*view_.program().value(made[end].value).op).kind !=
                 ir::OpKind::reduce) {
        ++end;
      }
      std::vector<ir::ValueId> computing;
      std::vector<Tiles::Assignment> assignments;
      for (; i < end; ++i) {
        computing.push_back(made[i].value);
        assignments.push_back({made[i].variable, made[i].value});
      }
      TWILL_TRY_VOID(tiles(step, part, point, prelude, computing).assign(body, assignments));
      for (const Tiles::Assignment& assignment : assignments) {
        point.latest[assignment.array->name] = step.instance.offset;
      }
    }
    text.append(prelude);
    text.append(body);
  }
  for (const extract::Source& source : origin.sources) {
    if (ir::effect_of(view_.program().op(source.op)) == ir::Effect::none) continue;
    TWILL_TRY_VOID(store_in_loop(text, step, point, source.op));
  }
  text.close();
  return {};
}

/// Prints the stores to global memory of an op in the loop, for the rows of its part.
Result<void> RolePrinter::store_in_loop(Text& text, const Step& step, const Point& point,
                                        ir::OpId id) {
  const ir::Op& op = view_.program().op(id);
  if (op.kind != ir::OpKind::store && op.kind != ir::OpKind::atomic_update) return {};
  const auto access = *ir::memory_access(op);
  if (!is_register_tile(ir::type_of(view_.program(), *access.source))) return {};
  Text prelude(text.depth()), body(text.depth());
  TWILL_TRY_VOID(tiles(step, view_.origin(*step.op).part, point, prelude, {}).store(body, id));
  printed_.insert(id);
  text.append(prelude);
  text.append(body);
  return {};
}

Result<void> RolePrinter::issue_product(Text& text, const Step& step, Point& point) {
  const extract::OpOrigin& origin = view_.origin(*step.op);
  std::optional<ir::OpId> product;
  for (const extract::Source& source : origin.sources) {
    if (ir::mma_operands(view_.program().op(source.op))) product = source.op;
  }
  if (!product) return view_.refuse(origin.sources.front().op, "is issued, but is no product");
  const ir::MmaOperands operands = *ir::mma_operands(view_.program().op(*product));
  ProductPlaces places;
  places.result = registers_.find(*operands.result, origin.part);
  if (places.result == nullptr) return view_.refuse(*product, "has a result without a reader");
  if (places.result->depth > 1) {
    return view_.refuse(*product, "needs its result in several copies at once");
  }
  const auto zero = ir::constant_number(view_.program(), operands.accumulator);
  Text prelude(text.depth());
  if (!(zero && *zero == 0)) {
    const auto old = find(step, origin.part, point, prelude, {}, operands.accumulator);
    if (!old || old->variable != places.result) {
      const bool at_times = ir::parent(view_.program(), *product) != std::optional(view_.loop().op);
      return view_.refuse(
          *product, at_times ? "adds to a tile in some iterations only: as CUDA, a sum that is "
                               "carried past a branch lies in other registers"
                             : "adds to a tile that lies in other registers than its result");
    }
    places.accumulates = true;
  }
  if (is_register_tile(ir::type_of(view_.program(), operands.a))) {
    const ir::ValueId a = view_.behind_views(operands.a);
    const auto found = find(step, origin.part, point, prelude, {}, a);
    if (!found || !found->variable->packed) {
      return view_.refuse(*product, "has an operand in registers that is no 16-bit fragment");
    }
    places.a_registers = found->variable;
    places.a_array = found->name;
  } else {
    TWILL_TRY(const SharedTile a, shared_tile(view_, operands.a));
    places.a_address = address(a.buffer, slot_of(a.buffer, step.instance));
  }
  TWILL_TRY(const SharedTile b, shared_tile(view_, operands.b));
  places.b_address = address(b.buffer, slot_of(b.buffer, step.instance));
  if (wrong_) return tl::unexpected(*wrong_);
  text.open("");
  text.line("// " + comment(step));
  text.append(prelude);
  TWILL_TRY_VOID(print_product(text, view_, *product, origin.part, places));
  text.close();
  point.in_flight.push_back({places.result, places.a_registers});
  return {};
}

Result<void> RolePrinter::load_box(Text& text, ir::OpId load, plan::BufferId buffer,
                                   const std::string& slot, const std::string& full,
                                   const std::string& at, bool multicast) {
  const auto access = *ir::memory_access(view_.program().op(load));
  const ir::Type block = ir::type_of(view_.program(), access.address)->element;
  const ir::Type descriptor = ir::type_of(view_.program(), access.address);
  const auto swizzle = swizzle_of(descriptor);
  if (!swizzle) return view_.refuse(load, why_no_swizzle(descriptor));
  const std::int64_t columns = block->shape.back(), panel = *swizzle / 2;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < block->shape.size(); ++i) rows *= block->shape[i];
  if (block->shape.size() > 2 && rows != block->shape[block->shape.size() - 2]) {
    return view_.refuse(load, "loads blocks of several matrices");
  }
  // Each CTA of the cluster loads its rows of a tile that all of them use.
  const std::int64_t share = multicast ? rows / plan_.kernel->cluster : rows;
  if (multicast && rows % (8 * plan_.kernel->cluster) != 0) {
    return view_.refuse(load, "loads blocks whose rows the CTAs of a cluster cannot share");
  }
  asks_rank_ = asks_rank_ || multicast;
  TWILL_TRY(const std::string map, maps_.name(view_, access.address, share, MapUse::loads));
  std::string outer;
  for (std::size_t i = access.coordinates.size(); i-- > 0;) {
    TWILL_TRY(const std::string coordinate, scalars_(access.coordinates[i], at));
    if (i + 1 == access.coordinates.size()) {
      outer += "{}";
      text.line(fmt::format("const int column = {};", coordinate));
    } else {
      const bool row = multicast && i + 2 == access.coordinates.size();
      outer += ", " + coordinate + (row ? fmt::format(" + rank * {}", share) : "");
    }
  }
  for (std::int64_t done = 0; done < columns; done += panel) {
    const std::string column = done == 0 ? "column" : fmt::format("column + {}", done);
    std::string to = address(buffer, slot);
    if (done > 0) to += fmt::format(" + {}", done / panel * rows * *swizzle);
    if (multicast) to += fmt::format(" + rank * {}", share * *swizzle);
    text.line(fmt::format(
        "twill::tma_load{}({}, &args.{}, {}{}, {});", multicast ? "_multicast" : "", to, map, full,
        multicast ? ", (1 << kCluster) - 1" : "", fmt::format(fmt::runtime(outer), column)));
  }
  return {};
}

Result<void> RolePrinter::issue_load(Text& text, const Step& step) {
  ir::OpId load{};
  plan::BufferId buffer{};
  const bool multicast =
      step.op && plan_.mechanisms[step.op->index()] == plan::Mechanism::tma_multicast;
  if (step.per_tile_op) {
    load = view_.op_of_per_tile(*step.per_tile_op);
    const ir::Op& op = view_.program().op(load);
    if (!op.regions.empty()) return view_.refuse(load, why_not_around(op.kind));
    buffer = plan_.kernel->per_tile_ops[*step.per_tile_op].buffers.at(0);
  } else {
    load = view_.origin(*step.op).sources.front().op;
    for (const extract::Source& source : view_.origin(*step.op).sources) {
      if (view_.program().op(source.op).kind == ir::OpKind::block_load) load = source.op;
    }
    buffer = *plan_.values[step.op->index()].home;
  }
  if (view_.program().op(load).kind != ir::OpKind::block_load) {
    return view_.refuse(load, "is issued as a TMA load, and is no descriptor load");
  }
  text.open(alone() ? "" : "if (leader)");
  text.line("// " + comment(step));
  TWILL_TRY_VOID(load_box(text, load, buffer, slot_of(buffer, step.instance), barrier(step, true),
                          step.per_tile_op ? "" : iteration(step.instance), multicast));
  text.close();
  return {};
}

Result<void> RolePrinter::stage_value(Text& text, const Step& step, const Point& point) {
  const plan::Value& its = plan_.values[step.op->index()];
  const std::vector<Registers::Made> made = registers_.made_by(*step.op);
  const bool words =
      made.size() == 1 && is_staged_in_words(ir::type_of(view_.program(), made.front().value),
                                             made.front().variable->shape);
  if (!words || (its.format != plan::StagingFormat::fragment &&
                 its.format != plan::StagingFormat::row_vector)) {
    return view_.refuse(view_.origin(*step.op).sources.front().op,
                        "is read by another role, in a form that is not printed");
  }
  Text prelude(text.depth());
  const auto found =
      find(step, view_.origin(*step.op).part, point, prelude, {}, made.front().value);
  text.line(fmt::format("twill::stage({}, {});",
                        address(*its.staged, slot_of(*its.staged, step.instance)), found->name));
  return {};
}

}  // namespace twill::emit::cuda
