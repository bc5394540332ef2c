#include "twill/ir/type.h"

#include <cctype>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace twill::ir {
namespace {

/// Digits of `text` as a number of bits; nullopt for any other character.
std::optional<int> bits_in(std::string_view text) {
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  constexpr int kWidestInteger = 1 << 24;  // MLIR's own limit
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text[0] == '-' || bits <= 0 || bits > kWidestInteger) return std::nullopt;
  return bits;
}

/// Bits of a floating type by name; nullopt for other names. All minifloats are spelled
/// f<bits>E<..>M<..>.
std::optional<int> float_bits(std::string_view name) {
  if (name == "bf16") return 16;
  if (name == "tf32") return 32;  // occupies 32 bits, of which 19 count
  if (name == "f16" || name == "f32" || name == "f64" || name == "f80" || name == "f128") {
    return bits_in(name.substr(1));
  }
  if (name.size() < 4 || name[0] != 'f' || name[1] < '4' || name[1] > '8' || name[2] != 'E') {
    return std::nullopt;
  }
  return name.find('M') == std::string_view::npos ? std::nullopt : bits_in(name.substr(1, 1));
}

std::optional<int> integer_bits(std::string_view name) {
  if (name.size() > 1 && name[0] == 'i') return bits_in(name.substr(1));
  const bool has_sign = name.size() > 2 && (name[0] == 's' || name[0] == 'u') && name[1] == 'i';
  return has_sign ? bits_in(name.substr(2)) : std::nullopt;
}

std::string shape_text(const std::vector<std::int64_t>& shape, std::string_view after) {
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += shape[i] < 0 ? std::string("?") : std::to_string(shape[i]);
    if (i + 1 < shape.size() || !after.empty()) text += 'x';
  }
  return text + std::string(after);
}

std::string list_text(const std::vector<Attribute>& elements) {
  std::string text = "[";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    text += (i == 0 ? "" : ", ") + elements[i]->text;
  }
  return text + "]";
}

}  // namespace

Attribute AttributeNode::entry(std::string_view key) const {
  for (const auto& [name, attribute] : entries) {
    if (name == key) return attribute;
  }
  return nullptr;
}

std::int64_t element_count(Type type) {
  std::int64_t count = 1;
  for (const std::int64_t extent : type->shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return -1;
  }
  return count;
}

int element_bits(Type type) {
  switch (type->kind) {
    case TypeKind::integer:
    case TypeKind::floating:
    case TypeKind::index:
      return type->bits;
    case TypeKind::pointer:
      return 64;
    case TypeKind::tensor:
    case TypeKind::memdesc:
      return element_bits(type->element);
    default:
      return 0;
  }
}

