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

/// From an input text to a checked answer: every step of Twill in order, as one readable list.
/// Reentrant: no global state, no output; progress and cancellation through `Request::limits`.
namespace twill::driver {

class Answers;

/// A text and the name it has in messages.
struct Input {
  std::string name;
  std::string text;
  std::shared_ptr<const frontend::TaskSource> tasks = {};  ///< that the text was made of, if any
};

/// The part of a file that is meant.
struct InputChoice {
  std::string kernel;  ///< of a dump of several, by name
  std::string map;     ///< of a `.task` file: a name of its mappings, or a `.map` file (a name with
                       ///< a slash or ending in ".map"); default: its first mapping
};

/// The contents of a file, or of standard input for "-". Fails for what is missing, a directory,
/// unreadable, empty, or larger than 256 MB. Of a dump of several modules the one to be scheduled,
/// of the kernel of that name (`frontend::ttgir::module_of_dump`); fails if there is not just one.
/// For a `.task` file: the module that its mapping makes of the tasks, on that machine (as in
/// Request).
Result<Input> read_input(const std::string& path, const InputChoice& choice = {},
                         const std::string& machine = {});

/// The kernel of tasks that were made in C++ (tasks/tasks.h), for `Request::input`. `map`: a name
/// of its mappings or a `.map` file, as in InputChoice. Messages have the places of the C++ source.
/// Fails for what is wrong with tasks or mapping.
Result<Input> input_of(const tasks::TaskText& tasks, const std::string& map = {},
                       const std::string& machine = {});

/// The machine of that name that Twill ships, or the one described by that JSON file (a name with
/// a slash or ending in ".json").
Result<machine::Machine> find_machine(const std::string& name);

/// All machines that Twill ships, by name.
Result<std::vector<machine::Machine>> shipped_machines();

/// Schedules other than the optimum, by the strategy `twill` only.
struct AlternativeChoice {
  int list = 0;    ///< of `schedule_loop`: list that many, at most kMostAlternatives
  int take = 0;    ///< the schedule is that one of them, counted from 1, in place of the optimum
  int within = 5;  ///< percent by which their II may be above the optimum's
};
inline constexpr int kMostAlternatives = 100;

/// How the CTAs of a kernel come by their tiles.
enum class TileWalk {
  where_possible,  ///< they walk the grid where they may, else each has one tile
  one,             ///< each has the tile of its place in the grid
  persistent,      ///< they walk the grid, or the tiles of the kernel's own loop
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
  InputChoice choice;   ///< for who reads `input`
  std::string loop;     ///< "1" (source order, from 0) or ":LINE"; default: most products
  std::optional<std::int64_t> subtile;  ///< rows of a sub-tile, 0 for none; default: the machine's
  std::string pool;                     ///< only this pool of the machine; default: all of them
  strategy::Choice strategy;            ///< of `schedule_loop` and what builds on it
  AlternativeChoice alternatives;       ///< of `schedule_loop` and what builds on it
  std::optional<Input> imported;  ///< a schedule of this loop, to be taken as it is: a schedule
                                  ///< JSON, or a `.loop` text with a schedule or an order
  bool strict = false;            ///< refuse operations that only the default rule prices
  bool may_overlap = false;  ///< refuse loops that write an array beside others: arguments may be
                             ///< one array
  bool already_pipelined = false;  ///< take a loop that Triton has pipelined, as if it had not
  bool transfers = false;  ///< values change groups by stores and loads of the problem, not a delay
  bool load_latency = false;  ///< the problem has the latency of loads that run ahead, too; an
                              ///< answer takes it in by itself where rings cannot hide it
  std::optional<problem::Normalization> normalize;  ///< smaller costs in place of the loop's own
  std::optional<machine::Rate> rate;                ///< of `schedule_loop`; default: the better one
  std::int64_t trips = 0;   ///< of `schedule_loop`: also what so many iterations take, simulated
  int spare_registers = 0;  ///< of each thread, kept from tile data beyond the machine's overhead
  /// CTAs that an SM has at once, each with its share of memory and registers. Nothing: 1; of
  /// `emit_ttgir`, what an SM is faster with.
  std::optional<int> ctas_per_sm = {};
  bool pins = false;  ///< of `plan_loop`: keep the compiler from moving math over waits
  int cluster = 1;    ///< of `plan_loop`, most CTAs that share loads: 1 or 2
  TileWalk tiles = TileWalk::where_possible;  ///< of `plan_loop`; what cannot be had is refused
  solve::Options limits;
  /// Whether the schedule wanted is one in particular, for which no other will do.
  bool names_schedule() const { return alternatives.take > 0 || imported.has_value(); }

