#include "twill/ir/builder.h"

#include <algorithm>

namespace twill::ir {

ProgramBuilder::ProgramBuilder(std::string file) {
  program_.file_ = std::move(file);
  program_.types_ = std::make_shared<TypeTable>();
}

ProgramBuilder::ProgramBuilder(const Program& like) {
  program_.file_ = like.file_;
  program_.types_ = like.types_;
}

OpId ProgramBuilder::add_op(Op op) {
  const OpId id(program_.ops_.size());
  std::stable_sort(op.attributes.begin(), op.attributes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (id != program_.module()) program_.blocks_[op.block.index()].ops.push_back(id);
  program_.ops_.push_back(std::move(op));
  return id;
}

RegionId ProgramBuilder::add_region(OpId op) {
  const RegionId id(program_.regions_.size());
  program_.regions_.push_back({op, {}});
  program_.ops_[op.index()].regions.push_back(id);
  return id;
}

BlockId ProgramBuilder::add_block(RegionId region, std::string label) {
  const BlockId id(program_.blocks_.size());
  program_.blocks_.push_back({std::move(label), {}, {}, region});
  program_.regions_[region.index()].blocks.push_back(id);
  return id;
}

ValueId ProgramBuilder::add_value(std::string name, Type type) {
  const ValueId id(program_.values_.size());
  Value value;
  value.name = std::move(name);
  value.type = type;
  program_.values_.push_back(std::move(value));
  return id;
}

void ProgramBuilder::set_name(ValueId value, std::string name) {
  program_.values_[value.index()].name = std::move(name);
}

void ProgramBuilder::set_type(ValueId value, Type type) {
  program_.values_[value.index()].type = type;
}

void ProgramBuilder::define_result(OpId op, ValueId value) {
  std::vector<ValueId>& results = program_.ops_[op.index()].results;
  program_.values_[value.index()].op = op;
  program_.values_[value.index()].index = results.size();
  results.push_back(value);
}

void ProgramBuilder::define_argument(BlockId block, ValueId value) {
  std::vector<ValueId>& arguments = program_.blocks_[block.index()].arguments;
  program_.values_[value.index()].block = block;
  program_.values_[value.index()].index = arguments.size();
  arguments.push_back(value);
}

void ProgramBuilder::set_operands(OpId op, std::vector<ValueId> operands) {
  program_.ops_[op.index()].operands = std::move(operands);
}

void ProgramBuilder::set_attribute(OpId op, std::string name, Attribute attribute) {
  auto& attributes = program_.ops_[op.index()].attributes;
  const auto place = std::lower_bound(attributes.begin(), attributes.end(), name,
                                      [](const auto& a, const auto& n) { return a.first < n; });
  if (place != attributes.end() && place->first == name) {
    place->second = attribute;
  } else {
    attributes.emplace(place, std::move(name), attribute);
  }
}

void ProgramBuilder::set_location(OpId op, Attribute location) {
  program_.ops_[op.index()].location = location;
}

void ProgramBuilder::set_location(ValueId argument, Attribute location) {
  program_.values_[argument.index()].location = location;
}

void ProgramBuilder::set_form(OpId op, std::string form) {
  program_.ops_[op.index()].form = std::move(form);
}

void ProgramBuilder::set_traits(OpId op, Traits traits) {
  static_cast<Traits&>(program_.ops_[op.index()]) = std::move(traits);
}

void ProgramBuilder::add_successor(OpId op, BlockId block) {
  program_.ops_[op.index()].successors.push_back(block);
}

void ProgramBuilder::add_attribute_alias(std::string name, Attribute attribute) {
  program_.attribute_aliases_.emplace_back(std::move(name), attribute);
}

void ProgramBuilder::add_type_alias(std::string name, Type type) {
  program_.type_aliases_.emplace_back(std::move(name), type);
}

Program ProgramBuilder::finish() && {
  for (std::size_t op = 0; op < program_.ops_.size(); ++op) {
    const std::vector<ValueId>& operands = program_.ops_[op].operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      program_.values_[operands[i].index()].uses.push_back({OpId(op), i});
    }
  }
  return std::move(program_);
}

}  // namespace twill::ir
