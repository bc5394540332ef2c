// Time of the lower bounds of a loop: microseconds, since no search is needed.

#include <fstream>
#include <iterator>
#include <string>

#include <benchmark/benchmark.h>

#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"

namespace {

void bound_loop(benchmark::State& state, const char* name) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR "/loops/") + name, std::ios::binary);
  if (!file) return state.SkipWithError("the bundled loop is missing");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto loop = twill::schedule::parse_loop(text, name);
  if (!loop) return state.SkipWithError(loop.error().message.c_str());
  for (auto _ : state) {
    auto bounds = twill::schedule::all_lower_bounds(loop->problem);
    benchmark::DoNotOptimize(bounds);
  }
}

BENCHMARK_CAPTURE(bound_loop, fig1, "fig1.loop")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bound_loop, fwd_b2, "fwd_b2.loop")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bound_loop, meta_bwd, "meta_bwd.loop")->Unit(benchmark::kMicrosecond);

}  // namespace
