#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Vocabulary of leaves: the names of element types and of functions over tiles.
namespace twill::tasks {

/// Element types. Tensors have any of them except the last: conditions (i1) exist only as values of
/// leaves. Positions are i32. Numbers of 8 bits are operands of products, and can be cast.
enum class Scalar { f16, bf16, f32, f8e4m3, f8e5m2, i8, i32, i1 };
std::string_view name_of(Scalar scalar);
/// Element type of a tensor, by its name.
std::optional<Scalar> scalar_named(std::string_view name);
/// Name in Triton's TTGIR: "f8E4M3FN".
std::string_view ir_name_of(Scalar scalar);
/// Bytes of an element.
int bytes_of(Scalar scalar);
/// Whether elements are floating-point numbers of 8 bits.
inline bool is_f8(Scalar scalar) { return scalar == Scalar::f8e4m3 || scalar == Scalar::f8e5m2; }
/// Whether elements are numbers of 8 bits.
inline bool is_byte(Scalar scalar) { return is_f8(scalar) || scalar == Scalar::i8; }
/// Whether elements are whole numbers.
inline bool is_whole(Scalar scalar) { return scalar == Scalar::i8 || scalar == Scalar::i32; }
/// Type of the sums of products with operands of that type.
inline Scalar sums_of(Scalar operand) { return operand == Scalar::i8 ? Scalar::i32 : Scalar::f32; }
/// Whether an element can hold that number. Whole numbers count up to the limit of exact numbers in
/// f32.
bool can_be(Scalar scalar, double number);
/// Whole numbers below this limit are exact in f32.
inline constexpr double kMostExact = 1 << 24;

/// Functions of tiles. They compute in the operands' type, and round each result to that type.
enum class Function {
  argument,  ///< an argument of the task, with its value on entry
  constant,  ///< one number for all elements, in the type that its user wants
  add,
  sub,
  mul,
  div,
  max,  ///< the larger; of a number and NaN: the number
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
  less,  ///< gives a condition, from numbers or positions
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  both,    ///< of conditions
  either,  ///< of conditions; true if one or both hold
  opposite,
  select,     ///< the second operand where the condition, the first, holds; else the third
  iota,       ///< 0, 1, 2 ... up to a length, i32
  cast,       ///< to another type, rounded to nearest, ties to even
  column,     ///< [M] as the columns of [M, any]
  row,        ///< [N] as the rows of [any, N]
  transpose,  ///< [M, N] as [N, M]
  row_max,    ///< [M, N] to [M]: the largest of each row, compared in order
  row_sum,
  mma,  ///< [M, K] x [K, N] (+ [M, N]): in sums_of, or in f16 when added to f16; k ascending
};

/// Spelling of a Function in the text form, with its number of operands.
struct Spelling {
  Function function;
  std::string_view name;
  std::size_t least;
  std::size_t most;
};
const Spelling& spelling_of(Function function);
/// Function with that name; nullopt for other names.
std::optional<Function> function_named(std::string_view name);
/// Names of all functions that are called by name.
std::vector<std::string_view> function_names();

/// Whether a function works element by element. Operands have one type, except the condition of
/// `select`.
bool is_elementwise(Function function);
bool is_comparison(Function function);
/// Whether operands of `function` may have that type, except conditions of `select`.
bool takes(Function function, Scalar scalar);

}  // namespace twill::tasks
