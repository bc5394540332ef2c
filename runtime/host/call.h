#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

/// The part of a program that differs by kernel: `call_kernel`, which the text of `twill run`
/// defines beside kernel.cu. It is compiled for each kernel, so it includes little.
namespace twill::run {

struct Call {
  int grid[3] = {};
  std::size_t parameters = 0;
  /// A scalar, or the address of an array's element 0.
  const std::uint64_t* bits = nullptr;
};

/// Calls the launch function of the kernel. Returns the reason of a refusal; null if it launches.
const char* call_kernel(const Call& call);

template <class T>
T value_of(std::uint64_t bits) {
  T value;
  static_assert(sizeof value <= sizeof bits);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Stream, class... Types, std::size_t... Numbers>
const char* call_launch(const char* (*launch)(int, int, int, Stream, Types...), const Call& call,
                        std::index_sequence<Numbers...>) {
  if (sizeof...(Types) != call.parameters) return "kernel.json has other parameters than kernel.cu";
  return launch(call.grid[0], call.grid[1], call.grid[2], Stream(),
                value_of<Types>(call.bits[Numbers])...);
}

template <class Stream, class... Types>
const char* call_launch(const char* (*launch)(int, int, int, Stream, Types...), const Call& call) {
  return call_launch(launch, call, std::index_sequence_for<Types...>());
}

}  // namespace twill::run
