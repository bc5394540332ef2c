#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/ir/encoding.h"

/// Types and attributes of a Program: immutable nodes, interned by the TypeTable that the Program
/// owns. Within one Program, two types are equal exactly if their pointers are equal. Compare
/// `text` across Programs. A node lives as long as any Program that shares its table.
namespace twill::ir {

enum class TypeKind {
  integer,     ///< i1, i32, i64, si8, ui8 ...
  floating,    ///< f16, bf16, f32, f64, tf32, f8E4M3FN, f8E5M2 ... (`name` tells which)
  index,       ///< index
  tensor,      ///< tensor<128x64xf16, #encoding>: a tile in registers
  memdesc,     ///< a tile in shared or tensor memory, or barriers
  pointer,     ///< to scalars; of a tensor for old block pointers
  tensordesc,  ///< a TMA descriptor; `element` is the block
  token,       ///< orders asynchronous operations, holds no data
  other,       ///< any other type, kept as `text`; also an unknown type ("!twill.unknown")
};

enum class MemorySpace { none, shared, tensor };

struct TypeNode {
  TypeKind kind = TypeKind::other;
  std::string text;                 ///< as MLIR prints it, with all aliases expanded
  std::string name;                 ///< of a scalar: "f16", "bf16", "i32"; empty for other types
  int bits = 0;                     ///< of a scalar (index: 64); 0 for other types
  std::vector<std::int64_t> shape;  ///< tensor, memdesc; -1 is a dynamic extent
  Type element = nullptr;  ///< tensor, memdesc: scalar or pointer; pointer: pointee; tensordesc:
                           ///< tensor of one block; else null
  Attribute encoding = nullptr;           ///< tensor, memdesc: the layout, or null
  Attribute memory_space = nullptr;       ///< memdesc: the attribute itself
  MemorySpace space = MemorySpace::none;  ///< memdesc: the memory that holds the tile
  bool is_mutable = false;                ///< memdesc
  std::vector<std::int64_t> alloc_shape;  ///< memdesc: shape of the buffer that holds it, or empty
  int address_space = 1;                  ///< pointer
};

enum class AttributeKind {
  unit,         ///< present, no value
  boolean,      ///< `integer` is 0 or 1
  integer,      ///< `integer`, with `type` (i64 where the text states none)
  floating,     ///< `number`, with `type`; `text` keeps the spelling (0xFF800000 is -inf)
  string,       ///< `value`, unescaped; `type` may be set
  symbol,       ///< `value` with its @, no quotes: "@kernel", "@outer::@inner"
  type,         ///< `type`
  array,        ///< `elements`
  dense_array,  ///< array<i32: 1, 0>: `type` of the elements, `elements` (integer/floating/boolean)
  dictionary,   ///< `entries`, in text order
  dialect,  ///< #name<{...}>: `value` is the name; `entries` holds a body <{k = v, ...}> or <k = v,
            ///< ...>, `text` any other body
  dense,    ///< dense<...> : type; a splat has one element in `elements`, other lists are nested
            ///< arrays as written; a hex blob has none (see `text`)
  location,  ///< loc(...): `value` is "file", "name", "callsite", "fused" or "unknown"
  opaque,    ///< anything else, balanced, kept as `text`
};

using NamedAttribute = std::pair<std::string, Attribute>;

struct AttributeNode {
  AttributeKind kind = AttributeKind::opaque;
  std::string text;   ///< as MLIR prints it, with all aliases expanded
  std::string value;  ///< string, symbol, dialect name, kind of location
  std::int64_t integer = 0;
  double number = 0;  ///< also set for integers
  Type type = nullptr;
  std::vector<Attribute> elements;      ///< array, dense; operands of a location
  std::vector<NamedAttribute> entries;  ///< dictionary, dialect
  Encoding encoding;                    ///< dialect: meaning as a layout

  /// The entry named `key` of a dictionary or dialect attribute; null if there is none.
  Attribute entry(std::string_view key) const;
};

/// Number of elements of a tensor or memdesc (1 for other types; -1 if an extent is dynamic).
std::int64_t element_count(Type type);

/// Bits of one element of a tensor or memdesc, or of a scalar itself (a pointer has 64). 0 if not
/// known.
int element_bits(Type type);

/// Bytes of a scalar, tensor or memdesc, or of a tensordesc's block, rounded up to whole bytes. 0
/// if not known (tokens, other types, dynamic extents).
std::int64_t byte_size(Type type);

/// Whether both are the same scalar or pointer; signs of integers do not count. Triton's
/// descriptors have blocks of `si8` or `ui8`, while the tiles that they move have elements `i8`.
bool same_element(Type a, Type b);

/// Stands in for a type that a text does not give.
constexpr std::string_view kUnknownType = "!twill.unknown";
inline bool is_known(Type type) { return type->text != kUnknownType; }

bool is_tensor(Type type);
bool is_memdesc(Type type, MemorySpace space);
/// Type of the target of a pointer, or of each pointer of a tile; null without pointers.
Type element_pointee(Type type);
bool is_scalar(Type type);  ///< integer, floating or index

/// `"..."` with escapes where needed.
std::string string_text(std::string_view value);
/// Name of a dictionary's entry: bare if it is an identifier, quoted otherwise.
std::string key_text(std::string_view key);
/// `(A, B) -> C`, `() -> ()`, `() -> (C, D)`.
std::string function_type_text(const std::vector<Type>& inputs, const std::vector<Type>& outputs);
/// `{a = 1 : i32, flag}`: a dictionary as MLIR prints it.
std::string entries_text(const std::vector<NamedAttribute>& entries);

/// Creates and owns interned types and attributes. Equal types or attributes are one node. Cost:
/// amortized constant in the number of direct parts.
class TypeTable {
 public:
  TypeTable();
  ~TypeTable();
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  /// i32, f16, bf16, index, f8E4M3FN ...; null if `name` is no builtin scalar type.
  Type scalar(std::string_view name);
  Type tensor(std::vector<std::int64_t> shape, Type element, Attribute encoding = nullptr);
  /// `prefix` is the spelling of the type up to its "<". `parts` has all fields except kind and
  /// text.
  Type memdesc(TypeNode parts, std::string_view prefix);
  Type pointer(Type pointee, std::string_view prefix, int address_space = 1);
  Type tensordesc(Type block, std::string_view prefix);
  Type token(std::string_view spelling);
  Type other(std::string text);

  Attribute unit();
  Attribute boolean(bool value);
  Attribute integer(std::int64_t value, Type type = nullptr);
  Attribute floating(double value, std::string spelling, Type type = nullptr);
  Attribute string(std::string value, Type type = nullptr);
  /// `value` without quotes, `spelling` as it is printed: "@f", or "@\"a b\"".
  Attribute symbol(std::string value, std::string spelling);
  Attribute type(Type type);
  Attribute array(std::vector<Attribute> elements);
  Attribute dense_array(Type element, std::vector<Attribute> elements);
  Attribute dictionary(std::vector<NamedAttribute> entries);
  /// #name<{k = v}> with `braces`, else #name<k = v>.
  Attribute dialect(std::string name, std::vector<NamedAttribute> entries, Encoding encoding = {},
                    bool braces = true);
  /// `body` is the text after the name with its brackets, or empty.
  Attribute dialect(std::string name, std::string body, Encoding encoding = {});
  Attribute dense(std::vector<Attribute> elements, std::string body, Type type);
  Attribute location(std::string kind, std::vector<Attribute> parts, std::string text);
  Attribute opaque(std::string text);

 private:
  Type intern(TypeNode node);
  Attribute intern(AttributeNode node);

  struct Nodes;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace twill::ir
