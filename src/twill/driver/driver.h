#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/certify/certificate.h"
#include "twill/machine/machine.h"
#include "twill/problem/normalize.h"
#include "twill/report/outcome.h"
#include "twill/solve/solve.h"
#include "twill/strategy/strategy.h"
#include "twill/support/diagnostic.h"

namespace twill::frontend {
struct TaskSource;
}
namespace twill::tasks {
struct TaskText;
}

/// Leads from an input text to a checked answer. Reentrant: no global state, no output; progress
/// and cancellation through `Request::limits`.
namespace twill::driver {

class Answers;

/// A text and its name in messages.
struct Input {
  std::string name;
  std::string text;
  std::shared_ptr<const frontend::TaskSource> tasks = {};  ///< tasks from which the text was made,
                                                           ///< if it was made from tasks
};

/// Selects a part of a file.
struct InputChoice {
  std::string kernel;  ///< name of the kernel in a dump of several kernels
  std::string map;  ///< for a `.task` file: a name of its mappings, or a `.map` file (a name with a
                    ///< slash or ending in ".map"); default: its first mapping
};

/// The contents of a file, or of standard input for "-". Fails for a file that is missing, a
/// directory, unreadable, empty, or larger than 256 MB. From a dump of several modules, takes the
/// module with the kernel of that name (`frontend::ttgir::module_of_dump`); fails unless exactly
/// one matches. For a `.task` file: the module that its mapping makes of the tasks, on that machine
/// (as in Request).
Result<Input> read_input(const std::string& path, const InputChoice& choice = {},
                         const std::string& machine = {});

/// The kernel of tasks made in C++ (tasks/tasks.h), for `Request::input`. `map`: a name of its
/// mappings or a `.map` file, as in InputChoice. Messages state places in the C++ source. Fails for
/// incorrect tasks or an incorrect mapping.
Result<Input> input_of(const tasks::TaskText& tasks, const std::string& map = {},
                       const std::string& machine = {});

/// The shipped machine of that name, or the machine of a JSON file (a name with a slash, or ending
/// in ".json").
Result<machine::Machine> find_machine(const std::string& name);

/// All machines that Twill ships, by name.
Result<std::vector<machine::Machine>> shipped_machines();

/// Schedules other than the optimum, by the strategy `twill` only.
struct AlternativeChoice {
  int list = 0;    ///< for `schedule_loop`: number of schedules to list, at most kMostAlternatives
  int take = 0;    ///< replace the optimum by this alternative, counted from 1; 0: none
  int within = 5;  ///< percent by which their II may exceed the optimum's
};
inline constexpr int kMostAlternatives = 100;

/// Assignment of tiles to the CTAs of a kernel.
enum class TileWalk {
  where_possible,  ///< CTAs walk the grid where possible, else each has one tile
  one,             ///< each CTA has the tile of its place in the grid
  persistent,      ///< CTAs walk the grid, or the tiles of the kernel's own loop
};

/// A request: the input and all options. Everything but the input has a default.
struct Request {
  // Defined in the source file, so that they are compiled once.
  Request();
  Request(const Request&);
  Request(Request&&) noexcept;
  Request& operator=(const Request&);
  Request& operator=(Request&&) noexcept;
  ~Request();

  Input input;
  std::string machine;  ///< a shipped name ("h200") or a JSON file; default: the TTGIR's target
  InputChoice choice;   ///< read by the functions that read `input`
  std::string loop;     ///< "1" (source order, from 0) or ":LINE"; default: most products
  std::optional<std::int64_t> subtile;  ///< rows of a sub-tile, 0 for none; default: the machine's
  std::string pool;                     ///< only this pool of the machine; default: all of them
  strategy::Choice strategy;            ///< for `schedule_loop` and functions built on it
  AlternativeChoice alternatives;       ///< for `schedule_loop` and functions built on it
  std::optional<Input> imported;  ///< a schedule of this loop to use unchanged: a schedule JSON, or
                                  ///< a `.loop` text with a schedule or an order
  bool strict = false;            ///< refuse operations that only the default rule prices
  bool may_overlap = false;  ///< refuse loops that write an array beside others: arguments may be
                             ///< one array
  bool already_pipelined = false;  ///< take a loop that Triton has pipelined as if it were not
                                   ///< pipelined
  bool transfers = false;  ///< transfers are stores and loads of the problem instead of a delay
  /// Whether the problem has the latency of loads that run ahead, too; an answer takes this latency
  /// in by itself where rings cannot hide it.
  bool load_latency = false;
  std::optional<problem::Normalization> normalize;  ///< smaller costs in place of the loop's own
                                                    ///< costs
  std::optional<machine::Rate> rate;  ///< for `schedule_loop`; default: the better rate
  std::int64_t trips = 0;             ///< for `schedule_loop`: also simulate this many iterations
  int spare_registers = 0;  ///< registers of each thread to keep from tile data, beyond the
                            ///< machine's overhead
  /// CTAs on an SM at once, each with its share of memory and registers. nullopt: 1; in
  /// `emit_ttgir`, the number with which an SM is faster.
  std::optional<int> ctas_per_sm = {};
  bool pins = false;  ///< for `plan_loop`: keep the compiler from moving math over waits
  int cluster = 1;    ///< for `plan_loop`: most CTAs that share loads, 1 or 2
  TileWalk tiles = TileWalk::where_possible;  ///< for `plan_loop`; impossible walks are refused
  solve::Options limits;
  /// Whether the request names one schedule, for which no other may be substituted.
  bool names_schedule() const { return alternatives.take > 0 || imported.has_value(); }

