#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// A tile that a role keeps in registers from one step to another: an array of each of its threads.
/// f16 and bf16 matrices are packed in pairs of neighbouring columns, as wgmma reads them.
struct Variable {
  std::string name;
  Shape shape;
  std::string type;     ///< type of the elements: "float", "__half", ...
  bool packed = false;  ///< whether the array is of uint32_t, two elements each
  int depth = 1;        ///< copies: `name` has the latest iteration, `name_1` the iteration before
  std::optional<OpId> op;  ///< the op that makes the tile last in an iteration
};

/// "exp2A", "vec_scale_maxA_1": copy `back` iterations before the latest.
std::string copy_name(const Variable& variable, int back);

/// Length of the array.
std::int64_t array_length(const Variable& variable);

/// The results of an op's operations that have to be kept, in program order. Kept are results that
/// other ops read, or that need a loop of their own. An op transfers only these to other roles.
/// Index arithmetic is never kept, but computed at each use.
std::vector<ir::ValueId> kept_results(const View& view, OpId op);

/// Variables of a role, from the register buffers of the plan.
class Registers {
 public:
  static Result<Registers> of(const View& view, plan::RoleId role);

  /// The variable that holds `value`, a result of an operation in the loop; null if no variable
  /// does.
  const Variable* find(ir::ValueId value, int part) const;
  /// Variables of the results that other ops read, in program order.
  struct Made {
    ir::ValueId value;
    const Variable* variable = nullptr;
  };
  std::vector<Made> made_by(OpId op) const;
  /// Parts of rows on which this role works; -1 alone if no value is cut.
  std::vector<int> parts() const;
  /// Prints the declarations.
  void declare(Text& text) const;

 private:
  std::vector<Variable> variables_;
  std::map<std::pair<ir::ValueId, int>, std::size_t> of_value_;
  std::map<OpId, std::vector<ir::ValueId>> made_;
  std::map<OpId, int> part_;
};

/// Whether `value`, a result of one of the op's operations, has a reader beyond `op`: another op,
/// the next iteration, or an epilogue op.
bool is_read_elsewhere(const View& view, OpId op, ir::ValueId value);

}  // namespace twill::emit::cuda
