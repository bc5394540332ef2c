// Any bytes read as TTGIR whose warps have roles: refused with a reason, or all runs are followed.
// A property proven for every trip count holds in each run with arguments.

#include "fuzz.h"
#include "twill/concurrent/every_trip.h"
#include "twill/concurrent/launches.h"
#include "twill/concurrent/machine.h"
#include "twill/frontend/ttgir/read.h"

namespace {

using namespace twill;

void expect_no_finding(const ir::Program& program, ir::OpId function) {
  const auto launches = concurrent::launches_up_to(program, function, {}, 3);
  if (!launches) return fuzz::expect_readable(launches.error());
  for (const auto& [trips, launch] : *launches) {
    execute::Memory memory(1);
    const auto arguments = execute::arguments_of(program, function, launch, memory);
    if (!arguments) continue;
    concurrent::Findings findings;
    concurrent::Machine machine(program, memory, launch, {0, 0, 0}, {concurrent::Order(), false},
                                findings);
    const auto ran = machine.run(function, *arguments);
    if (!ran) fuzz::expect_readable(ran.error());
    if (!findings.empty()) std::fputs(findings.all()[0].message.c_str(), stderr);
    fuzz::expect(findings.empty(), "what is proven, no run breaks");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = frontend::read_ttgir(fuzz::text_of(data, size), "fuzz.ttgir");
  if (!program) return fuzz::expect_readable(program.error()), 0;
  for (const ir::OpId function : ir::functions(*program)) {
    if (!concurrent::has_roles(*program, function)) continue;
    const auto every = concurrent::follow_every_trip(*program, function);
    if (!every) {
      fuzz::expect_readable(every.error());
    } else if (every->findings.empty()) {
      expect_no_finding(*program, function);
    }
  }
  return 0;
}
