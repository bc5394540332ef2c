#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twill/run/sizes.h"

namespace twill::run {

/// An array in global memory, as bytes: the part that the kernel's text accesses.
struct Buffer {
  std::string name;
  std::size_t array = 0;      ///< number of the array in the reference's memory
  std::int64_t first = 0;     ///< index of the first element, at most 0
  std::int64_t elements = 0;  ///< at least 1
  std::size_t element_bytes = 1;
  std::string bytes;              ///< bytes before the kernel; kNobody: not written
  std::vector<bool> initialised;  ///< by element: the element is an input
};
inline constexpr char kNobody = '\xff';

/// One call of a launch function.
struct Case {
  Chosen chosen;
  std::vector<Buffer> buffers;  ///< by number of the array
};

/// Fails if the arrays would take more than kMostBytes.
Result<Case> case_of(const Kernel& kernel, Chosen chosen);
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

/// Options of the executor for a call (runtime/host/run.h).
struct Machine {
  std::uint64_t seed = 1;
  bool random = false;  ///< asynchronous work completes at random; else as late as possible
  int processors = 2;   ///< SMs: CTAs of a persistent kernel
  bool switch_at_memory = false;  ///< threads also take turns at loads and stores
};

/// Text of the call for the program that `host_main` prints, in little-endian 64-bit words. Seed,
/// `random`, processors, `switch_at_memory`, grid x y z, number of parameters. For each scalar: 0
/// and its bits. For each array: 1, bytes, offset of element 0, length of its name, the name,
/// number of initialised stretches. For each stretch: its offset, its length, and its bytes. Texts
/// are padded.
std::string call_text(const Kernel& kernel, const Case& call, const Machine& machine);

}  // namespace twill::run
