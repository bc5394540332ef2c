#pragma once

#include <string>

#include "twill/explain/ask.h"
#include "twill/solve/solve.h"

namespace twill::cli {

/// Reports on standard error, on one line that is rewritten, if that is a terminal and the search
/// has run for over a second; silent otherwise. Copies share the line.
std::function<void(const solve::Progress&)> progress_line();
std::function<void(const explain::Progress&)> explain_progress_line();
std::function<void(std::size_t done, std::size_t of)> batch_progress_line();
/// Progress line of work without figures: only that it goes on.
std::function<void()> waiting_line(const std::string& words);

/// Wipes the line away, if there is one, before anything else is printed.
void end_progress_line();

}  // namespace twill::cli
