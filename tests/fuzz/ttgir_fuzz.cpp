// Any bytes read as TTGIR: refused with a reason, or a Program whose printed text reads back to the same text.

#include "fuzz.h"
#include "twill/frontend/ttgir/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto program = frontend::read_ttgir(fuzz::text_of(data, size), "fuzz.ttgir");
  if (!program) fuzz::expect_readable(program.error());
  return 0;
}
