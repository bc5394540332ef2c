#include "twill/execute/interpreter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "twill/execute/addresses.h"
#include "twill/execute/elementwise.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/rounding.h"
#include "twill/execute/trips.h"
#include "twill/execute/types.h"
#include "twill/ir/operands.h"

namespace twill::execute {
namespace {

using ir::OpKind;

constexpr std::int64_t kMostTrips = 100'000;
constexpr int kFarApart = 20;  ///< rows of a tensor without end lie 2^20 elements apart
constexpr std::size_t kMostDimensions = 5;  ///< most dimensions of a descriptor, as in hardware

bool works_in_tile_memory(OpKind kind) {
  switch (kind) {
    case OpKind::shared_alloc:
    case OpKind::shared_load:
    case OpKind::shared_store:
    case OpKind::buffer_transpose:
    case OpKind::buffer_index:
    case OpKind::buffer_slice:
    case OpKind::buffer_reshape:
    case OpKind::buffer_cast:
    case OpKind::tensor_alloc:
    case OpKind::tensor_load:
    case OpKind::tensor_store:
    case OpKind::tensor_slice:
    case OpKind::tcgen05:
    case OpKind::tcgen05_scaled:
    case OpKind::tensor_copy:
      return true;
    default:
      return false;
  }
}

bool changes_nothing(OpKind kind) {
  const ir::OpClass of = ir::class_of(kind);
  return of == ir::OpClass::synchronization || of == ir::OpClass::remark;
}

TilePtr scalar(ir::Type type, double value) {
  if (type->kind == ir::TypeKind::floating) {
    return std::make_shared<const Tile>(
        Tile{{}, Numbers{round_to(format_of(type).value_or(Format{}), value)}});
  }
  return std::make_shared<const Tile>(
      Tile{{}, Integers{wrapped(static_cast<std::int64_t>(value), type->bits)}});
}

/// Makes the arguments of one function.
class Arguments {
 public:
  Arguments(const ir::Program& program, ir::OpId function, const Launch& launch, Memory& memory)
      : program_(program), function_(function), launch_(launch), memory_(memory) {}

  Result<Value> of(std::size_t number) {
    const ir::ValueId value = ir::function_arguments(program_, function_)[number];
    const ir::Type type = ir::type_of(program_, value);
    const std::string& name = program_.value(value).name;
    const auto unknown = [&] {
      return cannot(program_, function_, "has the argument %" + name + " of type " + type->text);
    };
    if (type->kind == ir::TypeKind::pointer) {
      const ir::Type element = scalar_of(type->element);
      TWILL_TRY(Values values, values_of(name, element));
      const auto array = memory_.add_array(name, element, std::move(values));
      if (!array) return unknown();
      return std::make_shared<const Tile>(Tile{{}, Integers{packed({*array, 0})}});
    }
    if (type->kind == ir::TypeKind::tensordesc) {
      const ir::Type element = scalar_of(type->element);
      TWILL_TRY(Values values, values_of(name, element));
      const auto described = descriptor(number, values);
      const auto array = memory_.add_array(name, element, std::move(values));
      if (!array || !described) return unknown();
      Descriptor made = *described;
      made.base = {*array, 0};
      return made;
    }
    if (!ir::is_scalar(type)) return unknown();
    const bool floating = type->kind == ir::TypeKind::floating;
    if (floating && !format_of(type)) return unknown();
    if (launch_.arrays.contains(name)) {
      return cannot(program_, function_, "has the argument %" + name + ", which is one number");
    }
    const double stated = number_of(name, floating);
    if (!floating && !holds(type, stated)) {
      return cannot(program_, function_,
                    "has the argument %" + name + " of type " + type->text +
                        ", which is given a number that it cannot hold");
    }
    return scalar(type, stated);
  }

