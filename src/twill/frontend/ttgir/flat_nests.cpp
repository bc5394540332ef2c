#include "twill/frontend/ttgir/flat_nests.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "twill/frontend/ttgir/copy.h"
#include "twill/frontend/ttgir/terms.h"
#include "twill/frontend/ttgir/without_unread.h"
#include "twill/ir/loop.h"

namespace twill::frontend::ttgir {
namespace {

/// Nested loops, outermost first. `carried`: each carried value in the outermost loop and in the
/// innermost loop.
struct Nest {
  std::vector<ir::Loop> loops;
  std::vector<std::pair<ir::Carried, ir::Carried>> carried;
};

bool carries_tiles(const ir::Program& program, const ir::Loop& loop) {
  return std::any_of(loop.carried.begin(), loop.carried.end(), [&](const ir::Carried& it) {
    const ir::Type type = ir::type_of(program, it.argument);
    return ir::is_tensor(type) && type->element->kind == ir::TypeKind::floating;
  });
}

/// Whether the outer loop only computes values for the inner loop, before the inner loop.
bool only_leads_to(const ir::Program& program, const ir::Loop& outer, const ir::Loop& inner) {
  const auto& ops = program.block(outer.body).ops;
  return std::all_of(ops.begin(), ops.end() - 1,
                     [&](ir::OpId op) {
                       return op == inner.op || (op < inner.op && is_computation(program.op(op)));
                     }) &&
         std::find(ops.begin(), ops.end(), inner.op) != ops.end();
}

/// The inner loop's form of a carried value that the outer loop passes through; null for other
/// values.
const ir::Carried* handed_to(const ir::Program& program, const ir::Carried& it,
                             const ir::Loop& inner) {
  const bool apart =
      program.value(it.argument).uses.size() == 1 && program.value(it.yielded).uses.size() == 1;
  const auto same =
      std::find_if(inner.carried.begin(), inner.carried.end(), [&](const ir::Carried& other) {
        return other.init == it.argument && *other.result == it.yielded;
      });
  return apart && same != inner.carried.end() ? &*same : nullptr;
}

/// The loop around the nest, if it can become part of the nest.
std::optional<ir::Loop> next_around(const ir::Program& program, const Nest& nest) {
  const ir::Loop& inner = nest.loops.front();
  const auto outer = inner.outer ? ir::as_loop(program, *inner.outer) : std::nullopt;
  if (!outer || !outer->induction || program.op(outer->op).fixed_results) return std::nullopt;
  if (ir::type_of(program, *outer->induction) != ir::type_of(program, *inner.induction) ||
      outer->carried.size() != inner.carried.size() || !only_leads_to(program, *outer, inner)) {
    return std::nullopt;
  }
  for (const ir::Loop& loop : nest.loops) {
    for (const auto& bound : {loop.lower, loop.upper, loop.step}) {
      if (!ir::is_invariant(program, *outer, *bound)) return std::nullopt;
    }
  }
  const bool all = std::all_of(outer->carried.begin(), outer->carried.end(), [&](const auto& it) {
    return handed_to(program, it, inner) != nullptr;
  });
  return all ? outer : std::nullopt;
}

std::optional<Nest> nest_of(const ir::Program& program, const ir::Loop& inner) {
  if (!inner.innermost || !inner.induction || !carries_tiles(program, inner)) return std::nullopt;
  if (program.op(inner.op).fixed_results) return std::nullopt;
  Nest nest{{inner}, {}};
  for (const ir::Carried& it : inner.carried) nest.carried.emplace_back(it, it);
  while (const auto outer = next_around(program, nest)) {
    std::vector<std::pair<ir::Carried, ir::Carried>> carried;
    for (const ir::Carried& it : outer->carried) {
      const ir::Carried* const same = handed_to(program, it, nest.loops.front());
      for (const auto& [around, innermost] : nest.carried) {
        if (around.argument == same->argument) carried.emplace_back(it, innermost);
      }
    }
    nest.carried = std::move(carried);
    nest.loops.insert(nest.loops.begin(), *outer);
  }
  return nest.loops.size() > 1 ? std::optional(std::move(nest)) : std::nullopt;
}

/// Writes a Program in which one loop replaces a nest.
class FlatWriter {
 public:
  FlatWriter(const ir::Program& program, const Nest& nest)
      : program_(program),
        nest_(nest),
        type_(ir::type_of(program, *nest.loops.back().induction)),
        like_(nest.loops.back().op),
        copier_(program) {
    copier_.make_names_unique();
  }

  std::optional<ir::Program> write() && {
    return std::move(copier_).copy([this](ir::OpId op, ir::BlockId into) {
      if (op != nest_.loops.front().op) return false;
      write_loop(into);
      return true;
    });
  }

 private:
  ir::ValueId computed(const std::string& name, std::vector<ir::ValueId> operands,
                       const std::string& result, ir::BlockId into) {
    ir::Op op;
    op.name = name;
    op.operands = std::move(operands);
    return copier_.add_result(copier_.add(std::move(op), like_, into), result, type_);
  }

  ir::ValueId constant(std::int64_t number, ir::BlockId into) {
    return copier_.add_constant(number, type_, like_, into);
  }

