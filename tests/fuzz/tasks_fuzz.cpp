// Any bytes read as a `.task` text: refused with a reason, or tasks that print back to themselves.
// They can be checked, instantiated and made a kernel, which the reader of kernels takes or
// refuses.

#include "fuzz.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/tasks/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const std::string text(fuzz::text_of(data, size));
  const auto read = tasks::read_tasks(text, "fuzz.task");
  if (!read) return fuzz::expect_readable(read.error()), 0;
  const auto checked = tasks::check(read->library);
  if (!checked) return fuzz::expect_readable(checked.error()), 0;

  const std::string printed = tasks::print_tasks(*read);
  const auto again = tasks::read_tasks(printed, "printed.task");
  fuzz::expect(again.has_value(), "what print_tasks prints, read_tasks reads");
  fuzz::expect(*again == *read, "printed tasks read back equal");
  fuzz::expect(tasks::print_tasks(*again) == printed, "printed text prints to the same bytes");

  const auto kernel = frontend::lower_task_text({"fuzz.task", text});
  if (!kernel) return fuzz::expect_readable(kernel.error()), 0;
  const auto program = frontend::read_ttgir(*kernel, "fuzz.task");
  if (!program) fuzz::expect_readable(program.error());
  return 0;
}
