// Any bytes read as a schedule's JSON: refused with a reason, or a schedule that can be checked.

#include "fuzz.h"
#include "twill/report/schedule_json.h"
#include "twill/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto file = report::read_schedule_json(fuzz::text_of(data, size), "fuzz.json");
  if (!file) return fuzz::expect_readable(file.error()), 0;
  const auto checked = verify::verify(file->problem, file->schedule);
  fuzz::expect(checked || !checked.error().empty(), "a schedule that is refused has a violation");
  return 0;
}
