#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/machine/machine.h"
#include "twill/schedule/difference.h"
#include "twill/schedule/region.h"
#include "twill/schedule/schedule.h"

namespace twill::report {

/// Bracket: two figures between which the hardware's initiation interval is expected.
struct Bracket {
  Cycles fastest = 0;  ///< no schedule of this loop is faster, with every op at its full rate
  std::optional<Cycles> slowest;   ///< II at which the schedule's order can be kept with every op
                                   ///< at its slowest co-run rate; empty if registers or memory
                                   ///< forbid it
  std::string fastest_limit;       ///< fact that keeps the interval from being smaller: "pipe FMA"
  std::string fastest_witness;     ///< its witness with all summands
  std::optional<Cycles> expected;  ///< II of the schedule's own order under the co-run model; may
                                   ///< lie outside of the bracket, see `expected_within`
};

/// Interval to expect: the co-run estimate, kept between the proven bound and the II at which the
/// order can be kept. The estimate ignores registers and memory, so it can fall below the proven
/// bound. It models contention for pipes on units, too, so it can exceed the slowest-rate II.
std::optional<Cycles> expected_within(const Bracket& bracket);

/// Pool of warp groups that was considered.
struct PoolTried {
  std::string name;
  std::string result;  ///< in words: "II 2048, chosen", "no schedule below 2100: needs at least
                       ///< 2304", ...
};

/// Optimum of one pool for the costs of one rate, or the reason why there is none.
struct Candidate {
  std::string rate;  ///< "fastest" or "slowest"; empty if the loop cannot be posed for the pool
  std::string pool;
  schedule::Verdict verdict = schedule::Verdict::undecided;
  std::optional<Cycles> interval;   ///< at that rate; like the next two only if there is a schedule
  std::optional<Cycles> expected;   ///< as in Bracket
  std::optional<Cycles> slowest;    ///< as in Bracket
  Cycles transfer_work = 0;         ///< work of the busiest group on an iteration's transfers
  Cycles late_loads = 0;            ///< cycles that late loads add to an iteration, simulated; only
                                    ///< if the co-run model decides, which has no such delay
  std::optional<double> simulated;  ///< cycles of an iteration of its plan, if a plan was drafted
  std::string refused;  ///< refusal of its schedule, with the stage: "plan: ..."; or empty
  std::string note;     ///< reason why there is no schedule, or why none was searched for
  bool chosen = false;
};

/// Residual loop of a schedule's groups, for a loop with transfer ops.
struct ResidualLoop {
  problem::Problem problem;
  std::vector<extract::OpOrigin> origins;  ///< by its OpId; empty for `.loop` files
  std::vector<std::string> lines;          ///< as in Outcome
};

/// Another schedule of the same Problem, of another structure (schedule/difference.h).
struct AlternativeSchedule {
  schedule::Schedule schedule;
  std::vector<schedule::ObjectiveValue> objectives;  ///< in the answer's order
  bool proven = false;                               ///< no better alternative was left when this
                                                     ///< one was found
  std::optional<Cycles> expected;                    ///< as in Bracket, like the next
  std::optional<Cycles> slowest;
  std::vector<schedule::Difference> differences;  ///< from the answer's schedule; never empty
  std::optional<ResidualLoop> remains;  ///< for a loop with transfer ops: the residual loop of this
                                        ///< schedule and its differences; may differ from the
                                        ///< answer's
};

struct AlternativeSchedules {
  /// Reason for the end of the list.
  enum class End {
    complete,  ///< proven: there is no other within the distance
    count,     ///< as many as were asked for
    limit,     ///< the work limit ended the search
  };
  int within = 0;                         ///< percent by which II may be above the answer's
  Cycles most_interval = 0;               ///< the largest II, in cycles
  std::vector<AlternativeSchedule> list;  ///< best first
  End end = End::count;
};

struct Timings {
  double read = 0;   ///< seconds of wall time
  double solve = 0;  ///< extraction included
  double verify = 0;
};

/// Plan of a schedule, with its simulated cycles.
struct Built {
  bool planned = false;  ///< there is a plan, proven safe
  std::string refusal;   ///< else the reason why there is no plan
  // Cycles of an iteration of the plan in the steady state, with every op of a kernel at its full
  // rate. Each member adds one cause of delay. Empty where a run has no steady state.
  std::optional<double> in_order;      ///< the plan's order alone, on shared pipes
  std::optional<double> with_signals;  ///< also with the signals of barriers
  std::optional<double> simulated;     ///< also with the latency of loads: all causes
  std::optional<double> total;         ///< cycles of the requested number of iterations, begin and
                                       ///< end included
  std::optional<double> at_slowest;    ///< for a kernel: all causes, with every op at its slowest
                                       ///< co-run rate in place of shared pipes
  std::optional<std::string> not_printable;  ///< reason why the kernel cannot be printed; empty if
                                             ///< it can; nullopt: not tried, or no kernel
  std::optional<std::string> no_ttgir;       ///< reason why Triton cannot run the kernel; empty or
                                             ///< nullopt as for `not_printable`
};

/// Limiter: the resource, circuit or op that limits a loop most, as every command names it.
struct Limiter {
  bool alone = true;  ///< else a search has proven more: several rules limit the loop together
  Cycles cycles = 0;  ///< lower bound on the II of this loop and pool because of the limiter
  std::string what;   ///< name: "unit TC", "circuit"
  std::vector<std::string> ops;  ///< ops of the sum, or the circuit in order
  std::string lines;  ///< places of the ops: "silu.py:18, silu.py:20", or "line 28" of the text
};

/// Outcome of scheduling one loop: the input of all printers.
struct Outcome {
  // Copies and destruction are defined in the source file, so that they are compiled once.
  Outcome(const Outcome&);
  Outcome(Outcome&&) noexcept;
  Outcome& operator=(const Outcome&);
  Outcome& operator=(Outcome&&) noexcept;
  ~Outcome();

