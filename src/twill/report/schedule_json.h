#pragma once

#include <string>
#include <string_view>

#include "twill/report/outcome.h"
#include "twill/report/summary.h"

namespace twill::report {

/// "format": the version below; a reader refuses what it does not know.
inline constexpr int kScheduleJsonVersion = 1;

/// The outcome as JSON, documented in docs/reference/schedule-json.md. The same outcome gives the
/// same bytes; seconds stand in it only if `printing.timing`.
std::string schedule_json(const Outcome& outcome, const Printing& printing);

/// The same in one line, without the schedule itself: what became of one input of many, and the
/// exit code it would have had alone. Documented in docs/reference/schedule-json.md.
std::string schedule_line(const Outcome& outcome, int exit_code);
/// The line of an input that has no outcome.
std::string error_line(const std::string& input, const std::string& error, int exit_code);

/// A Problem and a schedule for it, as read back: every op is placed, nothing else is promised.
struct ScheduleFile {
  problem::Problem problem;
  schedule::Schedule schedule;
};

/// Reads what `schedule_json` prints, to have the schedule checked by somebody who did not find it.
/// Fails on wrong JSON, on missing members, on names the problem does not know, if the hash is not
/// that of the embedded problem, and if there is no schedule in it.
Result<ScheduleFile> read_schedule_json(std::string_view text, const std::string& file);

}  // namespace twill::report
