// Any bytes read as TTGIR: refused with a reason, or a Program whose text reads back to the same
// text. Its flattened loops become well-formed nests or stay, its equal values merge, and its
// unread ops can be left out.

#include "fuzz.h"
#include "twill/frontend/ttgir/merge_equal.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/structure.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/frontend/ttgir/unflatten.h"
#include "twill/frontend/ttgir/without_unread.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto program = frontend::read_ttgir(fuzz::text_of(data, size), "fuzz.ttgir");
  if (!program) return fuzz::expect_readable(program.error()), 0;

  const std::string printed = frontend::ttgir::to_text(*program);
  const auto again = frontend::read_ttgir(printed, "printed.ttgir");
  if (!again) std::fputs(to_string(again.error()).c_str(), stderr);
  fuzz::expect(again.has_value(), "what to_text prints, read_ttgir reads");
  fuzz::expect(frontend::ttgir::to_text(*again) == printed,
               "printed text prints to the same bytes");
  if (const auto nested = frontend::ttgir::unflatten(*program)) {
    fuzz::expect(frontend::ttgir::check_structure(nested->program).has_value(),
                 "nests are well-formed");
  }
  if (const auto merged = frontend::ttgir::merge_equal(*program)) {
    fuzz::expect(frontend::ttgir::check_structure(merged->program).has_value(),
                 "what is merged is well-formed");
  }
  const ir::Program read = frontend::ttgir::without_unread(*program);
  fuzz::expect(frontend::ttgir::check_structure(read).has_value(), "what is read is well-formed");
  return 0;
}
