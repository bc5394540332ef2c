// Any bytes read as a `.loop` file: refused with a reason, or a Problem that prints back to itself.
// Its schedule, if it has one, can be checked.

#include "fuzz.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto loop = schedule::parse_loop(fuzz::text_of(data, size), "fuzz.loop");
  if (!loop) return fuzz::expect_readable(loop.error()), 0;

  const std::string printed = schedule::print_loop(*loop);
  const auto again = schedule::parse_loop(printed, "printed.loop");
  fuzz::expect(again.has_value(), "what print_loop prints, parse_loop reads");
  fuzz::expect(again->problem == loop->problem, "a printed Problem reads back equal");
  fuzz::expect(again->schedule == loop->schedule, "a printed schedule reads back equal");
  fuzz::expect(schedule::print_loop(*again) == printed, "printed text prints to the same bytes");
  if (!loop->schedule) return 0;

  const auto checked = verify::verify(loop->problem, *loop->schedule);
  fuzz::expect(checked || !checked.error().empty(), "a schedule that is refused has a violation");
  return 0;
}