std::int64_t byte_size(Type type) {
  if (type->kind == TypeKind::tensordesc) return byte_size(type->element);
  const std::int64_t count = element_count(type);
  std::int64_t bits = 0;
  if (count < 0 || __builtin_mul_overflow(count, element_bits(type), &bits)) return 0;
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

Type element_pointee(Type type) {
  const Type scalar = type->kind == TypeKind::tensor ? type->element : type;
  return scalar != nullptr && scalar->kind == TypeKind::pointer ? scalar->element : nullptr;
}

bool same_element(Type a, Type b) {
  if (a == b) return true;
  return a->kind == TypeKind::integer && b->kind == TypeKind::integer && a->bits == b->bits;
}

bool is_tensor(Type type) { return type->kind == TypeKind::tensor; }

bool is_memdesc(Type type, MemorySpace space) {
  return type->kind == TypeKind::memdesc && type->space == space;
}

bool is_scalar(Type type) {
  return type->kind == TypeKind::integer || type->kind == TypeKind::floating ||
         type->kind == TypeKind::index;
}

/// Nodes by their text, which is unique per kind.
struct TypeTable::Nodes {
  std::unordered_map<std::string, std::unique_ptr<const TypeNode>> types;
  std::unordered_map<std::string, std::unique_ptr<const AttributeNode>> attributes;
};

TypeTable::TypeTable() : nodes_(std::make_unique<Nodes>()) {}
TypeTable::~TypeTable() = default;

Type TypeTable::intern(TypeNode node) {
  const auto [place, added] = nodes_->types.try_emplace(node.text);
  if (added) place->second = std::make_unique<const TypeNode>(std::move(node));
  return place->second.get();
}

Attribute TypeTable::intern(AttributeNode node) {
  std::string key(1, static_cast<char>('a' + static_cast<int>(node.kind)));
  key += node.text;
  const auto [place, added] = nodes_->attributes.try_emplace(std::move(key));
  if (added) place->second = std::make_unique<const AttributeNode>(std::move(node));
  return place->second.get();
}

Type TypeTable::scalar(std::string_view name) {
  const auto found = nodes_->types.find(std::string(name));
  if (found != nodes_->types.end()) return found->second.get();
  TypeNode node;
  if (name == "index") {
    node.kind = TypeKind::index;
    node.bits = 64;
  } else if (const auto integer = integer_bits(name)) {
    node.kind = TypeKind::integer;
    node.bits = *integer;
  } else if (const auto floating = float_bits(name)) {
    node.kind = TypeKind::floating;
    node.bits = *floating;
  } else {
    return nullptr;
  }
  node.name = name;
  node.text = name;
  return intern(std::move(node));
}

Type TypeTable::tensor(std::vector<std::int64_t> shape, Type element, Attribute encoding) {
  TypeNode node;
  node.kind = TypeKind::tensor;
  node.text = "tensor<" + shape_text(shape, element->text);
  if (encoding != nullptr) node.text += ", " + encoding->text;
  node.text += ">";
  node.shape = std::move(shape);
  node.element = element;
  node.encoding = encoding;
  return intern(std::move(node));
}

Type TypeTable::memdesc(TypeNode parts, std::string_view prefix) {
  parts.kind = TypeKind::memdesc;
  parts.text = std::string(prefix) + "<" + shape_text(parts.shape, parts.element->text);
  if (parts.encoding != nullptr) parts.text += ", " + parts.encoding->text;
  if (parts.memory_space != nullptr) parts.text += ", " + parts.memory_space->text;
  if (parts.is_mutable) parts.text += ", mutable";
  if (!parts.alloc_shape.empty()) parts.text += ", " + shape_text(parts.alloc_shape, "");
  parts.text += ">";
  return intern(std::move(parts));
}

Type TypeTable::pointer(Type pointee, std::string_view prefix, int address_space) {
  TypeNode node;
  node.kind = TypeKind::pointer;
  node.text = std::string(prefix) + "<" + pointee->text;
  if (address_space != 1) node.text += ", " + std::to_string(address_space);
  node.text += ">";
  node.element = pointee;
  node.address_space = address_space;
  return intern(std::move(node));
}

Type TypeTable::tensordesc(Type block, std::string_view prefix) {
  TypeNode node;
  node.kind = TypeKind::tensordesc;
  node.text = std::string(prefix) + "<" + block->text + ">";
  node.element = block;
  return intern(std::move(node));
}

Type TypeTable::token(std::string_view spelling) {
  TypeNode node;
  node.kind = TypeKind::token;
  node.text = spelling;
  return intern(std::move(node));
}

Type TypeTable::other(std::string text) {
  TypeNode node;
  node.text = std::move(text);
  return intern(std::move(node));
}

Attribute TypeTable::unit() {
  AttributeNode node;
  node.kind = AttributeKind::unit;
  node.text = "unit";
  return intern(std::move(node));
}

Attribute TypeTable::boolean(bool value) {
  AttributeNode node;
  node.kind = AttributeKind::boolean;
  node.text = value ? "true" : "false";
  node.integer = value ? 1 : 0;
  node.number = value ? 1 : 0;
  node.type = scalar("i1");
  return intern(std::move(node));
}

Attribute TypeTable::integer(std::int64_t value, Type type) {
  AttributeNode node;
  node.kind = AttributeKind::integer;
  node.type = type;
  node.text = std::to_string(value) + (type != nullptr ? " : " + type->text : "");
  node.integer = value;
  node.number = static_cast<double>(value);
  return intern(std::move(node));
}

Attribute TypeTable::floating(double value, std::string spelling, Type type) {
  AttributeNode node;
  node.kind = AttributeKind::floating;
  node.type = type;
  node.text = std::move(spelling) + (type != nullptr ? " : " + type->text : "");
  node.number = value;
  return intern(std::move(node));
}

Attribute TypeTable::string(std::string value, Type type) {
  AttributeNode node;
  node.kind = AttributeKind::string;
  node.text = string_text(value);
  if (type != nullptr) node.text += " : " + type->text;
  node.value = std::move(value);
  node.type = type;
  return intern(std::move(node));
}

Attribute TypeTable::symbol(std::string value, std::string spelling) {
  AttributeNode node;
  node.kind = AttributeKind::symbol;
  node.text = std::move(spelling);
  node.value = std::move(value);
  return intern(std::move(node));
}

Attribute TypeTable::type(Type type) {
  AttributeNode node;
  node.kind = AttributeKind::type;
  node.text = type->text;
  node.type = type;
  return intern(std::move(node));
}

Attribute TypeTable::array(std::vector<Attribute> elements) {
  AttributeNode node;
  node.kind = AttributeKind::array;
  node.text = list_text(elements);
  node.elements = std::move(elements);
  return intern(std::move(node));
}

Attribute TypeTable::dense_array(Type element, std::vector<Attribute> elements) {
  AttributeNode node;
  node.kind = AttributeKind::dense_array;
  node.text = "array<" + element->text;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string& text = elements[i]->text;
    node.text += (i == 0 ? ": " : ", ") + text.substr(0, text.find(" : "));
  }
  node.text += ">";
  node.type = element;
  node.elements = std::move(elements);
  return intern(std::move(node));
}

