#include "twill/emit/cuda/scalars.h"

#include <fmt/format.h>

#include "twill/emit/cuda/arithmetic.h"

namespace twill::emit::cuda {

Scalars::Scope Scalars::scope_of(ir::ValueId value) const {
  const auto& known = view_->program().value(value);
  const ir::OpId at = known.op
                          ? *known.op
                          : view_->program().region(view_->program().block(*known.block).region).op;
  const bool argument = !known.op;
  const auto within = [&](ir::OpId loop) {
    return ir::is_inside(view_->program(), at, loop) && (argument || at != loop);
  };
  if (within(view_->loop().op)) return Scope::iteration;
  if (!view_->outer() || within(view_->outer()->op)) return Scope::tile;
  return Scope::kernel;
}

Result<void> Scalars::leave_at(const ir::Exit& exit, const std::string& how) {
  TWILL_TRY(const std::string condition, (*this)(exit.condition, ""));
  Text& text = view_->outer() ? kernel_scope_ : tile_scope_;
  text.line(fmt::format("if ({}({})) {};", exit.when ? "" : "!", condition, how));
  return {};
}

Result<std::string> Scalars::of_argument(ir::ValueId value, const std::string& iteration) {
  if (value == view_->loop().induction) {
    if (iteration.empty()) return view_->refuse(value, "is read outside its loop");
    TWILL_TRY(const std::string lower, (*this)(*view_->loop().lower, ""));
    TWILL_TRY(const std::string step, (*this)(*view_->loop().step, ""));
    return fmt::format("({} + ({}) * {})", lower, iteration, step);
  }
  if (view_->outer() && value == view_->outer()->induction) return std::string("tile");
  const auto& known = view_->program().value(value);
  const auto arguments = ir::function_arguments(view_->program(), view_->function());
  if (known.index < arguments.size() && arguments[known.index] == value) {
    return fmt::format("args.arg{}", known.index);
  }
  const auto advance = ir::advance_of(view_->program(), view_->loop(), value);
  if (!advance || iteration.empty()) {
    return view_->refuse(value, "is carried from iteration to iteration as a scalar");
  }
  TWILL_TRY(const std::string first, (*this)(advance->init, ""));
  TWILL_TRY(std::string by, (*this)(advance->by, ""));
  const bool pointer = ir::type_of(view_->program(), value)->kind == ir::TypeKind::pointer;
  if (pointer) by = fmt::format("static_cast<long long>({})", by);
  const bool plain = iteration.find(' ') == std::string::npos;
  return fmt::format("({} + ({}) * {})", first, by, plain ? iteration : "(" + iteration + ")");
}

Result<std::string> Scalars::operator()(ir::ValueId value, const std::string& iteration) {
  const ir::Program& program = view_->program();
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  if (const auto number = constant(program, value)) return *number;
  const ir::Type type = ir::type_of(program, value);
  if (type->kind == ir::TypeKind::memdesc) {
    return view_->refuse(value,
                         "is an operand of a product beside the planned loop, and CUDA C++ has "
                         "products in that loop alone; `twill emit ttgir` has the others, too");
  }
  if (is_register_tile(type) || cpp_type(type).empty()) {
    return view_->refuse(value, "of type " + type->text + " is used as a scalar");
  }
  if (!program.value(value).op) return of_argument(value, iteration);
  const ir::Op& op = program.op(*program.value(value).op);
  if (op.kind == ir::OpKind::program_id) {
    const auto axis = op.axis.value_or(0);
    uses_ids_ = true;
    return std::string(axis == 0 ? "pid_x" : axis == 1 ? "pid_y" : "pid_z");
  }
  if (op.kind == ir::OpKind::program_count) {
    const auto axis = op.axis.value_or(0);
    return std::string(axis == 0 ? "args.grid_x" : axis == 1 ? "args.grid_y" : "args.grid_z");
  }
  if (op.kind == ir::OpKind::load) {
    TWILL_TRY_VOID(view_->check_load(*program.value(value).op));
    TWILL_TRY_VOID(view_->check_fresh(*program.value(value).op));
  }
  std::vector<std::string> operands;
  for (const ir::ValueId operand : op.operands) {
    TWILL_TRY(std::string text, (*this)(operand, iteration));
    operands.push_back(std::move(text));
  }
  const auto expression = arithmetic(program, op, operands);
  if (!expression) return view_->refuse(value, "is no known arithmetic on scalars");
  const Scope scope = scope_of(value);
  if (scope == Scope::iteration) return "(" + *expression + ")";
  const std::string name = "v" + identifier(program.value(value).name);
  Text& text = scope == Scope::kernel ? kernel_scope_ : tile_scope_;
  text.line(fmt::format("{} = {};", constant_of(cpp_type(type), name), *expression));
  known_[value] = name;
  return name;
}

}  // namespace twill::emit::cuda
