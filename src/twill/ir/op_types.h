#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/ir/misfit.h"
#include "twill/ir/operands.h"

/// Internal to the checker of types: one op, its types, and messages about misfits.
namespace twill::ir {

using Shape = std::vector<std::int64_t>;
using MaybeMisfit = std::optional<Misfit>;

class OpTypes {
 public:
  OpTypes(const Program& program, OpId id) : program_(program), id_(id), op_(program.op(id)) {}

  const Program& program() const { return program_; }
  OpId id() const { return id_; }
  const Op& op() const { return op_; }
  Type type(ValueId value) const { return type_of(program_, value); }
  Type operand(std::size_t i) const { return type(op_.operands[i]); }
  Type result(std::size_t i = 0) const { return type(op_.results[i]); }

  /// "'tt.trans'"
  std::string in_quotes() const { return "'" + op_.name + "'"; }
  /// Message "'tt.trans' needs an 'axis'", about the op alone.
  MaybeMisfit bad(const std::string& what) const { return Misfit{in_quotes() + what, {}}; }
  /// "'tt.trans': %5 has type X, but Y"
  MaybeMisfit wrong(ValueId value, const std::string& wanted) const;

  MaybeMisfit counts(std::size_t operands, std::size_t results = 1) const;
  /// Checks that the value has that shape.
  MaybeMisfit shape(ValueId value, const Shape& wanted) const;
  /// Checks that the value has elements of that type.
  MaybeMisfit element(ValueId value, Type wanted) const;
  /// Checks for one shape and one element type, in any memory and layout.
  MaybeMisfit alike(ValueId value, Type like) const;
  /// Checks for one shape and layout, as elementwise ops need them.
  MaybeMisfit laid_out(ValueId value, Type like) const;
  /// Checks that the value has exactly that type.
  MaybeMisfit same(ValueId value, Type wanted) const;

 private:
  const Program& program_;
  OpId id_;
  const Op& op_;
};

Type scalar_of(Type type);
bool is_whole(Type scalar);  ///< an integer or an index
bool is_floating(Type scalar);
Shape without_ones(const Shape& shape);
/// "128x64", or "a scalar".
std::string words_of(const Shape& shape);
/// "3 operands"
std::string count_of(std::size_t count, std::string_view noun);

MaybeMisfit elementwise_misfit(const OpTypes& types);
MaybeMisfit view_misfit(const OpTypes& types);
MaybeMisfit product_misfit(const OpTypes& types);
MaybeMisfit access_misfit(const OpTypes& types, const MemoryAccess& access);
MaybeMisfit descriptor_misfit(const OpTypes& types);
MaybeMisfit control_misfit(const OpTypes& types);
/// Checks the numbers of arrivals, of bytes, and of operations that a wait leaves in flight.
MaybeMisfit count_misfit(const OpTypes& types);

}  // namespace twill::ir
