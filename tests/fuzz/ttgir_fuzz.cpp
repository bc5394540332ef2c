// Any bytes read as TTGIR: refused with a reason, or a Program whose text reads back to the same
// text.

#include "fuzz.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/ir/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto program = frontend::read_ttgir(fuzz::text_of(data, size), "fuzz.ttgir");
  if (!program) return fuzz::expect_readable(program.error()), 0;

  const std::string printed = ir::to_text(*program);
  const auto again = frontend::read_ttgir(printed, "printed.ttgir");
  if (!again) std::fputs(to_string(again.error()).c_str(), stderr);
  fuzz::expect(again.has_value(), "what to_text prints, read_ttgir reads");
  fuzz::expect(ir::to_text(*again) == printed, "printed text prints to the same bytes");
  return 0;
}