 private:
  /// Whether an integer type can hold a number. Narrow types take any number, wrapped.
  static bool holds(ir::Type type, double number) {
    if (type->bits < 32) return true;
    const double most = std::ldexp(1.0, type->bits - 1);
    return number == std::floor(number) && number >= -most && number < most;
  }

  double number_of(const std::string& name, bool floating) const {
    const auto given = launch_.arguments.find(name);
    const double standard = floating ? launch_.scale : static_cast<double>(launch_.size);
    return given != launch_.arguments.end() ? given->second : standard;
  }

  Result<Values> values_of(const std::string& name, ir::Type element) const {
    if (const auto all = launch_.arguments.find(name); all != launch_.arguments.end()) {
      Values values;
      values.kind = Values::Kind::constant;
      values.first = all->second;
      return values;
    }
    const auto given = launch_.arrays.find(name);
    return given == launch_.arrays.end() ? Values() : of_type(given->second, element);
  }

  /// Descriptor of an argument; empty for more dimensions than an endless tensor can have.
  std::optional<Descriptor> descriptor(std::size_t number, const Values& values) const {
    const ir::ValueId value = ir::function_arguments(program_, function_)[number];
    const std::size_t rank = ir::type_of(program_, value)->element->shape.size();
    const DescriptorArguments around = descriptor_arguments(program_, function_, number);
    const auto given = [&](ir::ValueId argument) {
      return launch_.arguments.contains(program_.value(argument).name);
    };
    const auto integer = [&](ir::ValueId argument) {
      return static_cast<std::int64_t>(number_of(program_.value(argument).name, false));
    };
    Descriptor made{{}, {}, {}, false};
    if (std::any_of(around.sizes.begin(), around.sizes.end(), given)) {
      for (const ir::ValueId size : around.sizes) made.shape.push_back(integer(size));
    } else if (values.shape.size() == rank) {
      made.shape = values.shape;
    } else {
      if (rank > kMostDimensions) return std::nullopt;
      for (std::size_t d = 0; d < rank; ++d) {
        made.strides.push_back(std::int64_t{1}
                               << (kFarApart * (rank - 1 - d) / (rank > 2 ? 2 : 1)));
      }
      return made;
    }
    made.strides.assign(rank, 1);
    for (std::size_t d = rank; d-- > 0;) {
      if (d + 1 < rank) made.strides[d] = made.strides[d + 1] * made.shape[d + 1];
      if (d < around.strides.size() && given(around.strides[d])) {
        made.strides[d] = integer(around.strides[d]);
      }
    }
    return made;
  }

  const ir::Program& program_;
  ir::OpId function_;
  const Launch& launch_;
  Memory& memory_;
};

}  // namespace

DescriptorArguments descriptor_arguments(const ir::Program& program, ir::OpId function,
                                         std::size_t argument) {
  const auto arguments = ir::function_arguments(program, function);
  const ir::Type type = ir::type_of(program, arguments[argument]);
  if (type->kind != ir::TypeKind::tensordesc) return {};
  const std::size_t rank = type->element->shape.size();
  DescriptorArguments found;
  for (std::size_t i = argument + 1; i <= argument + 2 * rank; ++i) {
    const bool size = i <= argument + rank;
    if (i >= arguments.size() ||
        ir::type_of(program, arguments[i])->name != (size ? "i32" : "i64")) {
      return {};
    }
    (size ? found.sizes : found.strides).push_back(arguments[i]);
  }
  return found;
}

Result<std::map<ir::ValueId, Value>> arguments_of(const ir::Program& program, ir::OpId function,
                                                  const Launch& launch, Memory& memory) {
  std::map<ir::ValueId, Value> made;
  std::set<std::string> left;
  for (const auto& [name, value] : launch.arguments) left.insert(name);
  for (const auto& [name, values] : launch.arrays) left.insert(name);
  Arguments all(program, function, launch, memory);
  const auto arguments = ir::function_arguments(program, function);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    TWILL_TRY(Value value, all.of(i));
    made.emplace(arguments[i], std::move(value));
    left.erase(program.value(arguments[i]).name);
  }
  if (!left.empty()) return cannot(program, function, "has no argument %" + *left.begin());
  for (const ir::Type type : types_at_addresses(program, function)) {
    memory.add_array(type->text + " at addresses", type);
  }
  return made;
}

