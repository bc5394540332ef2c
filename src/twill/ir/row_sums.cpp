#include "twill/ir/row_sums.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "twill/ir/operands.h"
#include "twill/ir/views.h"

namespace twill::ir {
namespace {

class Finder {
 public:
  explicit Finder(const Program& program) : program_(program) {}

  std::optional<RowSum> sum_of(const Carried& carried) const {
    const ValueId yielded = behind(carried.yielded);
    const Op* sum = defining_op(program_, yielded);
    if (sum == nullptr || !is_f32_vector(yielded) || !is_read_by(yielded, OpKind::yield)) {
      return std::nullopt;
    }
    const OpId id = *program_.value(yielded).op;
    if (sum->kind == OpKind::fma) {  // sum * factor + reduction, in one op
      return scaled(carried, *sum, id, sum->operands[2], id);
    }
    if (sum->kind != OpKind::fadd) return std::nullopt;
    for (const std::size_t other : {std::size_t{0}, std::size_t{1}}) {
      const ValueId before = behind(sum->operands[other]);
      const ValueId added = sum->operands[1 - other];
      if (before == carried.argument) return with(carried, added, id, id);
      const Op* product = defining_op(program_, before);
      if (product == nullptr || product->kind != OpKind::fmul) continue;
      const OpId scaling = *program_.value(before).op;
      if (!reads(*product, carried.argument) || only_reader(before) != id) continue;
      return scaled(carried, *product, scaling, added, id);
    }
    return std::nullopt;
  }

 private:
  ValueId behind(ValueId value) const { return behind_views(program_, value); }

  bool is_f32_vector(ValueId value) const {
    const Type type = type_of(program_, value);
    return type->kind == TypeKind::tensor && type->shape.size() == 1 &&
           type->element->name == "f32";
  }

  bool reads(const Op& op, ValueId value) const {
    return std::any_of(op.operands.begin(), op.operands.end(),
                       [&](ValueId operand) { return behind(operand) == value; });
  }

  /// The only op that reads the value, looking through views; nullopt if several ops read it.
  std::optional<OpId> only_reader(ValueId value) const {
    std::optional<OpId> reader;
    for (const Use& use : program_.value(value).uses) {
      const Op& user = program_.op(use.op);
      std::optional<OpId> one = use.op;
      if (is_view(user.kind)) one = only_reader(user.results[0]);
      if (!one || (reader && reader != one)) return std::nullopt;
      reader = one;
    }
    return reader;
  }

  bool is_read_by(ValueId value, OpKind kind) const {
    const auto reader = only_reader(value);
    return reader && program_.op(*reader).kind == kind;
  }

  /// Recognizes `product` as the carried sum times a factor that does not depend on the sum.
  std::optional<RowSum> scaled(const Carried& carried, const Op& product, OpId scaling,
                               ValueId added, OpId addition) const {
    const bool first = behind(product.operands[0]) == carried.argument;
    const bool second = behind(product.operands[1]) == carried.argument;
    if (first == second) return std::nullopt;
    return with(carried, added, addition, scaling);
  }

  /// Checks that `added` is a sum over columns without another reader, and that only `reader` reads
  /// the carried value.
  std::optional<RowSum> with(const Carried& carried, ValueId added, OpId addition,
                             OpId reader) const {
    const ValueId reduced = behind(added);
    const Op* from = defining_op(program_, reduced);
    if (from == nullptr || from->kind != OpKind::reduce) return std::nullopt;
    const OpId id = *program_.value(reduced).op;
    const auto what = reduction(program_, id);
    if (!what || what->sources.size() != 1 || what->axis != 1) return std::nullopt;
    const auto& combine = program_.block(what->combine);
    const bool adds = combine.ops.size() == 2 && program_.op(combine.ops[0]).kind == OpKind::fadd;
    if (!adds || only_reader(reduced) != addition || only_reader(carried.argument) != reader) {
      return std::nullopt;
    }
    RowSum sum{id, addition, {id, addition}};
    if (reader != addition) sum.ops.push_back(reader);
    return sum;
  }

  const Program& program_;
};

}  // namespace

std::vector<RowSum> row_sums(const Program& program, const Loop& loop) {
  const Finder finder(program);
  std::vector<RowSum> sums;
  for (const Carried& carried : loop.carried) {
    if (auto sum = finder.sum_of(carried)) sums.push_back(*std::move(sum));
  }
  return sums;
}

}  // namespace twill::ir
