#pragma once

#include <optional>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/loop_text/line.h"
#include "twill/schedule/loop_text/problem_reader.h"
#include "twill/schedule/loop_text/statements.h"

namespace twill::schedule {

/// Reads the two sections of a `.loop` text that place the ops of a Problem: `schedule` with
/// cycles, `order` without.
class LoopScheduleReader {
 public:
  /// Precondition: both arguments outlive the reader.
  LoopScheduleReader(const problem::Problem& problem, const LoopProblemReader& names)
      : problem_(problem), names_(names) {}

  Result<Position> read(LoopLine& line);

  /// Checks, after the last line, that the sections that began place every op.
  Result<void> check_complete() const;

  /// Schedule that was read; empty without that section. Precondition: check_complete.
  std::optional<Schedule> schedule() const;
  std::optional<Order> order() const;
  /// Line at which the order begins; 0 without an order.
  int order_line() const { return order_line_ ? order_line_->number() : 0; }

 private:
  bool begins_section(const LoopLine& line) const;
  Result<Position> read_statement(LoopLine& line);
  Result<Position> read_schedule_header(LoopLine& line);
  Result<Position> read_order_header(LoopLine& line);
  Result<Position> read_placement(LoopLine& line);
  Result<Position> read_sequence(LoopLine& line);
  Result<void> read_step(LoopLine& line, GroupId group);
  Result<void> read_offset(LoopLine& line, OpId op);
  Result<int> read_alternative(LoopLine& line, OpId op) const;

  const problem::Problem& problem_;
  const LoopProblemReader& names_;
  Section section_ = Section::name;  ///< schedule or order once one has begun

  std::optional<LoopLine> schedule_line_;  ///< header line, for messages about missing lines below
                                           ///< it
  Cycles interval_ = 1;
  std::vector<std::optional<Placement>> placements_;
  std::vector<Address> addresses_;

  std::optional<LoopLine> order_line_;
  std::vector<std::optional<Step>> steps_;
  Order order_;
};

}  // namespace twill::schedule