const Value& Interpreter::value(ir::ValueId value) const {
  static const Value kNothing;
  const Value* const known = values_.find(value);
  return known == nullptr ? kNothing : *known;
}

Result<TilePtr> Interpreter::tile(ir::OpId reader, ir::ValueId id) const {
  const Value& known = value(id);
  if (const TilePtr* tile = std::get_if<TilePtr>(&known)) return *tile;
  if (const View* view = std::get_if<View>(&known)) {
    return std::make_shared<const Tile>(read(*view));
  }
  return cannot(program_, reader, "needs %" + program_.value(id).name + ", which is no tile");
}

Result<std::int64_t> Interpreter::integer(ir::OpId reader, ir::ValueId id) const {
  TWILL_TRY(const TilePtr tile, this->tile(reader, id));
  if (tile->is_floating() || tile->size() != 1) {
    return cannot(program_, reader, "needs an integer");
  }
  return tile->integers()[0];
}

Result<void> Interpreter::set_tile(ir::OpId op, std::size_t result, Tile tile) {
  const auto& results = program_.op(op).results;
  if (result >= results.size()) return {};
  const ir::Type type = ir::type_of(program_, results[result]);
  if (size_of(type->shape) != size_of(tile.shape)) {
    return cannot(program_, op, "makes a tile that does not fit");
  }
  tile.shape = type->shape;
  set(results[result], std::make_shared<const Tile>(std::move(tile)));
  return {};
}

/// Whether the op's predicate is false, so that the op is skipped.
Result<bool> Interpreter::skipped(ir::OpId id) const {
  const auto predicate = ir::operand_in(program_.op(id), ir::Role::predicate);
  if (!predicate) return false;
  TWILL_TRY(const std::int64_t holds, integer(id, *predicate));
  return holds == 0;
}

Result<void> Interpreter::run(ir::OpId function, const std::map<ir::ValueId, Value>& arguments) {
  TWILL_TRY_VOID(check_types(program_, function));
  values_.keep({});
  for (const auto& [argument, what] : arguments) set(argument, what);
  const auto& regions = program_.op(function).regions;
  if (regions.empty() || program_.region(regions[0]).blocks.empty()) {
    return cannot(program_, function, "has no body");
  }
  std::optional<ir::BlockId> block = program_.region(regions[0]).blocks.front();
  while (block) {
    TWILL_TRY_VOID(run_block(*block));
    TWILL_TRY(block, branch_from(*block));
  }
  return {};
}

/// The next block after a block of a function; empty at the function's end.
Result<std::optional<ir::BlockId>> Interpreter::branch_from(ir::BlockId block) {
  const auto end = ir::terminator(program_, block);
  if (!end || program_.op(*end).successors.empty()) return std::nullopt;
  const ir::Op& op = program_.op(*end);
  bool first = true;
  if (op.kind == OpKind::jump_if) {
    TWILL_TRY(const std::int64_t holds, integer(*end, op.operands[0]));
    first = holds != 0;
  }
  const auto passed = op.kind == OpKind::jump
                          ? std::span<const ir::ValueId>(op.operands)
                          : ir::operands_in(op, first ? ir::Role::taken : ir::Role::otherwise);
  const ir::BlockId next = op.successors[first ? 0 : 1];
  const auto& arguments = program_.block(next).arguments;
  std::vector<Value> values;
  for (const ir::ValueId operand : passed) values.push_back(value(operand));
  for (std::size_t i = 0; i < arguments.size() && i < values.size(); ++i) {
    set(arguments[i], values[i]);
  }
  return next;
}

