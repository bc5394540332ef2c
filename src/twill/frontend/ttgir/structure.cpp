#include "twill/frontend/ttgir/structure.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "twill/frontend/ttgir/attribute_rules.h"
#include "twill/frontend/ttgir/possible.h"
#include "twill/frontend/ttgir/result_types.h"
#include "twill/frontend/ttgir/spelling.h"
#include "twill/ir/loop.h"
#include "twill/ir/misfit.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::frontend::ttgir {
namespace {

std::string count_of(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// Whether an op can end the body of a function; an unknown op can.
bool can_terminate(const ir::Op& op) {
  switch (op.kind) {
    case ir::OpKind::other:
    case ir::OpKind::ret:
    case ir::OpKind::jump:
    case ir::OpKind::jump_if:
      return true;
    default:
      return !op.successors.empty();
  }
}

class Checker {
 public:
  explicit Checker(const ir::Program& program) : program_(program) {
    for (const ir::OpId function : functions(program)) {
      by_name_.emplace(symbol_name(program, function), function);
    }
  }

  Result<void> check(ir::OpId id) {
    if (auto bad = wrong_attribute(program_.op(id))) return wrong(id, *std::move(bad));
    TWILL_TRY_VOID(check_form(id));
    TWILL_TRY_VOID(check_possible(id));
    TWILL_TRY_VOID(check_slice(id));
    const auto misfit = ir::misfit(program_, id);
    if (!misfit) return {};
    return wrong(id, misfit->message + ir::source_words(program_, id),
                 misfit->value ? made_at(*misfit->value) : std::string());
  }

 private:
  /// Place of the definition that determines a value's type.
  std::string made_at(ir::ValueId value) const {
    const ir::Op& op = program_.op(ir::maker(program_, value));
    return "%" + program_.value(value).name + " is made at " + std::to_string(op.line) + ":" +
           std::to_string(op.column);
  }

  /// Checks the layouts of an op's results, and the launch of a module.
  Result<void> check_possible(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (op.kind == ir::OpKind::module) {
      if (auto impossible = impossible_launch(op)) return wrong(id, *std::move(impossible));
    }
    TWILL_TRY_VOID(check_layouts(id, op.results));
    for (const ir::RegionId region : op.regions) {
      for (const ir::BlockId block : program_.region(region).blocks) {
        TWILL_TRY_VOID(check_layouts(id, program_.block(block).arguments));
      }
    }
    return {};
  }

  /// Checks vectors of reductions and new dimensions: their layout must be a slice of the tile's.
  Result<void> check_slice(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    const bool reduces = op.kind == ir::OpKind::reduce;
    if (!reduces && op.kind != ir::OpKind::expand_dims) return {};
    if (op.operands.empty() || op.results.empty() || !op.axis) return {};
    const ir::ValueId vector = reduces ? op.results[0] : op.operands[0];
    const ir::ValueId tile = reduces ? op.operands[0] : op.results[0];
    const auto layout = [&](ir::ValueId value) { return type_of(program_, value)->encoding; };
    if (is_slice_along(layout(vector), layout(tile), *op.axis)) return {};
    return wrong(id, "'" + op.name + "': the layout of %" + program_.value(vector).name +
                         " is no slice along axis " + std::to_string(*op.axis) +
                         " of the layout of %" + program_.value(tile).name);
  }

  Result<void> check_layouts(ir::OpId id, const std::vector<ir::ValueId>& values) {
    for (const ir::ValueId value : values) {
      ir::Type type = type_of(program_, value);
      if (auto impossible = impossible_place(type)) {
        return wrong(id, "the layout of %" + program_.value(value).name +
                             " cannot be: " + *std::move(impossible));
      }
      if (type->kind == ir::TypeKind::tensordesc && type->element != nullptr) type = type->element;
      if (type->encoding == nullptr) continue;
      const bool is_new = looked_at_.insert(type->encoding).second;
      if (auto impossible = is_new ? impossible_layout(type->encoding) : std::nullopt) {
        return wrong(id, "the layout of %" + program_.value(value).name +
                             " cannot be: " + *std::move(impossible));
      }
      TWILL_TRY_VOID(check_warps(id, value, type->encoding));
    }
    return {};
  }

  /// Checks that a layout distributes a tile to the warps that run the op.
  Result<void> check_warps(ir::OpId id, ir::ValueId value, ir::Attribute layout) {
    const auto warps = warps_of(program_, id);
    if (!warps || !of_warps_.emplace(layout, *warps).second) return {};
    const auto impossible = impossible_warps(layout, *warps);
    if (!impossible) return {};
    return wrong(id, "the layout of %" + program_.value(value).name + " cannot be: " + *impossible);
  }

  Result<void> check_form(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    switch (op.kind) {
      case ir::OpKind::for_loop:
        return check_for(id);
      case ir::OpKind::while_loop:
        return check_while(id);
      case ir::OpKind::branch:
        return check_if(id);
      case ir::OpKind::function:
        return check_function(id);
      case ir::OpKind::call:
        return check_call(id);
      case ir::OpKind::warp_roles:
        return check_roles(id);
      case ir::OpKind::reduce:
      case ir::OpKind::scan:
        return check_reduction(id);
      case ir::OpKind::range:
        return check_range(id);
      case ir::OpKind::jump:
      case ir::OpKind::jump_if:
        return check_branch(id);
      default:
        return {};
    }
  }

  tl::unexpected<Diagnostic> wrong(ir::OpId op, std::string message, std::string hint = {}) const {
    return fail(text_location(program_, op), std::move(message), std::move(hint));
  }

  std::vector<ir::Type> types_of(std::span<const ir::ValueId> values) const {
    std::vector<ir::Type> types;
    for (const ir::ValueId value : values) types.push_back(type_of(program_, value));
    return types;
  }

  Result<void> as_many(ir::OpId op, std::string_view what, std::size_t count,
                       std::size_t wanted) const {
    if (count == wanted) return {};
    return wrong(op, std::string(what) + ": " + count_of(count, "value") + ", but " +
                         std::to_string(wanted) + " wanted");
  }

  /// Checks that "what" has the types `wanted`.
  Result<void> same(ir::OpId op, std::string_view what, std::span<const ir::ValueId> values,
                    std::span<const ir::Type> wanted) const {
    TWILL_TRY_VOID(as_many(op, what, values.size(), wanted.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ir::Value& value = program_.value(values[i]);
      if (value.type == wanted[i] || !is_known(value.type) || !is_known(wanted[i])) continue;
      return wrong(op, std::string(what) + ": %" + value.name + " has type " + value.type->text +
                           ", but " + wanted[i]->text + " is wanted");
    }
    return {};
  }

  Result<void> same(ir::OpId op, std::string_view what, std::span<const ir::ValueId> values,
                    std::span<const ir::ValueId> like) const {
    const std::vector<ir::Type> wanted = types_of(like);
    return same(op, what, values, wanted);
  }

  /// Op at the end of region `index` of `id`, which must have one block.
  Result<ir::OpId> region_end(ir::OpId id, std::size_t index, std::string_view end) const {
    const auto block = body(program_, id, index);
    if (!block) return wrong(id, "'" + program_.op(id).name + "' needs a region of one block");
    const auto last = terminator(program_, *block);
    if (last && todays_name(program_.op(*last).name) == end) return *last;
    return wrong(last.value_or(id), "this region must end in '" + std::string(end) + "'");
  }

  Result<void> check_for(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    if (op.operands.size() < 3)
      return wrong(id, "a loop needs a lower bound, upper bound and step");
    TWILL_TRY(const ir::OpId yield, region_end(id, 0, "scf.yield"));
    const std::span<const ir::ValueId> inits = std::span(op.operands).subspan(3);
    const std::span<const ir::ValueId> arguments = program_.block(*body(program_, id)).arguments;
    if (arguments.empty()) return wrong(id, "the loop's region has no induction variable");
    const std::size_t count = op.results.size();
    TWILL_TRY_VOID(as_many(id, "initial values of the loop", inits.size(), count));
    TWILL_TRY_VOID(as_many(id, "arguments of the loop's region", arguments.size() - 1, count));
    return as_many(yield, "values the loop yields", program_.op(yield).operands.size(), count);
  }

  Result<void> check_while(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    TWILL_TRY(const ir::OpId condition, region_end(id, 0, "scf.condition"));
    TWILL_TRY(const ir::OpId yield, region_end(id, 1, "scf.yield"));
    const std::span<const ir::ValueId> before = program_.block(*body(program_, id, 0)).arguments;
    const std::span<const ir::ValueId> after = program_.block(*body(program_, id, 1)).arguments;
    const std::span<const ir::ValueId> passed = program_.op(condition).operands;
    if (passed.empty()) return wrong(condition, "the condition is missing");
    TWILL_TRY_VOID(as_many(id, "initial values of the loop", op.operands.size(), before.size()));
    TWILL_TRY_VOID(as_many(condition, "values passed on", passed.size() - 1, after.size()));
    TWILL_TRY_VOID(
        as_many(id, "arguments of the loop's second region", after.size(), op.results.size()));
    return as_many(yield, "values the loop yields", program_.op(yield).operands.size(),
                   before.size());
  }

  Result<void> check_if(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    if (op.operands.size() != 1) return wrong(id, "a conditional has one condition");
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      const bool empty = program_.region(op.regions[i]).blocks.empty();
      if (i == 1 && empty && op.results.empty()) continue;
      if (empty) return wrong(id, "a conditional with results needs an else");
      TWILL_TRY(const ir::OpId yield, region_end(id, i, "scf.yield"));
      TWILL_TRY_VOID(as_many(yield, "values this branch yields", program_.op(yield).operands.size(),
                             op.results.size()));
    }
    return {};
  }

  Result<void> check_function(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    if (op.regions.size() != 1) return wrong(id, "a function has one region");
    const ir::Attribute signature = attribute(op, "function_type");
    for (const ir::BlockId block : program_.region(op.regions[0]).blocks) {
      const auto last = terminator(program_, block);
      if (!last || !can_terminate(program_.op(*last))) {
        return wrong(last.value_or(id), "a block of a function must end in a return or a branch");
      }
      const ir::OpKind kind = program_.op(*last).kind;
      if (kind != ir::OpKind::ret) continue;
      const std::vector<ir::Type> inputs = types_of(function_arguments(program_, id));
      const std::vector<ir::Type> outputs = types_of(program_.op(*last).operands);
      const std::string actual = function_type_text(inputs, outputs);
      const bool is_inferred = actual.find(kUnknownType) == std::string::npos;
      if (signature == nullptr || signature->text == actual || !is_inferred) continue;
      return wrong(*last, "what is returned does not fit the function's type " + signature->text);
    }
    return {};
  }

  /// Checks that every partition has the op's captures as arguments, and an end.
  Result<void> check_roles(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    TWILL_TRY(const ir::OpId yield, region_end(id, 0, "ttg.warp_yield"));
    TWILL_TRY_VOID(
        same(yield, "what the default warps yield", program_.op(yield).operands, op.results));
    TWILL_TRY(const ir::OpId holder, region_end(id, 1, "ttg.warp_specialize.partitions"));
    const std::size_t partitions = program_.op(holder).regions.size();
    if (op.warps.size() != partitions) {
      return wrong(id, count_of(partitions, "partition") + ", but 'partitionNumWarps' has " +
                           std::to_string(op.warps.size()));
    }
    const ir::Op& captures = op.operands.empty() ? program_.op(holder) : op;
    for (std::size_t i = 0; i < partitions; ++i) {
      const auto& region = program_.region(program_.op(holder).regions[i]);
      if (region.blocks.empty()) return wrong(holder, "a partition without a body");
      const auto& arguments = program_.block(region.blocks.front()).arguments;
      TWILL_TRY_VOID(
          same(id, "captures of partition" + std::to_string(i), captures.operands, arguments));
      const auto last = ir::terminator(program_, region.blocks.back());
      if (last && program_.op(*last).kind == ir::OpKind::partition_end) continue;
      return wrong(last.value_or(holder), "a partition must end in 'ttg.warp_return'");
    }
    return {};
  }

  Result<void> check_call(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    const ir::Attribute callee = attribute(op, "callee");
    if (callee == nullptr) return {};
    const std::string_view name = std::string_view(callee->value).substr(1);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return wrong(id, "there is no function " + callee->value);
    const ir::Op& function = program_.op(found->second);
    if (function.regions.empty() || program_.region(function.regions[0]).blocks.empty()) return {};
    return same(id, "arguments of the call", op.operands,
                function_arguments(program_, found->second));
  }

  Result<void> check_reduction(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    const bool scans = op.kind == ir::OpKind::scan;
    TWILL_TRY(const ir::OpId end, region_end(id, 0, scans ? "tt.scan.return" : "tt.reduce.return"));
    const std::size_t sources = op.operands.size();
    const std::size_t arguments = program_.block(*body(program_, id)).arguments.size();
    if (arguments == 2 * sources && op.results.size() == sources &&
        program_.op(end).operands.size() == sources) {
      return {};
    }
    return wrong(id, count_of(sources, "source") + " need " + count_of(2 * sources, "argument") +
                         " of the region, and as many results and returned values as sources");
  }

  Result<void> check_range(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    const auto start = integer_attribute(op, "start"), end = integer_attribute(op, "end");
    if (!start || !end) return wrong(id, "'" + op.name + "' needs 'start' and 'end'");
    if (*start < INT32_MIN || *end > INT32_MAX || *start > *end) {
      return wrong(id, "'" + op.name + "': 'start' and 'end' are no range of 32 bits");
    }
    if (op.results.size() != 1) return wrong(id, "'" + op.name + "' has one result");
    const ir::Type type = type_of(program_, op.results[0]);
    if (!is_known(type) || type->shape == std::vector<std::int64_t>{*end - *start}) return {};
    return wrong(id, "'" + op.name + "': %" + program_.value(op.results[0]).name + " has type " +
                         type->text + ", but " + std::to_string(*end - *start) + " is wanted");
  }

  Result<void> check_branch(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    const bool conditional = op.kind == ir::OpKind::jump_if;
    if (op.successors.size() != (conditional ? 2U : 1U)) {
      return wrong(id, conditional ? "a conditional branch has two blocks to go to"
                                   : "a branch has one block to go to");
    }
    const ir::Role role = ir::Role::taken;
    const auto first =
        conditional ? operands_in(op, role) : std::span<const ir::ValueId>(op.operands);
    TWILL_TRY_VOID(
        same(id, "values for the block", first, program_.block(op.successors[0]).arguments));
    if (!conditional) return {};
    return same(id, "values for the second block", operands_in(op, ir::Role::otherwise),
                program_.block(op.successors[1]).arguments);
  }

  const ir::Program& program_;
  std::map<std::string_view, ir::OpId> by_name_;
  std::set<ir::Attribute> looked_at_;  ///< checked layouts
  /// Checked layouts, with the number of warps that hold their tiles.
  std::set<std::pair<ir::Attribute, std::int64_t>> of_warps_;
};

}  // namespace

Result<void> check_structure(const ir::Program& program) {
  Checker checker(program);
  for (std::size_t op = 0; op < program.op_count(); ++op) {
    TWILL_TRY_VOID(checker.check(ir::OpId(op)));
  }
  return {};
}

}  // namespace twill::frontend::ttgir
