#include "twill/run/compare.h"

#include <algorithm>
#include <cmath>

#include "twill/execute/compare.h"
#include "twill/execute/rounding.h"
#include "twill/execute/values.h"
#include "twill/run/precision.h"

namespace twill::run {
namespace {

/// Largest root mean square of the differences within the tolerance, as a share of the largest
/// allowed difference.
constexpr double kShareOfAll = 1.0 / 8;

std::string name_of(int mantissa) {
  constexpr int kHalf = 10, kBrain = 7, kFourThree = 3, kFiveTwo = 2;
  switch (mantissa) {
    case kHalf:
      return "f16";
    case kBrain:
      return "bf16";
    case kFourThree:
      return "f8E4M3FN";
    case kFiveTwo:
      return "f8E5M2";
    default:
      return "f32";
  }
}

std::uint64_t bits_at(const std::string& bytes, std::size_t element, std::size_t size) {
  std::uint64_t bits = 0;
  for (std::size_t b = size; b-- > 0;) {
    bits = bits << 8U | static_cast<unsigned char>(bytes[element * size + b]);
  }
  return bits;
}

double root_mean_square(const execute::Memory::Written& written) {
  double sum = 0;
  std::int64_t count = 0;
  for (const auto& [index, value] : written) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

/// One array of two runs, element by element.
class Comparing {
 public:
  Comparing(std::string name, ir::Type element, const Tolerance& tolerance, double size)
      : element_(element), tolerance_(tolerance), size_(size) {
    output_.name = std::move(name);
    output_.allowed = tolerance;
  }

  void stray() { ++output_.stray; }

  void compare(std::int64_t index, double expected, double found) {
    ++output_.written;
    if (execute::same_element(expected, found)) return;
    const double distance = std::abs(expected - found);
    if (!std::isnan(distance)) output_.largest = std::max(output_.largest, distance);
    const double scale = std::max({std::abs(expected), std::abs(found), size_});
    const bool number = element_->kind == ir::TypeKind::floating;
    // Beside an infinity, every tolerance would be infinite.
    const bool near =
        number && std::isfinite(distance) && distance <= tolerance_.units * tolerance_.unit * scale;
    if (!tolerance_.exact && near) {
      squares_ += distance * distance;
      ++output_.rounded;
      return;
    }
    ++output_.differing;
    if (!output_.example) output_.example = {index, expected, found};
  }

  Output result() {
    const auto count = static_cast<double>(std::max<std::int64_t>(output_.written, 1));
    output_.spread = size_ > 0 ? std::sqrt(squares_ / count) / size_ : 0;
    output_.scattered = output_.spread > kShareOfAll * tolerance_.units * tolerance_.unit;
    return output_;
  }

 private:
  ir::Type element_;
  Tolerance tolerance_;
  double size_ = 0;     // root mean square of the expected elements
  double squares_ = 0;  // sum of squares of the differences within the tolerance
  Output output_;
};

/// Compares the array `buffer` of a call with its contents `found` after the call.
Output compared(const Buffer& buffer, const std::string& found, ir::Type element,
                const execute::Memory::Written& expected, const Tolerance& tolerance) {
  Comparing comparing(buffer.name, element, tolerance, root_mean_square(expected));
  auto next = expected.begin();
  for (std::int64_t i = 0; i < buffer.elements; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint64_t bits = bits_at(found, at, buffer.element_bytes);
    if (next != expected.end() && next->first == buffer.first + i) {
      comparing.compare(next->first, next->second, execute::value_of(element, bits));
      ++next;
    } else if (bits != bits_at(buffer.bytes, at, buffer.element_bytes)) {
      comparing.stray();
    }
  }
  return comparing.result();
}

}  // namespace

Tolerances tolerances_of(const Kernel& kernel) {
  Tolerances all;
  for (const auto& [array, precision] : precisions(kernel)) {
    Tolerance& tolerance = all.by_array[array];
    tolerance.exact = precision == kExact;
    if (tolerance.exact) continue;
    tolerance.type = name_of(precision);
    tolerance.unit = std::ldexp(1, -precision - 1);
    const bool widest = precision >= execute::Format().mantissa;
    tolerance.units = widest ? kUnitsOfF32 : kUnitsOfNarrower;
  }
  return all;
}

bool Tolerances::exact() const {
  return std::all_of(by_array.begin(), by_array.end(),
                     [](const auto& it) { return it.second.exact; });
}

Tolerance Tolerances::of(const std::string& array) const {
  const auto found = by_array.find(array);
  return found == by_array.end() ? Tolerance{} : found->second;
}

bool agrees(const Output& output) {
  return output.differing == 0 && output.stray == 0 && !output.scattered;
}

std::vector<Output> compare(const Case& call, const Called& called, const Tolerances& tolerances) {
  std::vector<Output> outputs;
  const execute::Memory& memory = call.chosen.reference->memory;
  for (std::size_t b = 0; b < call.buffers.size(); ++b) {
    const Buffer& buffer = call.buffers[b];
    const ir::Type element = memory.element(static_cast<std::int64_t>(buffer.array));
    Output output = compared(buffer, called.memory[b], element, memory.written(buffer.array),
                             tolerances.of(buffer.name));
    if (output.written > 0 || output.stray > 0) outputs.push_back(std::move(output));
  }
  return outputs;
}

std::vector<Output> compare(const execute::Memory& expected, const execute::Memory& found,
                            const Tolerances& tolerances) {
  std::vector<Output> outputs;
  for (std::size_t array = 0; array < expected.array_count(); ++array) {
    const auto number = static_cast<std::int64_t>(array);
    const auto wanted = expected.written(array);
    Comparing comparing(expected.name(array), expected.element(number),
                        tolerances.of(expected.name(array)), root_mean_square(wanted));
    const auto visit = [&](std::int64_t index, const double* text, const double* module) {
      if (text != nullptr && module != nullptr) return comparing.compare(index, *text, *module);
      const double before = expected.initial({number, index});
      if (text != nullptr) return comparing.compare(index, *text, before);
      if (!execute::same_element(*module, before)) comparing.stray();
    };
    execute::for_each_written(wanted, found.written(array), visit);
    Output output = comparing.result();
    if (output.written > 0 || output.stray > 0) outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace twill::run