Result<void> Interpreter::run_block(ir::BlockId block) {
  for (const ir::OpId op : program_.block(block).ops) {
    TWILL_TRY_VOID(step(op));
  }
  return {};
}

Result<void> Interpreter::step(ir::OpId id) {
  if (++steps_ > kMostSteps) return cannot(program_, id, "comes after too many others");
  const ir::Op& op = program_.op(id);
  if (can_evaluate(op.kind)) return compute(id);
  if (changes_nothing(op.kind)) return {};
  if (works_in_tile_memory(op.kind)) return access_tile_memory(id);
  switch (op.kind) {
    case OpKind::for_loop:
      return run_for(id);
    case OpKind::while_loop:
      return run_while(id);
    case OpKind::branch:
      return run_if(id);
    case OpKind::yield:
    case OpKind::condition:
    case OpKind::ret:
    case OpKind::jump:
    case OpKind::jump_if:
      return {};
    case OpKind::program_id:
    case OpKind::program_count: {
      const auto axis = op.axis.value_or(0);
      if (axis < 0 || axis > 2) return cannot(program_, id, "has no such axis");
      const auto& numbers = op.kind == OpKind::program_id ? program_id_ : launch_.programs;
      return set_tile(id, 0, {{}, Integers{numbers[static_cast<std::size_t>(axis)]}});
    }
    case OpKind::make_descriptor:
      return make_descriptor(id);
    case OpKind::copy_async:
    case OpKind::block_load_async:
    case OpKind::block_gather_async:
      return copy(id);
    default:
      return access_global(id);
  }
}

Result<void> Interpreter::compute(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  std::vector<TilePtr> operands;
  operands.reserve(op.operands.size());
  for (const ir::ValueId operand : op.operands) {
    TWILL_TRY(TilePtr tile, this->tile(id, operand));
    operands.push_back(std::move(tile));
  }
  for (std::size_t r = 0; r < op.results.size(); ++r) {
    const Box box = whole(ir::type_of(program_, op.results[r])->shape);
    TWILL_TRY(Tile tile, evaluate(program_, id, operands, box, r));
    TWILL_TRY_VOID(set_tile(id, r, std::move(tile)));
  }
  return {};
}

Result<void> Interpreter::yield_to(ir::BlockId block, const std::vector<ir::ValueId>& to) {
  const auto end = ir::terminator(program_, block);
  if (!end) return {};
  const auto& operands = program_.op(*end).operands;
  std::vector<Value> values;
  for (const ir::ValueId operand : operands) values.push_back(value(operand));
  for (std::size_t i = 0; i < to.size() && i < values.size(); ++i) set(to[i], values[i]);
  return {};
}

Result<void> Interpreter::run_for(ir::OpId id) {
  const auto loop = ir::as_loop(program_, id);
  if (!loop || !loop->induction) return cannot(program_, id, "is no counting loop");
  if (replaced_ == id) return stand_in_(*loop);
  TWILL_TRY(const std::int64_t lower, integer(id, *loop->lower));
  TWILL_TRY(const std::int64_t upper, integer(id, *loop->upper));
  TWILL_TRY(const std::int64_t step, integer(id, *loop->step));
  if (step <= 0) return cannot(program_, id, "has no positive step");
  const std::uint64_t trips = trips_of(lower, upper, step);
  if (trips > kMostTrips) return cannot(program_, id, "has too many trips");
  std::vector<ir::ValueId> arguments;
  for (const ir::Carried& carried : loop->carried) {
    set(carried.argument, value(carried.init));
    arguments.push_back(carried.argument);
  }
  for (std::uint64_t trip = 0; trip < trips; ++trip) {
    Integers induction = {in_trip(lower, trip, step)};  // integers, since a double has only 53 bits
    set(*loop->induction, std::make_shared<const Tile>(Tile{{}, std::move(induction)}));
    TWILL_TRY_VOID(run_block(loop->body));
    TWILL_TRY_VOID(yield_to(loop->body, arguments));
  }
  for (const ir::Carried& carried : loop->carried) {
    if (carried.result) set(*carried.result, value(carried.argument));
  }
  return {};
}