  /// Number of a loop's iterations, at least 0.
  ir::ValueId trips_of(const ir::Loop& loop, ir::BlockId into) {
    if (const auto known = ir::constant_trip_count(program_, loop)) return constant(*known, into);
    ir::ValueId count = copier_.at(*loop.upper);
    if (ir::constant_integer(program_, *loop.lower) != 0) {
      count = computed("arith.subi", {count, copier_.at(*loop.lower)}, "span", into);
    }
    if (ir::constant_integer(program_, *loop.step) != 1) {
      const ir::ValueId step = copier_.at(*loop.step);
      const ir::ValueId less = computed("arith.subi", {step, constant(1, into)}, "less", into);
      count = computed("arith.addi", {count, less}, "span", into);
      count = computed("arith.divsi", {count, step}, "trips", into);
    }
    return computed("arith.maxsi", {count, constant(0, into)}, "trips", into);
  }

  /// Value of a loop's counter in iteration `number`.
  ir::ValueId counter(const ir::Loop& loop, ir::ValueId number, ir::BlockId into) {
    const std::string& name = program_.value(*loop.induction).name;
    if (ir::constant_integer(program_, *loop.step) != 1) {
      number = computed("arith.muli", {number, copier_.at(*loop.step)}, name, into);
    }
    if (ir::constant_integer(program_, *loop.lower) != 0) {
      number = computed("arith.addi", {number, copier_.at(*loop.lower)}, name, into);
    }
    return number;
  }

  /// Number of iterations of all loops together; a constant for known numbers, since later passes
  /// look for one.
  ir::ValueId product(const std::vector<ir::ValueId>& trips, ir::BlockId into) {
    std::int64_t known = 1;
    std::optional<ir::ValueId> others;
    for (std::size_t i = 0; i < trips.size(); ++i) {
      const auto count = ir::constant_trip_count(program_, nest_.loops[i]);
      if (count && !__builtin_mul_overflow(known, *count, &known)) continue;
      others = others ? computed("arith.muli", {*others, trips[i]}, "all", into) : trips[i];
    }
    if (!others) return constant(known, into);
    if (known == 1) return *others;
    return computed("arith.muli", {*others, constant(known, into)}, "all", into);
  }

  void write_loop(ir::BlockId into) {
    std::vector<ir::ValueId> trips;
    for (const ir::Loop& loop : nest_.loops) trips.push_back(trips_of(loop, into));
    const ir::ValueId all = product(trips, into);
    ir::Op op;
    op.name = program_.op(like_).name;
    op.attributes = program_.op(like_).attributes;
    op.operands = {constant(0, into), all, constant(1, into)};
    for (const auto& [outer, inner] : nest_.carried) op.operands.push_back(copier_.at(outer.init));
    const ir::OpId made = copier_.add(std::move(op), like_, into);
    std::vector<ir::ValueId> results;
    for (const auto& [outer, inner] : nest_.carried) {
      const ir::Value& old = program_.value(*outer.result);
      results.push_back(copier_.add_result(made, old.name.substr(0, old.name.find('#')), old.type));
    }
    write_body(trips, copier_.builder().add_block(copier_.builder().add_region(made)));
    for (std::size_t i = 0; i < results.size(); ++i) {
      copier_.bind(*nest_.carried[i].first.result, results[i]);
    }
  }

  void write_body(const std::vector<ir::ValueId>& trips, ir::BlockId body) {
    ir::ValueId rest = copier_.add_argument(body, "at", type_);
    for (const auto& [outer, inner] : nest_.carried) {
      const ir::Value& old = program_.value(inner.argument);
      const ir::ValueId argument = copier_.add_argument(body, old.name, old.type);
      copier_.builder().set_location(argument, old.location);
      copier_.bind(inner.argument, argument);
    }
    for (std::size_t i = trips.size(); i-- > 0;) {
      const ir::Loop& loop = nest_.loops[i];
      ir::ValueId trip = rest;
      if (i > 0) {
        trip = computed("arith.remsi", {rest, trips[i]}, "trip", body);
        rest = computed("arith.divsi", {rest, trips[i]}, "rest", body);
      }
      copier_.bind(*loop.induction, counter(loop, trip, body));
    }
    for (std::size_t i = 0; i + 1 < nest_.loops.size(); ++i) {
      for (const ir::OpId id : program_.block(nest_.loops[i].body).ops) {
        if (id < nest_.loops[i + 1].op) copier_.copy_op(id, body);
      }
    }
    const std::vector<ir::OpId>& ops = program_.block(nest_.loops.back().body).ops;
    copier_.copy_ops({ops.data(), ops.size() - 1}, body);
    ir::Op end;
    end.name = program_.op(ops.back()).name;
    for (const auto& [outer, inner] : nest_.carried) {
      end.operands.push_back(copier_.at(inner.yielded));
    }
    copier_.add(std::move(end), ops.back(), body);
  }

  const ir::Program& program_;
  const Nest& nest_;
  ir::Type type_;
  ir::OpId like_;  ///< the innermost loop
  Copier copier_;
};

std::optional<ir::Program> with_first_flat(const ir::Program& program) {
  for (const ir::Loop& loop : ir::loops(program, program.module())) {
    const auto nest = nest_of(program, loop);
    if (!nest) continue;
    auto made = FlatWriter(program, *nest).write();
    if (made) return without_unread(*made);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ir::Program> flat_nests(const ir::Program& program) {
  auto found = with_first_flat(program);
  while (found) {
    auto next = with_first_flat(*found);
    if (!next) break;
    found = std::move(next);
  }
  return found;
}

}  // namespace twill::frontend::ttgir
