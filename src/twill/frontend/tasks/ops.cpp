#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/frontend/tasks/lowering.h"
#include "twill/support/check.h"

namespace twill::frontend::from_tasks {

using tasks::Function;
using tasks::Scalar;

std::string op_of(Function function, Scalar scalar) {
  const bool whole = scalar == Scalar::i32 || scalar == Scalar::i1;
  switch (function) {
    case Function::add:
    case Function::row_sum:
      return whole ? "arith.addi" : "arith.addf";
    case Function::sub:
      return whole ? "arith.subi" : "arith.subf";
    case Function::mul:
      return whole ? "arith.muli" : "arith.mulf";
    case Function::neg:  // multiplies by -1, since Triton lowers no arith.negf of tiles
      return "arith.mulf";
    case Function::div:
      return "arith.divf";
    case Function::max:
    case Function::row_max:
      return whole ? "arith.maxsi" : "arith.maxnumf";
    case Function::min:
      return whole ? "arith.minsi" : "arith.minnumf";
    case Function::exp:
      return "math.exp";
    case Function::exp2:
      return "math.exp2";
    case Function::log:
      return "math.log";
    case Function::log2:
      return "math.log2";
    case Function::sqrt:
      return "math.sqrt";
    case Function::rsqrt:
      return "math.rsqrt";
    case Function::erf:
      return "math.erf";
    case Function::abs:
      return "math.absf";
    case Function::less:
      return whole ? "arith.cmpi slt," : "arith.cmpf olt,";
    case Function::less_equal:
      return whole ? "arith.cmpi sle," : "arith.cmpf ole,";
    case Function::greater:
      return whole ? "arith.cmpi sgt," : "arith.cmpf ogt,";
    case Function::greater_equal:
      return whole ? "arith.cmpi sge," : "arith.cmpf oge,";
    case Function::equal:
      return whole ? "arith.cmpi eq," : "arith.cmpf oeq,";
    case Function::unequal:
      return whole ? "arith.cmpi ne," : "arith.cmpf une,";
    case Function::both:
      return "arith.andi";
    case Function::either:
      return "arith.ori";
    case Function::opposite:
      return "arith.xori";
    case Function::select:
      return "arith.select";
    default:
      TWILL_CHECK(false, "functions with operands of one shape have an op");
      return "";
  }
}

std::string call_text(const Callee& callee, const std::vector<std::string>& operands,
                      const std::vector<std::string>& types, const std::string& type) {
  return fmt::format(
      "tt.extern_elementwise {} {{libname = \"{}\", libpath = \"{}\", pure = true, symbol = "
      "\"{}\"}} : ({}) -> {}",
      fmt::join(operands, ", "), callee.library, callee.path, callee.symbol, fmt::join(types, ", "),
      type);
}

}  // namespace twill::frontend::from_tasks