Result<void> Interpreter::run_while(ir::OpId id) {
  const auto loop = ir::as_loop(program_, id);
  if (!loop || !loop->before) return cannot(program_, id, "is not known");
  if (replaced_ == id) return stand_in_(*loop);
  std::vector<ir::ValueId> arguments;
  for (const ir::Carried& carried : loop->carried) {
    set(carried.argument, value(carried.init));
    arguments.push_back(carried.argument);
  }
  const auto condition = ir::terminator(program_, *loop->before);
  if (!condition || program_.op(*condition).kind != OpKind::condition) {
    return cannot(program_, id, "is not known");
  }
  for (std::int64_t trip = 0;; ++trip) {
    if (trip > kMostTrips) return cannot(program_, id, "has too many trips");
    TWILL_TRY_VOID(run_block(*loop->before));
    TWILL_TRY(const std::int64_t goes_on, integer(id, program_.op(*condition).operands[0]));
    for (const ir::Forwarded& forwarded : loop->forwarded) {
      set(goes_on != 0 ? forwarded.argument : forwarded.result, value(forwarded.passed));
    }
    if (goes_on == 0) return {};
    TWILL_TRY_VOID(run_block(loop->body));
    TWILL_TRY_VOID(yield_to(loop->body, arguments));
  }
}

Result<void> Interpreter::run_if(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  TWILL_TRY(const std::int64_t holds, integer(id, op.operands[0]));
  const auto block = ir::body(program_, id, holds != 0 ? 0 : 1);
  if (!block) {
    return op.results.empty() ? Result<void>() : cannot(program_, id, "has no such branch");
  }
  TWILL_TRY_VOID(run_block(*block));
  return yield_to(*block, op.results);
}

Result<void> Interpreter::make_descriptor(ir::OpId id) {
  TWILL_TRY(Descriptor made, made_descriptor(program_, id, memory_, [this, id](ir::ValueId value) {
              return integer(id, value);
            }));
  set(program_.op(id).results[0], std::move(made));
  return {};
}

/// Carries out loads, stores and updates of global memory.
Result<void> Interpreter::access_global(ir::OpId id) {
  const auto access = ir::memory_access(program_.op(id));
  if (!access || access->space != ir::AccessSpace::global) {
    return cannot(program_, id, "is not known");
  }
  const auto lookup = [this, id](ir::ValueId value) { return tile(id, value); };
  const Descriptor* descriptor = std::get_if<Descriptor>(&value(access->address));
  if (access->by_descriptor && descriptor == nullptr) {
    return cannot(program_, id, "needs a descriptor");
  }
  if (access->writes) {
    TWILL_TRY(const TilePtr source, tile(id, *access->source));
    TWILL_TRY(Tile before, write_global(program_, id, memory_, descriptor, *source, lookup));
    return access->result ? set_tile(id, 0, std::move(before)) : Result<void>();
  }
  TWILL_TRY(Tile tile, read_global(program_, id, memory_, descriptor, lookup));
  return set_tile(id, 0, std::move(tile));
}

/// Copies from global to shared memory.
Result<void> Interpreter::copy(ir::OpId id) {
  const auto access = ir::memory_access(program_.op(id));
  if (!access || !access->destination) return cannot(program_, id, "is not known");
  TWILL_TRY(const bool skip, skipped(id));
  if (skip) return {};
  const auto lookup = [this, id](ir::ValueId value) { return tile(id, value); };
  const Descriptor* descriptor = std::get_if<Descriptor>(&value(access->address));
  TWILL_TRY(const View view, view_of(id, *access->destination));
  TWILL_TRY(const Tile tile, read_global(program_, id, memory_, descriptor, lookup));
  return write_view(id, view, tile);
}

}  // namespace twill::execute
