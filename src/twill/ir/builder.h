#pragma once

#include <string>
#include <utility>

#include "twill/ir/program.h"

namespace twill::ir {

/// Makes a Program. Ops are added in the order of the text: an op before the ops of its regions.
/// The first op must be the module. Values may be created before their definition, since branches
/// of a control-flow graph can refer forward.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string file);
  /// A Program of the same file that shares the types of `like`.
  explicit ProgramBuilder(const Program& like);

  TypeTable& types() { return *program_.types_; }
  const Program& so_far() const { return program_; }

  /// Appends `op` to its `block` (the module op, the first, to none). `results` and `regions` are
  /// added afterwards, attributes are sorted.
  OpId add_op(Op op);
  RegionId add_region(OpId op);
  BlockId add_block(RegionId region, std::string label = {});

  /// Adds a value without a definition.
  ValueId add_value(std::string name, Type type);
  void set_name(ValueId value, std::string name);
  void set_type(ValueId value, Type type);
  void define_result(OpId op, ValueId value);
  void define_argument(BlockId block, ValueId value);

  void set_operands(OpId op, std::vector<ValueId> operands);
  void set_attribute(OpId op, std::string name, Attribute attribute);
  void set_location(OpId op, Attribute location);
  void set_location(ValueId argument, Attribute location);
  void set_form(OpId op, std::string form);
  void set_traits(OpId op, Traits traits);
  void add_successor(OpId op, BlockId block);

  void add_attribute_alias(std::string name, Attribute attribute);
  void add_type_alias(std::string name, Type type);

  /// Fills the uses of every value and gives the Program away.
  Program finish() &&;

 private:
  Program program_;
};

}  // namespace twill::ir
