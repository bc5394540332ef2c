#include "twill/run/compare.h"

#include <algorithm>
#include <cmath>

#include "twill/execute/compare.h"
#include "twill/execute/rounding.h"
#include "twill/execute/values.h"
#include "twill/ir/operands.h"

namespace twill::run {
namespace {

using ir::OpKind;

/// Ops of floating-point numbers that are printed with other roundings than the text's.
bool rounds_otherwise(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  switch (op.kind) {
    case OpKind::reduce:
    case OpKind::atomic_update:
    case OpKind::block_update:
    case OpKind::fdiv:
    case OpKind::exp:
    case OpKind::exp2:
    case OpKind::log:
    case OpKind::log2:
    case OpKind::sin:
    case OpKind::cos:
    case OpKind::library_call:
      return true;
    default:
      return false;
  }
}

const ir::TypeNode* scalar_of(ir::Type type) {
  while (type->element != nullptr) type = type->element;
  return type;
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
  }

  void stray() { ++output_.stray; }

  void compare(std::int64_t index, double expected, double found) {
    ++output_.written;
    if (execute::same_element(expected, found)) return;
    const double distance = std::abs(expected - found);
    if (!std::isnan(distance)) output_.largest = std::max(output_.largest, distance);
    const double scale = std::max({std::abs(expected), std::abs(found), size_});
    const bool number = element_->kind == ir::TypeKind::floating;
    const bool near = number && distance <= kUnits * tolerance_.unit * scale;
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
    output_.scattered = output_.spread > tolerance_.unit;
    return output_;
  }

 private:
  ir::Type element_;
  const Tolerance& tolerance_;
  double size_ = 0;     // root mean square of what is expected
  double squares_ = 0;  // of the differences within the tolerance
  Output output_;
};

/// The array `buffer` of a call that left `found` there.
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

Tolerance tolerance_of(const Kernel& kernel) {
  Tolerance tolerance;
  int mantissa = execute::Format().mantissa;
  const ir::Program& program = kernel.text;
  for (const ir::OpId id : ir::walk(program, kernel.function)) {
    tolerance.exact = tolerance.exact && !rounds_otherwise(program, id);
    for (const ir::ValueId value : program.op(id).results) {
      const ir::Type scalar = scalar_of(ir::type_of(program, value));
      if (scalar->kind != ir::TypeKind::floating) continue;
      const auto format = execute::format_of(scalar);
      if (!format || format->mantissa >= mantissa) continue;
      mantissa = format->mantissa;
      tolerance.type = scalar->name;
    }
  }
  tolerance.unit = std::ldexp(1, -mantissa - 1);
  return tolerance;
}

bool agrees(const Output& output) {
  return output.differing == 0 && output.stray == 0 && !output.scattered;
}

std::vector<Output> compare(const Case& call, const Called& called, const Tolerance& tolerance) {
  std::vector<Output> outputs;
  const execute::Memory& memory = call.chosen.reference->memory;
  for (std::size_t b = 0; b < call.buffers.size(); ++b) {
    const Buffer& buffer = call.buffers[b];
    const ir::Type element = memory.element(static_cast<std::int64_t>(buffer.array));
    Output output =
        compared(buffer, called.memory[b], element, memory.written(buffer.array), tolerance);
    if (output.written > 0 || output.stray > 0) outputs.push_back(std::move(output));
  }
  return outputs;
}

std::vector<Output> compare(const execute::Memory& expected, const execute::Memory& found,
                            const Tolerance& tolerance) {
  std::vector<Output> outputs;
  for (std::size_t array = 0; array < expected.array_count(); ++array) {
    const auto number = static_cast<std::int64_t>(array);
    const auto wanted = expected.written(array);
    const auto there = found.written(array);
    Comparing comparing(expected.name(array), expected.element(number), tolerance,
                        root_mean_square(wanted));
    for (const auto& [index, value] : wanted) {
      const auto at = there.find(index);
      comparing.compare(index, value,
                        at != there.end() ? at->second : expected.initial({number, index}));
    }
    for (const auto& [index, value] : there) {
      const bool changed = !execute::same_element(value, expected.initial({number, index}));
      if (changed && !wanted.contains(index)) comparing.stray();
    }
    Output output = comparing.result();
    if (output.written > 0 || output.stray > 0) outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace twill::run
