// Any bytes read as a machine file: refused with a reason, or a Machine that can be shown and asked
// for prices.

#include "fuzz.h"
#include "twill/machine/machine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto machine = machine::load_machine(fuzz::text_of(data, size), "fuzz.json");
  if (!machine) return fuzz::expect_readable(machine.error()), 0;

  fuzz::expect(!machine::describe(*machine).empty(), "a Machine that reads can be shown");
  for (const auto rate : {machine::Rate::fastest, machine::Rate::slowest}) {
    const auto moved = machine::hand_off(*machine, 16384, rate);
    fuzz::expect(!moved || *moved >= 0, "no hand-off takes negative time");
  }
  return 0;
}
