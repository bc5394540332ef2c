// Any TTGIR that reads, priced for a GPU: refused with a reason, or a Problem that prints and reads
// back. This is where loops that no compiler would print meet the extraction.

#include "fuzz.h"
#include "twill/driver/driver.h"
#include "twill/schedule/loop_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  driver::Request request;
  request.input = {"fuzz.ttgir", std::string(fuzz::text_of(data, size))};
  for (const char* machine : {"h200", "b200"}) {
    request.machine = machine;
    const auto posed = driver::pose_loop(request, machine::Rate::slowest);
    if (!posed) {
      fuzz::expect_readable(posed.error());
      continue;
    }
    const std::string printed = schedule::print_loop(schedule::loop_text_of(posed->problem));
    const auto again = schedule::parse_loop(printed, "printed.loop");
    fuzz::expect(again && again->problem == posed->problem,
                 "an extracted Problem reads back equal");
  }
  return 0;
}
