#include "twill/run/case.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "twill/execute/values.h"

namespace twill::run {
namespace {

using Kind = emit::Parameter::Kind;

bool is_array(const emit::Parameter& parameter) {
  return parameter.kind == Kind::pointer || parameter.kind == Kind::descriptor;
}

void put_word(std::string& out, std::uint64_t word) {
  for (unsigned i = 0; i < 8; ++i) out += static_cast<char>(word >> (8 * i) & 0xffU);
}

void put_words(std::string& out, std::string_view bytes) {
  out += bytes;
  out.append((8 - bytes.size() % 8) % 8, '\0');
}

Buffer buffer_of(const Reference& reference, std::size_t array) {
  const execute::Memory& memory = reference.memory;
  const ir::Type element = memory.element(static_cast<std::int64_t>(array));
  const auto extent = reference.accesses.extent(static_cast<std::int64_t>(array));
  Buffer made;
  made.name = memory.name(array);
  made.array = array;
  made.first = std::min<std::int64_t>(extent.begin, 0);
  made.elements = std::max<std::int64_t>(extent.end, 1) - made.first;
  made.element_bytes = execute::bytes_of(element);
  return made;
}

void fill(const Reference& reference, Buffer& buffer) {
  const ir::Type element = reference.memory.element(static_cast<std::int64_t>(buffer.array));
  const auto count = static_cast<std::size_t>(buffer.elements);
  buffer.bytes.assign(count * buffer.element_bytes, kNobody);
  buffer.initialised.assign(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const execute::Pointer at{static_cast<std::int64_t>(buffer.array),
                              buffer.first + static_cast<std::int64_t>(i)};
    if (!reference.accesses.needs_initial(at)) continue;
    buffer.initialised[i] = true;
    const std::uint64_t bits = execute::bits_of(element, reference.memory.initial(at));
    for (std::size_t b = 0; b < buffer.element_bytes; ++b) {
      buffer.bytes[i * buffer.element_bytes + b] = static_cast<char>(bits >> (8 * b) & 0xffU);
    }
  }
}

void put_buffer(std::string& out, const Buffer& buffer) {
  put_word(out, buffer.bytes.size());
  put_word(out, static_cast<std::uint64_t>(-buffer.first) * buffer.element_bytes);
  put_word(out, buffer.name.size());
  put_words(out, buffer.name);
  std::vector<std::pair<std::size_t, std::size_t>> stretches;  // elements: begin, length
  for (std::size_t i = 0; i < buffer.initialised.size(); ++i) {
    if (!buffer.initialised[i]) continue;
    if (i > 0 && buffer.initialised[i - 1]) {
      ++stretches.back().second;
    } else {
      stretches.emplace_back(i, 1);
    }
  }
  put_word(out, stretches.size());
  for (const auto& [begin, length] : stretches) {
    put_word(out, begin * buffer.element_bytes);
    put_word(out, length * buffer.element_bytes);
    put_words(out, std::string_view(buffer.bytes)
                       .substr(begin * buffer.element_bytes, length * buffer.element_bytes));
  }
}

std::uint64_t scalar_bits(const Kernel& kernel, const execute::Launch& launch, std::size_t number) {
  const emit::Parameter& it = kernel.description.parameters[number];
  if (it.kind != Kind::scalar) return 0;  // stamps have no contents
  const auto given = launch.arguments.find(it.name);
  const bool floating = it.type.starts_with('f') || it.type.starts_with('b');
  const double standard = floating ? launch.scale : static_cast<double>(launch.size);
  const double value = given != launch.arguments.end() ? given->second : standard;
  return execute::bits_of(ir::type_of(kernel.text, argument(kernel, number)), value);
}

}  // namespace

Result<Case> case_of(const Kernel& kernel, Chosen chosen) {
  Case made;
  std::int64_t bytes = 0;
  const Reference& reference = *chosen.reference;
  const auto arrays = std::ranges::count_if(kernel.description.parameters, is_array);
  if (static_cast<std::ptrdiff_t>(reference.memory.array_count()) > arrays) {
    return fail({kernel.description.input},
                "reads addresses from memory, which a kernel in CUDA cannot follow here");
  }
  for (std::size_t array = 0; array < reference.memory.array_count(); ++array) {
    made.buffers.push_back(buffer_of(reference, array));
    const Buffer& buffer = made.buffers.back();
    bytes +=
        std::min(buffer.elements, kMostBytes) * static_cast<std::int64_t>(buffer.element_bytes);
    if (bytes > kMostBytes) {
      return fail(
          {kernel.description.input},
          "with these arguments %" + buffer.name + " has elements too far apart to run with",
          "choose other values: --arg NAME=VALUE");
    }
  }
  for (Buffer& buffer : made.buffers) fill(reference, buffer);
  made.chosen = std::move(chosen);
  return made;
}

std::string call_text(const Kernel& kernel, const Case& call, const Machine& machine) {
  std::string out;
  put_word(out, machine.seed);
  put_word(out, machine.random ? 1 : 0);
  put_word(out, static_cast<std::uint64_t>(machine.processors));
  put_word(out, machine.switch_at_memory ? 1 : 0);
  for (const std::int64_t extent : call.chosen.launch.programs) {
    put_word(out, static_cast<std::uint64_t>(extent));
  }
  const auto& parameters = kernel.description.parameters;
  put_word(out, parameters.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool array = is_array(parameters[i]);
    put_word(out, array ? 1 : 0);
    if (array) {
      put_buffer(out, call.buffers[next++]);
    } else {
      put_word(out, scalar_bits(kernel, call.chosen.launch, i));
    }
  }
  return out;
}

}  // namespace twill::run
