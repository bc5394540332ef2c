#include "twill/execute/assembly.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "twill/execute/elementwise.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/instructions.h"
#include "twill/execute/integers.h"
#include "twill/execute/rounding.h"
#include "twill/execute/values.h"
#include "twill/ir/assembly_text.h"

namespace twill::execute {
namespace {

using Bits = Assembly::Bits;

constexpr std::string_view kSpaces = " \t";
constexpr int kRegister = 32;               ///< bits
constexpr std::int64_t kMostTogether = 32;  ///< elements that one execution computes

/// Whether an instruction only orders accesses, of kernels or of threads.
bool only_orders(std::string_view statement) {
  constexpr std::string_view kOrdering[] = {"griddepcontrol.", "bar.", "barrier.", "membar.",
                                            "fence."};
  return std::ranges::any_of(kOrdering,
                             [&](std::string_view word) { return statement.starts_with(word); });
}

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

/// The whole word as a number.
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
  return value ? std::optional(std::bit_cast<Bits>(*value)) : std::nullopt;
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
  bool orders = false;
  std::set<std::size_t> written;
  for (std::size_t i = results; i < given; ++i) written.insert(i);
  for (const std::string& statement : ir::assembly_statements(text)) {
    const std::string_view all = statement;
    const std::size_t space = std::min(all.find(' '), all.size());
    const std::vector<std::string_view> words = split(all.substr(space), ',');
    if (all.starts_with(".reg")) continue;  // registers are created at their first write
    if (only_orders(all)) {
      orders = true;
      continue;
    }
    const KnownInstruction* what = instruction(all.substr(0, space));
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
  const bool makes_nothing = orders && made.steps_.empty();
  for (std::size_t i = 0; i < results && !makes_nothing; ++i) {
    if (!written.contains(i)) return std::nullopt;
  }
  return made;
}

void Assembly::run(std::span<const Bits> operands, std::span<Bits> results) const {
  std::vector<Bits> values(registers_, 0);
  std::ranges::copy(operands, values.begin() + static_cast<std::ptrdiff_t>(results_));
  for (const Step& step : steps_) {
    Bits in[kMost];
    for (std::size_t i = 0; i < step.count; ++i) {
      in[i] = step.is_constant[i] ? step.constant[i] : values[step.from[i]];
    }
    values[step.to] = step.function(in);
  }
  std::copy_n(values.begin(), results_, results.begin());
}

namespace {

/// Packing of `together` elements of a type in registers.
struct Packing {
  ir::Type type = nullptr;
  std::size_t together = 1;
  std::size_t in_register = 1;  ///< elements
  std::size_t first = 0;        ///< register

  std::size_t registers() const { return together / in_register; }
  bool fits() const {
    const auto bits = static_cast<int>(in_register) * type->bits;
    const bool known = type->kind == ir::TypeKind::integer ||
                       (type->kind == ir::TypeKind::floating && format_of(type));
    return known && bits == kRegister && together % in_register == 0;
  }
  int shift(std::size_t lane) const { return static_cast<int>(lane % in_register) * type->bits; }
  void put(std::span<Bits> registers, std::size_t lane, const Tile& tile, std::size_t i) const {
    const std::size_t at = tile.shape.empty() ? 0 : i;
    const bool single = type->name == "f32";
    const Bits bits =
        single ? std::bit_cast<Bits>(tile.numbers()[at])
        : tile.is_floating()
            ? static_cast<Bits>(bits_of(type, static_cast<double>(tile.numbers()[at])))
            : static_cast<Bits>(as_unsigned(tile.integers()[at], type->bits));
    registers[first + lane / in_register] |= bits << shift(lane);
  }
  Bits get(std::span<const Bits> registers, std::size_t lane) const {
    const Bits bits = registers[first + lane / in_register] >> shift(lane);
    return type->bits == kRegister ? bits : bits & ((Bits{1} << type->bits) - 1);
  }
};

/// Places of values in consecutive registers. nullopt if elements do not fill them.
std::optional<std::vector<Packing>> packed_in(const ir::Program& program,
                                              std::span<const ir::ValueId> values,
                                              std::size_t together) {
  std::vector<Packing> all;
  std::size_t next = 0;
  for (const ir::ValueId value : values) {
    Packing packing;
    packing.type = scalar_of(ir::type_of(program, value));
    packing.together = together;
    const int fill = kRegister / std::max(packing.type->bits, 1);
    packing.in_register = std::clamp<std::size_t>(static_cast<std::size_t>(fill), 1, together);
    packing.first = next;
    if (!packing.fits()) return std::nullopt;
    next += packing.registers();
    all.push_back(packing);
  }
  return all;
}

std::size_t registers_of(const std::vector<Packing>& all) {
  return all.empty() ? 0 : all.back().first + all.back().registers();
}

/// Makes the tile whose elements have these bits.
Tile tile_of(ir::Type type, Shape shape, std::span<const Bits> bits) {
  if (type->kind == ir::TypeKind::floating) {
    Numbers numbers;
    for (const Bits it : bits) {
      numbers.push_back(type->name == "f32" ? std::bit_cast<float>(it)
                                            : static_cast<float>(value_of(type, it)));
    }
    return {std::move(shape), std::move(numbers)};
  }
  Integers integers;
  for (const Bits it : bits) integers.push_back(wrapped(it, type->bits));
  return {std::move(shape), std::move(integers)};
}

/// Runs assembly on tiles, `together` elements at a time.
class PackedRun {
 public:
  PackedRun(const Assembly& assembly, std::vector<Packing> in, std::vector<Packing> out,
            std::span<const TilePtr> operands)
      : assembly_(assembly),
        in_(std::move(in)),
        out_(std::move(out)),
        operands_(operands),
        given_(registers_of(in_)),
        made_(registers_of(out_)) {}

