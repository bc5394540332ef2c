#include "twill/problem/problem.h"
#include "twill/problem/staging.h"

namespace twill::problem {
namespace {

constexpr Amount kBytesPerRegister = 4;
constexpr Amount kThreadsPerWarp = 32;

}  // namespace

std::optional<MemoryId> staging_memory(const Problem& problem) {
  for (std::size_t i = 0; i < problem.memories().size(); ++i) {
    if (problem.memories()[i].name != "TMEM") return MemoryId(i);
  }
  return std::nullopt;
}

Amount staged_bytes(const Op& value, int warps) {
  return kBytesPerRegister * value.registers * kThreadsPerWarp * warps;
}

}  // namespace twill::problem
