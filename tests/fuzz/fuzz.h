#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "twill/support/diagnostic.h"

/// libFuzzer's entry: one input, any bytes. Ends the process on a broken promise.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace twill::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A promise about any input whatsoever.
inline void expect(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "fuzz: broken promise: %s\n", promise);
  std::abort();
}

/// Every refusal gives the user a reason, short enough to read.
inline void expect_readable(const Diagnostic& diagnostic) {
  expect(!diagnostic.message.empty(), "a refusal gives a reason");
  expect(to_string(diagnostic).size() < 4000, "a refusal is short, however long the input");
}

}  // namespace twill::fuzz