  /// Results, in registers, for these elements.
  std::span<const Bits> of(std::span<const std::size_t> elements) {
    std::ranges::fill(given_, 0);
    for (std::size_t k = 0; k < in_.size(); ++k) {
      for (std::size_t lane = 0; lane < elements.size(); ++lane) {
        in_[k].put(given_, lane, *operands_[k], elements[lane]);
      }
    }
    assembly_.run(given_, made_);
    return made_;
  }

  const Packing& result(std::size_t number) const { return out_[number]; }

 private:
  const Assembly& assembly_;
  std::vector<Packing> in_, out_;
  std::span<const TilePtr> operands_;
  std::vector<Bits> given_, made_;
};

}  // namespace

Result<Tile> assemble(const ir::Program& program, ir::OpId id, std::span<const TilePtr> operands,
                      std::size_t result) {
  const ir::Op& op = program.op(id);
  const auto together =
      static_cast<std::size_t>(std::clamp<std::int64_t>(op.count.value_or(1), 1, kMostTogether));
  const auto in = packed_in(program, op.operands, together);
  const auto out = packed_in(program, op.results, together);
  const auto known =
      in && out ? Assembly::read(op.symbol, registers_of(*out), registers_of(*in)) : std::nullopt;
  if (!known || op.count.value_or(1) > kMostTogether) {
    return cannot(program, id, "is assembly whose meaning is not known");
  }
  Shape shape = operands.empty() ? ir::type_of(program, op.results[result])->shape : Shape();
  for (const TilePtr& tile : operands) {
    if (!tile->shape.empty()) shape = tile->shape;
  }
  PackedRun run(*known, *in, *out, operands);
  const Packing& packing = run.result(result);
  const auto size = static_cast<std::size_t>(size_of(shape));
  std::vector<Bits> bits(size);
  std::vector<std::size_t> elements(together);
  for (std::size_t i = 0; i < size; i += together) {
    for (std::size_t lane = 0; lane < together; ++lane) {
      elements[lane] = std::min(i + lane, size - 1);
    }
    const std::vector<std::size_t> group = elements;
    const std::span<const Bits> made = run.of(group);
    for (std::size_t lane = 0; lane < together; ++lane) bits[group[lane]] = packing.get(made, lane);
    // A layout decides which elements share a register. So the result must be the same for each
    // choice.
    for (std::size_t lane = 0; together > 1 && lane < together; ++lane) {
      std::ranges::fill(elements, group[lane]);
      const std::span<const Bits> alone = run.of(elements);
      for (std::size_t other = 0; other < together; ++other) {
        if (packing.get(alone, other) == bits[group[lane]]) continue;
        return cannot(program, id, "is assembly by which an element depends on its neighbours");
      }
    }
  }
  return tile_of(packing.type, std::move(shape), bits);
}

}  // namespace twill::execute
