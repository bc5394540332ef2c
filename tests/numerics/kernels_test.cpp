#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "twill/driver/numbers_loop.h"

namespace twill::driver {
namespace {

TEST(Numbers, All) {
  const char* only = std::getenv("ONLY");
  for (const std::string kernel : {
    "gemm/sm_90/tma_128x128x64", "gemm/sm_90/ptr_128x128x64", "dual_gemm/sm_90/128x128x64", "gemm_rowsum/sm_90/128x128x64",
    "fa_fwd/sm_90/d128", "fa_fwd_subtiled/sm_90/2x64n128d128", "fa_fwd_causal/sm_90/d128", "fa_bwd/sm_90/m64n128d128_tmared", "fa_bwd_subtiled/sm_90/m64n2x64d128",
    "gemm/sm_100/tma_128x128x64", "gemm/sm_100/ptr_128x128x64", "dual_gemm/sm_100/128x128x64", "gemm_rowsum/sm_100/128x128x64",
    "fa_fwd/sm_100/d128", "fa_fwd_subtiled/sm_100/2x64n128d128", "fa_fwd_causal/sm_100/d128", "fa_bwd/sm_100/m64n128d128_tmared", "fa_bwd_subtiled/sm_100/m128n2x128d64",
    "gemm_batched/sm_90/128x128x64", "gemm_persistent/sm_90/128x128x64_nested", "fa_simple/sm_90/m128n128d128", "fa_simple/sm_100/m128n128d128","conv2d/sm_90/3x3_128x128x64", "gemm_fp8/sm_90/128x256x128", "gemm_fp8/sm_100/128x256x128"}) {
    if (only && kernel.find(only) == std::string::npos) continue;
    for (const auto s : {strategy::Strategy::twill, strategy::Strategy::modulo, strategy::Strategy::triton, strategy::Strategy::cypress, strategy::Strategy::sequential}) {
      Request request;
      request.input = read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/" + kernel + ".pre.ttgir").value();
      request.strategy.strategy = s;
      NumbersRequest wanted;
      wanted.launch.size = 320;
      const auto r = compare_numbers(request, wanted);
      const std::string name = kernel + " " + std::string(strategy::name_of(s));
      if (!r) { std::printf("%s: REFUSED %s\n", name.c_str(), to_string(r.error()).c_str()); continue; }
      if (!r->comparison) { std::printf("%s: no plan\n", name.c_str()); continue; }
      const bool ok = numerics::agrees(*r->comparison);
      std::printf("%s: %s\n", name.c_str(), ok ? "AGREES" : numerics::to_text(*r->comparison).c_str());
    }
  }
}

}  // namespace
}  // namespace twill::driver