  explicit Outcome(problem::Problem what) : problem(std::move(what)) {}

  std::string input;        ///< as the user named it; "-" for standard input
  std::string loop;         ///< loop of the input, "loop 1 of 2, line 34"; empty for `.loop` files
  std::string loop_source;  ///< place in the user's source, "silu.py:17"; empty if unknown
  std::string machine;      ///< empty for `.loop` files, which need none
  bool machine_measured = true;
  std::string pool;                ///< name of the chosen pool; empty if the input brings its own
                                   ///< groups
  std::vector<std::string> pools;  ///< pools over which the answer's claims hold
  std::string rate;  ///< rate of the costs: "fastest" or "slowest"; empty for `.loop` files
  std::string strategy = "twill";     ///< strategy that arranged the loop; only `twill` claims an
                                      ///< optimum
  bool load_latency = false;          ///< the problem contains the latency of loads that run ahead
  std::optional<int> ring_depth;      ///< copies of streaming values; empty: as many as hide their
                                      ///< latency
  schedule::Regions regions;          ///< regions in which groups take turns by that strategy's
                                      ///< terms
  std::vector<Candidate> candidates;  ///< empty for `.loop` files
  problem::Problem problem;
  std::string problem_hash;
  std::string problem_text;  ///< the `.loop` text
  schedule::Bound min_ii;    ///< bound that needs no search
  schedule::Answer answer;
  std::optional<schedule::Bound> with_room;  ///< bound for schedules that leave memory for one copy
                                             ///< of each value that changes groups, as every plan
                                             ///< does; if above the bound for all schedules
  std::optional<AlternativeSchedules> alternatives;  ///< if the user asked for them
  int alternative = 0;  ///< number of the alternative that is the answer's schedule; 0: none, and
                        ///< the answer is about all schedules. Else objectives are about the
                        ///< schedules left at that number, and the lower bound about all
  std::vector<schedule::Difference> differences;  ///< differences of the alternative from the
                                                  ///< optimum
  std::optional<Bracket> bracket;  ///< absent for `.loop` files, which have one set of costs
  std::vector<std::string> order_circuit;  ///< for an imported order: the circuit that keeps its II
                                           ///< from being less
  std::vector<std::string> violations;     ///< violations that the independent checker found; with
                                           ///< any, the schedule must not be used
  std::vector<extract::OpOrigin> origins;  ///< by OpId; empty for `.loop` files
  std::vector<std::string> lines;  ///< by OpId: line of the user's source, "silu.py:18"; empty
                                   ///< strings, or no elements, where lines are unknown
  std::optional<Built> built;      ///< if there is a schedule
  std::optional<Limiter> limiter;  ///< with every op at its fastest, for the chosen pool
  std::vector<extract::Reserved> reserved;  ///< memory reserved for the whole loop, before any op
  std::vector<std::string> notes;           ///< approximations of the problem, a sentence each
  std::vector<Diagnostic> warnings;
  bool live_only = false;  ///< the problem is about iterations that execute the branches with a
                           ///< price
  std::uint64_t work = 0;  ///< units of work of all searches for the outcome
  Timings timings;
};

/// Name of a rate: "fastest" or "slowest".
std::string name_of(machine::Rate rate);

/// Reason of a bound in a word or two: "pipe FMA", "circuit", "search".
std::string limit_of(const schedule::Bound& bound);

/// Scope of a claim in full: "this graph, these costs, this pool, one CTA per SM".
std::string scope_of(const Outcome& outcome);

}  // namespace twill::report
