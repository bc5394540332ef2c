#include "twill/extract/memory_order.h"

#include <algorithm>

#include "twill/extract/apart.h"
#include "twill/extract/contract.h"
#include "twill/ir/arrays.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::extract {
namespace {

using ir::Effect;

/// Whether no access may move across the op. Barriers and similar ops are no ops of a plan.
bool orders_all(const ir::Op& op) {
  return ir::effect_of(op) == Effect::orders &&
         ir::class_of(op.kind) != ir::OpClass::synchronization;
}

/// Ops of the body that access global memory or that no access may cross, in the order of the text.
std::vector<ir::OpId> accesses_of(const Body& body) {
  std::vector<ir::OpId> found;
  const auto note = [&](ir::OpId id) {
    const ir::Op& op = body.program->op(id);
    const auto access = ir::memory_access(op);
    const bool accesses = access && access->space == ir::AccessSpace::global;
    if (accesses || orders_all(op)) found.push_back(id);
  };
  for (const ir::OpId id : body.ops) note(id);
  for (const RareBranch& rare : body.rare) {
    for (const ir::OpId id : rare.ops) note(id);
  }
  for (const auto& [branch, ops] : body.other_branch) {
    for (const ir::OpId id : ops) note(id);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Whether two atomic operations commute: both of one kind, without readers of their results.
bool commute(const ir::Program& program, const ir::Op& a, const ir::Op& b) {
  const auto updates = [&](const ir::Op& op) {
    const bool read = std::any_of(op.results.begin(), op.results.end(), [&](ir::ValueId result) {
      return !program.value(result).uses.empty();
    });
    return ir::class_of(op.kind) == ir::OpClass::update && !read &&
           op.update != ir::Update::other && op.update != ir::Update::exchange;
  };
  return updates(a) && updates(b) && a.update == b.update;
}

bool may_meet_in(const Body& body, ir::OpId first, ir::OpId second, Meeting meeting) {
  const ir::Program& program = *body.program;
  if (orders_all(program.op(first)) || orders_all(program.op(second))) return true;
  return !are_apart(body, first, second, meeting);
}

/// List of names: "%a, %b and %c"
std::string names_of(const ir::Program& program, const std::set<ir::ValueId>& values) {
  std::string names;
  std::size_t left = values.size();
  for (const ir::ValueId value : values) {
    names += program.value(value).name;
    --left;
    names += left > 1 ? ", " : left == 1 ? " and " : "";
  }
  return names;
}

}  // namespace

bool conflict(const ir::Program& program, ir::OpId first, ir::OpId second) {
  const ir::Op &a = program.op(first), &b = program.op(second);
  if (orders_all(a) || orders_all(b)) return true;
  const auto x = ir::memory_access(a), y = ir::memory_access(b);
  if (!x->writes && !y->writes) return false;
  return !commute(program, a, b) && ir::may_meet(program, x->address, y->address);
}

bool share_array(const ir::Program& program, ir::ValueId address, ir::ValueId other) {
  const auto array = ir::array_of(program, address);
  return array && array == ir::array_of(program, other);
}

std::vector<MemoryOrder> memory_orders(const Body& body) {
  std::vector<MemoryOrder> orders;
  const ir::Program& program = *body.program;
  const std::vector<ir::OpId> accesses = accesses_of(body);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const ir::Op& own = program.op(accesses[i]);
    const auto access = ir::memory_access(own);
    if (!orders_all(own) && access->writes && !commute(program, own, own) &&
        meets_itself(body, accesses[i])) {
      orders.push_back({accesses[i], accesses[i], 1});
    }
    for (std::size_t j = i + 1; j < accesses.size(); ++j) {
      const ir::OpId first = accesses[i], second = accesses[j];
      if (!conflict(program, first, second)) continue;
      if (may_meet_in(body, first, second, Meeting::same_iteration)) {
        orders.push_back({first, second, 0});
      }
      if (may_meet_in(body, second, first, Meeting::later_iterations)) {
        orders.push_back({second, first, 1});
      }
    }
  }
  return orders;
}

namespace {

/// Access outside of the loop; an outer loop over tiles is taken into account.
struct Outside {
  ir::OpId op;
  ir::MemoryAccess access;
  bool before = false;  ///< before some run of the loop
  bool after = false;
};

std::vector<Outside> outside_of(const Body& body) {
  const ir::Program& program = *body.program;
  const ir::OpId loop = body.loop.op;
  const auto function = ir::enclosing(program, loop, ir::OpKind::function);
  std::optional<ir::OpId> tiles;  // the outermost loop around the loop
  for (auto outer = body.loop.outer; outer; outer = ir::as_loop(program, *outer)->outer) {
    tiles = outer;
  }
  std::vector<Outside> found;
  for (const ir::OpId id : ir::walk(program, function.value_or(program.module()))) {
    const auto access = ir::memory_access(program.op(id));
    if (!access || access->space != ir::AccessSpace::global) continue;
    if (ir::is_inside(program, id, loop)) continue;
    const bool again = tiles && ir::is_inside(program, id, *tiles);
    found.push_back({id, *access, id < loop || again, loop < id || again});
  }
  return found;
}

tl::unexpected<Diagnostic> refuse_order(const ir::Program& program, ir::OpId later,
                                        ir::OpId earlier, const std::string& where) {
  return fail(ir::text_location(program, later),
              program.op(later).name + " may touch what " + ir::op_words(program, earlier) +
                  " touches " + where + ", through the same argument: no plan keeps that order",
              "give the kernel an argument for each, if they never meet");
}

/// Refuses order between tiles of a loop over tiles: edges of the Problem stay within one run of
/// the loop.
Result<void> check_tiles(const Body& body) {
  if (!body.loop.outer) return {};
  const ir::Program& program = *body.program;
  const std::vector<ir::OpId> inside = accesses_of(body);
  for (const ir::OpId write : inside) {
    const auto writes = ir::memory_access(program.op(write));
    if (!writes || !writes->writes) continue;
    for (const ir::OpId read : inside) {
      const auto reads = ir::memory_access(program.op(read));
      if (!reads || reads->writes || !share_array(program, reads->address, writes->address))
        continue;
      return refuse_order(program, read, write, "in a tile before");
    }
  }
  return {};
}

}  // namespace

Result<void> check_around(const Body& body) {
  const ir::Program& program = *body.program;
  const std::vector<Outside> around = outside_of(body);
  for (const ir::OpId inside : accesses_of(body)) {
    const auto known = ir::memory_access(program.op(inside));
    for (const Outside& it : around) {
      if (!known || !share_array(program, known->address, it.access.address)) continue;
      const ir::MemoryAccess& access = *known;
      // Each role writes its own rows before, in and after the loop.
      if (it.before && it.access.writes && access.reads && !access.writes) {
        return refuse_order(program, inside, it.op, "before the loop");
      }
      if (it.before && !it.access.writes && access.writes) {
        return refuse_order(program, inside, it.op, "before the loop");
      }
      if (it.after && !it.access.writes && access.writes) {
        return refuse_order(program, it.op, inside, "in the loop");
      }
    }
  }
  return check_tiles(body);
}

Result<void> check_kept(const Body& body, const TileGraph& graph) {
  for (const auto& [first, second] : graph.unkept) {
    const ir::Program& program = *body.program;
    const bool last = orders_all(program.op(second));
    if (last || orders_all(program.op(first))) {
      const ir::OpId order = last ? second : first, other = last ? first : second;
      return fail(ir::text_location(program, order),
                  program.op(order).name + " orders all accesses around it, so " +
                      ir::op_words(program, other) +
                      ", and the plan has no op for one of them: no plan keeps that order",
                  "relaxed atomic operations (sem=\"relaxed\") order nothing else");
    }
    return fail(ir::text_location(program, second),
                program.op(second).name + " may touch what " + ir::op_words(program, first) +
                    " touches, and the plan has no op for one of them: no plan keeps that order",
                "give the kernel an argument for each, if they never meet");
  }
  return {};
}

std::optional<std::string> assumed_apart(const ir::Program& program, ir::OpId loop) {
  const auto function = ir::enclosing(program, loop, ir::OpKind::function);
  if (!function) return std::nullopt;
  std::set<ir::ValueId> arrays;
  bool writes = false;
  for (const ir::OpId id : ir::walk(program, loop)) {
    const auto access = ir::memory_access(program.op(id));
    if (!access || access->space != ir::AccessSpace::global) continue;
    writes = writes || access->writes;
    if (const auto array = ir::array_of(program, access->address)) arrays.insert(*array);
  }
  if (!writes || arrays.size() < 2) return std::nullopt;
  return apart_in_words(program, arrays);
}

std::optional<std::string> assumed_strides(const ir::Program& program, ir::OpId loop) {
  const auto body = straighten(program, loop);
  if (!body) return std::nullopt;
  std::set<ir::ValueId> strides;
  for (const ir::OpId id : accesses_of(*body)) {
    const ir::Op& op = program.op(id);
    if (orders_all(op) || !ir::memory_access(op)->writes || commute(program, op, op)) continue;
    for (const ir::ValueId stride : strides_assumed(*body, id)) strides.insert(stride);
  }
  if (strides.empty()) return std::nullopt;
  return "assumes that rows of an array, " + names_of(program, strides) +
         " elements apart, do not overlap";
}

std::string apart_in_words(const ir::Program& program, const std::set<ir::ValueId>& arrays) {
  return "assumes that the arrays of " + names_of(program, arrays) + " do not overlap";
}

}  // namespace twill::extract
