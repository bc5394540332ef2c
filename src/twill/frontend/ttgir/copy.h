#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "twill/ir/builder.h"
#include "twill/ir/program.h"

/// A Program made of another one, with a part of it put otherwise.
namespace twill::frontend::ttgir {

/// Copies ops with their regions, lines and locations into a new Program that shares the types of
/// the old one. A table maps values of the old Program to values of the new one. Copying an op
/// enters its results and the arguments of its blocks; `bind` enters others.
class Copier {
 public:
  /// `program` must outlive this.
  explicit Copier(const ir::Program& program);

  /// Writes another op in place of a copy; false: copy it.
  using Instead = std::function<bool(ir::OpId op, ir::BlockId into)>;

  /// The whole Program, with the ops that `instead` replaces. nullopt if a value is used that
  /// neither a copied op nor `instead` has defined.
  std::optional<ir::Program> copy(const Instead& instead) &&;

  ir::ProgramBuilder& builder() { return builder_; }

  /// From now on no two values get the same name: values of separate regions may come into one.
  void make_names_unique() { taken_.emplace(); }

  /// The new value for an old one; if there is none yet, a value that is still to be defined.
  ir::ValueId at(ir::ValueId old);
  void bind(ir::ValueId old, ir::ValueId now) { values_[old] = now; }

  /// Appends a copy of `op` and all in its regions; without a block, as the module.
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
  /// A value of the new Program for `old`, without a definition yet.
  ir::ValueId undefined(ir::ValueId old);
  /// "a#1" as it is, or with another "a" for all results of the op that have it.
  std::string free_name(const std::string& name, std::map<std::string, std::string>& bases);
  ir::ValueId add_value(const std::string& name, ir::Type type);

  const ir::Program& program_;
  ir::ProgramBuilder builder_;
  Instead instead_;
  std::map<ir::ValueId, ir::ValueId> values_;
  std::map<ir::BlockId, ir::BlockId> blocks_;
  std::optional<std::set<std::string>> taken_;  ///< names, if they are to be unique
};

}  // namespace twill::frontend::ttgir
