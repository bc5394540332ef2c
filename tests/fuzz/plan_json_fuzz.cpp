// Any bytes read as a plan's JSON: refused with a reason, or a plan that prints and reads back. If
// it is proven, it runs to its end under every delay.

#include "fuzz.h"
#include "twill/plan/json.h"
#include "twill/plan/proof.h"
#include "twill/simulate/simulate.h"

namespace {

using namespace twill;

void expect_runs(const plan::Plan& plan) {
  for (const std::int64_t trips : {0, 1, 7}) {
    simulate::Setting setting;
    setting.trips = trips;
    setting.timing.jitter = 1;
    setting.timing.jitter_all = true;
    fuzz::expect(simulate::simulate(plan, setting).has_value(), "a proven plan runs to its end");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto plan = plan::read_plan_json(fuzz::text_of(data, size), "fuzz.json");
  if (!plan) return fuzz::expect_readable(plan.error()), 0;
  const std::string printed = plan::plan_json(*plan);
  const auto again = plan::read_plan_json(printed, "printed.json");
  fuzz::expect(again && plan::plan_json(*again) == printed, "a printed plan reads back");
  const auto proven = plan::prove(*std::move(plan));
  if (proven) return expect_runs(proven->plan()), 0;
  fuzz::expect(!proven.error().empty(), "a plan that is not proven breaks a rule");
  for (const plan::Finding& finding : proven.error()) {
    fuzz::expect(!finding.rule.empty() && !finding.message.empty(), "a finding names its rule");
  }
  return 0;
}
