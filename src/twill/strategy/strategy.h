#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/region.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"
#include "twill/support/diagnostic.h"

/// Orders that other compilers and authors choose for the same loop, as rivals of Twill's optimum.
/// A strategy fixes the group and the order of each op; the solver then finds the least interval.
/// So every strategy passes through the same check, plan and simulator as the optimum, and all can
/// be compared. Meaning and origin of each strategy: docs/reference/strategies.md.
namespace twill::strategy {

using problem::GroupId;
using problem::OpId;
using problem::Problem;

enum class Strategy {
  twill,         ///< the optimum over all schedules: solve::solve
  modulo,        ///< optimal modulo schedule of one sub-tile, the same for all; loads apart
  triton,        ///< loads apart; rows over the consumers, which wait for each product at once
  triton_plain,  ///< loads ahead by the number of stages, other ops in source order, the same in
                 ///< all groups: Triton's order without warp specialization
  cypress,       ///< loads apart, ahead by the depth of their buffers; other ops in source order
  sequential,    ///< all ops in source order, each load and product waited for at once
};

/// Name of a strategy as options spell it: "twill", "modulo".
std::string_view name_of(Strategy strategy);
std::optional<Strategy> strategy_named(std::string_view name);
/// Meaning of a strategy, in a line: "software pipelining alone, ...".
std::string_view summary_of(Strategy strategy);
/// All strategies, in the order above.
std::span<const Strategy> all_strategies();

struct Choice {
  Strategy strategy = Strategy::twill;
  std::optional<int> depth;  ///< copies of each load's buffer, at least 1; for triton, triton-plain
                             ///< and cypress
  bool ping_pong = false;    ///< two consumers take turns where Triton's heuristics say so; for
                             ///< triton
};

/// Checks that the strategy has the options of the choice. An error names the strategy and the
/// option.
Result<void> check(const Choice& choice);

/// Facts about a kernel's loop beyond its Problem. Both may be empty.
struct Known {
  std::vector<int> parts;          ///< by OpId: the sub-tile of the op, -1: shared by all
  std::vector<bool> exponentials;  ///< by OpId: whether it makes exponentials of a whole tile
};

/// Restrictions that a strategy puts on a Problem before the search.
struct Terms {
  explicit Terms(Problem what) : problem(std::move(what)) {}

  Problem problem;                         ///< with the rules that the strategy relaxes and the
                                           ///< waits that it adds; ops and groups are those of the
                                           ///< loop
  std::vector<GroupId> groups;             ///< by OpId: the group that runs it
  std::vector<std::vector<OpId>> streams;  ///< ops of each group, issued in this order, round after
                                           ///< round
  std::vector<Cycles> stages = {};  ///< by OpId: rounds from the round that begins an iteration to
                                    ///< the round that runs the op; empty: 0 for all ops
  std::optional<int> depth;         ///< copies of a load's buffer; empty: as many as hide the
                                    ///< load's latency
  schedule::Regions regions;        ///< regions in which groups take turns
  std::vector<std::string> notes;   ///< decisions of the strategy, a sentence each
};

/// Terms of a strategy other than `twill`. If no sub-tiles are known, independent parts of the loop
/// are its sub-tiles. Structure alone decides, so the same loop at other costs has the same terms.
/// Fails with the reason if the strategy has no terms for this loop or these groups. Cost: about
/// linear.
Result<Terms> terms_of(const Problem& problem, const Choice& choice, const Known& known);

struct Arranged {
  explicit Arranged(Terms what) : terms(std::move(what)) {}

  Terms terms;
  schedule::Answer answer;           ///< about `terms.problem`, as for an imported schedule: at
                                     ///< best `feasible`, with the bound that needs no search
  std::vector<std::string> circuit;  ///< circuit that keeps the order from being faster, edge by
                                     ///< edge
};

/// Schedules by a strategy other than `twill`: the least interval under its terms, proven within
/// the limits. Not verified yet. Fails as `terms_of` does. Deterministic. Cost: a search with few
/// choices left; two for `modulo`.
Result<Arranged> arrange(const Problem& problem, const Choice& choice, const Known& known,
                         const solve::Options& limits);

}  // namespace twill::strategy
