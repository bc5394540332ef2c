#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/run/compare.h"

namespace twill::run {

/// One call and its results.
struct Trial {
  std::int64_t wanted = 0;            ///< iterations of the main loop
  std::optional<std::int64_t> trips;  ///< iterations in the call; empty: no CTA reaches the loop
  Machine machine;
  execute::Launch launch;
  Called called;
  std::vector<Output> outputs;
  double seconds = 0;  ///< time of the call
};
/// Whether the call launched without findings, and every output agrees.
bool agrees(const Trial& trial);

struct Report {
  emit::Description description;
  Tolerances tolerances;
  std::vector<std::string> notes;       ///< remarks about the folder
  std::vector<std::string> complaints;  ///< messages of the compiler: kernel.cu does not compile
  std::vector<std::int64_t> left_out;   ///< trip counts without arguments
  std::vector<Trial> trials;
};
/// Whether the kernel was compiled and called, and all trials agree.
bool agrees(const Report& report);

/// Text for people: a line per trial, the findings with the lines of kernel.cu, and the verdict.
/// `folder`: folder of the kernel.
std::string to_text(const Report& report, const std::string& folder);

/// "version" of the JSON, which docs/reference/cuda.md describes.
inline constexpr int kReportJsonVersion = 1;
std::string report_json(const Report& report);

}  // namespace twill::run
