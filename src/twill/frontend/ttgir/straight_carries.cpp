#include "twill/frontend/ttgir/straight_carries.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/frontend/ttgir/copy.h"
#include "twill/frontend/ttgir/without_unread.h"
#include "twill/ir/loop.h"

namespace twill::frontend::ttgir {
namespace {

/// A carried value that the loop transposes: each reader transposes it back.
struct Turned {
  ir::OpId turn;               ///< transposes the yielded value
  ir::ValueId made;            ///< its operand
  std::vector<ir::OpId> back;  ///< transposes of the argument, equal to `made` an iteration later
};

/// By loop and number of the carried value.
using Found = std::map<ir::OpId, std::map<std::size_t, Turned>>;

/// Whether one transposition undoes the other.
bool are_inverse(const ir::Op& one, const ir::Op& other) {
  if (!one.order || !other.order || one.order->size() != other.order->size()) return false;
  for (std::size_t i = 0; i < one.order->size(); ++i) {
    const auto from = static_cast<std::size_t>((*other.order)[i]);
    if ((*one.order)[from] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

std::optional<Turned> turned(const ir::Program& program, const ir::Carried& carried) {
  const ir::Op* const turn = ir::defining_op(program, carried.yielded);
  if (turn == nullptr || turn->kind != ir::OpKind::transpose) return std::nullopt;
  Turned found{*program.value(carried.yielded).op, turn->operands.front(), {}};
  for (const ir::Use& use : program.value(carried.argument).uses) {
    const ir::Op& back = program.op(use.op);
    const bool fits =
        back.kind == ir::OpKind::transpose && are_inverse(*turn, back) &&
        ir::type_of(program, back.results.front()) == ir::type_of(program, found.made);
    if (!fits) return std::nullopt;
    found.back.push_back(use.op);
  }
  return found.back.empty() ? std::nullopt : std::optional(std::move(found));
}

Found find(const ir::Program& program) {
  Found found;
  for (const ir::Loop& loop : ir::loops(program, program.module())) {
    if (program.op(loop.op).kind != ir::OpKind::for_loop) continue;
    if (program.op(loop.op).fixed_results) continue;
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      auto one = turned(program, loop.carried[i]);
      // A tile transposed before the loop is equal in each iteration.
      if (one && ir::is_inside(program, one->turn, loop.op)) {
        found[loop.op].emplace(i, *std::move(one));
      }
    }
  }
  return found;
}

class StraightWriter {
 public:
  StraightWriter(const ir::Program& program, const Found& found)
      : program_(program), found_(found), copier_(program) {
    copier_.make_names_unique();
    for (const auto& [op, values] : found_) {
      const auto loop = ir::as_loop(program_, op);
      ends_.emplace(*ir::terminator(program_, loop->body), op);
      for (const auto& [number, one] : values) back_.insert(one.back.begin(), one.back.end());
    }
  }

  std::optional<ir::Program> write() && {
    return std::move(copier_).copy([this](ir::OpId op, ir::BlockId into) {
      if (back_.contains(op)) return true;  // mapped to the loop's argument
      if (const auto end = ends_.find(op); end != ends_.end()) {
        write_end(op, found_.at(end->second), into);
        return true;
      }
      const auto values = found_.find(op);
      if (values == found_.end()) return false;
      write_loop(*ir::as_loop(program_, op), values->second, into);
      return true;
    });
  }

 private:
  ir::ValueId transposed(ir::OpId like, ir::ValueId of, const std::string& name, ir::Type type,
                         ir::BlockId into) {
    ir::Op op;
    op.name = program_.op(like).name;
    op.attributes = program_.op(like).attributes;
    op.operands = {of};
    return copier_.add_result(copier_.add(std::move(op), like, into), name, type);
  }

  /// Initial value in the straight layout; a constant only changes its type.
  ir::ValueId first(const ir::Carried& carried, const Turned& one, ir::BlockId into) {
    const ir::Type type = ir::type_of(program_, one.made);
    const std::string& name = program_.value(carried.init).name;
    const ir::Attribute constant = ir::constant_of(program_, carried.init);
    const bool splat = constant != nullptr && constant->elements.size() == 1 &&
                       constant->elements[0]->kind != ir::AttributeKind::array;
    if (!splat) {
      return transposed(one.back.front(), copier_.at(carried.init), name, type, into);
    }
    constexpr std::string_view kOpen = "dense<", kClose = "> : ";
    const std::size_t around = kOpen.size() + kClose.size() + constant->type->text.size();
    const std::string number = constant->text.substr(kOpen.size(), constant->text.size() - around);
    ir::Op op;
    op.name = ir::defining_op(program_, carried.init)->name;
    op.attributes.emplace_back("value",
                               copier_.builder().types().dense(constant->elements, number, type));
    const ir::OpId made = copier_.add(std::move(op), *program_.value(carried.init).op, into);
    return copier_.add_result(made, name, type);
  }

  void write_loop(const ir::Loop& loop, const std::map<std::size_t, Turned>& values,
                  ir::BlockId into) {
    const auto of = [&](std::size_t i) {
      const auto found = values.find(i);
      return found == values.end() ? nullptr : &found->second;
    };
    ir::Op op;
    op.name = program_.op(loop.op).name;
    op.attributes = program_.op(loop.op).attributes;
    for (const auto& bound : {loop.lower, loop.upper, loop.step}) {
      op.operands.push_back(copier_.at(*bound));
    }
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      const ir::Carried& it = loop.carried[i];
      op.operands.push_back(of(i) ? first(it, *of(i), into) : copier_.at(it.init));
    }
    const ir::OpId made = copier_.add(std::move(op), loop.op, into);
    const auto type = [&](std::size_t i) {
      return ir::type_of(program_, of(i) ? of(i)->made : loop.carried[i].argument);
    };
    std::vector<ir::ValueId> results;
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      results.push_back(copier_.add_result(made, name_of(*loop.carried[i].result), type(i)));
    }
    const ir::BlockId body = copier_.builder().add_block(copier_.builder().add_region(made));
    copier_.bind(*loop.induction,
                 add_argument(body, *loop.induction, ir::type_of(program_, *loop.induction)));
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      const ir::ValueId old = loop.carried[i].argument;
      const ir::ValueId now = add_argument(body, old, type(i));
      if (of(i) == nullptr) copier_.bind(old, now);
      for (const ir::OpId back : of(i) ? of(i)->back : std::vector<ir::OpId>{}) {
        copier_.bind(program_.op(back).results.front(), now);
      }
    }
    copier_.copy_ops(program_.block(loop.body).ops, body);
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      const ir::ValueId result = *loop.carried[i].result;
      copier_.bind(result, of(i) ? transposed(of(i)->turn, results[i], name_of(result),
                                              ir::type_of(program_, result), into)
                                 : results[i]);
    }
  }

