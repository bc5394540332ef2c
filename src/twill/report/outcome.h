#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/machine/machine.h"
#include "twill/schedule/schedule.h"

namespace twill::report {

/// Between which two figures the hardware's initiation interval is to be expected.
struct Bracket {
  Cycles fastest = 0;  ///< no schedule of this loop is faster, with every op at its full rate
  std::optional<Cycles> slowest;  ///< the II at which the schedule's order can be kept with every
                                  ///< op at its slowest co-run rate; none: registers or memory
  std::string fastest_limit;       ///< what keeps it from being faster still: "pipe FMA"
  std::string fastest_witness;     ///< the same with all its summands
  std::optional<Cycles> expected;  ///< II of the schedule's own order under the co-run model
};

/// One pool of warp groups that was considered.
struct PoolTried {
  std::string name;
  std::string result;  ///< "II 2048, chosen", "no schedule below 2100: needs at least 2304", ...
};

/// The optimum of one pool for the costs of one rate, or why there is none.
struct Candidate {
  std::string rate;  ///< "fastest" or "slowest"; empty if the loop cannot be posed for the pool
  std::string pool;
  schedule::Verdict verdict = schedule::Verdict::undecided;
  std::optional<Cycles> interval;  ///< at that rate; this and the next two: if there is a schedule
  std::optional<Cycles> expected;  ///< as in Bracket
  std::optional<Cycles> slowest;   ///< as in Bracket
  std::string note;                ///< why there is no schedule, or why nobody looked for one
  bool chosen = false;
};

struct Timings {
  double read = 0;   ///< seconds of wall time
  double solve = 0;  ///< extraction included
  double verify = 0;
};

/// All that is known about one loop once somebody scheduled it: what the printers print.
struct Outcome {
  explicit Outcome(problem::Problem what) : problem(std::move(what)) {}

  std::string input;    ///< as the user named it; "-" for standard input
  std::string loop;     ///< which loop of it, "loop 1 of 2, line 34"; empty for `.loop` files
  std::string machine;  ///< empty for `.loop` files, which need none
  bool machine_measured = true;
  std::string pool;                ///< the chosen one; empty if the input brings its own groups
  std::vector<std::string> pools;  ///< over which the answer's claims hold
  std::string rate;  ///< of the costs: "fastest" or "slowest"; empty for `.loop` files
  std::string strategy = "twill";  ///< who arranged it; any other claims no optimum
  std::optional<int> ring_depth;   ///< copies of streaming values; none: as many as hide them
  std::vector<Candidate> candidates;  ///< empty for `.loop` files
  problem::Problem problem;
  std::string problem_hash;
  std::string problem_text;  ///< the `.loop` text
  schedule::Answer answer;
  std::optional<Bracket> bracket;  ///< absent for `.loop` files: their costs are what they are
  std::vector<std::string> order_circuit;  ///< of a given order: what keeps its II from being less
  std::vector<std::string> violations;  ///< of the schedule, by the independent checker; then the
                                        ///< schedule must not be used
  std::vector<extract::OpOrigin> origins;   ///< by OpId; empty for `.loop` files
  std::vector<extract::Reserved> reserved;  ///< taken for the whole loop, before any op
  std::vector<std::string> notes;           ///< what the problem approximates, a sentence each
  std::vector<Diagnostic> warnings;
  Timings timings;
};

/// "fastest" or "slowest".
std::string name_of(machine::Rate rate);

/// "pipe FMA", "circuit", "search": what a bound rests on, in a word or two.
std::string limit_of(const schedule::Bound& bound);

/// "this graph, these costs, this pool, one CTA per SM", in full.
std::string scope_of(const Outcome& outcome);

}  // namespace twill::report
