#include "twill/extract/assembly.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "twill/ir/assembly_text.h"

namespace twill::extract {
namespace {

constexpr std::string_view kFree = "free";

/// Mnemonics of PTX that only compute, with the machine's kinds of work for floats.
constexpr std::array<std::pair<std::string_view, std::string_view>, 44> kKinds = {{
    {"abs", "add"},      {"add", "add"},      {"and", "int"},     {"bfe", "int"},
    {"bfi", "int"},      {"brev", "int"},     {"clz", "int"},     {"cos", "special"},
    {"cvt", "convert"},  {"div", "special"},  {"ex2", "exp2"},    {"fma", "fma"},
    {"lg2", "special"},  {"lop3", "int"},     {"mad", "fma"},     {"mad24", "int"},
    {"max", "max"},      {"min", "max"},      {"mov", kFree},     {"mul", "fma"},
    {"mul24", "int"},    {"neg", "add"},      {"not", "int"},     {"or", "int"},
    {"popc", "int"},     {"prmt", "int"},     {"rcp", "special"}, {"rsqrt", "special"},
    {"sad", "int"},      {"selp", "select"},  {"set", "select"},  {"setp", "select"},
    {"shf", "int"},      {"shl", "int"},      {"shr", "int"},     {"sin", "special"},
    {"slct", "select"},  {"sqrt", "special"}, {"sub", "add"},     {"tanh", "special"},
    {"testp", "select"}, {"xor", "int"},      {"cnot", "int"},    {"copysign", "int"},
}};

/// Whether one of the instruction's types is of integers or bits.
bool is_on_integers(std::string_view instruction) {
  for (std::size_t dot = instruction.find('.'); dot != std::string_view::npos;
       dot = instruction.find('.', dot + 1)) {
    const std::string_view type =
        instruction.substr(dot + 1);  // matches .s32, .u16x2, .b64, but not .sat
    if (type.size() < 2 || type[1] < '0' || type[1] > '9') continue;
    if (type[0] == 's' || type[0] == 'u' || type[0] == 'b') return !type.starts_with("bf");
  }
  return false;
}

/// Kind of an instruction's work, "mul.f32"; nullopt if it is not known.
std::optional<std::string_view> kind_of(std::string_view instruction) {
  const std::string_view mnemonic = instruction.substr(0, instruction.find('.'));
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(),
                                         [&](const auto& it) { return it.first == mnemonic; });
  if (found == kKinds.end()) return std::nullopt;
  const std::string_view kind = found->second;
  const bool either = kind == "add" || kind == "fma" || kind == "max";
  if (either && is_on_integers(instruction)) return "int";
  if (kind == "special" && is_on_integers(instruction))
    return std::nullopt;  // integers need a subroutine
  return kind;
}

}  // namespace

std::optional<Elementwise> assembly(std::string_view text, std::int64_t elements) {
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string& statement : ir::assembly_statements(text)) {
    if (statement.starts_with('.')) continue;  // declares registers
    const std::string_view instruction = std::string_view(statement).substr(0, statement.find(' '));
    const auto kind = kind_of(instruction);
    if (!kind) return std::nullopt;
    if (*kind != kFree) ++counts[*kind];
  }
  Elementwise out;
  out.word = "asm";
  for (const auto& [kind, count] : counts) {
    const bool mufu = kind == "exp2" || kind == "special";
    if (mufu) out.unit = Unit::mufu;
    const std::int64_t each = (count + elements - 1) / std::max<std::int64_t>(elements, 1);
    out.pieces.push_back({std::string(kind), 32, each, ""});
  }
  // Puts the unit's own work first, as in other ops.
  std::stable_partition(out.pieces.begin(), out.pieces.end(),
                        [](const Piece& it) { return it.kind == "exp2" || it.kind == "special"; });
  if (out.pieces.empty()) return std::nullopt;
  return out;
}

}  // namespace twill::extract
