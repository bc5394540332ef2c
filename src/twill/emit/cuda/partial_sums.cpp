#include "twill/emit/cuda/partial_sums.h"

#include <fmt/format.h>

namespace twill::emit::cuda {
namespace {

void for_each(Text& text, const Variable& sum, const std::vector<std::string>& lines) {
  text.line("#pragma unroll");
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", array_length(sum)));
  for (const std::string& line : lines) text.line(line);
  text.close();
}

}  // namespace

Result<PartialSums> PartialSums::of(const View& view, plan::RoleId role,
                                    const Registers& registers) {
  PartialSums out;
  for (const plan::PartialSum& sum : view.plan().kernel->partial_sums) {
    if (plan::role_of(view.plan(), sum.sum) != role) continue;
    TWILL_TRY(const ir::OpId reduction, view.op_at(sum.reduction));
    TWILL_TRY(const ir::OpId addition, view.op_at(sum.addition));
    const auto& made = view.program().op(addition).results;
    const Variable* variable =
        made.empty() ? nullptr : registers.find(made.front(), view.origin(sum.sum).part);
    if (variable == nullptr || variable->shape.kind != Shape::Kind::row_vector) {
      return view.refuse(addition, "makes no vector of rows, whose sums could be kept in parts");
    }
    for (const OpId op : sum.ops) out.reductions_.insert({op, reduction});
    out.sums_.push_back(variable);
  }
  return out;
}

void PartialSums::begin(Text& text) const {
  if (sums_.empty()) return;
  text.line("// each thread of a quad sums its own columns; they are added up after the loop");
  text.open("if (twill::thread_here() % 4 != 0)");
  for (const Variable* sum : sums_) for_each(text, *sum, {sum->name + "[i] = 0.0f;"});
  text.close();
}

void PartialSums::complete(Text& text) const {
  for (const Variable* sum : sums_) {
    const auto add = [&](int lanes) {
      return fmt::format("{0}[i] += __shfl_xor_sync(0xffffffffu, {0}[i], {1});", sum->name, lanes);
    };
    for_each(text, *sum, {add(1), add(2)});
  }
}

}  // namespace twill::emit::cuda
