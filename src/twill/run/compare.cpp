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

class Comparing {
 public:
  Comparing(const Buffer& buffer, const std::string& found, ir::Type element,
            const Tolerance& tolerance)
      : buffer_(buffer), found_(found), element_(element), tolerance_(tolerance) {
    output_.name = buffer.name;
  }

  Output with(const execute::Memory::Written& expected) {
    const double size = root_mean_square(expected);
    auto next = expected.begin();
    for (std::int64_t i = 0; i < buffer_.elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (next != expected.end() && next->first == buffer_.first + i) {
        compare(next->first, next->second, value_at(at), size);
        ++next;
      } else if (bits_at(found_, at, buffer_.element_bytes) !=
                 bits_at(buffer_.bytes, at, buffer_.element_bytes)) {
        ++output_.stray;
      }
    }
    const auto count = static_cast<double>(std::max<std::int64_t>(output_.written, 1));
    output_.spread = size > 0 ? std::sqrt(squares_ / count) / size : 0;
    output_.scattered = output_.spread > tolerance_.unit;
    return output_;
  }

 private:
  double value_at(std::size_t element) const {
    return execute::value_of(element_, bits_at(found_, element, buffer_.element_bytes));
  }

  void compare(std::int64_t index, double expected, double found, double size) {
    ++output_.written;
    if (execute::same_element(expected, found)) return;
    const double distance = std::abs(expected - found);
    if (!std::isnan(distance)) output_.largest = std::max(output_.largest, distance);
    const double scale = std::max({std::abs(expected), std::abs(found), size});
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

  const Buffer& buffer_;
  const std::string& found_;
  ir::Type element_;
  const Tolerance& tolerance_;
  double squares_ = 0;  // of the differences within the tolerance
  Output output_;
};

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
        Comparing(buffer, called.memory[b], element, tolerance).with(memory.written(buffer.array));
    if (output.written > 0 || output.stray > 0) outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace twill::run
