// Any bytes read as TTGIR: refused with a reason, or a Program whose text reads back to the same
// text, whose flattened loops become nests of a right structure, or stay, and whose equal values
// merge.

#include "fuzz.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/ir/merge_equal.h"
#include "twill/ir/structure.h"
#include "twill/ir/text.h"
#include "twill/ir/unflatten.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto program = frontend::read_ttgir(fuzz::text_of(data, size), "fuzz.ttgir");
  if (!program) return fuzz::expect_readable(program.error()), 0;

  const std::string printed = ir::to_text(*program);
  const auto again = frontend::read_ttgir(printed, "printed.ttgir");
  if (!again) std::fputs(to_string(again.error()).c_str(), stderr);
  fuzz::expect(again.has_value(), "what to_text prints, read_ttgir reads");
  fuzz::expect(ir::to_text(*again) == printed, "printed text prints to the same bytes");
  if (const auto nested = ir::unflatten(*program)) {
    fuzz::expect(ir::check_structure(nested->program).has_value(), "nests are well-formed");
  }
  if (const auto merged = ir::merge_equal(*program)) {
    fuzz::expect(ir::check_structure(merged->program).has_value(), "what is merged is well-formed");
  }
  return 0;
}
