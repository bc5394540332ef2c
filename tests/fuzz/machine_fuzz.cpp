// Any bytes read as a machine file: refused with a reason, or a Machine that can be shown and whose
// prices are sound.

#include "fuzz.h"
#include "twill/machine/machine.h"

namespace {

using namespace twill;

/// Fastest is a bound and slowest is achievable, so a price that falls in between makes both wrong.
void price_tile(const machine::Machine& machine, const std::string& kind) {
  const machine::Work work{.kind = kind,
                           .elements = 16384,
                           .rows = 128,
                           .bytes = 32768,
                           .m = 128,
                           .n = 128,
                           .k = 64,
                           .bits = 16,
                           .form = "SS"};
  const auto fastest = machine::price(machine, work, machine::Rate::fastest, 2);
  const auto slowest = machine::price(machine, work, machine::Rate::slowest, 2);
  if (!fastest || !slowest) return;
  fuzz::expect(0 <= fastest->latency && fastest->latency <= slowest->latency,
               "an op's latency is at least 0, and slowest is not below fastest");
  fuzz::expect(0 <= fastest->occupancy && fastest->occupancy <= slowest->occupancy,
               "an op's occupancy is at least 0, and slowest is not below fastest");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto machine = machine::load_machine(fuzz::text_of(data, size), "fuzz.json");
  if (!machine) return fuzz::expect_readable(machine.error()), 0;

  fuzz::expect(!machine::describe(*machine).empty(), "a Machine that reads can be shown");
  for (const machine::CostRule& rule : (*machine)->operations) price_tile(*machine, rule.kind);
  const auto moved = machine::transfer(*machine, 16384, machine::Rate::fastest, 2);
  fuzz::expect(!moved || *moved >= 0, "no transfer takes negative time");
  return 0;
}
