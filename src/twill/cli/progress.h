#pragma once

#include <string>

#include "twill/explain/ask.h"
#include "twill/solve/solve.h"

namespace twill::cli {

/// Reports on standard error, in one line that is rewritten. Silent if standard error is no
/// terminal, and in the first second of the search. Copies share the line.
std::function<void(const solve::Progress&)> progress_line();
std::function<void(const explain::Progress&)> explain_progress_line();
std::function<void(std::size_t done, std::size_t of)> batch_progress_line();
/// Progress line of work without figures: only that it goes on.
std::function<void()> waiting_line(const std::string& words);

/// Wipes the line away, if there is one, before anything else is printed.
void end_progress_line();

}  // namespace twill::cli
