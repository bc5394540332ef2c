#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/problem/objection.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text/line.h"
#include "twill/schedule/loop_text/names.h"
#include "twill/schedule/loop_text/statements.h"

namespace twill::schedule {

/// Reads the statements of a `.loop` text that describe the Problem.
class LoopProblemReader {
 public:
  /// Precondition: both arguments outlive the reader.
  LoopProblemReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  /// Reads one statement and returns its place in the canonical text.
  Result<Position> read(LoopLine& line);

  /// Makes the Problem, once all its statements are read.
  Result<problem::Problem> finish();

  const LoopNames& units() const { return units_; }
  const LoopNames& memories() const { return memories_; }
  const LoopNames& groups() const { return groups_; }
  const LoopNames& ops() const { return ops_; }

 private:
  /// Alternative without its defaults, which depend on the rest of its line.
  struct AlternativeDraft {
    problem::Alternative alternative;
    std::optional<Cycles> latency;
    std::optional<Cycles> issue;
  };
  struct OpDraft {
    problem::Op op;
    AlternativeDraft own;      ///< alternative that the op's own line describes
    bool own_is_used = false;  ///< whether the op's own line describes an alternative
    std::vector<AlternativeDraft> alternatives;
  };

  Result<Position> read_statement(LoopLine& line);
  Result<Position> read_loop(LoopLine& line);
  Result<Position> read_relax(LoopLine& line);
  Result<Position> read_minimize(LoopLine& line);
  Result<Position> read_minimum_compute_groups(LoopLine& line);
  Result<Position> read_same_group(LoopLine& line);
  Result<Position> read_transfer(LoopLine& line);
  Result<Position> read_unit(LoopLine& line);
  Result<Position> read_pipe(LoopLine& line);
  Result<Position> read_memory(LoopLine& line);
  Result<Position> read_group(LoopLine& line);
  Result<Position> read_register_budget(LoopLine& line);
  Result<Position> read_op(LoopLine& line);
  Result<Position> read_source(LoopLine& line);
  Result<Position> read_alternative(LoopLine& line);
  Result<Position> read_dependence(LoopLine& line);

  Result<void> read_alternative_word(LoopLine& line, std::size_t word, AlternativeDraft& draft);
  Result<void> read_op_word(LoopLine& line, std::size_t word, problem::Op& op);
  Result<void> read_dependence_word(LoopLine& line, std::size_t word, problem::Dependence& it);
  Result<void> check_first(const LoopLine& line, Section header);

  problem::Op finished(OpDraft draft) const;
  Location location_of(const problem::Objection& objection) const;

  std::string_view text_;
  const std::string& file_;
  problem::Parts parts_;
  std::vector<OpDraft> drafts_;
  bool in_op_ = false;  ///< whether the last statement was an op, or a line that belongs to an op
  LoopNames loops_{"loop"};
  LoopNames units_{"unit"};
  LoopNames pipes_{"pipe"};
  LoopNames memories_{"memory"};
  LoopNames groups_{"group"};
  LoopNames ops_{"op"};
  std::vector<Location> dependences_;
  std::vector<Location> same_group_;
  std::vector<Location> transfers_;
  std::vector<Location> register_budgets_;
  std::vector<Section> headers_;  ///< header statements read so far, each allowed once
};

}  // namespace twill::schedule
