// Time of reading TTGIR, for a module of a megabyte: copies of Flash Attention's function.
// The budget is 50 ms for 1 MB.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "twill/frontend/ttgir/read.h"

namespace {

constexpr std::size_t kMegabyte = 1'000'000;

/// `module` with copies of its only function, under other names, until it has `size` bytes.
std::string repeated(const std::string& module, std::size_t size) {
  const std::size_t begin = module.find("  tt.func");
  const std::size_t end = module.rfind("\n}");
  const std::size_t name_end = module.find('(', begin);
  if (begin == std::string::npos || end == std::string::npos || name_end > end) return {};
  std::string text = module.substr(0, end);
  for (int copy = 1; text.size() < size; ++copy) {
    text += "\n" + module.substr(begin, name_end - begin) + "_" + std::to_string(copy);
    text.append(module, name_end, end - name_end);
  }
  return text + module.substr(end);
}

void read_one_megabyte(benchmark::State& state) {
  std::ifstream file(TWILL_SOURCE_DIR "/kernels/fa_fwd/sm_90/d128.pre.ttgir", std::ios::binary);
  if (!file) return state.SkipWithError("the bundled kernel is missing");
  const std::string text =
      repeated({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, kMegabyte);
  for (auto _ : state) {
    auto program = twill::frontend::read_ttgir(text, "megabyte.ttgir");
    if (!program) return state.SkipWithError(program.error().message.c_str());
    benchmark::DoNotOptimize(program);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

BENCHMARK(read_one_megabyte)->Unit(benchmark::kMillisecond);

}  // namespace
