#include "twill/execute/values.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "twill/execute/integers.h"
#include "twill/execute/rounding.h"

namespace twill::execute {
namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end ? std::optional(value) : std::nullopt;
}

/// Both numbers of "NAME(A,B)".
std::optional<std::pair<double, double>> call(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.ends_with(')')) return std::nullopt;
  text.remove_prefix(name.size());
  text.remove_suffix(1);
  const std::size_t comma = text.find(',');
  if (!text.starts_with('(') || comma == std::string_view::npos) return std::nullopt;
  const auto first = number(text.substr(1, comma - 1)), second = number(text.substr(comma + 1));
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

Values made(Values::Kind kind, double first, double second) {
  Values values;
  values.kind = kind;
  values.first = first;
  values.second = second;
  return values;
}

/// Element type in a file: 'f' numbers, 'i' and 'u' integers, 'b' booleans, 'V' bytes.
struct Stored {
  char kind = 'V';
  std::size_t bytes = 0;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    bits = bits << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return bits;
}

double small_float(const Format& format, int exponent_bits, std::uint64_t bits) {
  const int mantissa = format.mantissa;
  const auto fraction = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << mantissa) - 1));
  const auto exponent = static_cast<int>(bits >> mantissa & ((1U << exponent_bits) - 1));
  const double sign = (bits >> (mantissa + exponent_bits) & 1U) != 0 ? -1 : 1;
  const int highest = (1 << exponent_bits) - 1;
  if (exponent == highest && format.infinite) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (!format.infinite && exponent == highest && fraction == (std::int64_t{1} << mantissa) - 1) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) {
    return sign * std::ldexp(static_cast<double>(fraction), format.least - mantissa);
  }
  const auto significand = static_cast<double>(fraction + (std::int64_t{1} << mantissa));
  return sign * std::ldexp(significand, format.least + exponent - 1 - mantissa);
}

std::uint64_t small_bits(const Format& format, int exponent_bits, double value) {
  const int mantissa = format.mantissa;
  const std::uint64_t sign =
      std::signbit(value) ? std::uint64_t{1} << (mantissa + exponent_bits) : 0;
  const std::uint64_t highest = (std::uint64_t{1} << exponent_bits) - 1;
  if (std::isnan(value)) return highest << mantissa | ((std::uint64_t{1} << mantissa) - 1);
  if (std::isinf(value)) return sign | highest << mantissa;
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), format.least);
  const double scaled = std::ldexp(std::abs(value), mantissa - exponent);
  const auto significand = static_cast<std::uint64_t>(scaled);
  const bool normal = significand >> mantissa != 0;
  const std::uint64_t biased = normal ? static_cast<std::uint64_t>(exponent - format.least + 1) : 0;
  return sign | biased << mantissa | (significand & ((std::uint64_t{1} << mantissa) - 1));
}

int exponent_bits_of(ir::Type element, const Format& format) {
  return element->bits - 1 - format.mantissa;
}

/// Text after 'KEY' in an .npy header, up to the comma at its end.
std::string_view entry(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find(':') + 1, rest.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const char closing = rest.starts_with('(') ? ')' : ',';
  const std::size_t end = rest.find(closing);
  return rest.substr(0, end == std::string_view::npos ? end : end + (closing == ')' ? 1 : 0));
}

std::optional<Stored> stored(std::string_view description) {
  if (description.size() < 5) return std::nullopt;
  const char order = description[1], kind = description[2];
  const auto bytes = number(description.substr(3, description.size() - 4));
  const bool known = order != '>' && std::string_view("fiubV").find(kind) != std::string_view::npos;
  if (!known || !bytes) return std::nullopt;
  const bool fits = *bytes == 1 || *bytes == 2 || *bytes == 4 || *bytes == 8;
  if (!fits || (kind == 'f' && *bytes == 1)) return std::nullopt;
  return Stored{kind, static_cast<std::size_t>(*bytes)};
}

std::optional<Shape> shape_in(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  Shape shape;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (word.empty()) continue;
    const auto extent = number(word);
    if (!extent || *extent < 0) return std::nullopt;
    shape.push_back(static_cast<std::int64_t>(*extent));
  }
  return shape;
}

double element_of(const Stored& stored, std::uint64_t bits) {
  switch (stored.kind) {
    case 'f':
      if (stored.bytes == 8) return std::bit_cast<double>(bits);
      if (stored.bytes == 4) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      }
      return small_float({10, -14, 65504, true}, 5, bits);
    case 'i':
      return static_cast<double>(
          wrapped(static_cast<std::int64_t>(bits), static_cast<int>(8 * stored.bytes)));
    default:
      return static_cast<double>(bits);
  }
}

}  // namespace

std::size_t bytes_of(ir::Type element) {
  return static_cast<std::size_t>(element->bits <= 8 ? 1 : element->bits / 8);
}

