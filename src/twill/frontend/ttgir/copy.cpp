#include "twill/frontend/ttgir/copy.h"

#include <algorithm>
#include <utility>

#include "twill/frontend/ttgir/lower.h"

namespace twill::frontend::ttgir {

Copier::Copier(const ir::Program& program) : program_(program), builder_(program) {}

std::optional<ir::Program> Copier::copy(const Instead& instead) && {
  for (const auto& [name, attribute] : program_.attribute_aliases()) {
    builder_.add_attribute_alias(name, attribute);
  }
  for (const auto& [name, type] : program_.type_aliases()) builder_.add_type_alias(name, type);
  instead_ = instead;
  copy_op(program_.module(), std::nullopt);
  const ir::Program& made = builder_.so_far();
  for (std::size_t v = 0; v < made.value_count(); ++v) {
    const ir::Value& value = made.value(ir::ValueId(v));
    if (!value.op && !value.block) return std::nullopt;
  }
  return std::move(builder_).finish();
}

ir::ValueId Copier::at(ir::ValueId old) {
  const auto known = values_.find(old);
  if (known != values_.end()) return known->second;
  const ir::Value& value = program_.value(old);
  const ir::ValueId made = builder_.add_value(value.name, value.type);
  values_.emplace(old, made);
  return made;
}

std::string Copier::free_name(const std::string& name, std::map<std::string, std::string>& bases) {
  const std::size_t end = std::min(name.find('#'), name.size());
  const auto [base, fresh] = bases.try_emplace(name.substr(0, end));
  if (fresh) {
    base->second = base->first;
    for (int i = 2; !taken_->insert(base->second).second; ++i) {
      base->second = base->first + "_" + std::to_string(i);
    }
  }
  return base->second + name.substr(end);
}

ir::ValueId Copier::undefined(ir::ValueId old) {
  const auto known = values_.find(old);
  if (known != values_.end()) {
    const ir::Value& value = builder_.so_far().value(known->second);
    if (!value.op && !value.block) return known->second;
    values_.erase(known);
  }
  return at(old);
}

void Copier::copy_op(ir::OpId id, std::optional<ir::BlockId> into) {
  if (into && instead_ && instead_(id, *into)) return;
  const ir::Op& old = program_.op(id);
  ir::Op op = old;
  op.results.clear();
  op.regions.clear();
  op.successors.clear();
  op.operands.clear();
  for (const ir::ValueId operand : old.operands) op.operands.push_back(at(operand));
  if (into) op.block = *into;
  const ir::OpId made = builder_.add_op(std::move(op));
  std::map<std::string, std::string> bases;
  for (const ir::ValueId result : old.results) {
    const ir::ValueId now = undefined(result);
    if (taken_) builder_.set_name(now, free_name(program_.value(result).name, bases));
    builder_.define_result(made, now);
  }
  for (const ir::BlockId successor : old.successors) {
    builder_.add_successor(made, blocks_.at(successor));
  }
  for (const ir::RegionId region : old.regions) copy_region(region, made);
}

void Copier::copy_region(ir::RegionId region, ir::OpId into) {
  const ir::RegionId made = builder_.add_region(into);
  const std::vector<ir::BlockId>& blocks = program_.region(region).blocks;
  for (const ir::BlockId block : blocks) {
    blocks_[block] = builder_.add_block(made, program_.block(block).label);
  }
  for (const ir::BlockId block : blocks) {
    for (const ir::ValueId argument : program_.block(block).arguments) {
      const ir::ValueId now = undefined(argument);
      std::map<std::string, std::string> bases;
      if (taken_) builder_.set_name(now, free_name(program_.value(argument).name, bases));
      builder_.define_argument(blocks_.at(block), now);
      builder_.set_location(now, program_.value(argument).location);
    }
    copy_ops(program_.block(block).ops, blocks_.at(block));
  }
}

void Copier::copy_ops(std::span<const ir::OpId> ops, ir::BlockId into) {
  for (const ir::OpId op : ops) copy_op(op, into);
}

ir::OpId Copier::add(ir::Op op, ir::OpId like, ir::BlockId into) {
  const ir::Op& old = program_.op(like);
  static_cast<ir::Traits&>(op) = lowered(op);
  op.block = into;
  op.location = old.location;
  op.line = old.line;
  op.column = old.column;
  return builder_.add_op(std::move(op));
}

ir::ValueId Copier::add_constant(std::int64_t number, ir::Type type, ir::OpId like,
                                 ir::BlockId into) {
  ir::Op op;
  op.name = "arith.constant";
  op.attributes.emplace_back("value", builder_.types().integer(number, type));
  const ir::OpId made = add(std::move(op), like, into);
  return add_result(made, "c" + std::to_string(number) + "_" + type->text, type);
}

ir::ValueId Copier::add_value(const std::string& name, ir::Type type) {
  std::map<std::string, std::string> bases;
  return builder_.add_value(taken_ ? free_name(name, bases) : name, type);
}

ir::ValueId Copier::add_result(ir::OpId op, const std::string& name, ir::Type type) {
  const ir::ValueId value = add_value(name, type);
  builder_.define_result(op, value);
  return value;
}

ir::ValueId Copier::add_argument(ir::BlockId block, const std::string& name, ir::Type type) {
  const ir::ValueId value = add_value(name, type);
  builder_.define_argument(block, value);
  return value;
}

}  // namespace twill::frontend::ttgir
