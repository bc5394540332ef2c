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

struct Known {
  std::string_view name;  ///< mnemonic and type
  std::size_t operands;
  float (*function)(float, float, float);
};

constexpr std::array kKnown = {
    Known{"mov.f32", 1, [](float x, float, float) { return x; }},
    Known{"mov.b32", 1, [](float x, float, float) { return x; }},
    Known{"cvt.tf32.f32", 1, [](float x, float, float) { return to_tf32(x); }},
    Known{"add.f32", 2, [](float x, float y, float) { return x + y; }},
    Known{"sub.f32", 2, [](float x, float y, float) { return x - y; }},
    Known{"mul.f32", 2, [](float x, float y, float) { return x * y; }},
    Known{"div.f32", 2, [](float x, float y, float) { return x / y; }},
    Known{"fma.f32", 3, [](float x, float y, float z) { return std::fma(x, y, z); }},
    Known{"min.f32", 2, [](float x, float y, float) { return std::fmin(x, y); }},
    Known{"max.f32", 2, [](float x, float y, float) { return std::fmax(x, y); }},
    Known{"neg.f32", 1, [](float x, float, float) { return -x; }},
    Known{"abs.f32", 1, [](float x, float, float) { return std::fabs(x); }},
    Known{"ex2.f32", 1, [](float x, float, float) { return std::exp2(x); }},
    Known{"lg2.f32", 1, [](float x, float, float) { return std::log2(x); }},
    Known{"rcp.f32", 1, [](float x, float, float) { return 1 / x; }},
    Known{"sqrt.f32", 1, [](float x, float, float) { return std::sqrt(x); }},
    Known{"rsqrt.f32", 1, [](float x, float, float) { return 1 / std::sqrt(x); }},
    Known{"sin.f32", 1, [](float x, float, float) { return std::sin(x); }},
    Known{"cos.f32", 1, [](float x, float, float) { return std::cos(x); }},
    Known{"tanh.f32", 1, [](float x, float, float) { return std::tanh(x); }},
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

/// The known instruction; its modifiers may be those that leave f32 what it is, to its rounding.
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
  for (const Known& it : kKnown) {
    if (it.name == name) return &it;
  }
  return nullptr;
}

/// "0f3F800000", or a decimal number.
std::optional<float> constant(std::string_view word) {
  if (word.starts_with("0f") || word.starts_with("0F")) {
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
    const bool whole = error == std::errc() && end == word.data() + word.size();
    return whole ? std::optional(std::bit_cast<float>(bits)) : std::nullopt;
  }
  float value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<Assembly> Assembly::read(std::string_view text, std::size_t operands) {
  Assembly made;
  std::map<std::string, std::size_t, std::less<>> numbers;
  for (std::size_t i = 0; i <= operands; ++i) numbers["$" + std::to_string(i)] = i;
  made.registers_ = operands + 1;
  std::set<std::size_t> written;
  for (std::size_t i = 1; i <= operands; ++i) written.insert(i);
  for (const std::string& statement : ir::assembly_statements(text)) {
    const std::string_view all = statement;
    const std::size_t space = std::min(all.find(' '), all.size());
    const std::vector<std::string_view> words = split(all.substr(space), ',');
    if (all.starts_with(".reg")) continue;  // registers come to be where they are written
    const Known* what = known(all.substr(0, space));
    if (what == nullptr || words.size() != what->operands + 1) return std::nullopt;
    Step step;
    step.function = what->function;
    for (std::size_t i = 0; i < what->operands; ++i) {
      const auto place = numbers.find(words[i + 1]);
      const auto number = constant(words[i + 1]);
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
    const bool is_register =
        to == "$0" || to.starts_with('%') || (!to.empty() && !to.starts_with('$') && !constant(to));
    if (!is_register) return std::nullopt;
    const auto [place, fresh] = numbers.try_emplace(std::string(to), made.registers_);
    if (fresh) ++made.registers_;
    step.to = place->second;
    written.insert(step.to);
    made.steps_.push_back(step);
  }
  if (!written.contains(0)) return std::nullopt;
  return made;
}

float Assembly::run(std::span<const float> operands) const {
  std::vector<float> values(registers_, 0);
  for (std::size_t i = 0; i < operands.size(); ++i) values[i + 1] = operands[i];
  for (const Step& step : steps_) {
    float in[3];
    for (std::size_t i = 0; i < 3; ++i) {
      in[i] = step.is_constant[i] ? step.constant[i] : values[step.from[i]];
    }
    values[step.to] = step.function(in[0], in[1], in[2]);
  }
  return values[0];
}

}  // namespace twill::execute
