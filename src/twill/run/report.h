#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/run/compare.h"

namespace twill::run {

/// One call and its results.
struct Trial {
  std::int64_t wanted = 0;            ///< iterations of the main loop
  std::optional<std::int64_t> trips;  ///< made by the call; nothing: no CTA comes to the loop
  Machine machine;
  execute::Launch launch;
  Called called;
  std::vector<Output> outputs;
  double seconds = 0;  ///< of the call
};
/// Launched, nothing was found, and every output agrees.
bool agrees(const Trial& trial);

struct Report {
  emit::Description description;
  Tolerances tolerances;
  std::vector<std::string> notes;       ///< remarks about the folder
  std::vector<std::string> complaints;  ///< of the compiler: kernel.cu does not compile
  std::vector<std::int64_t> left_out;   ///< iterations for which no arguments were found
  std::vector<Trial> trials;
};
/// It was compiled and called, and all trials agree.
bool agrees(const Report& report);

/// For people: a line per trial, what was found with the lines of kernel.cu, and the verdict.
/// `folder`: of the kernel.
std::string to_text(const Report& report, const std::string& folder);

/// "version" of the JSON, which docs/reference/cuda.md describes.
inline constexpr int kReportJsonVersion = 1;
std::string report_json(const Report& report);

}  // namespace twill::run
