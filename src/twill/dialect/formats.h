#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill::dialect {

/// One piece of a custom assembly format.
struct FormatElement {
  enum class Kind {
    operand,     ///< $role: one SSA name
    operands,    ///< $role*: SSA names with commas, maybe none
    literal,     ///< punctuation or a keyword
    keyword,     ///< @attribute=word|word...: one of these words, stored as its number
    flag,        ///< @attribute!word: sets a unit attribute if the word is there
    integer,     ///< @attribute:i32: an integer literal
    integers,    ///< @attribute:i32[]: integers with commas
    symbol,      ///< @attribute:symbol
    string,      ///< @attribute:string
    attributes,  ///< {}: the attribute dictionary, if present
    optional,    ///< ?( ... ): taken if its first element is present
    repeated,    ///< *( ... ): taken as long as its first element is present
  };
  Kind kind = Kind::literal;
  std::string name;                   ///< role, attribute, or the literal itself
  std::string type;                   ///< of the attribute's number: "i32", "i64"
  std::vector<std::string> words;     ///< keyword, flag
  std::int64_t first_number = 0;      ///< of the first word
  std::vector<FormatElement> inside;  ///< optional, repeated
};

/// How the result types of an op follow from what its custom form states.
enum class ResultRule {
  listed,       ///< the types behind the arrow, or all types without an arrow
  tokens,       ///< the types behind the arrow, then asynchronous tokens
  only_tokens,  ///< stated types are operands' types: all results are tokens
  pointee,      ///< type of the first type's target, in its shape
  truth,        ///< i1 in the shape of the first type
  first,        ///< the first type
  last,         ///< the last type
  element,      ///< the element of the first type
  index,        ///< index
};

/// The custom form of an op, up to its types.
struct Format {
  std::vector<FormatElement> elements;
  ResultRule results = ResultRule::listed;
  bool has_syntax = false;  ///< false: only `results` is known; operands are in textual order
};

/// Format of an op, by today's name; null for an op without a format.
const Format* format_of(std::string_view name);

}  // namespace twill::dialect
