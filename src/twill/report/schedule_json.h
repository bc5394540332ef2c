#pragma once

#include <string>
#include <string_view>

#include "twill/report/outcome.h"
#include "twill/report/summary.h"

namespace twill::report {

/// "format": the version below; a reader refuses other versions.
inline constexpr int kScheduleJsonVersion = 2;

/// The outcome as JSON, documented in docs/reference/schedule-json.md. The same outcome gives the
/// same bytes; seconds stand in it only if `printing.timing`.
std::string schedule_json(const Outcome& outcome, const Printing& printing);

/// The outcome in one line, without the schedule: the result of one input of many, and the exit
/// code that it would have had alone. Documented in docs/reference/schedule-json.md.
std::string schedule_line(const Outcome& outcome, int exit_code);
/// The line of an input that has no outcome.
std::string error_line(const std::string& input, const std::string& error, int exit_code);

/// A Problem and a schedule for it, as read back: every op is placed, with no further promise.
struct ScheduleFile {
  problem::Problem problem;
  schedule::Schedule schedule;
};

/// Reads the text of `schedule_json`, for a check of the schedule by other code than found it.
/// Fails on wrong JSON, missing members, names that the problem does not have, and a missing
/// schedule. Fails if the hash differs from that of the embedded problem.
Result<ScheduleFile> read_schedule_json(std::string_view text, const std::string& file);

}  // namespace twill::report
