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
/// Progress line without figures, for work that only goes on.
std::function<void()> waiting_line(const std::string& words);

/// Clears the progress line, if there is one, before other output is printed.
void end_progress_line();

}  // namespace twill::cli
