#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/driver/input.h"
#include "twill/driver/pools.h"
#include "twill/extract/choose_loop.h"
#include "twill/frontend/tasks/stated.h"
#include "twill/ir/program.h"
#include "twill/machine/machine.h"
#include "twill/schedule/loop_text.h"

/// Internal to the driver: from the text of a Triton kernel to Problems.
namespace twill::driver {

/// Extractions of one loop for one machine, by pool, rate and the options that change them. Each
/// extraction is made once. Not thread-safe.
using Extractions =
    std::map<std::tuple<std::string, machine::Rate, std::optional<std::int64_t>, bool, bool, bool>,
             Result<extract::Extraction>>;

/// A kernel that was read, with its loop, and the machine and pools to schedule it for.
struct Kernel {
  ir::Program program;
  extract::LoopChoice choice;
  machine::Machine machine;
  std::vector<std::string> pools;  ///< in the machine's order, or the requested pool
  std::vector<std::string> notes;  ///< differences between the Program and the text
  bool load_latency = false;       ///< readers wait for loads that run ahead (extract::Options)
  frontend::Stated stated = {};    ///< values that the mapping of a kernel of tasks states
  std::optional<machine::Machine> unlimited = {};  ///< the machine without the limits of a mapping,
                                                   ///< if a mapping limits it
  std::shared_ptr<Extractions> extracted = std::make_shared<Extractions>();  ///< extractions so far
};

/// Reads the text, restores the nest of flattened loops over tiles, and chooses loop, machine and
/// pools.
Result<Kernel> read_kernel(const Request& request);
/// Refusal of a kernel, with the line of the user's source if it is known.
tl::unexpected<Diagnostic> refused_in_source(const Request& request, Diagnostic why);

/// The kernel for one pool only; keeps the extractions made so far.
Kernel with_pool(const Kernel& kernel, const std::string& pool);
/// The kernel for the pools of last resort; nullopt if the machine has no such pools, or if the
/// kernel is already for them.
std::optional<Kernel> with_last_resort(const Kernel& kernel);
/// The kernel whose readers wait for the latency of loads, including loads that run ahead.
Kernel with_load_latency(const Kernel& kernel);

/// The input of a request, read once. All functions of the driver start from it.
struct Reading {
  Form form = Form::loop;
  std::optional<Kernel> kernel;            ///< of TTGIR
  std::optional<schedule::LoopText> loop;  ///< of a `.loop` text
};
/// Reason why the loop has no plan, at its place in the text and in the user's source.
Diagnostic at_loop(const Request& request, const Reading& reading, Diagnostic why);
/// The input with that share of the shared memory (all memory except TMEM), once for each pool.
std::vector<Reading> with_share_of_memory(const Reading& reading, double share);
/// The kernel from which an outcome has its costs; null for the costs of a `.loop` text, and for
/// normalized costs.
const Kernel* kernel_of(const Reading& reading, const report::Outcome& outcome);
/// Fails for input that cannot be read, and for JSON.
Result<Reading> read_once(const Request& request);

/// The loop in words: "loop 0 of 2, line 34".
std::string loop_in_words(const Kernel& kernel);

struct PosedKernel {
  std::vector<PosedPool> pools;             ///< at least one
  std::vector<report::PoolTried> left_out;  ///< pools for which the loop cannot be posed, and why
  std::vector<Diagnostic> warnings;
  bool live_only = false;  ///< whether the problems are about iterations that execute the priced
                           ///< branches
};

/// Extracts one Problem per pool, unless that was done before. Fails if that fails for every pool.
/// The pool of that name; null if it was not posed.
const PosedPool* pool_named(const PosedKernel& posed, std::string_view name);

Result<PosedKernel> pose_kernel(const Kernel& kernel, const Request& request, machine::Rate rate);

/// Place of the loop in the user's source, "silu.py:17". Empty if the text is the source, or has no
/// locations.
std::string loop_source(const Kernel& kernel);

/// The Problem of the reading's loop for its first pool, as `pose_loop` has it.
Result<PosedLoop> pose_reading(const Request& request, const Reading& reading, machine::Rate rate);

/// Places in the user's source by op of the Problem: "silu.py:18". Empty if the text has no
/// locations.
std::vector<std::string> source_lines(const ir::Program& program,
                                      const std::vector<extract::OpOrigin>& origins);

/// A sentence on products outside the loop, for which a plan has no steps: before it, after it, or
/// in another loop. Empty if there are none.
std::optional<std::string> products_elsewhere(const Kernel& kernel);

}  // namespace twill::driver