  ir::ValueId add_argument(ir::BlockId body, ir::ValueId like, ir::Type type) {
    const ir::Value& old = program_.value(like);
    const ir::ValueId now = copier_.add_argument(body, old.name, type);
    copier_.builder().set_location(now, old.location);
    return now;
  }

  /// Name for a result, without its number among several results.
  std::string name_of(ir::ValueId result) const {
    const std::string& name = program_.value(result).name;
    return name.substr(0, name.find('#'));
  }

  void write_end(ir::OpId id, const std::map<std::size_t, Turned>& values, ir::BlockId into) {
    ir::Op op;
    op.name = program_.op(id).name;
    op.attributes = program_.op(id).attributes;
    for (std::size_t i = 0; i < program_.op(id).operands.size(); ++i) {
      const auto one = values.find(i);
      op.operands.push_back(
          copier_.at(one == values.end() ? program_.op(id).operands[i] : one->second.made));
    }
    copier_.add(std::move(op), id, into);
  }

  const ir::Program& program_;
  const Found& found_;
  Copier copier_;
  std::map<ir::OpId, ir::OpId> ends_;  ///< scf.yield of such a loop: the loop
  std::set<ir::OpId> back_;
};

}  // namespace

std::optional<ir::Program> straight_carries(const ir::Program& program) {
  const Found found = find(program);
  if (found.empty()) return std::nullopt;
  auto written = StraightWriter(program, found).write();
  if (!written) return std::nullopt;
  return without_unread(*written);
}

}  // namespace twill::frontend::ttgir
