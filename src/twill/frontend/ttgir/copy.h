#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "twill/ir/builder.h"
#include "twill/ir/program.h"

/// Copies of Programs in which a part is replaced.
namespace twill::frontend::ttgir {

/// Copies ops with their regions, lines and locations into a new Program that shares the types of
/// the old one. A table maps values of the old Program to values of the new one. Copying an op
/// enters its results and the arguments of its blocks; `bind` enters others.
class Copier {
 public:
  /// `program` must outlive this.
  explicit Copier(const ir::Program& program);

  /// Writes other ops in place of an op and returns true; false: the op is copied.
  using Instead = std::function<bool(ir::OpId op, ir::BlockId into)>;

  /// Copies the whole Program, except the ops that `instead` replaces. nullopt if a value is used
  /// that neither a copied op nor `instead` has defined.
  std::optional<ir::Program> copy(const Instead& instead) &&;

  ir::ProgramBuilder& builder() { return builder_; }

  /// Makes all further names unique: values of separate regions may come into one.
  void make_names_unique() { taken_.emplace(); }

  /// New value for an old value; without one, a new value still to be defined.
  ir::ValueId at(ir::ValueId old);
  void bind(ir::ValueId old, ir::ValueId now) { values_[old] = now; }

  /// Appends a copy of `op` with its regions; without a block, as the module.
  void copy_op(ir::OpId op, std::optional<ir::BlockId> into);
  void copy_ops(std::span<const ir::OpId> ops, ir::BlockId into);

  /// Appends an op that the old Program lacks, with the line and location of an old op. Only name,
  /// operands and attributes of `op` count.
  ir::OpId add(ir::Op op, ir::OpId like, ir::BlockId into);
  /// A constant of an integer type, "c1_i32".
  ir::ValueId add_constant(std::int64_t number, ir::Type type, ir::OpId like, ir::BlockId into);
  ir::ValueId add_result(ir::OpId op, const std::string& name, ir::Type type);
  ir::ValueId add_argument(ir::BlockId block, const std::string& name, ir::Type type);

 private:
  void copy_region(ir::RegionId region, ir::OpId into);
  /// Value of the new Program for `old`, without a definition so far.
  ir::ValueId undefined(ir::ValueId old);
  /// Returns "a#1" if it is free, or "b#1" with one new "b" for all results of the op.
  std::string free_name(const std::string& name, std::map<std::string, std::string>& bases);
  ir::ValueId add_value(const std::string& name, ir::Type type);

  const ir::Program& program_;
  ir::ProgramBuilder builder_;
  Instead instead_;
  std::map<ir::ValueId, ir::ValueId> values_;
  std::map<ir::BlockId, ir::BlockId> blocks_;
  std::optional<std::set<std::string>> taken_;  ///< names in use, if names must be unique
};

}  // namespace twill::frontend::ttgir
