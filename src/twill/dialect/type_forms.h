#pragma once

#include <string_view>

/// The types at the end of an op's custom form, and the spellings that Triton has changed. A
/// printer needs both in addition to `formats`.
namespace twill::dialect {

enum class TypeForm {
  generic,   ///< no custom form in the printer: "name"(operands) {..} : (types) -> types
  none,      ///< no types
  result,    ///< : R
  first,     ///< : A, type of the first operand
  operands,  ///< : A, B
  cast,      ///< : A to R
  arrow,     ///< : A, B -> R; without results, of a copy, : A -> B
  function,  ///< : (A, B) -> R
  product,   ///< : A * B -> R
  address,   ///< : R, B, types of a pointer and its offset
  choice,    ///< : R, or : C, R where a tile chooses
  copy_in,   ///< : D, M -> B, types of a descriptor, a barrier and a buffer
  copy,      ///< : A -> <B>, types of pointers, and of a buffer without the name of its kind
};

/// The form of the op of that name, in today's spelling.
TypeForm type_form(std::string_view name);

/// Triton versions whose spelling the printer knows.
enum class Spelling {
  v3_6,  ///< 3.6 and 3.7: !tt.tensordesc<tensor<128x64xf16, #shared>>
  v3_8,  ///< from 3.8 on: !tt.tensordesc<128x64xf16, #shared>
};
/// Spelling of the Triton that made the text, or that reads it.
Spelling spelling_of(std::string_view text);

}  // namespace twill::dialect
