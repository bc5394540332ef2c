#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Vocabulary of leaves: the names of element types and of functions over tiles.
namespace twill::tasks {

/// Tensors are of the first five; positions (i32) and conditions (i1) are values of leaves alone.
/// Numbers of 8 bits are operands of products, and are cast.
enum class Scalar { f16, bf16, f32, f8e4m3, f8e5m2, i32, i1 };
std::string_view name_of(Scalar scalar);
/// That of a tensor.
std::optional<Scalar> scalar_named(std::string_view name);
/// The same as Triton's TTGIR has it: "f8E4M3FN".
std::string_view ir_name_of(Scalar scalar);
/// Bytes of an element.
int bytes_of(Scalar scalar);
/// Whether it is a number of 8 bits.
inline bool is_f8(Scalar scalar) { return scalar == Scalar::f8e4m3 || scalar == Scalar::f8e5m2; }

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
  less,  ///< of numbers or positions, a condition
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  both,    ///< of conditions
  either,  ///< of conditions, or both of them
  opposite,
  select,     ///< the second where the first, a condition, holds, else the third
  iota,       ///< 0, 1, 2 ... of a length, i32
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
/// The names by which functions are called.
std::vector<std::string_view> function_names();

/// Element by element. Operands are of one type, but for the condition of `select`.
bool is_elementwise(Function function);
bool is_comparison(Function function);
/// Whether the operands of `function` may be of that type, conditions of `select` aside.
bool takes(Function function, Scalar scalar);

}  // namespace twill::tasks