  /// Is told each step that is to be taken once for each input: "read", and once for each pool and
  /// rate, "extract 2x64 slowest". May be empty.
  std::function<void(const std::string&)> on_step = {};
  Answers* answers = nullptr;  ///< of `schedule_loop`: shared with other requests (answers.h)
};

/// The Problem of the input's loop for one pool: the one asked for, else the machine's first; with
/// `normalize`, the last warning says what that changed.
struct PosedLoop {
  problem::Problem problem;
  std::vector<Diagnostic> warnings;
  std::string pool = {};  ///< of a kernel whose costs are its own
};
Result<PosedLoop> pose_loop(const Request& request, machine::Rate rate);

/// Schedules the loop of the input and checks the answer with the independent checker: look at
/// `Outcome::violations` before anything else. Fails only for bad input: infeasible and undecided
/// loops are outcomes.
///
/// TTGIR is solved with every op at its fastest over all pools, and at its slowest co-run rate for
/// each. The optimum is kept whose plan is simulated to be fastest (in detail: `solve_rates`). The
/// bracket's lower bound is proven with every op at its fastest. With `normalize`, what `pose_loop`
/// poses is scheduled like a `.loop` text: one pool, no bracket.
///
/// By another strategy than `twill`: solves at the slowest co-run rates (or those of `rate`) for
/// each pool that the strategy can serve. The pool is kept whose plan is simulated to be fastest.
/// Fails with the strategy's reason if it can serve none.
///
/// If the Problem has transfers, the outcome has the residual problem of the schedule's groups
/// (transfer.h), and the text and hash of the whole.
///
/// An imported schedule is the outcome, as feasible, by strategy "imported", and nothing is
/// searched. Rate and pool are those for which the loop poses the schedule's Problem.
///
/// Alternatives are those of the schedule kept, for its pool and costs. Each has the request's work
/// limit. Fails if the one to take is not among them.
Result<report::Outcome> schedule_loop(const Request& request);

/// The same outcome, with a certificate of all that it calls proven. For a kernel this includes the
/// lower bound of the bracket over all pools. The proofs are searched for
/// afterwards. Each has the request's work limit, or the default one if that is more. Only for the
/// strategy `twill`: others claim nothing.
struct Certified {
  report::Outcome outcome;
  certify::Files certificate;
  std::vector<Diagnostic> warnings;  ///< on what the certificate does not prove
};
Result<Certified> certify_loop(const Request& request);
/// Fails, with the reason, for a request whose answer claims nothing that could be certified.
Result<void> check_certifiable(const Request& request);
/// The same as `certify_loop` for an outcome in hand, which is the request's answer.
Result<Certified> certify_outcome(const Request& request, report::Outcome outcome);

/// The files of the certificate in a folder. Fails if it is none, or one cannot be read.
Result<certify::Files> read_certificate(const std::string& path);

/// certify::check_files, and whether the certificate is about this input on this machine (as in
/// Request). Input and machine are read, and every Problem is posed again with the certificate's
/// options. Nothing is solved. Fails for an input that cannot be read or posed.
Result<certify::Checked> check_certificate(const certify::Files& files, const Input& input,
                                           const std::string& machine);

/// Checks the schedule or the order that stands in a `.loop` file or in a schedule JSON. Of an
/// order, the earliest schedule at its least II is checked.
Result<report::Outcome> verify_schedule(const Input& input);

/// The least II that the order (or the order of the schedule) in a `.loop` file can reach; rules
/// that no II mends (registers, memory) show up as violations.
Result<report::Outcome> evaluate_order(const Input& input);

}  // namespace twill::driver
