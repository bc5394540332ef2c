#include "twill/emit/cuda/descriptors.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/emit/cuda/arithmetic.h"
#include "twill/ir/op_types.h"
#include "twill/ir/operands.h"

namespace twill::emit::cuda {

using ir::OpKind;

Result<Tensor> tensor_of_argument(const View& view, std::size_t argument) {
  const auto arguments = ir::function_arguments(view.program(), view.function());
  const auto type_of = [&](std::size_t i) { return ir::type_of(view.program(), arguments[i]); };
  const std::size_t rank = type_of(argument)->element->shape.size();
  Tensor tensor{fmt::format("arg{}", argument), {}, {}};
  for (std::size_t i = 1; i <= 2 * rank; ++i) {
    const char* wanted = i <= rank ? "i32" : "i64";
    if (argument + i >= arguments.size() || type_of(argument + i)->name != wanted) {
      return view.refuse(arguments[argument],
                         fmt::format("is a descriptor (argument {}) that is not followed by its {} "
                                     "sizes and strides",
                                     argument, rank));
    }
    (i <= rank ? tensor.sizes : tensor.strides).push_back(fmt::format("arg{}", argument + i));
  }
  return tensor;
}

namespace {

bool is_division(OpKind kind) {
  return kind == OpKind::sdiv || kind == OpKind::srem || kind == OpKind::udiv ||
         kind == OpKind::urem;
}

/// Whether the host can compute the type with the operators of C++. Arithmetic on floating-point
/// numbers would take functions of the device.
bool is_of_host(ir::Type type) {
  return (ir::is_whole(type) || type->kind == ir::TypeKind::pointer) && !cpp_type(type).empty();
}

}  // namespace

tl::unexpected<Diagnostic> MadeTensors::refuse(const Wanted& wanted, ir::OpId on,
                                               std::string_view why) const {
  return view_.refuse(wanted.op, fmt::format("has a {} that {} ({}), and the launch function makes "
                                             "one descriptor for all CTAs",
                                             wanted.role, why, view_.words(on)));
}

/// Expression for an argument of a block, that is of the function or of a loop.
Result<std::string> MadeTensors::argument(const Wanted& wanted, ir::ValueId value) const {
  const ir::Program& program = view_.program();
  const auto arguments = ir::function_arguments(program, view_.function());
  const auto found = std::find(arguments.begin(), arguments.end(), value);
  if (found != arguments.end()) return fmt::format("arg{}", found - arguments.begin());
  const ir::OpId owner = program.region(program.block(*program.value(value).block).region).op;
  return refuse(wanted, owner, "changes with a loop");
}

/// Prints a check of a divisor, since a division by zero would end the launching program.
void MadeTensors::check_divisor(Text& text, const Wanted& wanted, const ir::Op& op,
                                const std::vector<std::string>& operands) const {
  if (!is_division(op.kind)) return;
  if (ir::constant_integer(view_.program(), op.operands[1]).value_or(0) != 0) return;
  text.line(
      fmt::format("if ({} == 0) return \"launch: a {} of a descriptor is computed by a "
                  "division by 0: {}\";",
                  operands[1], wanted.role, view_.words(wanted.op)));
}

Result<std::string> MadeTensors::scalar(Text& text, const Wanted& wanted, ir::ValueId value) {
  const ir::Program& program = view_.program();
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  const ir::Type type = ir::type_of(program, value);
  if (!program.value(value).op) return argument(wanted, value);
  const ir::OpId id = *program.value(value).op;
  const ir::Op& op = program.op(id);
  if (op.kind == OpKind::program_id) return refuse(wanted, id, "depends on the CTA");
  if (ir::memory_access(op)) return refuse(wanted, id, "depends on memory");
  if (ir::as_loop(program, id)) return refuse(wanted, id, "is the result of a loop");
  if (!is_of_host(type)) return refuse(wanted, id, "takes more than integers to compute");
  if (const auto number = constant(program, value)) return *number;
  if (op.kind == OpKind::program_count) {
    const auto axis = op.axis.value_or(0);
    return std::string(axis == 0 ? "grid_x" : axis == 1 ? "grid_y" : "grid_z");
  }
  std::vector<std::string> operands;
  for (const ir::ValueId operand : op.operands) {
    TWILL_TRY(std::string made, scalar(text, wanted, operand));
    operands.push_back(std::move(made));
  }
  const auto expression = arithmetic(program, op, operands);
  if (!expression) return refuse(wanted, id, "is computed in a way that is not printed");
  check_divisor(text, wanted, op, operands);
  const std::string name = "v" + identifier(program.value(value).name);
  text.line(fmt::format("{} = {};", constant_of(cpp_type(type), name), *expression));
  known_[value] = name;
  return name;
}

Result<Tensor> MadeTensors::tensor_of(Text& text, ir::ValueId descriptor) {
  const ir::Program& program = view_.program();
  const ir::OpId id = *program.value(descriptor).op;
  const ir::Op& op = program.op(id);
  const auto parent = ir::parent(program, id);
  const bool always = parent == view_.function() || parent == view_.loop().op ||
                      (view_.outer() && parent == view_.outer()->op);
  if (!always) return view_.refuse(id, "stands in a branch");
  const auto base = ir::operand_in(op, ir::Role::base);
  const auto sizes = ir::operands_in(op, ir::Role::extents),
             strides = ir::operands_in(op, ir::Role::strides);
  if (!base || sizes.size() != ir::type_of(program, descriptor)->element->shape.size() ||
      strides.size() != sizes.size()) {
    return view_.refuse(id, "makes a descriptor of blocks of another rank than its tensor's");
  }
  Tensor tensor;
  TWILL_TRY(tensor.base, scalar(text, {id, "base"}, *base));
  for (const ir::ValueId size : sizes) {
    TWILL_TRY(std::string made, scalar(text, {id, "size"}, size));
    tensor.sizes.push_back(std::move(made));
  }
  for (const ir::ValueId stride : strides) {
    TWILL_TRY(std::string made, scalar(text, {id, "stride"}, stride));
    tensor.strides.push_back(std::move(made));
  }
  tensor.nan_outside = op.pads_with_nan;
  return tensor;
}

}  // namespace twill::emit::cuda