std::uint64_t bits_of(ir::Type element, double value) {
  if (element->kind != ir::TypeKind::floating) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  const Format format = *format_of(element);
  return small_bits(format, exponent_bits_of(element, format),
                    static_cast<double>(round_to(format, value)));
}

double value_of(ir::Type element, std::uint64_t bits) {
  if (element->kind != ir::TypeKind::floating) {
    return static_cast<double>(wrapped(static_cast<std::int64_t>(bits), element->bits));
  }
  const Format format = *format_of(element);
  return small_float(format, exponent_bits_of(element, format), bits);
}

Result<Values> read_values(std::string_view text) {
  using Kind = Values::Kind;
  if (const auto constant = number(text)) return made(Kind::constant, *constant, 0);
  if (text == "arange") return made(Kind::counted, 0, 1);
  if (const auto both = call(text, "arange")) return made(Kind::counted, both->first, both->second);
  const auto between = call(text, "uniform");
  if (between && between->first < between->second) {
    return made(Kind::uniform, between->first, between->second);
  }
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const auto first = number(text.substr(0, dots)), end = number(text.substr(dots + 2));
    const bool whole = first && end && *first == std::floor(*first) && *end == std::floor(*end);
    if (whole && *first < *end) return made(Kind::integers, *first, *end);
  }
  return fail({}, "neither a number nor a range: " + std::string(text),
              "ranges are FIRST..END (whole numbers, END not among them), uniform(FIRST,END), "
              "arange and arange(FIRST,STEP)");
}

Result<Values> values_of_npy(std::string bytes, const std::string& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr std::size_t kFixed = 10;
  const std::string_view all = bytes;
  if (!all.starts_with(kMagic) || all.size() < kFixed) return fail({file}, "is no .npy file");
  const bool old = all[6] == 1;
  const std::size_t begin = old ? kFixed : kFixed + 2;
  const auto length = little_endian(all.substr(8, begin - 8));
  if (all.size() < begin + length) return fail({file}, "ends in its header");
  const std::string_view header = all.substr(begin, length);
  const auto what = stored(entry(header, "'descr'"));
  if (!what || entry(header, "'fortran_order'") != "False") {
    return fail({file}, "is not an array of little-endian numbers in row-major order",
                "save numpy.ascontiguousarray(ARRAY)");
  }
  const auto shape = shape_in(entry(header, "'shape'"));
  if (!shape) return fail({file}, "has no shape in its header");
  const std::string_view data = all.substr(begin + length);
  const auto count = static_cast<std::size_t>(size_of(*shape));
  if (count > data.size() / what->bytes || data.size() != count * what->bytes) {
    return fail({file}, "has more or fewer elements than its shape says");
  }
  Values values = values_of_bytes(what->kind == 'V' ? std::string(data) : std::string(), file);
  values.shape = *shape;
  values.element_bytes = what->bytes;
  if (what->kind == 'V') return values;
  auto elements = std::make_shared<std::vector<double>>();
  for (std::size_t i = 0; i < count; ++i) {
    elements->push_back(
        element_of(*what, little_endian(data.substr(i * what->bytes, what->bytes))));
  }
  values.bytes = nullptr;
  values.floating = what->kind == 'f';
  values.elements = std::move(elements);
  return values;
}

Values values_of_bytes(std::string bytes, const std::string& file) {
  Values values = made(Values::Kind::elements, 0, 0);
  values.file = file;
  values.bytes = std::make_shared<const std::string>(std::move(bytes));
  return values;
}

Result<Values> of_type(Values values, ir::Type element) {
  const bool floating = element->kind == ir::TypeKind::floating;
  if (values.kind == Values::Kind::uniform && !floating) {
    return fail({},
                "uniform(FIRST,END) is for numbers, and its elements are of type " + element->text,
                "FIRST..END has whole numbers");
  }
  if (values.kind != Values::Kind::elements) return values;
  if (values.elements != nullptr) {
    if (values.floating == floating) return values;
    return fail({values.file}, std::string("has ") + (floating ? "integers" : "numbers") +
                                   ", and the array's elements are of type " + element->text);
  }
  const std::size_t size = bytes_of(element);
  const bool other = values.element_bytes != 0 && values.element_bytes != size;
  if (other || values.bytes->size() % size != 0) {
    return fail({values.file}, "is not made of elements of type " + element->text + ", " +
                                   std::to_string(size) + " bytes each");
  }
  auto elements = std::make_shared<std::vector<double>>();
  const std::string_view data = *values.bytes;
  for (std::size_t at = 0; at < data.size(); at += size) {
    elements->push_back(value_of(element, little_endian(data.substr(at, size))));
  }
  values.elements = std::move(elements);
  values.bytes = nullptr;
  return values;
}

}  // namespace twill::execute
