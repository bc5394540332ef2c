#pragma once

#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: loops in which each group issues its ops in a given order.
namespace twill::strategy {

using problem::GroupId;
using problem::OpId;

/// Decisions that are fixed before the search, which then chooses cycles only.
struct Program {
  std::vector<GroupId> groups;  ///< by OpId
  std::vector<Cycles> stages;   ///< by OpId: the round of a group that begins iteration i
                                ///< runs the op for iteration i - stage
  std::vector<std::vector<OpId>> streams;  ///< ops of each group in order: a round issues all of
                                           ///< them, one after the other, before the next round
                                           ///< begins
  std::vector<problem::Dependence> also;   ///< order without values, which the Problem does not
                                           ///< keep
};

/// Orders the ops as they are listed, as far as dependences within an iteration allow. An op that
/// is the last reader of a value and leaves fewer registers (a conversion) comes as early as
/// possible. Every compiler does that much, and without it many loops do not fit. Cost: ops times
/// dependences.
std::vector<OpId> source_order(const problem::Problem& problem);

/// Finds the least interval at which the program obeys all rules of the Problem, then its
/// objectives. Calls solve::solve with every decision of the program pinned. The answer's claims
/// are about this program. Fails if the stages do not fit the dependences.
///
/// The rounds of a pipelined loop form a loop themselves, with distances that count rounds. In that
/// loop the program is a set of dependences. Groups are pinned by giving each group a width of its
/// own.
Result<schedule::Answer> run_program(const problem::Problem& problem, const Program& program,
                                     const solve::Options& limits);

}  // namespace twill::strategy
