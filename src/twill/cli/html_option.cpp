#include "twill/cli/html_option.h"

#include <utility>

#include "twill/cli/output.h"

namespace twill::cli {

Option add_html_options(Command command, Html& html) {
  const Option page = command.add_option("--html", html.file,
                                         "Also write a page with charts and tables to this file");
  constexpr double kMost = 1e12;
  command
      .add_option("--measured", html.measured,
                  "Measured cycles per iteration, which the page shows beside the others")
      .real_range(1e-3, kMost)
      .needs(page);
  return page;
}

Result<void> write_page(const Html& html, const driver::Request& request,
                        driver::PlannedLoop planned, driver::PageParts parts) {
  parts.triton = driver::triton_for_page(request, planned);
  parts.printed = driver::printed_for_page(request, planned);
  TWILL_TRY(const driver::SimulatedLoop loop, driver::run_for_page(request, std::move(planned)));
  return write_page(html, loop, std::move(parts));
}

Result<void> write_page(const Html& html, const driver::SimulatedLoop& loop,
                        driver::PageParts parts) {
  parts.measured = html.measured;
  return write_file(html.file, driver::page_of(loop, parts));
}

}  // namespace twill::cli
