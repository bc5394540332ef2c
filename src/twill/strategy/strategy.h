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

/// Other answers to the question that Twill answers: how compilers and people arrange the same
/// loop. A strategy fixes who runs what and in which order; the solver then finds the least
/// interval that leaves. So every strategy passes through the same check, plan and simulator as the
/// optimum, and they can be compared. What each does and where it is from:
/// docs/reference/strategies.md.
namespace twill::strategy {

using problem::GroupId;
using problem::OpId;
using problem::Problem;

enum class Strategy {
  twill,         ///< the optimum over all schedules: solve::solve
  modulo,        ///< optimal modulo schedule of one sub-tile, the same for all; loads apart
  triton,        ///< loads apart; rows over the consumers, which wait for each product at once
  triton_plain,  ///< loads ahead by the number of stages, other ops in source order, by all groups
                 ///< alike: Triton's order without warp specialization
  cypress,       ///< loads apart, so many iterations ahead; the rest in source order
  sequential,    ///< everything in source order, waited for at once, loads too
};

/// "twill", "modulo" and so on.
std::string_view name_of(Strategy strategy);
std::optional<Strategy> strategy_named(std::string_view name);
/// Meaning of a strategy, in a line: "software pipelining alone, ...".
std::string_view summary_of(Strategy strategy);
/// All of them, in the order above.
std::span<const Strategy> all_strategies();

struct Choice {
  Strategy strategy = Strategy::twill;
  std::optional<int> depth;  ///< copies of each load's buffer, at least 1; triton, triton-plain and
                             ///< cypress only
  bool ping_pong = false;    ///< two consumers take turns where Triton's heuristics say so; triton
                             ///< only
};

/// Fails, naming the strategy and the option, if the choice has an option that the strategy does
/// not have.
Result<void> check(const Choice& choice);

/// Facts about a kernel's loop beyond its Problem. Both may be empty.
struct Known {
  std::vector<int> parts;          ///< by OpId: the sub-tile an op works on, -1: all of them
  std::vector<bool> exponentials;  ///< by OpId: whether it makes exponentials of a whole tile
};

/// Restrictions that a strategy puts on a Problem before the search.
struct Terms {
  explicit Terms(Problem what) : problem(std::move(what)) {}

  Problem problem;                         ///< with the rules it relaxes and the waits it adds; the
                                           ///< ops and groups are those of the loop
  std::vector<GroupId> groups;             ///< by OpId: the group that runs it
  std::vector<std::vector<OpId>> streams;  ///< issued in this order, round after round
  std::vector<Cycles> stages = {};  ///< by OpId: rounds by which it runs later than the round that
                                    ///< begins its iteration; empty: all in that round
  std::optional<int> depth;         ///< copies of a load's buffer; nothing: as many as hide it
  schedule::Regions regions;        ///< where groups take turns
  std::vector<std::string> notes;   ///< decisions of the strategy, a sentence each
};

/// The terms of a strategy other than `twill`. If no sub-tiles are known, independent parts of the
/// loop are its sub-tiles.
/// Structure alone decides, so the same loop at other costs has the same terms.
/// Fails with the reason if the strategy cannot be had for this loop or these groups. Cost: about
/// linear.
Result<Terms> terms_of(const Problem& problem, const Choice& choice, const Known& known);

struct Arranged {
  explicit Arranged(Terms what) : terms(std::move(what)) {}

  Terms terms;
  schedule::Answer answer;           ///< over `terms.problem`, as for an imported schedule: at best
                                     ///< `feasible`, with the bound that needs no search
  std::vector<std::string> circuit;  ///< the circuit that keeps its order from being faster, edge
                                     ///< by edge
};

/// Schedules by a strategy other than `twill`: the least interval that its terms leave, proven
/// within the limits. Not verified yet. Fails as `terms_of` does. Deterministic. Cost: a search
/// with few choices left; two for `modulo`.
Result<Arranged> arrange(const Problem& problem, const Choice& choice, const Known& known,
                         const solve::Options& limits);

}  // namespace twill::strategy