Attribute TypeTable::dictionary(std::vector<NamedAttribute> entries) {
  AttributeNode node;
  node.kind = AttributeKind::dictionary;
  node.text = entries_text(entries);
  node.entries = std::move(entries);
  return intern(std::move(node));
}

Attribute TypeTable::dialect(std::string name, std::vector<NamedAttribute> entries,
                             Encoding encoding, bool braces) {
  std::string body = entries_text(entries);
  if (!braces) body = body.substr(1, body.size() - 2);
  AttributeNode node;
  node.kind = AttributeKind::dialect;
  node.text = "#" + name + "<" + body + ">";
  node.value = std::move(name);
  node.entries = std::move(entries);
  node.encoding = std::move(encoding);
  return intern(std::move(node));
}

Attribute TypeTable::dialect(std::string name, std::string body, Encoding encoding) {
  AttributeNode node;
  node.kind = AttributeKind::dialect;
  node.text = "#" + name + body;
  node.value = std::move(name);
  node.encoding = std::move(encoding);
  return intern(std::move(node));
}

Attribute TypeTable::dense(std::vector<Attribute> elements, std::string body, Type type) {
  AttributeNode node;
  node.kind = AttributeKind::dense;
  node.text = "dense<" + body + "> : " + type->text;
  node.type = type;
  node.elements = std::move(elements);
  return intern(std::move(node));
}

Attribute TypeTable::location(std::string kind, std::vector<Attribute> parts, std::string text) {
  AttributeNode node;
  node.kind = AttributeKind::location;
  node.text = std::move(text);
  node.value = std::move(kind);
  node.elements = std::move(parts);
  return intern(std::move(node));
}

Attribute TypeTable::opaque(std::string text) {
  AttributeNode node;
  node.text = std::move(text);
  return intern(std::move(node));
}

std::string string_text(std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      text += '\\';
      text += kHex[byte >> 4U];
      text += kHex[byte & 15U];
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string key_text(std::string_view key) {
  bool bare = !key.empty() && (std::isalpha(static_cast<unsigned char>(key[0])) || key[0] == '_');
  for (const char c : key) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
    bare = bare && plain;
  }
  return bare ? std::string(key) : string_text(key);
}

std::string function_type_text(const std::vector<Type>& inputs, const std::vector<Type>& outputs) {
  const auto list = [](const std::vector<Type>& types) {
    std::string text = "(";
    for (std::size_t i = 0; i < types.size(); ++i) text += (i == 0 ? "" : ", ") + types[i]->text;
    return text + ")";
  };
  return list(inputs) + " -> " + (outputs.size() == 1 ? outputs[0]->text : list(outputs));
}

std::string entries_text(const std::vector<NamedAttribute>& entries) {
  std::string text = "{";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [name, attribute] = entries[i];
    text += (i == 0 ? "" : ", ") + key_text(name);
    if (attribute->kind != AttributeKind::unit) text += " = " + attribute->text;
  }
  return text + "}";
}

}  // namespace twill::ir
