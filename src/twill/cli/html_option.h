#pragma once

#include <optional>
#include <string>

#include "twill/cli/command.h"
#include "twill/driver/page_of.h"

namespace twill::cli {

/// A page that the user asks for.
struct Html {
  std::string file;  ///< empty: no page; "-": standard output
  std::optional<double> measured;

  bool is_wanted() const { return !file.empty(); }
  bool is_all() const { return file == "-"; }  ///< the page is the whole output
};

/// --html and --measured; `html` must live as long as the options. Returns the first.
Option add_html_options(Command command, Html& html);

/// Runs the plan of an answer for its page, and writes the page to the file, whole or not at all.
/// Fails if the plan cannot be run or the file cannot be written.
Result<void> write_page(const Html& html, const driver::Request& request,
                        driver::PlannedLoop planned, driver::PageParts parts);
/// Writes the page of a run that is already known.
Result<void> write_page(const Html& html, const driver::SimulatedLoop& loop,
                        driver::PageParts parts);

}  // namespace twill::cli
