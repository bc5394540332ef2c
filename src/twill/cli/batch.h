#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/report/summary.h"

namespace twill::cli {

/// `twill schedule --batch`: many inputs, the same options for all.
struct Batch {
  std::string list;    ///< a file with one path per line; "-": standard input
  std::string folder;  ///< folder for the full JSON of each input; empty: not written
  std::size_t jobs = 1;
  driver::Request settings;        ///< all settings but the input
  std::vector<std::string> given;  ///< options that were given
  report::Printing printing;
};

/// Prints one line of JSON per input on standard output, in the order of the list. Output and files
/// do not depend on `jobs`. The line of an input that fails says why. Returns the largest of the
/// inputs' exit codes.
int run_batch(const Batch& batch);

}  // namespace twill::cli
