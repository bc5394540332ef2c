#include "twill/ir/copy.h"

#include <algorithm>
#include <utility>

namespace twill::ir {

Copier::Copier(const Program& program) : program_(program), builder_(program) {}

std::optional<Program> Copier::copy(const Instead& instead) && {
  for (const auto& [name, attribute] : program_.attribute_aliases()) {
    builder_.add_attribute_alias(name, attribute);
  }
  for (const auto& [name, type] : program_.type_aliases()) builder_.add_type_alias(name, type);
  instead_ = instead;
  copy_op(program_.module(), std::nullopt);
  const Program& made = builder_.so_far();
  for (std::size_t v = 0; v < made.value_count(); ++v) {
    const Value& value = made.value(ValueId(v));
    if (!value.op && !value.block) return std::nullopt;
  }
  return std::move(builder_).finish();
}

ValueId Copier::at(ValueId old) {
  const auto known = values_.find(old);
  if (known != values_.end()) return known->second;
  const Value& value = program_.value(old);
  const ValueId made = builder_.add_value(value.name, value.type);
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

ValueId Copier::undefined(ValueId old) {
  const auto known = values_.find(old);
  if (known != values_.end()) {
    const Value& value = builder_.so_far().value(known->second);
    if (!value.op && !value.block) return known->second;
    values_.erase(known);
  }
  return at(old);
}

void Copier::copy_op(OpId id, std::optional<BlockId> into) {
  if (into && instead_ && instead_(id, *into)) return;
  const Op& old = program_.op(id);
  Op op = old;
  op.results.clear();
  op.regions.clear();
  op.successors.clear();
  op.operands.clear();
  for (const ValueId operand : old.operands) op.operands.push_back(at(operand));
  if (into) op.block = *into;
  const OpId made = builder_.add_op(std::move(op));
  std::map<std::string, std::string> bases;
  for (const ValueId result : old.results) {
    const ValueId now = undefined(result);
    if (taken_) builder_.set_name(now, free_name(program_.value(result).name, bases));
    builder_.define_result(made, now);
  }
  for (const BlockId successor : old.successors) {
    builder_.add_successor(made, blocks_.at(successor));
  }
  for (const RegionId region : old.regions) copy_region(region, made);
}

void Copier::copy_region(RegionId region, OpId into) {
  const RegionId made = builder_.add_region(into);
  const std::vector<BlockId>& blocks = program_.region(region).blocks;
  for (const BlockId block : blocks) {
    blocks_[block] = builder_.add_block(made, program_.block(block).label);
  }
  for (const BlockId block : blocks) {
    for (const ValueId argument : program_.block(block).arguments) {
      const ValueId now = undefined(argument);
      std::map<std::string, std::string> bases;
      if (taken_) builder_.set_name(now, free_name(program_.value(argument).name, bases));
      builder_.define_argument(blocks_.at(block), now);
      builder_.set_location(now, program_.value(argument).location);
    }
    copy_ops(program_.block(block).ops, blocks_.at(block));
  }
}

void Copier::copy_ops(std::span<const OpId> ops, BlockId into) {
  for (const OpId op : ops) copy_op(op, into);
}

OpId Copier::add(Op op, OpId like, BlockId into) {
  const Op& old = program_.op(like);
  op.block = into;
  op.location = old.location;
  op.line = old.line;
  op.column = old.column;
  return builder_.add_op(std::move(op));
}

ValueId Copier::add_value(const std::string& name, Type type) {
  std::map<std::string, std::string> bases;
  return builder_.add_value(taken_ ? free_name(name, bases) : name, type);
}

ValueId Copier::add_result(OpId op, const std::string& name, Type type) {
  const ValueId value = add_value(name, type);
  builder_.define_result(op, value);
  return value;
}

ValueId Copier::add_argument(BlockId block, const std::string& name, Type type) {
  const ValueId value = add_value(name, type);
  builder_.define_argument(block, value);
  return value;
}

}  // namespace twill::ir
