#pragma once

#include <string_view>

/// The types that the custom form of an op ends in, and which of its spellings Triton has changed:
/// what a printer needs beside `formats`.
namespace twill::dialect {

enum class TypeForm {
  generic,   ///< no custom form that we print: "name"(operands) {..} : (types) -> types
  none,      ///< no types
  result,    ///< : R
  first,     ///< : A, of the first operand
  operands,  ///< : A, B
  cast,      ///< : A to R
  arrow,     ///< : A, B -> R; without results, of a copy, : A -> B
  function,  ///< : (A, B) -> R
  product,   ///< : A * B -> R
  address,   ///< : R, B, of a pointer and its offset
  choice,    ///< : R, or : C, R where a tile chooses
  copy_in,   ///< : D, M -> B, of a descriptor, a barrier and a buffer
  copy,      ///< : A -> <B>, of pointers and a buffer without the name of its kind
};

/// The form of the op of that name, in today's spelling.
TypeForm type_form(std::string_view name);

/// A Triton whose spelling is printed.
enum class Spelling {
  v3_6,  ///< 3.6 and 3.7: !tt.tensordesc<tensor<128x64xf16, #shared>>
  v3_8,  ///< from 3.8 on: !tt.tensordesc<128x64xf16, #shared>
};
/// The spelling of a text: that of the Triton that made the text, or of one that reads it.
Spelling spelling_of(std::string_view text);

}  // namespace twill::dialect