  /// Called before each step that is done once for an input: "read", and "extract 2x64 slowest" for
  /// each pool and rate. May be empty.
  std::function<void(const std::string&)> on_step = {};
  Answers* answers = nullptr;  ///< for `schedule_loop`: shared with other requests (answers.h)
};

/// The Problem of the input's loop for one pool: the requested pool, else the machine's first pool.
/// With `normalize`, the last warning states the changes of costs.
struct PosedLoop {
  problem::Problem problem;
  std::vector<Diagnostic> warnings;
  std::string pool = {};  ///< only for a kernel whose costs are not normalized
};
Result<PosedLoop> pose_loop(const Request& request, machine::Rate rate);

/// Schedules the loop of the input and checks the answer with the independent checker: look at
/// `Outcome::violations` before anything else. Fails only for bad input: infeasible and undecided
/// loops are outcomes.
///
/// TTGIR is solved with every op at its fastest over all pools, and at its slowest co-run rate for
/// each pool. The optimum whose plan simulates fastest is kept (in detail: `solve_rates`). The
/// bracket's lower bound is proven with every op at its fastest. With `normalize`, the Problem of
/// `pose_loop` is scheduled like a `.loop` text: one pool, no bracket.
///
/// Strategies other than `twill` are solved at the slowest co-run rates (or at `rate`) for each
/// pool to which the strategy applies. The pool whose plan simulates fastest is kept. Fails with
/// the strategy's reason if the strategy applies to no pool.
///
/// If the Problem has transfers, the outcome has the residual problem of the schedule's groups
/// (transfer.h), with the text and hash of the whole Problem.
///
/// An imported schedule becomes the outcome, as feasible, by strategy "imported", without a search.
/// Rate and pool are those for which the loop poses the schedule's Problem.
///
/// Alternatives belong to the kept schedule, for its pool and costs. Each has the request's work
/// limit. Fails if the alternative to take does not exist.
Result<report::Outcome> schedule_loop(const Request& request);

/// Makes the same outcome with a certificate of all its claims. For a kernel this includes the
/// lower bound of the bracket over all pools. The proofs are searched for afterwards, each within
/// the larger of the request's work limit and the default limit. Only for the strategy `twill`:
/// others claim nothing.
struct Certified {
  report::Outcome outcome;
  certify::Files certificate;
  std::vector<Diagnostic> warnings;  ///< about claims that the certificate does not prove
};
Result<Certified> certify_loop(const Request& request);
/// Fails, with the reason, for a request whose answer makes no claims to certify.
Result<void> check_certifiable(const Request& request);
/// The same as `certify_loop` for an outcome in hand, which is the request's answer.
Result<Certified> certify_outcome(const Request& request, report::Outcome outcome);

/// The files of the certificate in a folder. Fails if `path` is no folder, or a file cannot be
/// read.
Result<certify::Files> read_certificate(const std::string& path);

/// Runs certify::check_files, and checks that the certificate is about this input on this machine
/// (as in Request). Input and machine are read, and every Problem is posed again with the
/// certificate's options, without solving. Fails for an input that cannot be read or posed.
Result<certify::Checked> check_certificate(const certify::Files& files, const Input& input,
                                           const std::string& machine);

/// Checks the schedule or the order in a `.loop` file or a schedule JSON. For an order, the
/// earliest schedule at its least II is checked.
Result<report::Outcome> verify_schedule(const Input& input);

/// The least II that the order (or the order of the schedule) in a `.loop` file can reach. Broken
/// rules that a larger II cannot mend (registers, memory) become violations.
Result<report::Outcome> evaluate_order(const Input& input);

}  // namespace twill::driver
