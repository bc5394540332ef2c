#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Vocabulary of leaves: the names of element types and of functions over tiles.
namespace twill::tasks {

enum class Scalar { f16, bf16, f32 };
std::string_view name_of(Scalar scalar);
std::optional<Scalar> scalar_named(std::string_view name);
/// Bytes of an element.
int bytes_of(Scalar scalar);

/// Functions of tiles. Arithmetic is that of the operands' type, each result rounded to it.
enum class Function {
  argument,  ///< an argument of the task as it is on entry
  constant,  ///< one number for all elements, of the type that its user wants
  add,
  sub,
  mul,
  div,
  max,  ///< the larger; of a number and NaN the number
  min,
  neg,
  exp,
  exp2,
  log,
  log2,
  sqrt,
  rsqrt,
  tanh,
  erf,
  abs,
  cast,       ///< to another type, rounded to the nearest, ties to even
  column,     ///< [M] as the columns of [M, any]
  row,        ///< [N] as the rows of [any, N]
  transpose,  ///< [M, N] as [N, M]
  row_max,    ///< [M, N] to [M]: the largest of each row, the first element first
  row_sum,
  mma,  ///< [M, K] x [K, N] (+ [M, N]): f32 sums, k ascending
};

/// Spelling of a Function in the text form, and how many operands it takes.
struct Spelling {
  Function function;
  std::string_view name;
  std::size_t least;
  std::size_t most;
};
const Spelling& spelling_of(Function function);
/// A function that is called by its name; nullopt for other names.
std::optional<Function> function_named(std::string_view name);

/// Element by element, of operands of one type.
bool is_elementwise(Function function);
/// True if row r of the result follows from rows r of the operands in `operand` (of mma: A and the
/// accumulator, not B).
bool goes_by_rows(Function function, std::size_t operand);

}  // namespace twill::tasks
