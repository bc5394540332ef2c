#include "twill/emit/cuda/partial_sums.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "twill/ir/operands.h"

namespace twill::emit::cuda {
namespace {

using ir::OpKind;

/// How a carried row vector comes about: sum := sum * factor + reduction.
struct Recurrence {
  ir::OpId reduction;
  std::vector<ir::OpId> ops;  ///< all of it
};

class Finder {
 public:
  explicit Finder(const View& view) : view_(view), program_(view.program()) {}

  std::optional<Recurrence> recurrence_of(const ir::Carried& carried) const {
    const ir::ValueId yielded = view_.behind_views(carried.yielded);
    const ir::Op* sum = ir::defining_op(program_, yielded);
    if (sum == nullptr || !is_f32_vector(yielded) || !is_read_by(yielded, OpKind::scf_yield)) {
      return std::nullopt;
    }
    const ir::OpId id = *program_.value(yielded).op;
    if (sum->kind == OpKind::math_fma) {  // sum * factor + reduction, in one
      return scaled(carried, *sum, id, sum->operands[2], {id});
    }
    if (sum->kind != OpKind::arith_addf) return std::nullopt;
    for (const std::size_t other : {std::size_t{0}, std::size_t{1}}) {
      const ir::ValueId before = view_.behind_views(sum->operands[other]);
      const ir::ValueId added = sum->operands[1 - other];
      if (before == carried.argument) return with(carried, added, id, id, {id});
      const ir::Op* product = ir::defining_op(program_, before);
      if (product == nullptr || product->kind != OpKind::arith_mulf) continue;
      const ir::OpId scaling = *program_.value(before).op;
      if (!reads(*product, carried.argument) || only_reader(before) != id) continue;
      return scaled(carried, *product, scaling, added, {id, scaling});
    }
    return std::nullopt;
  }

 private:
  bool is_f32_vector(ir::ValueId value) const {
    const ir::Type type = ir::type_of(program_, value);
    return is_register_tile(type) && type->shape.size() == 1 && cpp_type(type) == "float";
  }

  bool reads(const ir::Op& op, ir::ValueId value) const {
    return std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId operand) {
      return view_.behind_views(operand) == value;
    });
  }

  /// The one operation that reads the value, behind views; none if there are others.
  std::optional<ir::OpId> only_reader(ir::ValueId value) const {
    std::optional<ir::OpId> reader;
    for (const ir::Use& use : program_.value(value).uses) {
      const ir::Op& user = program_.op(use.op);
      std::optional<ir::OpId> one = use.op;
      if (is_view(user.kind)) one = only_reader(user.results[0]);
      if (!one || (reader && reader != one)) return std::nullopt;
      reader = one;
    }
    return reader;
  }

  bool is_read_by(ir::ValueId value, OpKind kind) const {
    const auto reader = only_reader(value);
    return reader && program_.op(*reader).kind == kind;
  }

  /// `product` = the carried sum times a factor that has nothing to do with it.
  std::optional<Recurrence> scaled(const ir::Carried& carried, const ir::Op& product,
                                   ir::OpId scaling, ir::ValueId added,
                                   std::vector<ir::OpId> ops) const {
    const bool first = view_.behind_views(product.operands[0]) == carried.argument;
    const bool second = view_.behind_views(product.operands[1]) == carried.argument;
    if (first == second) return std::nullopt;
    const ir::OpId adder = ops.front();
    return with(carried, added, adder, scaling, std::move(ops));
  }

  /// What is added is a sum over columns that nobody else reads, and the carried value is read only
  /// by `reader`.
  std::optional<Recurrence> with(const ir::Carried& carried, ir::ValueId added, ir::OpId adder,
                                 ir::OpId reader, std::vector<ir::OpId> ops) const {
    const ir::ValueId reduced = view_.behind_views(added);
    const ir::Op* from = ir::defining_op(program_, reduced);
    if (from == nullptr || from->kind != OpKind::tt_reduce) return std::nullopt;
    const ir::OpId reduction = *program_.value(reduced).op;
    const auto what = *ir::reduction(program_, reduction);
    const auto& combine = program_.block(what.combine);
    const bool adds = what.sources.size() == 1 && combine.ops.size() == 2 &&
                      program_.op(combine.ops[0]).kind == OpKind::arith_addf;
    if (!adds || only_reader(reduced) != adder || only_reader(carried.argument) != reader) {
      return std::nullopt;
    }
    ops.push_back(reduction);
    return Recurrence{reduction, std::move(ops)};
  }

  const View& view_;
  const ir::Program& program_;
};

/// Whether all that `part` has of these operations is done by the role and handed to nobody.
bool is_own(const View& view, plan::RoleId role, int part, const std::vector<ir::OpId>& ops) {
  const plan::Plan& plan = view.plan();
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    const extract::OpOrigin& origin = view.origin(OpId(v));
    const bool concerned =
        (origin.part < 0 || origin.part == part) && !origin.forwards &&
        std::any_of(origin.sources.begin(), origin.sources.end(), [&](const auto& source) {
          return std::find(ops.begin(), ops.end(), source.op) != ops.end();
        });
    if (!concerned) continue;
    const plan::Value& value = plan.values[v];
    if (value.staged || !value.home || plan[*value.home].role != role) return false;
  }
  return true;
}

void for_each(Text& text, const Variable& sum, const std::vector<std::string>& lines) {
  text.line("#pragma unroll");
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", array_length(sum)));
  for (const std::string& line : lines) text.line(line);
  text.close();
}

}  // namespace

PartialSums PartialSums::of(const View& view, plan::RoleId role, const Registers& registers) {
  PartialSums out;
  const Finder finder(view);
  for (const ir::Carried& carried : view.loop().carried) {
    const auto recurrence = finder.recurrence_of(carried);
    if (!recurrence) continue;
    std::vector<const Variable*> sums;
    bool own = true;
    for (const int part : registers.parts()) {
      const Variable* sum = registers.find(view.behind_views(carried.yielded), part);
      if (sum == nullptr) continue;
      own = own && sum->depth == 1 && sum->shape.kind == Shape::Kind::row_vector &&
            is_own(view, role, part, recurrence->ops);
      if (std::find(sums.begin(), sums.end(), sum) == sums.end()) sums.push_back(sum);
    }
    if (!own || sums.empty()) continue;
    out.reductions_.insert(recurrence->reduction);
    out.sums_.insert(out.sums_.end(), sums.begin(), sums.end());
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
