#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Vocabulary of leaves: the names of element types and of functions over tiles.
namespace twill::tasks {

/// Tensors are of all but the last; conditions (i1) are values of leaves alone, and positions are
/// i32. Numbers of 8 bits are operands of products, and are cast.
enum class Scalar { f16, bf16, f32, f8e4m3, f8e5m2, i8, i32, i1 };
std::string_view name_of(Scalar scalar);
/// That of a tensor.
std::optional<Scalar> scalar_named(std::string_view name);
/// The same as Triton's TTGIR has it: "f8E4M3FN".
std::string_view ir_name_of(Scalar scalar);
/// Bytes of an element.
int bytes_of(Scalar scalar);
/// Whether it is a floating-point number of 8 bits.
inline bool is_f8(Scalar scalar) { return scalar == Scalar::f8e4m3 || scalar == Scalar::f8e5m2; }
/// Whether it is a number of 8 bits.
inline bool is_byte(Scalar scalar) { return is_f8(scalar) || scalar == Scalar::i8; }
/// Whether its numbers are whole.
inline bool is_whole(Scalar scalar) { return scalar == Scalar::i8 || scalar == Scalar::i32; }
/// The type in which products of operands of that type are added up.
inline Scalar sums_of(Scalar operand) { return operand == Scalar::i8 ? Scalar::i32 : Scalar::f32; }
/// Whether an element can be that number. Of whole numbers `number` may be as large as f32 has all.
bool can_be(Scalar scalar, double number);
/// Whole numbers below are exact in f32.
inline constexpr double kMostExact = 1 << 24;

/// Functions of tiles. They compute in the operands' type, and round each result to it.
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
  mma,  ///< [M, K] x [K, N] (+ [M, N]): sums_of, or onto f16 in f16, k ascending
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

/// Whether a function works element by element. Operands are of one type, except the condition of
/// `select`.
bool is_elementwise(Function function);
bool is_comparison(Function function);
/// Whether the operands of `function` may be of that type, conditions of `select` aside.
bool takes(Function function, Scalar scalar);

}  // namespace twill::tasks
