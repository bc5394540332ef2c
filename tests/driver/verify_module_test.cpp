#include "twill/driver/verify_module.h"

#include <gtest/gtest.h>

#include "request.h"
#include "twill/driver/emit_ttgir.h"

// Protects: a module from `twill emit ttgir` is proven for every trip count, not only run for a
// few.
namespace twill::driver {
namespace {

TEST(CheckPrinted, FindsWhatShortRunsDoNot) {
  const Request request = request_for("kernels/gemm/sm_90/tma_128x128x64.pre.ttgir");
  const auto emitted = emit_ttgir(request, {});
  ASSERT_TRUE(emitted.has_value()) << to_string(emitted.error());
  EXPECT_EQ(emitted->broken, "");
  const PrintedCheck good = check_printed(emitted->text);
  EXPECT_EQ(good.broken, "");
  EXPECT_EQ(good.unchecked, "");

  // Keeps the phase in one iteration, later than runs go.
  std::string late = emitted->text;
  const std::string phase = "arith.xori %phase, %lap : i32";
  const std::size_t at = late.find(phase);
  ASSERT_NE(at, std::string::npos);
  const std::size_t line = late.rfind('\n', at) + 1;
  late.replace(at, phase.size(), "arith.xori %phase, %odd : i32");
  late.insert(line,
              "          %late_at = arith.constant 40 : i32\n"
              "          %is_late = arith.cmpi eq, %n, %late_at : i32\n"
              "          %one_late = arith.extui %is_late : i1 to i32\n"
              "          %odd = arith.xori %lap, %one_late : i32\n");
  const PrintedCheck broken = check_printed(late);
  EXPECT_EQ(broken.unchecked, "");
  EXPECT_NE(broken.broken, "");
}

}  // namespace
}  // namespace twill::driver
