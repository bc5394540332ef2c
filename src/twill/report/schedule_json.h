#pragma once

#include <string>
#include <string_view>

#include "twill/report/outcome.h"
#include "twill/report/summary.h"

namespace twill::report {

/// "format": the version below; a reader refuses other versions.
inline constexpr int kScheduleJsonVersion = 2;

/// Prints the outcome as JSON (docs/reference/schedule-json.md). Equal outcomes give equal bytes;
/// seconds are included only if `printing.timing`.
std::string schedule_json(const Outcome& outcome, const Printing& printing);

/// Prints the outcome in one line, without the schedule: the result of one input of many, with the
/// exit code for that input. Format: docs/reference/schedule-json.md.
std::string schedule_line(const Outcome& outcome, int exit_code);
/// Prints the line of an input without an outcome.
std::string error_line(const std::string& input, const std::string& error, int exit_code);

/// Problem and schedule that were read back: every op is placed, and no rule is checked.
struct ScheduleFile {
  problem::Problem problem;
  schedule::Schedule schedule;
};

/// Reads the text of `schedule_json`, for a check of the schedule without the solver. Fails on
/// wrong JSON, missing members, names that the problem does not have, and a missing schedule. Fails
/// if the hash differs from the hash of the embedded problem.
Result<ScheduleFile> read_schedule_json(std::string_view text, const std::string& file);

}  // namespace twill::report
