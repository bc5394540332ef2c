// Any bytes read as nvcc's report and as nvdisasm's listing: neither ends the process, and results
// can be judged.

#include "fuzz.h"
#include "twill/gate/code.h"
#include "twill/gate/front_end.h"
#include "twill/gate/ptxas.h"
#include "twill/gate/sass.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const std::string_view text = fuzz::text_of(data, size);
  const gate::PtxasReport report = gate::read_ptxas(text);
  for (const gate::FunctionReport& function : report.functions) {
    const bool known = function.has_sizes && (function.has_registers || !function.is_kernel);
    fuzz::expect(known || !gate::refusals(report).empty(), "figures that are missing are refused");
  }
  gate::refusals(gate::read_complaints(text));
  const auto functions = gate::read_sass(text, "fuzz.sass");
  if (!functions) return fuzz::expect_readable(functions.error()), 0;
  for (const gate::SassFunction& function : *functions) {
    const gate::FunctionCode code = gate::code_of(function);
    gate::refusals(code);
    for (const gate::LoopCode& loop : code.entry.loops) {
      fuzz::expect(gate::shortfalls(loop, loop).empty(), "code falls short of itself in nothing");
    }
  }
  return 0;
}
