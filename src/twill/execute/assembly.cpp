#include "twill/execute/assembly.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "twill/execute/elementwise.h"
#include "twill/execute/evaluate.h"
#include "twill/ir/assembly_text.h"

namespace twill::execute {
namespace {

constexpr std::string_view kSpaces = " \t";

/// The nearest of tf32, ten bits behind the point, ties away from zero.
float to_tf32(float x) {
  if (!std::isfinite(x)) return x;
  constexpr std::uint32_t kLost = 13;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  bits += std::uint32_t{1} << (kLost - 1);
  return std::bit_cast<float>(bits >> kLost << kLost);
}

using Bits = Assembly::Bits;
using Signed = std::int32_t;

float single_of(Bits bits) { return std::bit_cast<float>(bits); }
Bits raw(float number) { return std::bit_cast<Bits>(number); }
Signed signed_of(Bits bits) { return std::bit_cast<Signed>(bits); }
Bits raw(Signed integer) { return std::bit_cast<Bits>(integer); }

/// The bits of a, b and c, by the table that `x[3]` is: bit number 4a + 2b + c.
Bits look_up(const Bits* x) {
  Bits result = 0;
  for (Bits bit = 0; bit < 32; ++bit) {
    const Bits row = (x[0] >> bit & 1U) << 2U | (x[1] >> bit & 1U) << 1U | (x[2] >> bit & 1U);
    result |= (x[3] >> row & 1U) << bit;
  }
  return result;
}

/// Shifts by more than 31 leave nothing, or the sign.
Bits shift_left(const Bits* x) { return x[1] > 31 ? 0 : x[0] << x[1]; }
Bits shift_right(const Bits* x) { return x[1] > 31 ? 0 : x[0] >> x[1]; }
Bits shift_right_signed(const Bits* x) { return raw(signed_of(x[0]) >> std::min<Bits>(x[1], 31)); }

/// Towards zero; what is out of range is the nearest in range, and NaN is zero.
Bits to_integer(float x, double least, double most) {
  if (std::isnan(x)) return 0;
  const double whole = std::trunc(std::clamp(static_cast<double>(x), least, most));
  return static_cast<Bits>(static_cast<std::int64_t>(whole));
}

struct Known {
  std::string_view name;  ///< mnemonic and type
  std::size_t operands;
  Bits (*function)(const Bits*);
};

constexpr std::array kKnown = {
    Known{"mov.f32", 1, [](const Bits* x) { return x[0]; }},
    Known{"cvt.tf32.f32", 1, [](const Bits* x) { return raw(to_tf32(single_of(x[0]))); }},
    Known{"add.f32", 2, [](const Bits* x) { return raw(single_of(x[0]) + single_of(x[1])); }},
    Known{"sub.f32", 2, [](const Bits* x) { return raw(single_of(x[0]) - single_of(x[1])); }},
    Known{"mul.f32", 2, [](const Bits* x) { return raw(single_of(x[0]) * single_of(x[1])); }},
    Known{"div.f32", 2, [](const Bits* x) { return raw(single_of(x[0]) / single_of(x[1])); }},
    Known{"fma.f32", 3,
          [](const Bits* x) {
            return raw(std::fma(single_of(x[0]), single_of(x[1]), single_of(x[2])));
          }},
    Known{"min.f32", 2,
          [](const Bits* x) { return raw(std::fmin(single_of(x[0]), single_of(x[1]))); }},
    Known{"max.f32", 2,
          [](const Bits* x) { return raw(std::fmax(single_of(x[0]), single_of(x[1]))); }},
    Known{"neg.f32", 1, [](const Bits* x) { return raw(-single_of(x[0])); }},
    Known{"abs.f32", 1, [](const Bits* x) { return raw(std::fabs(single_of(x[0]))); }},
    Known{"ex2.f32", 1, [](const Bits* x) { return raw(std::exp2(single_of(x[0]))); }},
    Known{"lg2.f32", 1, [](const Bits* x) { return raw(std::log2(single_of(x[0]))); }},
    Known{"rcp.f32", 1, [](const Bits* x) { return raw(1 / single_of(x[0])); }},
    Known{"sqrt.f32", 1, [](const Bits* x) { return raw(std::sqrt(single_of(x[0]))); }},
    Known{"rsqrt.f32", 1, [](const Bits* x) { return raw(1 / std::sqrt(single_of(x[0]))); }},
    Known{"sin.f32", 1, [](const Bits* x) { return raw(std::sin(single_of(x[0]))); }},
    Known{"cos.f32", 1, [](const Bits* x) { return raw(std::cos(single_of(x[0]))); }},
    Known{"tanh.f32", 1, [](const Bits* x) { return raw(std::tanh(single_of(x[0]))); }},
    Known{"cvt.f32.s32", 1, [](const Bits* x) { return raw(static_cast<float>(signed_of(x[0]))); }},
    Known{"cvt.f32.u32", 1, [](const Bits* x) { return raw(static_cast<float>(x[0])); }},
    Known{"cvt.rzi.s32.f32", 1,
          [](const Bits* x) { return to_integer(single_of(x[0]), -2147483648.0, 2147483647.0); }},
    Known{"cvt.rzi.u32.f32", 1,
          [](const Bits* x) { return to_integer(single_of(x[0]), 0, 4294967295.0); }},
    Known{"mov.b32", 1, [](const Bits* x) { return x[0]; }},
    Known{"add.b32", 2, [](const Bits* x) { return x[0] + x[1]; }},
    Known{"sub.b32", 2, [](const Bits* x) { return x[0] - x[1]; }},
    Known{"mul.lo.b32", 2, [](const Bits* x) { return x[0] * x[1]; }},
    Known{"mad.lo.b32", 3, [](const Bits* x) { return x[0] * x[1] + x[2]; }},
    Known{"neg.b32", 1, [](const Bits* x) { return 0 - x[0]; }},
    Known{"and.b32", 2, [](const Bits* x) { return x[0] & x[1]; }},
    Known{"or.b32", 2, [](const Bits* x) { return x[0] | x[1]; }},
    Known{"xor.b32", 2, [](const Bits* x) { return x[0] ^ x[1]; }},
    Known{"not.b32", 1, [](const Bits* x) { return ~x[0]; }},
    Known{"lop3.b32", 4, look_up},
    Known{"shl.b32", 2, shift_left},
    Known{"shr.u32", 2, shift_right},
    Known{"shr.b32", 2, shift_right},
    Known{"shr.s32", 2, shift_right_signed},
    Known{"min.s32", 2,
          [](const Bits* x) { return raw(std::min(signed_of(x[0]), signed_of(x[1]))); }},
    Known{"max.s32", 2,
          [](const Bits* x) { return raw(std::max(signed_of(x[0]), signed_of(x[1]))); }},
    Known{"min.u32", 2, [](const Bits* x) { return std::min(x[0], x[1]); }},
    Known{"max.u32", 2, [](const Bits* x) { return std::max(x[0], x[1]); }},
    Known{"popc.b32", 1, [](const Bits* x) { return static_cast<Bits>(std::popcount(x[0])); }},
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    std::string_view part = text.substr(0, end);
    part.remove_prefix(std::min(part.find_first_not_of(kSpaces), part.size()));
    part = part.substr(0, part.find_last_not_of(kSpaces) + 1);
    parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

const Known* known_as(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kKnown, [&](const Known& it) { return it.name == name; });
  return found == kKnown.end() ? nullptr : found;
}

/// The known instruction; its modifiers may be those that leave f32 what it is, to its rounding.
/// Where signs make no difference, s32 and u32 are bits.
const Known* known(std::string_view instruction) {
  static const std::set<std::string_view> kModifiers = {"rn", "ftz", "approx", "full"};
  std::string name;
  for (const std::string_view word : split(instruction, '.')) {
    const bool to_tf32 = word == "rna" && name == "cvt";
    if (!name.empty() && (to_tf32 || kModifiers.contains(word))) continue;
    name += (name.empty() ? "" : ".") + std::string(word);
  }
  // Only the rounding of ties away from zero is known.
  if (name == "cvt.tf32.f32" && instruction.find(".rna.") == std::string_view::npos) return nullptr;
  if (const Known* found = known_as(name)) return found;
  const bool is_integer = name.ends_with(".s32") || name.ends_with(".u32");
  return is_integer ? known_as(name.substr(0, name.size() - 3) + "b32") : nullptr;
}

/// The word as a number, all of it.
template <class Number, class... Base>
std::optional<Number> number_in(std::string_view word, Base... base) {
  Number value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base...);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// "0f3F800000", a decimal number of f32, or an integer, decimal or "0x1F".
std::optional<Bits> constant(std::string_view word, bool is_single) {
  const std::string_view prefix = word.substr(0, 2);
  constexpr int kHexadecimal = 16;
  if (prefix == "0f" || prefix == "0F") return number_in<Bits>(word.substr(2), kHexadecimal);
  if (prefix == "0x" || prefix == "0X") return number_in<Bits>(word.substr(2), kHexadecimal);
  if (!is_single) {
    const auto value = number_in<std::int64_t>(word);
    return value ? std::optional(static_cast<Bits>(*value)) : std::nullopt;
  }
  const auto value = number_in<float>(word);
  return value ? std::optional(raw(*value)) : std::nullopt;
}

}  // namespace

std::optional<Assembly> Assembly::read(std::string_view text, std::size_t results,
                                       std::size_t operands) {
  Assembly made;
  std::map<std::string, std::size_t, std::less<>> numbers;
  const std::size_t given = results + operands;
  for (std::size_t i = 0; i < given; ++i) numbers["$" + std::to_string(i)] = i;
  made.results_ = results;
  made.registers_ = given;
  std::set<std::size_t> written;
  for (std::size_t i = results; i < given; ++i) written.insert(i);
  for (const std::string& statement : ir::assembly_statements(text)) {
    const std::string_view all = statement;
    const std::size_t space = std::min(all.find(' '), all.size());
    const std::vector<std::string_view> words = split(all.substr(space), ',');
    if (all.starts_with(".reg")) continue;  // registers come to be where they are written
    const Known* what = known(all.substr(0, space));
    if (what == nullptr || words.size() != what->operands + 1) return std::nullopt;
    Step step;
    step.function = what->function;
    step.count = what->operands;
    const bool on_singles = what->name.ends_with(".f32");
    for (std::size_t i = 0; i < what->operands; ++i) {
      const auto place = numbers.find(words[i + 1]);
      const auto number = constant(words[i + 1], on_singles);
      if (place != numbers.end() && written.contains(place->second)) {
        step.from[i] = place->second;
      } else if (number) {
        step.constant[i] = *number;
        step.is_constant[i] = true;
      } else {
        return std::nullopt;
      }
    }
    const std::string_view to = words[0];
    const auto known_place = numbers.find(to);
    const bool is_given = known_place != numbers.end() && known_place->second < given;
    const bool is_result = is_given && known_place->second < results;
    const bool is_register = !to.empty() && !to.starts_with('$') && !constant(to, true);
    if (!is_result && (is_given || !is_register)) return std::nullopt;
    const auto [place, fresh] = numbers.try_emplace(std::string(to), made.registers_);
    if (fresh) ++made.registers_;
    step.to = place->second;
    written.insert(step.to);
    made.steps_.push_back(step);
  }
  for (std::size_t i = 0; i < results; ++i) {
    if (!written.contains(i)) return std::nullopt;
  }
  return made;
}

Assembly::Bits Assembly::run(std::span<const Bits> operands, std::size_t result) const {
  std::vector<Bits> values(registers_, 0);
  std::ranges::copy(operands, values.begin() + static_cast<std::ptrdiff_t>(results_));
  for (const Step& step : steps_) {
    Bits in[kMost];
    for (std::size_t i = 0; i < step.count; ++i) {
      in[i] = step.is_constant[i] ? step.constant[i] : values[step.from[i]];
    }
    values[step.to] = step.function(in);
  }
  return values[result];
}

Result<Tile> assemble(const ir::Program& program, ir::OpId id, std::span<const TilePtr> operands,
                      std::size_t result) {
  const ir::Op& op = program.op(id);
  const auto is_single = [&](ir::ValueId value) {
    return scalar_of(ir::type_of(program, value))->name == "f32";
  };
  const auto has_register = [&](ir::ValueId value) {
    return is_single(value) || scalar_of(ir::type_of(program, value))->name == "i32";
  };
  const bool fits = op.is_pure && op.count.value_or(1) == 1 && !operands.empty() &&
                    std::ranges::all_of(op.results, has_register) &&
                    std::ranges::all_of(op.operands, has_register);
  const auto known =
      fits ? Assembly::read(op.symbol, op.results.size(), operands.size()) : std::nullopt;
  if (!known) return cannot(program, id, "is assembly whose meaning is not known");
  Shape shape;
  for (const TilePtr& tile : operands) {
    if (!tile->shape.empty()) shape = tile->shape;
  }
  std::vector<Bits> registers(operands.size());
  const auto bits = [&](std::size_t i) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Tile& tile = *operands[k];
      const std::size_t at = tile.shape.empty() ? 0 : i;
      registers[k] =
          tile.is_floating() ? raw(tile.numbers()[at]) : static_cast<Bits>(tile.integers()[at]);
    }
    return known->run(registers, result);
  };
  const auto size = static_cast<std::size_t>(size_of(shape));
  if (is_single(op.results[result])) {
    Numbers numbers(size);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = single_of(bits(i));
    return Tile{std::move(shape), std::move(numbers)};
  }
  Integers integers(size);
  for (std::size_t i = 0; i < size; ++i) integers[i] = signed_of(bits(i));
  return Tile{std::move(shape), std::move(integers)};
}

}  // namespace twill::execute
