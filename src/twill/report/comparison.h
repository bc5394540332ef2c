#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/schedule/schedule.h"

/// Table of one loop arranged by several strategies.
namespace twill::report {

struct Compared {
  std::string strategy;
  std::string what;                          ///< meaning of the row, in a line
  std::string pool;                          ///< empty for `.loop` texts
  std::optional<schedule::Verdict> verdict;  ///< empty: the strategy has no schedule of the loop
  // Members about the schedule, if there is one.
  std::optional<Cycles> interval;
  std::optional<Cycles> expected;  ///< as in Bracket
  std::optional<Cycles> stages;
  std::optional<std::size_t> groups;  ///< groups that have an op
  std::optional<Amount> registers;    ///< per thread, of the group that holds most registers
  // Members about the plan, if there is one.
  std::vector<std::pair<std::string, Amount>> memory;  ///< by name: space that the loop's buffers
                                                       ///< span
  std::optional<double> simulated;                     ///< cycles per iteration in the steady state
  std::string note;                                    ///< reason why a member above is missing
};

struct Comparison {
  std::string input;
  std::string loop;  ///< as in Outcome, like the next two
  std::string machine;
  bool machine_measured = true;
  double tolerance = 1;  ///< figures within this factor count as equal
  std::string story;     ///< story of the answer by strategy twill, if that is among the rows;
                         ///< whole lines
  std::vector<Compared> rows;
  std::optional<double> measured;  ///< cycles of an iteration of the input, as its user runs it
};

/// Ratio of these cycles of an iteration to the simulated cycles of `twill`, if these are known.
std::optional<double> over_twill(const Comparison& comparison, double cycles);

/// Ratio of the row's simulated cycles to those of `twill`, if both are known.
std::optional<double> ratio_to_twill(const Comparison& comparison, const Compared& row);

/// Remark on a row whose simulated cycles are below the answer's. The remark says that both count
/// as equal, or how to get the faster schedule. Empty for other rows.
std::string on_faster(const Comparison& comparison, const Compared& row);

/// Prints a table, and a line for each note.
std::string to_text(const Comparison& comparison);

/// "version" of the JSON (docs/reference/strategies.md).
inline constexpr int kComparisonJsonVersion = 1;
std::string comparison_json(const Comparison& comparison);

}  // namespace twill::report
